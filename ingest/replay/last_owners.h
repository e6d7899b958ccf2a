/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers whose blocks lived last at each address, in grains of 16 bytes: each free paints the
 * bytes of its block, so the last one shows. A page that one block covered needs one number; others
 * need a kilobyte, of which there are at most OWNER_PAGES_MOST. Pages that a moment shows to have
 * gone are forgotten. */
#pragma once

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

/* A free that is not painted yet. */
struct owner_span {
    uint64_t low, high;
    uint32_t owner;
};
enum { OWNER_SPANS = 32 };

/* All zero at first, but for `shift`. */
struct last_owners {
    uint64_t shift; /* is added to addresses, so that blocks begin at grains */
    struct owner_page *pages;
    size_t capacity, count, blank, divided; /* blank: of count, pages of which nothing is known */
    uint32_t **slabs;                       /* that grains lie in */
    size_t slab_count, slab_capacity;
    uint64_t *fresh; /* pages known since the last call of last_owners_forget(); not all if more
                        than `capacity` */
    size_t fresh_count, fresh_capacity;
    void *unused; /* grains of no page; each begins with a pointer to the next */
    /* Frees are painted together: the processor fetches the pages of one while it paints others. */
    struct owner_span waiting[OWNER_SPANS];
    size_t waiting_count;
};

/* The block [low, high) of `owner` has ended. False if memory is exhausted. */
bool last_owners_paint(struct last_owners *owners, uint64_t low, uint64_t high, uint32_t owner);

/* Paints all ended blocks, before the two functions below. False if memory is exhausted. */
bool last_owners_settle(struct last_owners *owners);

/* Calls `each` for the owners of the parts of [low, high), OWNER_NONE: not known. */
void last_owners_ask(const struct last_owners *owners, uint64_t low, uint64_t high,
                     void (*each)(void *context, uint32_t owner, uint64_t bytes), void *context);

/* Forgets the pages that `is_present` does not have. `gone` tells which pages it has no more since
 * the call before: calls `each` for them, or returns false if they are more than `most`. False if
 * memory is exhausted. */
struct last_owners_pages {
    bool (*is_present)(const void *context, uint64_t page);
    bool (*gone)(const void *context, uint64_t most,
                 void (*each)(struct last_owners *owners, uint64_t page),
                 struct last_owners *owners);
    const void *context;
};
bool last_owners_forget(struct last_owners *owners, const struct last_owners_pages *pages);
void last_owners_free(struct last_owners *owners);
