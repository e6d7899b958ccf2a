/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry points that start another process: posix_spawn and posix_spawnp. They record nothing, but
 * choose the environment of programs that cannot be recorded.
 */
#include <errno.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "capture/entry/names.h"
#include "capture/record/exec_environment.h"
#include "capture/record/real.h"
#include "capture/record/unrecorded_program.h"

typedef int (*spawn_function)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                              const posix_spawnattr_t *, char *const[], char *const[]);

static _Atomic(spawn_function) entry_next_spawn, entry_next_spawnp;

static spawn_function find_spawn(bool search)
{
    _Atomic(spawn_function) *place = search ? &entry_next_spawnp : &entry_next_spawn;
    spawn_function next = atomic_load(place);
    if (!next) {
        next = (spawn_function)real_find(search ? "posix_spawnp" : "posix_spawn");
        atomic_store(place, next);
    }
    return next;
}

static int spawn(bool search, pid_t *process, const char *file,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    int error = errno;
    spawn_function next = find_spawn(search);
    EXEC_ENVIRONMENT_ON_STACK(envp, exec_environment_of(file, search, envp));
    char note[UNRECORDED_NAME_SIZE(exec_choice)];
    pid_t child = 0;
    errno = error;
    const int result = next(process ? process : &child, file, actions, attributes, argv, envp);
    error = errno;
    if (result == 0)
        unrecorded_program_note(&exec_choice, file, argv, process ? *process : child, note);
    errno = error;
    return result;
}

ENTRY_POINT int posix_spawn(pid_t *process, const char *path,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const argv[],
                            char *const envp[])
{
    return spawn(false, process, path, actions, attributes, argv, envp);
}

ENTRY_POINT int posix_spawnp(pid_t *process, const char *file,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const argv[],
                             char *const envp[])
{
    return spawn(true, process, file, actions, attributes, argv, envp);
}
