/*
 * The environment of a program that is about to be executed: without the recorder in LD_PRELOAD
 * where that would end the program, which then runs unrecorded, as one line says.
 *
 * May be called in a child that vfork made: nothing is allocated, and only the caller's memory
 * written.
 */
#ifndef MPROF_CAPTURE_EXEC_ENVIRONMENT_H
#define MPROF_CAPTURE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#define EXEC_PRELOAD_MAX 4096u

/*
 * How many entries the environment has that the program is to get instead, its end included; 0: its
 * own will do. `search`: a name without a slash is looked for in PATH.
 */
size_t exec_environment_entries(const char *file, bool search, char *const envp[]);

/* The same of what execveat executes. */
size_t exec_environment_entries_at(int directory, const char *path, int flags, char *const envp[]);

/* The same of a file that is open, be it only as a place (O_PATH). */
size_t exec_environment_entries_of(int descriptor, char *const envp[]);

/* Fills `entries` with it; `preload` holds the entry that is another. */
void exec_environment_fill(char *const envp[], char **entries, char preload[EXEC_PRELOAD_MAX]);

#endif
