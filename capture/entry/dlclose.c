/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry point of dlclose. A library that is loaded later in the same place is another module.
 *
 * It has its own file, so that a static program has the C library's dlclose only if it calls it.
 */
#include <stdatomic.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/unhooked_modules.h"
#include "capture/stack/stack.h"

#ifdef MPROF_STATIC
int __real_dlclose(void *handle);
static int (*entry_next(void))(void *)
{
    return __real_dlclose;
}
#else
int dlclose(void *handle);
static int (*entry_next(void))(void *)
{
    static _Atomic(int (*)(void *)) next;
    if (!atomic_load(&next))
        atomic_store(&next, (int (*)(void *))real_find("dlclose"));
    return atomic_load(&next);
}

void entry_dlclose_resolve(void)
{
    entry_next();
}
#endif

ENTRY_POINT int ENTRY(dlclose)(void *handle)
{
    unhooked_modules_check();
    int result = entry_next()(handle);
    struct thread *thread = recorder_enter(__builtin_frame_address(0), RECORDER_NOTE);
    if (thread) {
        stack_modules_changed(thread);
        recorder_leave();
    }
    return result;
}
