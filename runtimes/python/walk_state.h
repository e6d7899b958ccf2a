/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one walk, and its rare steps. */
#ifndef MPROF_RUNTIMES_PYTHON_WALK_STATE_H
#define MPROF_RUNTIMES_PYTHON_WALK_STATE_H

#include <string.h>

#include "runtimes/python/memory.h"
#include "runtimes/python/walk.h"

/* One walk. */
struct walk {
    const struct python_interpreter *interpreter;
    bool guarded; /* the interpreter's end waits for it */
};

static inline uint64_t word_at(const void *object, unsigned offset)
{
    uint64_t word;
    memcpy(&word, (const unsigned char *)object + offset, sizeof(word));
    return word;
}

static inline const void *pointer_at(const void *object, unsigned offset)
{
    const void *pointer;
    memcpy(&pointer, (const unsigned char *)object + offset, sizeof(pointer));
    return pointer;
}

static inline int int_at(const void *object, unsigned offset)
{
    int value;
    memcpy(&value, (const unsigned char *)object + offset, sizeof(value));
    return value;
}

/*
 * Begins a walk. Returns what the thread state has as its innermost frame, or NULL if the thread
 * runs no Python. A thread without a first state has no others.
 *
 * If the thread holds the interpreter's lock, nobody else frees what it reads. If not, its frames
 * stay as they are until the interpreter ends in another thread. That thread frees the state soon,
 * but the frames' memory only after it has waited for the walks that have begun (python_wait());
 * their code objects stay. Later walks see that the interpreter ends. Call walk_end() in any case.
 */
const unsigned char *walk_begin(struct walk *walk, const struct python_interpreter *interpreter);
void walk_end(struct walk *walk);

/* Looks a line up in a code object's table, which is a bytes object. `first`: the function's line;
 * `offset`: bytes from the first instruction. */
unsigned walk_find_line(const struct walk *walk, const unsigned char *table, int first,
                        ptrdiff_t offset);

/* Lines of instructions that were looked up: a hash, and in its lowest bits the line. */
#define WALK_LINES 16384u
extern _Atomic uint64_t walk_lines[WALK_LINES] __attribute__((visibility("hidden")));

#endif
