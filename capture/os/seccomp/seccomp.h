/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the recorder's system calls from harming a program under seccomp filters. Other folders
 * include only this header of the folder.
 *
 * Why it is here: the recorder makes system calls of its own, for example to let the trace grow. A
 * seccomp filter answers a call that it does not allow by an error, by SIGSYS, or by killing the
 * process. A filter that was written for the program does not know the recorder's calls. So without
 * this folder a program could die only because it is recorded. There are two cases:
 *
 * 1. The program sets a filter while it is recorded. entry/confine.c sees that and keeps the filter
 *    here. From then on an interpreter of filters judges each of the recorder's calls first
 *    (os_set_permission_check()). If a filter does not plainly allow the call, the recorder does
 *    not make it and goes on as after an error. The kernel cannot be asked, because it would carry
 *    out its answer. libseccomp writes filters and does not interpret them.
 * 2. The filter was set before the program was executed, for example by a container. It cannot be
 *    read. A filter that answers by errors does no harm. One that kills would kill the program for
 *    a call that only the recorder makes. So a child of mprof-run tries the required calls
 *    (run/sandbox.c). The recorder gets the numbers of those that killed it (the option `without`)
 *    and keeps them here as one more filter. If a confined program executes another one,
 *    exec_environment.c passes on the forbidden calls in the same way.
 *
 * Inside: filters.c keeps the filters and interprets them, required_calls.c is the table of calls,
 * and reads the filters of a process that mprof-run attaches to.
 *
 * When it can be deleted: when the recorder makes no system call after the program has started,
 * because another process does that work; or when the kernel tells the answer of a filter without
 * carrying it out. The following then goes too: run/sandbox.c, what run/attach.c does about
 * filters, the option `without`, os_set_permission_check(), trace_file_may_grow(), what
 * entry/confine.c does about filters, and the tests recorder_confined, recorder_sandbox and
 * test_seccomp. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if the calling thread is under a filter, or that cannot be found out. It only opens,
 * reads and closes a file, as the loader does. prctl gives the answer too, but a filter may punish
 * that call. If the kernel knows no filters, there is none. Call it once, while there are no
 * threads. */
bool seccomp_is_on(void);

/* Does the same with a descriptor of /proc/PID/status, which it reads up to the answer. */
bool seccomp_is_on_by(int descriptor);

/* No filter was kept. */
#define SECCOMP_FILTERS_NONE UINT32_MAX

struct sock_fprog;

/* Keeps a filter that the program is about to set, and returns the argument of
 * seccomp_filters_remove(). Call it before the filter is set, because with
 * SECCOMP_FILTER_FLAG_TSYNC the filter holds for all threads at once; then call
 * seccomp_filters_begin(). If there is no room to keep the filter, nothing is allowed. A filter
 * that the kernel cannot read is not kept. */
uint32_t seccomp_filters_add(const struct sock_fprog *program);

/* Does the same with the filters of another process's thread, which the caller traces and has
 * stopped, for mprof-run. False with errno if they cannot be read. */
bool seccomp_filters_add_of(int thread);

/* Does the same for strict mode: read, write, exit and sigreturn. */
uint32_t seccomp_filters_add_strict(void);

/* Adds `count` calls that a filter from before the start punishes. Call it once, before the process
 * has other threads. */
void seccomp_filters_add_calls(const uint32_t *numbers, uint32_t count);

/* Makes the recorder ask before each call from here on. */
void seccomp_filters_begin(void);

/* Drops a filter that the kernel refused. */
void seccomp_filters_remove(uint32_t kept);

/* Returns true if all filters allow the call. */
bool seccomp_filters_allow(long number, const uint64_t arguments[6]);

/* A system call that the recorder or mprof-run makes. */
struct required_call {
    const char *name;
    uint64_t arguments[6]; /* those of the recorder, changed so that the call does nothing */
    uint16_t number;
    bool needed; /* without it nothing can be recorded */
};

#define REQUIRED_CALLS_MAX 64u

/* The calls, in the order in which they may be tried. */
extern const struct required_call required_calls[];
extern const size_t required_calls_count;

/* The most bytes that required_calls_forbidden() writes. */
#define REQUIRED_CALLS_TEXT ((size_t)REQUIRED_CALLS_MAX * 6)

/* Writes the numbers of the required calls that the filters forbid into `text`, with colons between
 * (NULL: only counts them). Returns their number. Clears *possible if recording needs one. */
size_t required_calls_forbidden(char *text, bool *possible);

/* Returns the answer of a filter to one call, as the kernel's interpreter gives it. 0 (kill the
 * thread) for an unknown instruction, and if the answer depends on the place of the call. `data` is
 * struct seccomp_data. Only this folder uses it. */
struct sock_filter;
uint32_t seccomp_evaluate(const struct sock_filter *code, uint32_t count, const uint32_t *data);
