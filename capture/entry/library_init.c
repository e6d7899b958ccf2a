/* SPDX-License-Identifier: BSD-2-Clause */
/* Begins recording in the library's constructor and ends it in the destructor.
 *
 * Most programs allocate before the constructor runs, and recording has then begun already. At exit
 * the loader chooses the order of destructors; frees after this one are still recorded. */

#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "capture/entry/startup.h"
#include "capture/os/message.h"
#include "capture/os/own_variables.h"
#include "capture/os/program_image.h"
#include "capture/record/control.h"
#include "capture/record/real.h"
#include "capture/record/recorder.h"
#include "capture/record/state.h"
#include "capture/record/unhooked_modules.h"

__attribute__((constructor)) static void begin(void);
__attribute__((destructor)) static void end(void);

static bool ended;

bool library_has_ended(void)
{
    return ended;
}

static void end_quickly(void)
{
    ended = true;
    unhooked_modules_end();
    recorder_end(__builtin_frame_address(0), TRACE_END_QUICK_EXIT);
}

void library_ends_at_quick_exit(void)
{
    /* These functions run in reverse order: the one that is registered first runs last. */
    at_quick_exit(end_quickly);
}

#ifdef MPROF_STATIC
/* Tells others that the program records itself. */
__attribute__((used, section(".note.mprof"), aligned(4))) static const char note_of_recorder[] =
    PROGRAM_NOTE_OF_RECORDER;

/* Warns if the program has an interpreter, so that it loads shared libraries. */
static void warn_of_unseen_libraries(void)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    for (unsigned long i = 0; segments && i < getauxval(AT_PHNUM); i++)
        if (segments[i].p_type == PT_INTERP)
            message_line("the program is linked with libmprof.a, but not with -static: ",
                         "what its shared libraries allocate is not recorded. ",
                         "Link it with -lmprof instead.", NULL);
}
#endif

static void begin(void)
{
    recorder_loaded();
#ifndef MPROF_STATIC
    if (real_is_apart()) /* attach.c begins, if anybody asks */
        return;
#endif
    own_variables_take();
    api_bind();
    recorder_start();
    entry_process_resolve();
    entry_confine_resolve();
#ifndef MPROF_STATIC
    /* Not under the guard, because what the loader allocates for its answers is freed later. */
    if (recorder_can_record()) {
        operator_new_warn();
        unhooked_modules_init();
    }
#else
    if (recorder_can_record())
        warn_of_unseen_libraries();
#endif
    if (recorder_can_record())
        program_suppressions_ask();
    library_ends_at_quick_exit();
}

static void end(void)
{
    ended = true;
    unhooked_modules_end();
    recorder_end(__builtin_frame_address(0), TRACE_END_EXIT);
}
