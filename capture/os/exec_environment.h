/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the environment of a program that is about to be executed.
 *
 * If the recorder would end the program, this environment leaves it out of LD_PRELOAD, and one line
 * says that the program runs unrecorded. It also carries what the recorder knows of the program's
 * seccomp filters, since they hold for the next program too.
 *
 * These functions may be called in a child that vfork made: they allocate nothing and write only
 * the caller's memory.
 */
#ifndef MPROF_CAPTURE_OS_EXEC_ENVIRONMENT_H
#define MPROF_CAPTURE_OS_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#define EXEC_TEXT_MAX 4096u

struct exec_environment {
    size_t entries;  /* the number of its entries, the end included; 0: the program keeps its own */
    bool unrecorded; /* the recorder is left out */
};

/* Returns the environment to use. `search`: looks for a name without a slash in PATH. */
struct exec_environment exec_environment_of(const char *file, bool search, char *const envp[]);

/* Does the same for the file that execveat executes. */
struct exec_environment exec_environment_at(int directory, const char *path, int flags,
                                            char *const envp[]);

/* Does the same for an open file, also one that is open only as a place (O_PATH). */
struct exec_environment exec_environment_of_descriptor(int descriptor, char *const envp[]);

/* Fills `entries` with the environment. `text` holds the entry that changes. */
void exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                           char **entries, char text[EXEC_TEXT_MAX]);

/*
 * Makes the variable `envp` the environment that `environment_call` (one of the three above)
 * chooses. It lies on the stack of the calling function until that returns: a child that vfork made
 * has nowhere else to write.
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
