/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program's seccomp filters leave of the calls that recording makes.
 *
 * A program may confine itself: from then on the kernel answers a call that it does not allow by an
 * error, by SIGSYS, or by killing the process. The recorder must not be what brings that about.
 * So the filters are kept, and each of the recorder's own calls is put to them before it is made
 * (os_permit_by()); one that a filter does not plainly allow is not made and counts as failed.
 *
 * Filters that were there when the program was executed cannot be seen; of them only those calls
 * are known that mprof-run found to be punished.
 */
#ifndef MPROF_CAPTURE_CONFINEMENT_H
#define MPROF_CAPTURE_CONFINEMENT_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* None was kept. */
#define CONFINEMENT_NONE UINT32_MAX

/*
 * Keeps a filter that the program is about to set, and returns what confinement_remove() takes. To
 * be called before the filter is set, since with SECCOMP_FILTER_FLAG_TSYNC it holds for all threads
 * at once; then confinement_begin(). What there is no room to keep allows nothing; what the kernel
 * cannot read is not kept.
 */
uint32_t confinement_add(const struct sock_fprog *program);

/* The same for strict mode: read, write, exit and sigreturn. */
uint32_t confinement_add_strict(void);

/* `count` calls that a filter from before the start punishes. To be called once, without threads.
 */
void confinement_add_calls(const uint32_t *numbers, uint32_t count);

/* From here on the recorder asks before each call. */
void confinement_begin(void);

/* Takes one back that the kernel refused. */
void confinement_remove(uint32_t kept);

/* Whether all filters allow the call. */
bool confinement_allows(long number, const uint64_t arguments[6]);

/*
 * The filters' answer, as the kernel's interpreter gives it, to one call; 0 (kill the thread) for
 * an instruction that is unknown, and where the answer depends on the place of the call. `data` is
 * struct seccomp_data.
 */
uint32_t confinement_run(const struct sock_filter *code, uint32_t count, const uint32_t *data);

#endif
