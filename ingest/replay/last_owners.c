/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/last_owners.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* Blocks of more bytes, and more pages, are not remembered. */
#define LARGEST ((uint64_t)1 << 30)
#define PAGES_MOST ((size_t)4 << 20)

enum { GRAIN = 16, GRAINS = 256, PAGE_BYTES = GRAIN * GRAINS, PAGES_PER_SLAB = 2048 };

static void give_back(struct last_owners *owners, uint32_t *grains)
{
    if (!grains)
        return;
    memcpy(grains, &owners->unused, sizeof(owners->unused));
    owners->unused = grains;
}

/* Returns the grains for a page. NULL if memory is exhausted. */
static uint32_t *take_grains(struct last_owners *owners)
{
    uint32_t *grains = owners->unused;
    if (grains) {
        memcpy(&owners->unused, grains, sizeof(owners->unused));
        return grains;
    }
    grains = array_scattered((size_t)PAGES_PER_SLAB * GRAINS * sizeof(*grains));
    if (!grains || !ARRAY_GROW(owners->slabs, owners->slab_count, owners->slab_capacity)) {
        free(grains);
        return NULL;
    }
    owners->slabs[owners->slab_count++] = grains;
    for (size_t i = PAGES_PER_SLAB; i-- > 1;)
        give_back(owners, grains + i * GRAINS);
    return grains;
}

static size_t home(const struct last_owners *owners, uint64_t page)
{
    return (size_t)hash_number(page) & (owners->capacity - 1);
}

static struct owner_page *find(const struct last_owners *owners, uint64_t page)
{
    size_t at = home(owners, page);
    while (owners->pages[at].page != 0 && owners->pages[at].page != page + 1)
        at = (at + 1) & (owners->capacity - 1);
    return &owners->pages[at];
}

/* Returns true for a page of which nothing is known. */
static bool is_blank(const struct owner_page *page)
{
    return !page->grains && page->whole == OWNER_NONE;
}

/* Makes a table with the pages of which something is known, twice as large if it is small or over a
 * quarter of its places has one. */
static bool rebuild(struct last_owners *owners)
{
    const struct last_owners old = *owners;
    const size_t known = old.count - old.blank;
    owners->capacity = old.capacity == 0          ? 1024
                       : known * 4 > old.capacity ? old.capacity * 2
                                                  : old.capacity;
    owners->pages = calloc(owners->capacity, sizeof(*owners->pages));
    if (!owners->pages) {
        *owners = old;
        return false;
    }
    owners->count = owners->blank = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.pages[i].page == 0 || is_blank(&old.pages[i]))
            continue;
        *find(owners, old.pages[i].page - 1) = old.pages[i];
        owners->count++;
    }
    free(old.pages);
    return true;
}

/* Returns the place of the page, a new one if there is none. NULL if memory is exhausted. */
static struct owner_page *place(struct last_owners *owners, uint64_t page)
{
    if ((owners->count + 1) * 2 > owners->capacity && !rebuild(owners))
        return NULL;
    struct owner_page *found = find(owners, page);
    if (found->page == 0) {
        *found = (struct owner_page){.page = page + 1};
        owners->count++;
        owners->blank++;
    }
    return found;
}

/* Notes that something is known of a page that was blank. */
static bool note_fresh(struct last_owners *owners, uint64_t page)
{
    owners->blank--;
    if (owners->fresh_count > owners->capacity)
        return true;
    if (!ARRAY_GROW(owners->fresh, owners->fresh_count, owners->fresh_capacity))
        return false;
    owners->fresh[owners->fresh_count++] = page;
    return true;
}

static bool paint_part(struct last_owners *owners, struct owner_page *page, unsigned from,
                       unsigned to, uint32_t owner)
{
    if (!page->grains && page->whole == owner)
        return true;
    if (!page->grains) {
        if (owners->divided >= OWNER_PAGES_MOST) {
            owners->blank += page->whole != OWNER_NONE;
            page->whole = OWNER_NONE;
            return true;
        }
        page->grains = take_grains(owners);
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

static bool paint(struct last_owners *owners, uint64_t low, uint64_t high, uint32_t owner)
{
    if (high - low > LARGEST || owners->count - owners->blank >= PAGES_MOST)
        return true;
    for (uint64_t at = low; at < high;) {
        const uint64_t number = at / PAGE_BYTES, start = number * PAGE_BYTES;
        const uint64_t end = high - start < PAGE_BYTES ? high : start + PAGE_BYTES;
        struct owner_page *page = place(owners, number);
        if (!page)
            return false;
        const bool blank = is_blank(page);
        if (at == start && end == start + PAGE_BYTES) {
            owners->divided -= page->grains != NULL;
            give_back(owners, page->grains);
            page->grains = NULL;
            page->whole = owner;
        } else if (!paint_part(owners, page, (unsigned)(at - start) / GRAIN,
                               (unsigned)(end - start + GRAIN - 1) / GRAIN, owner))
            return false;
        if (blank && !is_blank(page) && !note_fresh(owners, number))
            return false;
        at = end;
    }
    return true;
}

bool last_owners_settle(struct last_owners *owners)
{
    for (size_t i = 0; owners->capacity && i < owners->waiting_count; i++)
        __builtin_prefetch(&owners->pages[home(owners, owners->waiting[i].low / PAGE_BYTES)]);
    for (size_t i = 0; owners->capacity && i < owners->waiting_count; i++) {
        const uint64_t low = owners->waiting[i].low, last = owners->waiting[i].high - 1;
        const struct owner_page *page = find(owners, low / PAGE_BYTES);
        if (!page->grains)
            continue;
        __builtin_prefetch(&page->grains[low % PAGE_BYTES / GRAIN], 1);
        if (low / PAGE_BYTES == last / PAGE_BYTES)
            __builtin_prefetch(&page->grains[last % PAGE_BYTES / GRAIN], 1);
    }
    for (size_t i = 0; i < owners->waiting_count; i++) {
        const struct owner_span *span = &owners->waiting[i];
        if (!paint(owners, span->low, span->high, span->owner))
            return false;
    }
    owners->waiting_count = 0;
    return true;
}

bool last_owners_paint(struct last_owners *owners, uint64_t low, uint64_t high, uint32_t owner)
{
    low += owners->shift;
    high += owners->shift;
    owners->waiting[owners->waiting_count++] = (struct owner_span){low, high, owner};
    return owners->waiting_count < OWNER_SPANS || last_owners_settle(owners);
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

static void forget(struct last_owners *owners, uint64_t number)
{
    struct owner_page *page = find(owners, number);
    if (page->page == 0 || is_blank(page))
        return;
    owners->blank++;
    owners->divided -= page->grains != NULL;
    give_back(owners, page->grains);
    page->grains = NULL;
    page->whole = OWNER_NONE;
}

bool last_owners_forget(struct last_owners *owners, const struct last_owners_pages *pages)
{
    if (owners->capacity == 0)
        return true;
    if (owners->fresh_count <= owners->capacity &&
        pages->gone(pages->context, owners->count, forget, owners)) {
        for (size_t i = 0; i < owners->fresh_count; i++)
            if (!pages->is_present(pages->context, owners->fresh[i]))
                forget(owners, owners->fresh[i]);
    } else
        for (size_t i = 0; i < owners->capacity; i++)
            if (owners->pages[i].page &&
                !pages->is_present(pages->context, owners->pages[i].page - 1))
                forget(owners, owners->pages[i].page - 1);
    owners->fresh_count = 0;
    return owners->blank * 2 <= owners->count || rebuild(owners);
}

void last_owners_free(struct last_owners *owners)
{
    for (size_t i = 0; i < owners->slab_count; i++)
        free(owners->slabs[i]);
    FREE_ALL(owners->slabs, owners->fresh, owners->pages);
    *owners = (struct last_owners){0};
}
