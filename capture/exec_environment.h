/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment of a program that is about to be executed: without the recorder in LD_PRELOAD
 * where that would end the program, which then runs unrecorded, as one line says; and with what the
 * recorder knows of the program's seccomp filters, which are the next program's too.
 *
 * May be called in a child that vfork made: nothing is allocated, and only the caller's memory
 * written.
 */
#ifndef MPROF_CAPTURE_EXEC_ENVIRONMENT_H
#define MPROF_CAPTURE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#define EXEC_TEXT_MAX 4096u

struct exec_environment {
    size_t entries;  /* that it is to have, the end included; 0: the program's own will do */
    bool unrecorded; /* the recorder is to be left out */
};

/* What the program is to get. `search`: a name without a slash is looked for in PATH. */
struct exec_environment exec_environment_of(const char *file, bool search, char *const envp[]);

/* The same of what execveat executes. */
struct exec_environment exec_environment_at(int directory, const char *path, int flags,
                                            char *const envp[]);

/* The same of a file that is open, be it only as a place (O_PATH). */
struct exec_environment exec_environment_of_descriptor(int descriptor, char *const envp[]);

/* Fills `entries` with it; `text` holds the entry that is another. */
void exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                           char **entries, char text[EXEC_TEXT_MAX]);

/*
 * Makes the variable `envp` the environment that the program can be executed with, as
 * `environment_call` (one of the three above) says. It lies on the stack of the function that this
 * stands in, until that returns: a child that vfork made has nowhere else to write.
 */
#define EXEC_ENVIRONMENT_SUIT(environment_call, envp)                                              \
    const struct exec_environment suits = environment_call;                                        \
    char *own[suits.entries + 1], text[suits.entries ? EXEC_TEXT_MAX : 1];                         \
    if (suits.entries) {                                                                           \
        exec_environment_fill(&suits, envp, own, text);                                            \
        (envp) = own;                                                                              \
    }                                                                                              \
    ((void)0)

#endif
