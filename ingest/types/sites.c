/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/sites.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/generation_cache.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/source/statement_facts.h"

/* The number of last used sites that are certainly kept. */
#define SITES 8192

struct kept_site {
    struct types_frame frame;
    struct types_site *site; /* NULL: an item without content (generation_cache.h) */
};

struct types_sites {
    struct generation_cache recent;
};

static void free_site(struct types_site *site)
{
    if (!site)
        return;
    free(site->called);
    types_statement_facts_free(site->statement, site->entry_count);
    free(site->frames);
    free(site->entries);
    free(site);
}

static void drop(void *item)
{
    const struct kept_site *kept = item;
    free_site(kept->site);
}

static bool same_frame(const void *item, const void *key)
{
    const struct kept_site *kept = item;
    const struct types_frame *frame = key;
    return kept->site && kept->frame.pc == frame->pc && kept->frame.module == frame->module;
}

struct types_sites *types_sites_new(void)
{
    struct types_sites *sites = calloc(1, sizeof(*sites));
    if (sites)
        sites->recent = (struct generation_cache){
            .item_size = sizeof(struct kept_site), .limit = SITES, .drop = drop};
    return sites;
}

void types_sites_free(struct types_sites *sites)
{
    if (sites)
        generation_cache_free(&sites->recent);
    free(sites);
}

static uint64_t hash_of(const struct types_frame *frame)
{
    return hash_combine(hash_combine(hash_seed(), frame->pc), frame->module);
}

struct types_site *types_sites_find(struct types_sites *sites, const struct types_frame *frame)
{
    const struct kept_site *kept =
        generation_cache_find(&sites->recent, hash_of(frame), same_frame, frame);
    return !kept ? NULL : kept->site;
}

/* Copies `count` items, with room for at least one. */
static void *copy_of(const void *items, size_t count, size_t size)
{
    void *copy = malloc((count + 1) * size);
    if (copy && count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

struct types_site *types_sites_add(struct types_sites *sites, const struct types_frame *frame,
                                   const struct types_site *site)
{
    struct kept_site kept = {.frame = *frame, .site = malloc(sizeof(*kept.site))};
    if (!kept.site)
        return NULL;
    *kept.site = *site;
    kept.site->frames = copy_of(site->frames, site->frame_count, sizeof(*site->frames));
    kept.site->entries = copy_of(site->entries, site->entry_count, sizeof(*site->entries));
    kept.site->called = calloc(1, sizeof(*kept.site->called));
    kept.site->statement = types_statement_facts_new();
    if (kept.site->frames && kept.site->entries && kept.site->called && kept.site->statement &&
        generation_cache_add(&sites->recent, hash_of(frame), &kept))
        return kept.site;
    free_site(kept.site);
    return NULL;
}
