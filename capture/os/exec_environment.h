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
    bool unrecorded; /* the recorder and its libraries are left out */
    bool unsized;    /* only libmprof_sized.so is left out: the program is not one of C++ */
};

/* Returns the environment to use. `search`: looks for a name without a slash in PATH. */
struct exec_environment exec_environment_of(const char *file, bool search, char *const envp[]);

/* Does the same for the file that execveat executes. */
struct exec_environment exec_environment_at(int directory, const char *path, int flags,
                                            char *const envp[]);

/* Does the same for an open file, also one that is open only as a place (O_PATH). */
struct exec_environment exec_environment_of_descriptor(int descriptor, char *const envp[]);

/*
 * Returns the environment to pass on: `envp` if the program keeps its own. Otherwise fills
 * `entries` (environment->entries of them) and `text` (EXEC_TEXT_MAX bytes, the entry that
 * changes), and returns `entries`.
 */
char *const *exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                                   char **entries, char *text);

/*
 * Declares two arrays in the calling function, and sets its variable `envp` to the environment that
 * `choice` (a call of one of the three above) chooses, which may use them. This is a macro because
 * the arrays must last until the program is executed, their size is only known then, and a child
 * that vfork made has only its caller's stack to write to. Use it once in a function. In a static
 * program it does nothing: such a program's environment preloads nothing that could do harm.
 */
#ifdef MPROF_STATIC
#define EXEC_ENVIRONMENT_ON_STACK(envp, choice) ((void)0)
#else
#define EXEC_ENVIRONMENT_ON_STACK(envp, choice)                                                    \
    const struct exec_environment exec_choice = choice;                                            \
    char *exec_entries[exec_choice.entries + 1];                                                   \
    char exec_text[exec_choice.entries ? EXEC_TEXT_MAX : 1];                                       \
    (envp) = exec_environment_fill(&exec_choice, envp, exec_entries, exec_text)
#endif

#endif
