/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the environment of a program that is about to be executed: that which the program gives,
 * and the recorder's own variables (own_variables.h), whatever the program has done with its
 * environment.
 *
 * If the recorder would end the program, or its loader would complain, this environment leaves the
 * recorder out of LD_PRELOAD, and one line says that the program runs unrecorded. It also carries
 * what the recorder knows of the program's seccomp filters, since they hold for the next program
 * too.
 *
 * These functions may be called in a child that vfork made: they allocate nothing and write only
 * the caller's memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/os/trace_name.h"
#include "schemas/trace_layout.h"

#define EXEC_PROGRAM_MAX 512u

struct exec_environment {
    size_t entries; /* the number of its entries, the end included; 0: the program keeps its own */
    size_t text_size;               /* for the entries that change */
    const char *preload;            /* the program's own LD_PRELOAD, or NULL */
    const char *options;            /* the value of MPROF_OPTIONS to change, or NULL */
    bool bare;                      /* the recorder and its libraries are left out */
    bool unsized;                   /* libmprof_sized.so is left out: no program of C++ */
    enum trace_unrecorded reason;   /* why the program runs unrecorded, if it does */
    char program[EXEC_PROGRAM_MAX]; /* then: its path */
};

/* Returns the environment to use. `search`: looks for a name without a slash in PATH. */
struct exec_environment exec_environment_of(const char *file, bool search, char *const envp[]);

/* Does the same for the file that execveat executes. */
struct exec_environment exec_environment_at(int directory, const char *path, int flags,
                                            char *const envp[]);

/* Does the same for fexecve: for an open file, also one that is open only as a place (O_PATH).
 * Without an environment that function fails, so it gets none. */
struct exec_environment exec_environment_of_descriptor(int descriptor, char *const envp[]);

/* Returns the environment to pass on: `envp` if the program keeps its own. Otherwise fills
 * `entries` (environment->entries of them) and `text` (environment->text_size bytes, for entries
 * that change), and returns `entries`. */
char *const *exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                                   char **entries, char *text);

/* Declares two arrays in the calling function, and sets its variable `envp` to the environment that
 * `choice` (a call of one of the three above) chooses, which may use them. This is a macro because
 * the arrays must last until the program is executed, their size is only known then, and a child
 * that vfork made has only its caller's stack to write to. Use it once in a function. In a static
 * program it does nothing: such a program keeps the variables. */
#ifdef MPROF_STATIC
#define EXEC_ENVIRONMENT_ON_STACK(envp, choice) ((void)0)
#else
#define EXEC_ENVIRONMENT_ON_STACK(envp, choice)                                                    \
    const struct exec_environment exec_choice = choice;                                            \
    char *exec_entries[exec_choice.entries + 1];                                                   \
    char exec_text[exec_choice.text_size + 1];                                                     \
    (envp) = exec_environment_fill(&exec_choice, envp, exec_entries, exec_text)
#endif

/* Notes the programs of a run that run without the recorder, so that they are not missing without a
 * word. Each gets a trace of its own (trace_name.h). If that cannot be made, the trace of this
 * process counts the program. */
#ifdef MPROF_STATIC
static inline void unrecorded_program_want(bool wanted)
{
}
static inline void unrecorded_program_note_self(const char *output, bool first)
{
}
#else
/* Sets whether programs are noted: only under mprof-run, and if executed programs are recorded. */
void unrecorded_program_want(bool wanted);

/* Notes this program, which has its own allocator. `output`: the value of MPROF_OUTPUT. `first`:
 * the run began with this process. */
void unrecorded_program_note_self(const char *output, bool first);

/* Notes a program that `process` (0: this one) executes, if the environment for it gives a reason.
 * Also in a child that vfork made. `name` gets the trace's path (TRACE_NAME_SIZE bytes), or "". */
void unrecorded_program_note(const struct exec_environment *environment, const char *path,
                             char *const argv[], int process, char *name);
/* Takes it back, because the program was not executed. */
void unrecorded_program_undo(const char *name);

/* The bytes of `name` that a call needs, for an array on the stack. */
#define UNRECORDED_NAME_SIZE(environment) ((environment).reason ? TRACE_NAME_SIZE : 1)
#endif
