/* SPDX-License-Identifier: BSD-2-Clause */
/* The call sites that the type rules examined last, each with the facts read about it. Programs ask
 * for blocks of many sizes at each site. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "ingest/base/array.h"
#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/flow.h"
#include "ingest/types/types.h"

struct types_sites;

/* Returns NULL if memory is exhausted. */
struct types_sites *types_sites_new(void);
void types_sites_free(struct types_sites *sites);

/* Returns the site of a frame. NULL: it is not kept. Valid until the next types_sites_add(). */
struct types_site *types_sites_find(struct types_sites *sites, const struct types_frame *frame);

/* Keeps a copy of a new site: frames and entries, no facts. NULL if memory is exhausted. */
struct types_site *types_sites_add(struct types_sites *sites, const struct types_frame *frame,
                                   const struct types_site *site);

/* The facts that the type rules read once about each module of the program. */

struct symbols_file;
struct types_folded;
struct types_globals;
struct types_index;
struct types_data_symbols;

struct types_module {
    uint32_t module;                         /* the trace's id */
    struct types_index *index;               /* NULL: no DWARF */
    struct types_globals *globals;           /* NULL: no DWARF */
    struct types_folded *folded;             /* NULL: no DWARF */
    struct types_data_symbols *data_symbols; /* NULL: the module could not be opened */
    time_t built;                            /* time of the last change; 0: not known */
};

/* Empty if zero-initialized. */
struct types_modules {
    struct types_module *rows;
    size_t count, capacity;
    struct index_map by_module;
};

/* Returns the facts about a module, NULL if they were not read. Valid until the next one is read.
 */
const struct types_module *types_modules_find(const struct types_modules *modules, uint32_t module);

/* Returns the facts about a module, which the first call reads. `file` is NULL if the module could
 * not be opened. Without memory the facts are empty. Valid until the next call. */
const struct types_module *types_modules_of(struct types_modules *modules, uint32_t module,
                                            const struct symbols_file *file);

/* Frees the rows and their contents. */
void types_modules_free(struct types_modules *modules);

/* The answers of the type rules for the frames asked last, in tables of limited size. Programs
 * allocate from the same few frames again and again, with many sizes at each. */

/* One question along a stack. All bytes are compared: zero it before you fill it. */
struct types_question {
    uint64_t pc, size;
    int64_t offset; /* of the pointer that the inner frame returned */
    uint32_t module;
    uint8_t by;        /* enum types_operator */
    uint8_t in_memory; /* the result is where the first argument pointed to */
    uint8_t headed;    /* the type found so far may be only the head of the real one */
    /* Made by a function without debug information, of a type that it alone knows. */
    uint8_t opaque;
};

struct types_frame_answer {
    struct types_question question;
    bool known;    /* the question was asked, and the rest is its answer */
    bool go_on;    /* ask the caller next, with `next` */
    bool any_size; /* also holds for blocks of other sizes, except for the count of elements */
    struct types_question next;
    struct types_answer answer;
};

struct types_answer_cache;

/* Returns NULL if memory is exhausted. */
struct types_answer_cache *types_answer_cache_new(void);
void types_answer_cache_free(struct types_answer_cache *cache);

/* Returns a question's answer, for the caller to fill unless `known`. Valid until the next call. */
struct types_frame_answer *types_answer_cache_find(struct types_answer_cache *cache,
                                                   const struct types_question *question);

/* Returns types_flow_follow() at the site, kept for other sizes. Valid until the next call. NULL if
 * memory is exhausted. */
const struct types_flow *types_answer_cache_flow(struct types_answer_cache *cache,
                                                 const struct types_site *site,
                                                 const struct types_question *question);

/* ---- candidates ---------------------------------------------------------------------------- */

/* The records of a site's unit that have a given size. */

#define TYPES_CANDIDATES_MAX 16

/* The candidates for the blocks of `size` bytes from one frame. */
struct types_candidate_list {
    struct types_frame frame;
    uint64_t size;
    size_t count;
    const char **names; /* an array of the list, of texts of the symbolizer; or NULL */
};

/* The lists asked for so far. All bytes 0: none yet. */
struct types_candidate_lists {
    struct types_candidate_list *rows;
    size_t count, capacity;
    struct index_map by_question;
};

/* Returns the list for a frame and size, which stays where it is until the next call. `*known` is
 * false if the list is new and empty. NULL if memory is exhausted. */
struct types_candidate_list *types_candidate_list_at(struct types_candidate_lists *lists,
                                                     const struct types_frame *frame, uint64_t size,
                                                     bool *known);
void types_candidate_lists_free(struct types_candidate_lists *lists);

/* Fills an empty list with the names of the records of its size, and of typedefs of such records,
 * in the unit of the site's innermost function: each name once, and as many as there is room
 * for. */
void types_candidates_at(const struct types_site *site, struct types_candidate_list *list);

/* Adds the names that are missing to the `count` names, up to `capacity`. Returns the new count. */
size_t types_candidates_join(const struct types_candidate_list *list, const char **names,
                             size_t count, size_t capacity);
