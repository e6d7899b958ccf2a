/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the process of a session that a user names by the option --process. A process id that has
 * executed several programs has a row for each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The word for the sum of all processes. */
#define PROCESS_CHOICE_ALL "all"

/* A row of the table `process`. */
struct process_choice {
    int64_t pid;
    unsigned place;      /* position among the programs of that process id, from 1 */
    const char *program; /* argv[0], with folders or without */
    uint64_t bytes;      /* bytes that it allocated */
    uint64_t resident;   /* its largest resident set, 0: not known */
};

/* A resident set below this is mostly code and start-up, and tells nothing of the program's heap.
 */
#define PROCESS_CHOICE_RESIDENT (UINT64_C(16) << 20)

/* Returns what a process weighs when one is chosen: the bytes that it allocated, or if that is more
 * its resident set: a runtime may have a heap that no call to an allocator shows. */
static inline uint64_t process_choice_weight(const struct process_choice *row)
{
    return row->resident >= PROCESS_CHOICE_RESIDENT && row->resident > row->bytes ? row->resident
                                                                                  : row->bytes;
}

/* Returns true if `word` is the row's PID, PID.PLACE or program, with folders or without. */
static inline bool process_choice_matches(const struct process_choice *row, const char *word)
{
    char number[48];
    const char *slash = strrchr(row->program, '/');
    snprintf(number, sizeof(number), "%lld", (long long)row->pid);
    if (strcmp(word, number) == 0)
        return true;
    snprintf(number, sizeof(number), "%lld.%u", (long long)row->pid, row->place);
    return strcmp(word, number) == 0 || strcmp(word, row->program) == 0 ||
           (slash && strcmp(word, slash + 1) == 0);
}

/* Returns the index of the row that `word` means, or `count` if no row matches. NULL matches every
 * row. If several rows match, it is the one of most weight, the first among equals.
 * Stores the number of matching rows in *matches. */
static inline size_t process_choose(const struct process_choice *rows, size_t count,
                                    const char *word, size_t *matches)
{
    size_t best = count;
    *matches = 0;
    for (size_t i = 0; i < count; i++) {
        if (word && !process_choice_matches(&rows[i], word))
            continue;
        ++*matches;
        if (best == count || process_choice_weight(&rows[i]) > process_choice_weight(&rows[best]))
            best = i;
    }
    return best;
}
