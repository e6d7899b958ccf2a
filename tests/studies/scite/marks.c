/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks that a script of Lua can set: package.loadlib("marks.so", "mark_opened")(). */
#include <mprof.h>

#define MARK(name)                                                                                 \
    int mark_##name(void *lua)                                                                     \
    {                                                                                              \
        (void)lua;                                                                                 \
        mprof_snapshot(#name);                                                                     \
        return 0;                                                                                  \
    }

MARK(started)
MARK(opened)
MARK(pasted)
MARK(typed)
MARK(undone)
MARK(one_key)
MARK(emptied)
MARK(cleared)
MARK(closed)
