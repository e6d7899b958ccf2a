/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points that change or end the process: exec and _exit.
 *
 * exec seals the trace before the real call, and unseals it if that fails. A vfork child shares its
 * parent's memory: recorder_end() sees that the child is not the owner and leaves the trace alone.
 * The C library's own posix_spawn, system and popen do not come here. They do not have to, because
 * their child has nothing of its own. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/os/os.h"
#include "capture/record/control.h"
#include "capture/record/events.h"
#include "capture/record/exec_environment.h"
#include "capture/record/real.h"

#define FRAME __builtin_frame_address(0)

NEXT_FUNCTION(execve)
NEXT_FUNCTION(execvpe)
NEXT_FUNCTION(fexecve)
NEXT_FUNCTION(execveat)
NEXT_FUNCTION(_exit)

/* In a static program it only brings this file into every program, since the C library, which is
 * linked later, also has calls of _exit that are wrapped. */
void entry_process_resolve(void)
{
#ifndef MPROF_STATIC
    next_execve();
    next_execvpe();
    next_fexecve();
    next_execveat();
    next__exit();
    entry_close_resolve();
    entry_dlclose_resolve();
    entry_thread_name_resolve();
#endif
}

/* The body of each function that executes a program: chooses the environment, ends the trace, notes
 * the program if it runs unrecorded, makes the real call, and takes all that back if it fails. It
 * is a macro because its arrays must last (exec_environment.h). */
#ifdef MPROF_STATIC
#define EXECUTE(choice, path, call)                                                                \
    recorder_end(FRAME, TRACE_END_EXEC);                                                           \
    call;                                                                                          \
    return exec_failed("")
#else
#define EXECUTE(choice, path, call)                                                                \
    EXEC_ENVIRONMENT_ON_STACK(envp, choice);                                                       \
    char exec_note[UNRECORDED_NAME_SIZE(exec_choice)];                                             \
    recorder_end(FRAME, TRACE_END_EXEC);                                                           \
    unrecorded_program_note(&exec_choice, path, argv, 0, exec_note);                               \
    call;                                                                                          \
    return exec_failed(exec_note)
#endif

static int exec_failed(const char *note)
{
    int error = errno;
#ifndef MPROF_STATIC
    unrecorded_program_undo(note);
#else
#endif
    recorder_end_undone();
    errno = error;
    return -1;
}

ENTRY_POINT int ENTRY(execve)(const char *path, char *const argv[], char *const envp[])
{
    __typeof__(execve) *next = next_execve();
    EXECUTE(exec_environment_of(path, false, envp), path, next(path, argv, envp));
}

ENTRY_POINT int ENTRY(execv)(const char *path, char *const argv[])
{
    __typeof__(execve) *next = next_execve();
    char *const *envp = environ;
    EXECUTE(exec_environment_of(path, false, envp), path, next(path, argv, envp));
}

ENTRY_POINT int ENTRY(execvpe)(const char *file, char *const argv[], char *const envp[])
{
    __typeof__(execvpe) *next = next_execvpe();
    EXECUTE(exec_environment_of(file, true, envp), file, next(file, argv, envp));
}

ENTRY_POINT int ENTRY(execvp)(const char *file, char *const argv[])
{
    __typeof__(execvpe) *next = next_execvpe();
    char *const *envp = environ;
    EXECUTE(exec_environment_of(file, true, envp), file, next(file, argv, envp));
}

ENTRY_POINT int ENTRY(fexecve)(int descriptor, char *const argv[], char *const envp[])
{
    __typeof__(fexecve) *next = next_fexecve();
    EXECUTE(exec_environment_of_descriptor(descriptor, envp), NULL, next(descriptor, argv, envp));
}

ENTRY_POINT int ENTRY(execveat)(int directory, const char *path, char *const argv[],
                                char *const envp[], int flags)
{
    __typeof__(execveat) *next = next_execveat();
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    EXECUTE(exec_environment_at(directory, path, flags, envp), path,
            next(directory, path, argv, envp, flags));
}

/* Collects the arguments of execl and its kin in an array. It lies on the stack of the caller, as
 * in the C library, since a vfork child must not allocate. */
#define COLLECT(first, list)                                                                       \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    size_t count = 1; /* the named first argument */                                               \
    while (va_arg(list, char *))                                                                   \
        count++;                                                                                   \
    va_end(list);                                                                                  \
    char *argv[count + 1];                                                                         \
    va_start(list, first);                                                                         \
    argv[0] = (char *)(uintptr_t)(first);                                                          \
    for (size_t i = 1; i <= count; i++)                                                            \
    argv[i] = va_arg(list, char *)

ENTRY_POINT int ENTRY(execl)(const char *path, const char *first, ...)
{
    COLLECT(first, list);
    va_end(list);
    return ENTRY(execv)(path, argv);
}

ENTRY_POINT int ENTRY(execlp)(const char *file, const char *first, ...)
{
    COLLECT(first, list);
    va_end(list);
    return ENTRY(execvp)(file, argv);
}

ENTRY_POINT int ENTRY(execle)(const char *path, const char *first, ...)
{
    COLLECT(first, list);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return ENTRY(execve)(path, argv, envp);
}

ENTRY_POINT void ENTRY(_exit)(int status)
{
    __typeof__(_exit) *next = next__exit();
    /* In a static program exit() itself calls this at its end. */
    if (!library_has_ended())
        recorder_end(FRAME, TRACE_END_QUICK_EXIT);
    next(status);
    __builtin_unreachable();
}

ENTRY_POINT void ENTRY(_Exit)(int status)
{
    ENTRY(_exit)(status);
}
