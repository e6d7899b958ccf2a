/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A resident set that its live blocks do not explain: a reserve that is hardly used, drafts whose
 * pages notes pin, pictures whose pages stay with the allocator. Healthy: a reserve of what is
 * needed, the notes side by side, the first picture instead of the last one. With the argument
 * `trim` the allocator returns what it can.
 */
#include <cstring>
#include <malloc.h>
#include <memory>
#include <vector>

#include "mprof.h"
#include "pace.h"

struct Event {
    unsigned char data[64];
};
struct Draft {
    unsigned char text[3968];
};
struct Note {
    unsigned char text[48];
};
struct Picture {
    unsigned char pixels[100000];
};

/* 64 MiB of address space, of which 4 MiB are used. */
__attribute__((noinline)) std::vector<Event> reserve_events(bool healthy)
{
    std::vector<Event> events;
    events.reserve(healthy ? 65536 : 1048576);
    events.resize(65536);
    return events;
}

/* A note stays for each draft that goes. */
__attribute__((noinline)) std::vector<std::unique_ptr<Note>> take_notes(bool healthy)
{
    std::vector<std::unique_ptr<Draft>> drafts;
    std::vector<std::unique_ptr<Note>> notes;
    drafts.reserve(5000);
    notes.reserve(5000);
    for (int i = 0; healthy && i < 5000; i++)
        notes.push_back(std::make_unique<Note>());
    for (int i = 0; i < 5000; i++) {
        drafts.push_back(std::make_unique<Draft>());
        if (!healthy)
            notes.push_back(std::make_unique<Note>());
    }
    return notes;
}

/* The last picture stays, above the others: the allocator cannot shrink its heap. */
__attribute__((noinline)) std::unique_ptr<Picture> draw_pictures(bool healthy)
{
    std::vector<std::unique_ptr<Picture>> pictures;
    for (int i = 0; i < 300; i++)
        pictures.push_back(std::make_unique<Picture>());
    return std::move(healthy ? pictures.front() : pictures.back());
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    auto events = reserve_events(healthy);
    auto notes = take_notes(healthy);
    auto last = draw_pictures(healthy);
    if (count > 1 && std::strcmp(values[1], "trim") == 0)
        malloc_trim(0);
    mprof_mark("idle");
    run_rounds(200, std::chrono::milliseconds(1), [](int) {}); /* the rest of the run */
    use(events);
    use(notes);
    use(last);
}
