/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/last_owners.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/hash.h"

/* Blocks of more bytes, and more pages, are not remembered. */
#define LARGEST ((uint64_t)1 << 30)
#define PAGES_MOST ((size_t)4 << 20)

enum { GRAIN = 16, GRAINS = 256, PAGE_BYTES = GRAIN * GRAINS };

static struct owner_page *find(const struct last_owners *owners, uint64_t page)
{
    size_t at = (size_t)hash_number(page) & (owners->capacity - 1);
    while (owners->pages[at].page != 0 && owners->pages[at].page != page + 1)
        at = (at + 1) & (owners->capacity - 1);
    return &owners->pages[at];
}

/* Makes a table of `capacity` places with the pages that are kept. */
static bool rebuild(struct last_owners *owners, size_t capacity,
                    bool (*keep)(void *context, uint64_t page), void *context)
{
    struct last_owners next = {.shift = owners->shift, .capacity = capacity};
    next.pages = calloc(capacity, sizeof(*next.pages));
    if (!next.pages)
        return false;
    for (size_t i = 0; i < owners->capacity; i++) {
        struct owner_page *old = &owners->pages[i];
        if (old->page == 0)
            continue;
        if (keep && !keep(context, old->page - 1)) {
            free(old->grains);
            continue;
        }
        *find(&next, old->page - 1) = *old;
        next.count++;
        next.divided += old->grains != NULL;
    }
    free(owners->pages);
    *owners = next;
    return true;
}

/* Returns the place of the page, a new one if there is none. NULL if memory is exhausted. */
static struct owner_page *place(struct last_owners *owners, uint64_t page)
{
    if ((owners->count + 1) * 2 > owners->capacity &&
        !rebuild(owners, owners->capacity ? owners->capacity * 2 : 1024, NULL, NULL))
        return NULL;
    struct owner_page *found = find(owners, page);
    if (found->page == 0) {
        *found = (struct owner_page){.page = page + 1};
        owners->count++;
    }
    return found;
}

static bool paint_part(struct last_owners *owners, struct owner_page *page, unsigned from,
                       unsigned to, uint32_t owner)
{
    if (!page->grains && page->whole == owner)
        return true;
    if (!page->grains) {
        if (owners->divided >= OWNER_PAGES_MOST) {
            page->whole = OWNER_NONE;
            return true;
        }
        page->grains = malloc(GRAINS * sizeof(*page->grains));
        if (!page->grains)
            return false;
        owners->divided++;
        for (unsigned i = 0; i < GRAINS; i++)
            page->grains[i] = page->whole;
    }
    for (unsigned i = from; i < to; i++)
        page->grains[i] = owner;
    return true;
}

bool last_owners_paint(struct last_owners *owners, uint64_t low, uint64_t high, uint32_t owner)
{
    low += owners->shift;
    high += owners->shift;
    if (high - low > LARGEST || owners->count >= PAGES_MOST)
        return true;
    for (uint64_t at = low; at < high;) {
        const uint64_t number = at / PAGE_BYTES, start = number * PAGE_BYTES;
        const uint64_t end = high - start < PAGE_BYTES ? high : start + PAGE_BYTES;
        struct owner_page *page = place(owners, number);
        if (!page)
            return false;
        if (at == start && end == start + PAGE_BYTES) {
            owners->divided -= page->grains != NULL;
            free(page->grains);
            page->grains = NULL;
            page->whole = owner;
        } else if (!paint_part(owners, page, (unsigned)(at - start) / GRAIN,
                               (unsigned)(end - start + GRAIN - 1) / GRAIN, owner))
            return false;
        at = end;
    }
    return true;
}

void last_owners_ask(const struct last_owners *owners, uint64_t low, uint64_t high,
                     void (*each)(void *context, uint32_t owner, uint64_t bytes), void *context)
{
    low += owners->shift;
    high += owners->shift;
    for (uint64_t at = low; at < high;) {
        const uint64_t number = at / PAGE_BYTES, start = number * PAGE_BYTES;
        const uint64_t end = high - start < PAGE_BYTES ? high : start + PAGE_BYTES;
        const struct owner_page *page = owners->capacity ? find(owners, number) : NULL;
        if (!page || page->page == 0 || !page->grains) {
            each(context, page && page->page ? page->whole : OWNER_NONE, end - at);
            at = end;
            continue;
        }
        while (at < end) {
            const uint32_t owner = page->grains[(at - start) / GRAIN];
            uint64_t to = at;
            while (to < end && page->grains[(to - start) / GRAIN] == owner)
                to = to - to % GRAIN + GRAIN;
            to = to < end ? to : end;
            each(context, owner, to - at);
            at = to;
        }
    }
}

bool last_owners_forget(struct last_owners *owners, bool (*keep)(void *context, uint64_t page),
                        void *context)
{
    return owners->capacity == 0 || rebuild(owners, owners->capacity, keep, context);
}

void last_owners_free(struct last_owners *owners)
{
    for (size_t i = 0; i < owners->capacity; i++)
        free(owners->pages[i].grains);
    free(owners->pages);
    *owners = (struct last_owners){0};
}
