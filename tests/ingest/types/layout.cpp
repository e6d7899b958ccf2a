/* SPDX-License-Identifier: BSD-2-Clause */
/* Records with holes, bit fields and base classes, a node of a container, and a block whose type
 * nothing tells. */
#include <cstdlib>
#include <map>

struct nothing {
};
struct padded_base {
    virtual ~padded_base()
    {
    }
    int number = 0;
};
struct padded : nothing, padded_base {
    static int shared;
    char flag = 0;
    unsigned low : 3, high : 9;
    double last = 0;
    enum { OFF, ON } state = OFF;
};
int padded::shared;

struct secret_one {
    char bytes[5000];
};
typedef struct {
    int words[1250];
} secret_two;
secret_one *one;
secret_two *two;

void *volatile sink;

__attribute__((noinline)) void hidden(size_t size)
{
    sink = std::malloc(size);
}

int main()
{
    padded *made = new padded;
    sink = made;
    std::map<int, long> map;
    map[1] = 2;
    sink = &map;
    hidden(5000);
    if (one != nullptr) /* clang describes only what is used */
        one->bytes[0] = 1;
    if (two != nullptr)
        two->words[0] = 1;
    return 0;
}
