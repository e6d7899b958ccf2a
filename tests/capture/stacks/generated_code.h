/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls through code of every kind that a stack can lead through: with an unwinding rule or
 * without one, from a file or generated.
 *
 * A chain is an array of functions. Each is called with the address of the rest of the array. It
 * calls the next function with the address of the rest after that. The last one returns.
 */
#ifndef MPROF_TESTS_GENERATED_CODE_H
#define MPROF_TESTS_GENERATED_CODE_H

#include <stddef.h>
#include <stdint.h>

typedef void (*chain_link)(const void *const *rest);

/* Has a rule and no frame pointer. */
void link_ruled(const void *const *rest);
/* Has a rule; rbp is an ordinary register. */
void link_clobbers(const void *const *rest);
/* Has no rule and a frame pointer. */
void link_framed(const void *const *rest);
/* The addresses to which the call in each of them returns. */
extern const uint8_t link_ruled_back[], link_clobbers_back[], link_framed_back[], link_framed_end[];

/* Calls `call` with this rbp, from code that has no rule. */
void call_with_frame_pointer(uint64_t rbp, void (*call)(void));

/* Maps a page between two that nobody may touch, with a copy of link_framed(). */
const uint8_t *generated_map(void);
/* Returns the address to which the call in such a copy returns. */
static inline uint64_t generated_back(const uint8_t *code)
{
    return (uint64_t)code + (uint64_t)(link_framed_back - (const uint8_t *)link_framed);
}

#endif
