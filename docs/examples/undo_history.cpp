/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An editor loads a file piece by piece. Each piece is an insertion, which the undo history copies;
 * after the load the history is cleared. Healthy: it records nothing while a file is loaded.
 */
#include <memory>
#include <string>
#include <vector>

#include "pace.h"

struct Action {
    std::size_t position, length;
    std::unique_ptr<char[]> text;
};

class Document
{
    std::string text;
    std::vector<Action> undo;
    bool recording = true;

  public:
    Document()
    {
        text.reserve(1 << 20);
    }
    void record(bool on)
    {
        recording = on;
    }
    __attribute__((noinline)) void insert(const char *piece, std::size_t length)
    {
        if (recording) {
            Action action{text.size(), length, std::unique_ptr<char[]>(new char[length])};
            std::memcpy(action.text.get(), piece, length);
            undo.push_back(std::move(action));
        }
        text.append(piece, length);
    }
    __attribute__((noinline)) void clear_undo()
    {
        undo.clear();
    }
};

int main(int count, char **values)
{
    static char piece[4096];
    Document document;
    document.record(!is_healthy(count, values));
    run_rounds(200, std::chrono::milliseconds(1),
               [&](int round) { document.insert(piece, 3000 + round * 5 % 1000); });
    document.clear_undo();
    document.record(true);
    run_rounds(100, std::chrono::milliseconds(2), [&](int) {});
    use(document);
}
