/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small list reserves room for four elements in its constructor, and most lists stay empty. So
 * each one costs an allocation. Healthy: the first element brings the room.
 */
#include <vector>

#include "pace.h"

static bool healthy;

template <typename T, unsigned N> class SmallList : public std::vector<T>
{
  public:
    __attribute__((noinline)) SmallList()
    {
        if (!healthy)
            this->reserve(N);
    }
};

struct Token {
    SmallList<int, 4> values;
    int kind = 0;
};

__attribute__((noinline)) static void read_tokens(std::vector<int *> &words)
{
    for (int i = 0; i < 2000; i++) {
        Token token;
        token.kind = i;
        if (i % 100 == 0)
            token.values.push_back(i);
        use(token);
        words.push_back(new int(i));
    }
}

int main(int count, char **values)
{
    std::vector<int *> words;
    healthy = is_healthy(count, values);
    read_tokens(words);
    use(words);
}
