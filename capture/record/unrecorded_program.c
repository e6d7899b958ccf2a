/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/unrecorded_program.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/options/unrecorded.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/executable_name.h"
#include "capture/os/os.h"
#include "capture/record/process_record.h"
#include "capture/trace/file.h"

#define WORDS_MAX 128u

static bool is_wanted;

void unrecorded_program_want(bool wanted)
{
    is_wanted = wanted;
}

void unrecorded_program_note_self(const char *output, bool first)
{
    static char path[TRACE_NAME_SIZE], name[TRACE_NAME_SIZE]; /* one thread begins a recording */
    const char *words[WORDS_MAX + 1];
    if (!is_wanted || !output)
        return;
    executable_name(path, sizeof(path));
    process_record_words(words, WORDS_MAX);
    unrecorded_make(&(struct unrecorded){.base = trace_file_base(output),
                                         .first = first,
                                         .process = os_process_id(),
                                         .parent = (int)os_call(SYS_getppid, 0, 0, 0, 0, 0, 0),
                                         .path = path,
                                         .words = words,
                                         .reason = TRACE_UNRECORDED_OWN_ALLOCATOR},
                    name);
}

ARCH_ALIGNS_STACK void unrecorded_program_note(const struct exec_environment *environment,
                                               const char *path, char *const argv[], int process,
                                               char *name)
{
    const int own = os_process_id();
    name[0] = 0;
    if (!is_wanted || !environment->reason)
        return;
    const struct unrecorded program = {
        .base = trace_file_base(NULL),
        .process = process ? process : own,
        .parent = process ? own : (int)os_call(SYS_getppid, 0, 0, 0, 0, 0, 0),
        .path = environment->program[0] ? environment->program : path,
        .words = (const char *const *)argv,
        .reason = environment->reason};
    if (!program.base[0] || !program.path || !unrecorded_make(&program, name)) {
        name[0] = 0;
        trace_file_count_unnamed();
    }
}

void unrecorded_program_undo(const char *name)
{
    if (name[0])
        os_call_retry(SYS_unlink, (long)name, 0, 0, 0);
}
