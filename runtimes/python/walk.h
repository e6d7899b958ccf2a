/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Python functions that the calling thread runs.
 *
 * Everything here only reads, takes no lock and allocates nothing, but for python_wait(). It may
 * run in any thread and at any point of the interpreter's life, also in a signal handler.
 */
#ifndef MPROF_RUNTIMES_PYTHON_WALK_H
#define MPROF_RUNTIMES_PYTHON_WALK_H

#include "capture/mprof.h"

#include "runtimes/python/layout.h"

/* The facts about the interpreter that the walk needs. */
struct python_interpreter {
    const struct python_layout *layout;
    /* PyGILState_GetThisThreadState(): the thread's first state. NULL: it has none. */
    void *(*own_state)(void);
    /* PyThreadState_GetUnchecked() or its older name: in 3.11 the state that holds the lock,
     * whosever it is; later that of the calling thread, if it holds the lock. */
    void *(*current_state)(void);
    int (*is_initialized)(void);
    const void *code_type, *tuple_type, *dict_type; /* PyCode_Type and so on */
};

/* As mprof_runtime_calls.name: `data` is the struct python_interpreter. */
void python_name(void *data, const void *key, struct mprof_frame_name *out);

/* Waits, when the interpreter has begun to end and before it frees its threads' states, for the
 * walks of threads that do not hold its lock. At most two seconds. */
void python_wait(const struct python_interpreter *interpreter);
/* Forgets the walks of threads that the child does not have. */
void python_after_fork(void);

#endif
