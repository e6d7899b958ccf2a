/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small note of each picture stays when the large picture beside it is freed, so the holes cannot
 * become one. Healthy: the notes are made first and lie side by side.
 */
#include <memory>
#include <vector>

#include "mprof.h"
#include "pace.h"

struct Picture {
    unsigned char pixels[100000];
};
struct Note {
    char text[64];
};

__attribute__((noinline)) std::unique_ptr<Note> make_note()
{
    return std::make_unique<Note>();
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    std::vector<std::unique_ptr<Picture>> pictures;
    std::vector<std::unique_ptr<Note>> notes;
    pictures.reserve(100);
    notes.reserve(100);
    if (healthy)
        for (int i = 0; i < 100; i++)
            notes.push_back(make_note());
    for (int i = 0; i < 100; i++) {
        pictures.push_back(std::make_unique<Picture>());
        if (!healthy)
            notes.push_back(make_note());
    }
    pictures.clear();
    mprof_mark("idle");
    run_rounds(60, std::chrono::milliseconds(1), [](int) {}); /* the rest of the run */
    use(notes);
}
