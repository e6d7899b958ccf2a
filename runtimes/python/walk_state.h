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
    const struct python_layout *layout;
    struct memory frames, codes;
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
 * Begins a walk. Returns the thread state whose frames the thread runs, NULL if there is none. A
 * thread without a first state has no others. If the thread does not hold the lock, its frames stay
 * as they are, but the interpreter may end.
 */
const unsigned char *walk_begin(struct walk *walk, const struct python_interpreter *interpreter);

/* Looks a line up in a code object's table, which is a bytes object. `first`: the function's line;
 * `offset`: bytes from the first instruction. */
unsigned walk_find_line(struct walk *walk, const unsigned char *table, int first, ptrdiff_t offset);

/* Lines of instructions that were looked up: a hash, and in its lowest bits the line. */
#define WALK_LINES 16384u
extern _Atomic uint64_t walk_lines[WALK_LINES] __attribute__((visibility("hidden")));

#endif
