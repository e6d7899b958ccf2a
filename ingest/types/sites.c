/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/sites.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ingest/symbols/file.h"
#include "ingest/types/dwarf/index.h"
#include "ingest/types/dwarf/locals.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/folded.h"
#include "ingest/types/source/source_statement.h"

/* The number of last used sites that are certainly kept. */
#define SITES 8192

struct kept_site {
    struct types_frame frame;
    struct types_site *site; /* NULL: an item without content (array.h) */
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

/* ---- modules ------------------------------------------------------------------------------- */

static time_t built_time(const struct symbols_file *file)
{
    struct stat information;
    const char *path = NULL;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &path, NULL);
    return !path || stat(path, &information) != 0 ? 0 : information.st_mtime;
}

const struct types_module *types_modules_find(const struct types_modules *modules, uint32_t module)
{
    const uint64_t hash = hash_combine(hash_seed(), module);
    INDEX_MAP_EACH(&modules->by_module, hash, index)
        if (modules->rows[index].module == module)
            return &modules->rows[index];
    return NULL;
}

const struct types_module *types_modules_of(struct types_modules *modules, uint32_t module,
                                            const struct symbols_file *file)
{
    static const struct types_module none = {.module = 0};
    const struct types_module *known = types_modules_find(modules, module);
    if (known)
        return known;
    if (!ARRAY_RESERVE(modules->rows, modules->count, modules->capacity) ||
        !index_map_insert(&modules->by_module, hash_combine(hash_seed(), module),
                          (uint32_t)modules->count))
        return &none;
    struct types_module *added = &modules->rows[modules->count++];
    *added = (struct types_module){.module = module};
    if (file)
        added->data_symbols = types_data_symbols_new(file);
    if (file && file->dwarf) {
        added->built = built_time(file);
        added->index = types_index_new(file);
        added->globals = types_globals_new(file);
        added->folded = types_folded_new(file);
    }
    return added;
}

void types_modules_free(struct types_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        types_index_free(modules->rows[i].index);
        types_globals_free(modules->rows[i].globals);
        types_folded_free(modules->rows[i].folded);
        types_data_symbols_free(modules->rows[i].data_symbols);
    }
    free(modules->rows);
    index_map_free(&modules->by_module);
    *modules = (struct types_modules){0};
}

/* ---- answer cache -------------------------------------------------------------------------- */

/* How many last used items are kept: answers for a frame and a size, flows for a frame. */
#define ANSWERS 65536
#define FLOWS 16384

struct kept_flow {
    struct types_question question; /* only what the flow depends on */
    void *bytes;                    /* the struct types_flow, up to its last evidence */
};

struct types_answer_cache {
    struct generation_cache answers, flows;
    struct types_frame_answer spare; /* used if memory is exhausted */
    struct types_flow flow;          /* the one asked for last */
};

static void drop_flow(void *item)
{
    const struct kept_flow *kept = item;
    free(kept->bytes);
}

struct types_answer_cache *types_answer_cache_new(void)
{
    struct types_answer_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->answers =
        (struct generation_cache){.item_size = sizeof(struct types_frame_answer), .limit = ANSWERS};
    cache->flows = (struct generation_cache){
        .item_size = sizeof(struct kept_flow), .limit = FLOWS, .drop = drop_flow};
    return cache;
}

void types_answer_cache_free(struct types_answer_cache *cache)
{
    if (!cache)
        return;
    generation_cache_free(&cache->answers);
    generation_cache_free(&cache->flows);
    free(cache);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_of_question(const struct types_question *question)
{
    uint64_t hash = mix(mix(hash_seed(), question->pc), question->module);
    hash = mix(hash, question->size);
    hash = mix(hash, (uint64_t)question->offset);
    return mix(hash, (uint64_t)question->by << 16 | (uint64_t)question->headed << 8 |
                         (uint64_t)question->opaque << 1 | question->in_memory);
}

/* Compares questions, with which both kinds of item begin. */
static bool same_question(const void *item, const void *key)
{
    return memcmp(item, key, sizeof(struct types_question)) == 0;
}

struct types_frame_answer *types_answer_cache_find(struct types_answer_cache *cache,
                                                   const struct types_question *question)
{
    uint64_t hash = hash_of_question(question);
    struct types_frame_answer *answer =
        generation_cache_find(&cache->answers, hash, same_question, question);
    if (answer)
        return answer;
    memset(&cache->spare, 0, sizeof(cache->spare));
    cache->spare.question = *question;
    answer = generation_cache_add(&cache->answers, hash, &cache->spare);
    return answer ? answer : &cache->spare;
}

static size_t used_bytes(const struct types_flow *flow)
{
    return offsetof(struct types_flow, evidence) + flow->count * sizeof(flow->evidence[0]);
}

const struct types_flow *types_answer_cache_flow(struct types_answer_cache *cache,
                                                 const struct types_site *site,
                                                 const struct types_question *question)
{
    struct kept_flow key = {.question = *question};
    key.question.size = 0;
    key.question.by = 0;
    key.question.headed = 0;
    key.question.opaque = 0;
    uint64_t hash = hash_of_question(&key.question);
    const struct kept_flow *kept =
        generation_cache_find(&cache->flows, hash, same_question, &key.question);
    if (kept) {
        size_t count;
        memcpy(&cache->flow, kept->bytes, offsetof(struct types_flow, evidence));
        count = used_bytes(&cache->flow);
        memcpy(&cache->flow, kept->bytes, count);
        return &cache->flow;
    }
    if (!types_flow_follow(site, key.question.offset, key.question.in_memory != 0, &cache->flow))
        return NULL;
    key.bytes = malloc(used_bytes(&cache->flow));
    if (key.bytes) {
        memcpy(key.bytes, &cache->flow, used_bytes(&cache->flow));
        if (!generation_cache_add(&cache->flows, hash, &key))
            free(key.bytes);
    }
    return &cache->flow;
}

/* ---- candidates ---------------------------------------------------------------------------- */

static bool is_known(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

static bool is_for(const struct types_candidate_list *list, const struct types_frame *frame,
                   uint64_t size)
{
    return list->size == size && list->frame.pc == frame->pc && list->frame.module == frame->module;
}

struct types_candidate_list *types_candidate_list_at(struct types_candidate_lists *lists,
                                                     const struct types_frame *frame, uint64_t size,
                                                     bool *known)
{
    const uint64_t hash =
        hash_combine(hash_combine(hash_seed(), frame->pc), (uint64_t)frame->module << 48 ^ size);
    size_t probe = index_map_begin(&lists->by_question, hash);
    uint32_t index;
    *known = true;
    while ((index = index_map_next(&lists->by_question, hash, &probe)) != INDEX_NONE)
        if (is_for(&lists->rows[index], frame, size))
            return &lists->rows[index];
    *known = false;
    if (lists->count >= INDEX_NONE - 1 ||
        !ARRAY_RESERVE(lists->rows, lists->count, lists->capacity) ||
        !index_map_insert(&lists->by_question, hash, (uint32_t)lists->count))
        return NULL;
    struct types_candidate_list *list = &lists->rows[lists->count++];
    *list = (struct types_candidate_list){.frame = *frame, .size = size};
    return list;
}

void types_candidate_lists_free(struct types_candidate_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        free(lists->rows[i].names);
    free(lists->rows);
    index_map_free(&lists->by_question);
    *lists = (struct types_candidate_lists){.count = 0};
}

size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity)
{
    for (size_t i = 0; i < list->count && count < capacity; i++)
        if (!is_known(names, count, list->names[i]))
            names[count++] = list->names[i];
    return count;
}

/* Adds a name that is not there yet, unless memory is exhausted. */
static void add_name(struct types_candidate_list *list, const char *name)
{
    if (!list->names)
        list->names = calloc(TYPES_CANDIDATES_MAX, sizeof(*list->names));
    if (list->names && !is_known(list->names, list->count, name))
        list->names[list->count++] = name;
}

static void add_of_unit(const struct types_site *site, const struct types_unit *unit,
                        struct types_candidate_list *list)
{
    uint64_t size = list->size;
    for (size_t i = 0; unit && i < unit->count && list->count < TYPES_CANDIDATES_MAX; i++) {
        const struct types_entry *entry = &unit->entries[i];
        Dwarf_Die die;
        struct types_type type;
        bool record = entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_class_type ||
                      entry->tag == DW_TAG_union_type;
        if (entry->declaration || (record && entry->size != size) ||
            (!record && entry->tag != DW_TAG_typedef) || !types_index_die(unit, entry, &die) ||
            !types_from(site->index, &die, &type) || type.shape != TYPES_RECORD ||
            type.size != size)
            continue;
        char *spelled = types_name(site->index, &type);
        const char *name = !spelled ? NULL : symbols_keep(site->symbols, spelled);
        free(spelled);
        if (name && *name != '(')
            add_name(list, name);
    }
}

void types_candidates_at(const struct types_site *site, struct types_candidate_list *list)
{
    const struct types_unit *last = NULL;
    for (size_t i = 0; i < site->entry_count; i++) {
        const struct types_unit *unit = types_home_unit(site, i);
        if (unit != last)
            add_of_unit(site, unit, list);
        last = unit;
    }
}
