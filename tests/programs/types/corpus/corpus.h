/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small cases that state what they allocate, for a judge that compares this with a session
 * (tests/ingest/types/corpus.py). The truth comes from the running program. Each statement names an
 * address and the type of the block that holds it, and goes into the trace as a mark.
 *
 *     CASE(name) { ... }            a function of its own, run once
 *     IS(address, type, count)      the live block that holds the address; it may stay unknown
 *     KNOWN(address, type, count)   the same, but unknown is a fault, and so is any wrong answer
 *     MADE(type, count)             the last block made, if none of its addresses is available
 *     MADE_KNOWN(type, count)
 *
 * `type` is spelled as mprof does; "|" separates several right ones. "?": it cannot be known, and
 * any answer is wrong. "*": it has no name that both compilers give it. ANY_COUNT: the number of
 * elements is not checked.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct corpus_case {
    const char *name;
    void (*run)(void);
    struct corpus_case *next;
};
void corpus_add(struct corpus_case *added);
void corpus_is(const volatile void *address, const char *type, unsigned long count);
void corpus_known(const volatile void *address, const char *type, unsigned long count);
/* malloc() of another unit, which ends the program where it fails. */
void *corpus_take(unsigned long size);

/* Numbers and a place that no compiler knows. */
extern volatile unsigned long corpus_one, corpus_few; /* 1 and 5 */
extern const volatile void *volatile corpus_sink;

#ifdef __cplusplus
}
#endif

#define CASE(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void name##_added(void)                                    \
    {                                                                                              \
        static struct corpus_case self = {#name, name, NULL};                                      \
        corpus_add(&self);                                                                         \
    }                                                                                              \
    __attribute__((noinline)) static void name(void)

#define ANY_COUNT 0
#define IS(address, type, count) corpus_is(address, type, count)
#define KNOWN(address, type, count) corpus_known(address, type, count)
#define MADE(type, count) corpus_is(NULL, type, count)
#define MADE_KNOWN(type, count) corpus_known(NULL, type, count)
#define KEEP(pointer) (corpus_sink = (pointer))
#define APART __attribute__((noinline))

#endif
