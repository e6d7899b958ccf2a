/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that do not report themselves, between ones that do. */
#ifndef MPROF_TESTS_INSTRUMENTED_ELSEWHERE_H
#define MPROF_TESTS_INSTRUMENTED_ELSEWHERE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void elsewhere_call(void (*function)(int), int depth);
void elsewhere_strdup(size_t size);
void in_recurse_callback(int depth);

#ifdef __cplusplus
}
#endif

#endif
