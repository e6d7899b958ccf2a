/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A test program states the type of its next allocation: TRUTH("type", count). The statement goes
 * to a preloaded logger; without one it does nothing.
 */
#ifndef TRUTH_H
#define TRUTH_H

#ifdef __cplusplus
extern "C" {
#endif
void allocation_truth(const char *type, unsigned long count) __attribute__((weak));
#ifdef __cplusplus
}
#endif

#define TRUTH(type, count)                                                                         \
    do {                                                                                           \
        if (allocation_truth)                                                                      \
            allocation_truth(type, count);                                                         \
    } while (0)

#endif
