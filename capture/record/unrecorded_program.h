/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes the programs of a run that run without the recorder, so that they are not missing without a
 * word. Each gets a trace of its own (unrecorded.h). If that cannot be made, the trace of this
 * process counts the program.
 */
#ifndef MPROF_CAPTURE_RECORD_UNRECORDED_PROGRAM_H
#define MPROF_CAPTURE_RECORD_UNRECORDED_PROGRAM_H

#include <stdbool.h>

#include "capture/options/trace_name.h"
#include "capture/record/exec_environment.h"

#ifdef MPROF_STATIC
static inline void unrecorded_program_want(bool wanted)
{
    (void)wanted;
}
static inline void unrecorded_program_note_self(const char *output, bool first)
{
    (void)output;
    (void)first;
}
#else
/* Sets whether programs are noted: only under mprof-run, and if executed programs are recorded. */
void unrecorded_program_want(bool wanted);

/* Notes this program, which has its own allocator. `output`: the value of MPROF_OUTPUT. `first`:
 * the run began with this process. */
void unrecorded_program_note_self(const char *output, bool first);

/*
 * Notes a program that `process` (0: this one) executes, if the environment for it gives a reason.
 * It may be called in a child that vfork made. `name` gets the path of the trace (TRACE_NAME_SIZE
 * bytes), or "".
 */
void unrecorded_program_note(const struct exec_environment *environment, const char *path,
                             char *const argv[], int process, char *name);
/* Takes it back, because the program was not executed. */
void unrecorded_program_undo(const char *name);

/* The bytes of `name` that a call needs, for an array on the stack. */
#define UNRECORDED_NAME_SIZE(environment) ((environment).reason ? TRACE_NAME_SIZE : 1)
#endif

#endif
