/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python functions that the calling thread runs.
 *
 * Everything here only reads, takes no lock and allocates nothing, but for python_wait(). It may
 * run in any thread and at any point of the interpreter's life, also in a signal handler. */
#pragma once

#include <stddef.h>
#include <string.h>

#include "capture/mprof.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/memory.h"

/* One walk. */
struct walk {
    const struct python_interpreter *interpreter;
    bool guarded; /* the interpreter's end waits for it */
};

/* Lines of instructions that were looked up: a hash, and in its lowest bits the line. */
#define WALK_LINES 16384u

/* The facts about the interpreter that the walk needs. */
struct python_interpreter {
    const struct python_layout *layout;
    /* PyGILState_GetThisThreadState(): the thread's first state. NULL: it has none. */
    void *(*own_state)(void);
    /* PyThreadState_GetUnchecked() or its older name: in 3.11 the state that holds the lock,
     * whosever it is; later that of the calling thread, if it holds the lock. */
    void *(*current_state)(void);
    int (*is_initialized)(void);
    const void *code_type, *dict_type; /* PyCode_Type and so on */
};

/* As mprof_runtime_calls.name: `data` is the struct python_interpreter. */
void python_name(void *data, const void *key, struct mprof_frame_name *out);

/* Waits, when the interpreter has begun to end and before it frees its threads' states, for the
 * walks of threads that do not hold its lock. At most two seconds. */
void python_wait(const struct python_interpreter *interpreter);
/* Forgets the walks of threads that the child does not have. */
void python_after_fork(void);

/* The state of one walk, and its rare steps. */

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

/* Begins a walk. Returns what the thread state has as its innermost frame, or NULL if the thread
 * runs no Python. A thread without a first state has no others.
 *
 * If the thread holds the interpreter's lock, nobody else frees what it reads. If not, its frames
 * stay as they are until the interpreter ends in another thread. That thread frees the state soon,
 * but the frames' memory only after it has waited for the walks that have begun (python_wait());
 * their code objects stay. Later walks see that the interpreter ends. Call walk_end() in any
 * case. */
const unsigned char *walk_begin(struct walk *walk, const struct python_interpreter *interpreter);
void walk_end(struct walk *walk);

/* Looks a line up in a code object's table, which is a bytes object. `first`: the function's line;
 * `offset`: bytes from the first instruction. */
unsigned walk_find_line(const struct walk *walk, const unsigned char *table, int first,
                        ptrdiff_t offset);
extern _Atomic uint64_t walk_lines[WALK_LINES] __attribute__((visibility("hidden")));

/* The table of a code object that leads from instructions to source lines: co_linetable of CPython
 * 3.11 to 3.13 (Objects/locations.md in its sources). */

/* Returns the line of the instruction at `offset` bytes, which is `first` if `offset` is negative.
 * `table` has `size` bytes, `first` is the line where the function begins. 0: the instruction has
 * no line, or the table cannot be read. */
unsigned line_table_find(const unsigned char *table, size_t size, int first, ptrdiff_t offset);
