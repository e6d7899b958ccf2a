/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry point of dlclose. A library that is loaded later in the same place is another module.
 *
 * It has its own file, so that a static program has the C library's dlclose only if it calls it. */
#include <dlfcn.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/unhooked_modules.h"
#include "capture/stack/stack.h"

NEXT_FUNCTION(dlclose)

#ifndef MPROF_STATIC
void entry_dlclose_resolve(void)
{
    next_dlclose();
}
#endif

ENTRY_POINT int ENTRY(dlclose)(void *handle)
{
    unhooked_modules_check();
    int result = next_dlclose()(handle);
    struct thread *thread = recorder_enter(__builtin_frame_address(0), RECORDER_NOTE);
    if (thread) {
        stack_modules_changed(thread);
        recorder_leave();
    }
    return result;
}
