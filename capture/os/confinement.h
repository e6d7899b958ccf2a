/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the program's seccomp filters, and tells which calls of the recorder they allow.
 *
 * After a program has confined itself, the kernel answers a call that the filter does not allow by
 * an error, by SIGSYS, or by killing the process. The recorder must not cause that. So it keeps the
 * filters and puts each of its own calls to them first (os_set_permission_check()). It does not
 * make a call that a filter does not plainly allow, and counts the call as failed.
 *
 * The recorder cannot see filters that were set before the program was executed. It only knows the
 * calls that mprof-run found them to punish.
 */
#ifndef MPROF_CAPTURE_OS_CONFINEMENT_H
#define MPROF_CAPTURE_OS_CONFINEMENT_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* No filter was kept. */
#define CONFINEMENT_NONE UINT32_MAX

/*
 * Keeps a filter that the program is about to set, and returns the argument of
 * confinement_remove(). Call it before the filter is set, since with SECCOMP_FILTER_FLAG_TSYNC the
 * filter holds for all threads at once; then call confinement_begin(). If there is no room to keep
 * the filter, nothing is allowed. A filter that the kernel cannot read is not kept.
 */
uint32_t confinement_add(const struct sock_fprog *program);

/* Does the same for strict mode: read, write, exit and sigreturn. */
uint32_t confinement_add_strict(void);

/* Adds `count` calls that a filter from before the start punishes. Call it once, before the process
 * has other threads. */
void confinement_add_calls(const uint32_t *numbers, uint32_t count);

/* Makes the recorder ask before each call from here on. */
void confinement_begin(void);

/* Drops a filter that the kernel refused. */
void confinement_remove(uint32_t kept);

/* Tells whether all filters allow the call. */
bool confinement_allows(long number, const uint64_t arguments[6]);

/*
 * Returns the answer of a filter to one call, as the kernel's interpreter gives it. 0 (kill the
 * thread) for an unknown instruction, and if the answer depends on the place of the call. `data` is
 * struct seccomp_data.
 */
uint32_t confinement_run(const struct sock_filter *code, uint32_t count, const uint32_t *data);

#endif
