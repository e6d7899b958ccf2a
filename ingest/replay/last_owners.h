/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remembers whose blocks lived last at each address, in grains of 16 bytes: each free paints the
 * bytes of its block, so the last one shows. A page that one block covered needs one number; others
 * need a kilobyte, of which there are at most OWNER_PAGES_MOST. Pages that a moment shows to have
 * gone are forgotten.
 */
#ifndef MPROF_INGEST_REPLAY_LAST_OWNERS_H
#define MPROF_INGEST_REPLAY_LAST_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNER_NONE 0u
#define OWNER_PAGES_MOST ((size_t)512 << 10)

struct owner_page {
    uint64_t page; /* plus 1; 0: none */
    uint32_t whole;
    uint32_t *grains; /* NULL: all are `whole` */
};

/* All zero at first, but for `shift`. */
struct last_owners {
    uint64_t shift; /* is added to addresses, so that blocks begin at grains */
    struct owner_page *pages;
    size_t capacity, count, divided;
};

/* The block [low, high) of `owner` has ended. False if memory is exhausted. */
bool last_owners_paint(struct last_owners *owners, uint64_t low, uint64_t high, uint32_t owner);

/* Calls `each` for the owners of the parts of [low, high), OWNER_NONE: not known. */
void last_owners_ask(const struct last_owners *owners, uint64_t low, uint64_t high,
                     void (*each)(void *context, uint32_t owner, uint64_t bytes), void *context);

/* Forgets the pages of which `keep` returns false. It is asked in no order. */
bool last_owners_forget(struct last_owners *owners, bool (*keep)(void *context, uint64_t page),
                        void *context);
void last_owners_free(struct last_owners *owners);

#endif
