/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's side of mprof-run --pid: begins and ends recording in a process that runs already.
 * capture/os/attach.h describes the mailbox.
 *
 * mprof-run lets one thread of the process call the mailbox where a program may call dlopen. The
 * other threads go on. Their calls come here from the moment that a slot is changed, but they are
 * recorded only after all slots are: until then the recording waits, as with --start-on. */
#include "capture/os/attach.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/os/message.h"
#include "capture/record/control.h"
#include "capture/record/file.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"
#include "capture/record/recorder.h"
#include "capture/record/thread_room.h"
#include "capture/record/unhooked_modules.h"

#define FRAME __builtin_frame_address(0)

static void attend(void);

static struct attach_mailbox own_mailbox = {
    .size = sizeof(struct attach_mailbox),
    .before_bytes = UINT64_MAX,
    .call = attend,
};
/* The name under which mprof-run finds it. */
extern struct attach_mailbox mprof_attach_1
    __attribute__((alias("own_mailbox"), visibility("default")));

/* Returns true if the function belongs to the allocator that the program calls. */
static bool is_of_allocator(void *function)
{
    Dl_info one, other;
    return function && dladdr(function, &one) && dladdr((void *)real.malloc, &other) &&
           one.dli_fbase == other.dli_fbase;
}

/* Asks glibc or jemalloc for the bytes of the program's live blocks. UINT64_MAX: it does not say.
 */
static uint64_t live_before(void)
{
    void *info = real_find("mallinfo2"), *control = real_find("mallctl");
    if (is_of_allocator(info)) {
        const struct mallinfo2 sum = ((struct mallinfo2(*)(void))info)();
        return sum.uordblks + sum.hblkhd;
    }
    if (is_of_allocator(control)) {
        int (*const ask)(const char *, void *, size_t *, void *, size_t) =
            (int (*)(const char *, void *, size_t *, void *, size_t))control;
        uint64_t epoch = 1;
        size_t live, size = sizeof(live);
        if (ask("epoch", NULL, NULL, &epoch, sizeof(epoch)) == 0 &&
            ask("stats.allocated", &live, &size, NULL, 0) == 0)
            return live;
    }
    return UINT64_MAX;
}

/* Does what the constructor does in a program that begins with the recorder. */
static void prepare_once(void)
{
    static bool prepared;
    if (prepared)
        return;
    prepared = true;
    real_take_first();
    api_bind();
    entry_process_resolve();
    entry_confine_resolve();
    library_ends_at_quick_exit();
}

/* Writes what was live before. */
static void put_before(uint64_t bytes)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_NOTE);
    if (!thread)
        return;
    thread_put_numbers(thread, TRACE_EXT_BEFORE, bytes);
    recorder_leave();
}

static enum attach_answer begin(struct attach_mailbox *mailbox)
{
    if (trace_file_is_open() && recorder_can_record()) {
        strncpy(mailbox->output, trace_file_path(), sizeof(mailbox->output) - 1);
        return ATTACH_ALREADY;
    }
    if (!real_is_apart()) {
        message_line("the program has been started with the recorder, which has ended", NULL);
        return ATTACH_FAILED;
    }
    prepare_once();
    mailbox->before_bytes = live_before();
    if (!recorder_start_apart(FRAME, mailbox->options, mailbox->output))
        return ATTACH_FAILED;
    mailbox->left = unhooked_modules_take();
    strncpy(mailbox->output, trace_file_path(), sizeof(mailbox->output) - 1);
    if (mailbox->before_bytes != UINT64_MAX)
        put_before(mailbox->before_bytes);
    recorder_set_paused(FRAME, false);
    return ATTACH_DONE;
}

static enum attach_answer end(void)
{
    recorder_stop(FRAME);
    unhooked_modules_give_back();
    return ATTACH_DONE;
}

static void attend(void)
{
    struct attach_mailbox *mailbox = &own_mailbox;
    mailbox->message[0] = '\0';
    message_divert(mailbox->message, sizeof(mailbox->message));
    enum attach_answer answer = ATTACH_FAILED;
    if (mailbox->request == ATTACH_BEGIN)
        answer = begin(mailbox);
    else if (mailbox->request == ATTACH_END)
        answer = end();
    message_divert(NULL, 0);
    mailbox->answer = (uint32_t)answer;
}
