/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls through code of every kind that a stack can lead through: with an unwinding rule or
 * without, of a file or generated.
 *
 * A chain is an array of functions. Each is called with the address of what follows it in the
 * array, and calls that in turn with the address behind; the last one returns.
 */
#ifndef MPROF_TESTS_GENERATED_CODE_H
#define MPROF_TESTS_GENERATED_CODE_H

#include <stddef.h>
#include <stdint.h>

typedef void (*chain_link)(const void *const *rest);

/* With a rule, without a frame pointer. */
void link_ruled(const void *const *rest);
/* With a rule; rbp is one register among others. */
void link_clobbers(const void *const *rest);
/* Without a rule, with a frame pointer. */
void link_framed(const void *const *rest);
/* Where the call in each of them returns to. */
extern const uint8_t link_ruled_back[], link_clobbers_back[], link_framed_back[], link_framed_end[];

/* Calls `call` with this rbp, from code that has no rule. */
void call_with_frame_pointer(uint64_t rbp, void (*call)(void));

/* A page of its own, between two that nobody may touch, with a copy of link_framed(). */
const uint8_t *generated_map(void);
/* Where the call in such a copy returns to. */
static inline uint64_t generated_back(const uint8_t *code)
{
    return (uint64_t)code + (uint64_t)(link_framed_back - (const uint8_t *)link_framed);
}

#endif
