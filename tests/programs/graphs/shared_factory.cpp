/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One function makes the entries of a table at the start, which stay to the end, and those of
 * requests, which are lost. Healthy: requests delete theirs.
 */
#include "pace.h"

struct Entry {
    char text[100];
};

static bool healthy;
static Entry *table[1000];

__attribute__((noinline)) Entry *make_entry()
{
    return new Entry();
}

__attribute__((noinline)) void handle_request()
{
    Entry *entry = make_entry();
    use(entry);
    if (healthy)
        delete entry;
}

int main(int count, char **values)
{
    healthy = is_healthy(count, values);
    for (Entry *&entry : table)
        entry = make_entry();
    use(table);
    run_rounds(100, std::chrono::milliseconds(2), [](int) { handle_request(); });
    for (Entry *&entry : table)
        entry = nullptr;
    use(table);
}
