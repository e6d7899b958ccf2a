/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry point of pthread_setname_np. It notes a thread's name when the thread gets it.
 *
 * It has its own file, so that a static program has the C library's function only if it calls
 * it. */
#include <pthread.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/thread.h"
#include "capture/record/thread_room.h"

NEXT_FUNCTION(pthread_setname_np)

#ifndef MPROF_STATIC
void entry_thread_name_resolve(void)
{
    next_pthread_setname_np();
}
#endif

ENTRY_POINT int ENTRY(pthread_setname_np)(pthread_t target, const char *name)
{
    int result = next_pthread_setname_np()(target, name);
    if (result == 0 && pthread_equal(target, pthread_self())) {
        struct thread *thread = recorder_enter(__builtin_frame_address(0), RECORDER_NOTE);
        if (thread) {
            thread_update_name(thread);
            recorder_leave();
        }
    }
    return result;
}
