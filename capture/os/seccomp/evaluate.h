/* SPDX-License-Identifier: BSD-2-Clause */
/* The interpreter of seccomp filters. Only this folder uses it. */
#ifndef MPROF_CAPTURE_OS_SECCOMP_EVALUATE_H
#define MPROF_CAPTURE_OS_SECCOMP_EVALUATE_H

#include <linux/filter.h>
#include <stdint.h>

/*
 * Returns the answer of a filter to one call, as the kernel's interpreter gives it. 0 (kill the
 * thread) for an unknown instruction, and if the answer depends on the place of the call. `data` is
 * struct seccomp_data.
 */
uint32_t seccomp_evaluate(const struct sock_filter *code, uint32_t count, const uint32_t *data);

#endif
