/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/marks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "capture/options/options.h"
#include "capture/os/arch_x86_64.h"
#include "capture/record/control.h"
#include "capture/record/gate.h"
#include "capture/record/thread_room.h"

#define NAME_MAX_LENGTH 255u

static char marks_start[OPTIONS_MARK], marks_stop[OPTIONS_MARK];

static bool put_name(const void *frame, enum trace_extended type, const char *name)
{
    struct thread *thread = recorder_enter(frame, RECORDER_NOTE);
    if (!thread)
        return false;
    uint8_t *p = thread_extended_begin(thread, NAME_MAX_LENGTH + 32);
    if (p) {
        p = thread_put_when(thread, p);
        p = trace_put_string(p, name ? name : "", name ? strnlen(name, NAME_MAX_LENGTH) : 0);
        thread_extended_end(thread, type, p);
    }
    recorder_leave();
    return p != NULL;
}

void marks_set(const char *start, const char *stop)
{
    memcpy(marks_start, start, strnlen(start, sizeof(marks_start) - 1));
    memcpy(marks_stop, stop, strnlen(stop, sizeof(marks_stop) - 1));
}

static bool is_mark(const char *wanted, const char *name)
{
    return wanted[0] && name && strcmp(wanted, name) == 0;
}

ARCH_ALIGNS_STACK bool marks_put(const void *frame, const char *name)
{
    if (is_mark(marks_start, name) && recorder_set_paused(frame, false))
        marks_start[0] = 0; /* this mark ends no later pause */
    bool put = put_name(frame, TRACE_EXT_MARK, name);
    if (is_mark(marks_stop, name))
        recorder_stop(frame);
    return put;
}

/* Callback and data belong together. A new pair goes to a place that no thread is reading, and a
 * single store makes it the present one. */
#define PAIRS 64u

static struct {
    struct pair {
        void (*callback)(void *data);
        void *data;
    } pairs[PAIRS];
    _Atomic uint32_t taken; /* place 0 is never written and means no callback */
    _Atomic uint32_t present;
} snapshot;

static __thread bool inside __attribute__((tls_model("initial-exec")));

void marks_on_snapshot(void (*callback)(void *data), void *data)
{
    uint32_t place = callback ? 1 + atomic_fetch_add(&snapshot.taken, 1) % (PAIRS - 1) : 0;
    if (callback)
        snapshot.pairs[place] = (struct pair){callback, data};
    atomic_store(&snapshot.present, place);
}

/* Calls the callback, if there is one and this thread is not inside it. The caller must not hold
 * the guard. errno keeps its value. */
static void call_back(void)
{
    struct pair pair = snapshot.pairs[atomic_load(&snapshot.present)];
    if (!pair.callback || inside)
        return;
    int error = errno;
    inside = true;
    pair.callback(pair.data);
    inside = false;
    errno = error;
}

bool marks_put_snapshot(const void *frame, const char *name)
{
    if (recorder_can_record())
        call_back();
    return put_name(frame, TRACE_EXT_SNAPSHOT, name);
}
