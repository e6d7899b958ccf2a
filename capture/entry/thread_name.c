/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry point of pthread_setname_np. It notes a thread's name when the thread gets it.
 *
 * It has its own file, so that a static program has the C library's function only if it calls it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/thread.h"
#include "capture/record/thread_room.h"

#ifdef MPROF_STATIC
int __real_pthread_setname_np(pthread_t thread, const char *name);
static int (*entry_next(void))(pthread_t, const char *)
{
    return __real_pthread_setname_np;
}
#else
static int (*entry_next(void))(pthread_t, const char *)
{
    static _Atomic(int (*)(pthread_t, const char *)) next;
    if (!atomic_load(&next))
        atomic_store(&next, (int (*)(pthread_t, const char *))real_find("pthread_setname_np"));
    return atomic_load(&next);
}

void entry_thread_name_resolve(void)
{
    entry_next();
}
#endif

ENTRY_POINT int ENTRY(pthread_setname_np)(pthread_t target, const char *name)
{
    int result = entry_next()(target, name);
    if (result == 0 && pthread_equal(target, pthread_self())) {
        struct thread *thread = recorder_enter(__builtin_frame_address(0), RECORDER_NOTE);
        if (thread) {
            thread_update_name(thread);
            recorder_leave();
        }
    }
    return result;
}
