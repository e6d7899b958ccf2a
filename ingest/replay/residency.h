/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages in memory at the moments that an observer has read (trace-format.md, "Pages in
 * memory"), and a ledger of each: every byte of the resident set is in exactly one class.
 *
 * Order of calls: residency_mapping(), residency_begin(), residency_pages() for the records as they
 * come; residency_allocated() and residency_freed() for each block that begins and ends,
 * residency_changed() for each that gets another type; when residency_is_whole(),
 * residency_arena_block() for those of allocators of the program, residency_ledger().
 * residency_free() at the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/allocator_rules.h"
#include "ingest/replay/last_owners.h"
#include "ingest/replay/live_table.h"
#include "ingest/replay/scan.h"
#include "schemas/trace_layout.h"

enum residency_class {
    RESIDENCY_LIVE_RESIDENT,
    RESIDENCY_HEADERS,
    RESIDENCY_HOLES_RESIDENT,
    RESIDENCY_FREE_PAGES,
    RESIDENCY_STACKS,
    RESIDENCY_FILES,
    RESIDENCY_ARENAS,
    RESIDENCY_OTHER_ANONYMOUS,
    RESIDENCY_RECORDER,
    RESIDENCY_INHERITED,
    RESIDENCY_UNATTRIBUTED,
    RESIDENCY_IN_RSS, /* those before are in RSS */
    RESIDENCY_LIVE_UNTOUCHED = RESIDENCY_IN_RSS,
    RESIDENCY_LIVE_SWAPPED,
    RESIDENCY_ZERO_PAGE,
    RESIDENCY_HUGETLB,
    RESIDENCY_CLASSES
};

#define RESIDENCY_NO_BLOCKS UINT64_MAX

struct residency_row {
    enum residency_class class;
    char *detail;
    uint64_t bytes, blocks; /* RESIDENCY_NO_BLOCKS: it has none */
};

/* The blocks of a stack and a type, in bytes unless said otherwise. */
struct residency_sum {
    uint32_t stack, type;
    uint64_t live_bytes, live_count, resident, swapped, headers;
    uint64_t pinned, pinned_pages; /* holes on pages with its blocks; such pages, by its first */
    uint64_t last_owned;           /* holes where its blocks lived last */
};

/* Gives a row of residency_stack: the moment's id and the sum. */
enum { RESIDENCY_SUM_VALUES = 12 };
static inline void residency_sum_values(const struct residency_sum *sum, uint64_t id,
                                        uint64_t values[RESIDENCY_SUM_VALUES])
{
    const uint64_t row[RESIDENCY_SUM_VALUES] = {id,
                                                sum->stack,
                                                sum->type,
                                                sum->live_bytes,
                                                sum->live_count,
                                                sum->resident,
                                                sum->live_bytes - sum->resident - sum->swapped,
                                                sum->swapped,
                                                sum->headers,
                                                sum->pinned,
                                                sum->pinned_pages,
                                                sum->last_owned};
    memcpy(values, row, sizeof(row));
}

/* A piece of the runs, as in the table residency_run. */
struct residency_piece {
    size_t start, length; /* in `coded` */
};

struct residency_moment {
    uint64_t ns; /* its live blocks are counted */
    uint64_t begin_ns, end_ns;
    enum trace_resident_reason reason;
    const char *mark; /* owned by the replay; NULL: none */
    uint64_t rss_before, rss_after, present, swapped, coarse, huge, live_huge;
    uint64_t pss, lazy_free, cgroup, cgroup_limit; /* plus 1; 0: not known */
    bool zero_known;
    enum heap_allocator allocator;
    struct residency_row *rows;
    size_t row_count, row_capacity;
    struct residency_sum *sums; /* by stack and type */
    size_t sum_count;
    uint8_t *coded;
    size_t coded_length, coded_capacity;
    struct residency_piece *pieces;
    size_t piece_count, piece_capacity;
};

struct resident_run {
    uint64_t page, count;
    uint32_t kind; /* enum trace_page_class */
};

struct resident_runs {
    struct resident_run *runs;
    size_t count, capacity;
};

struct resident_mapping {
    uint64_t start, end;
    unsigned flags;    /* enum trace_mapping_flag */
    const char *arena; /* whose block lies in it, last by address; NULL: none */
    uint64_t arena_block;
    char *name;
};

/* A block of the heap with what is around it. */
struct resident_chunk {
    uint64_t low, high;
    uint64_t address, end; /* of the bytes that the program asked for */
    uint32_t owner;
    bool seen; /* some of it is resident */
};

/* The live blocks of the heap by address, in 16 bytes each, as they were at the last ledger, and
 * where some may have changed since. */
struct residency_blocks {
    struct number_pair *pairs; /* address; size and owner, or LARGE_BLOCK and a place in `large` */
    size_t count, capacity;
    struct number_pair *large; /* size, owner */
    size_t large_count, large_capacity;
    uint64_t *changed; /* addresses */
    size_t changed_count, changed_capacity;
    uint64_t *room; /* for two numbers for each of these */
    size_t room_capacity;
    bool known;         /* false: they have to be read again */
    uint64_t order, ns; /* of the last block, and of the last ledger */
    /* Those that a ledger has at hand. */
    struct resident_chunk *chunks;
    size_t chunk_capacity;
};

/* Returns the function that mapped the anonymous memory at the address, NULL: it is not known.
 * Reduces *end to the end of what it mapped. */
typedef const char *residency_mapper(const void *context, uint64_t address, uint64_t *end);

struct stack_owner {
    uint32_t owner, type; /* OWNER_NONE: none yet */
};

/* So many arenas of glibc are known without a look-up, if they lie close together. */
enum { KNOWN_HEAPS = 64 };

struct residency {
    const struct trace_scan *scan;
    residency_mapper *mapper; /* with its context; NULL: there is none */
    const void *mapper_context;
    enum heap_allocator library;   /* that the process has */
    const char *late;              /* blocks that the heap may have and nobody knows; NULL: none */
    bool forked;                   /* the parent's blocks and nobody else's are not known */
    struct number_pair *inherited; /* start and end of what a forked process had mapped at first */
    size_t inherited_count;
    struct resident_runs runs;        /* of the last whole moment */
    struct resident_runs runs_before; /* of the last ledger */
    uint64_t number;                  /* of that moment */
    uint64_t break_start, break_size; /* of the program break, with room to grow; 0: none */
    struct resident_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct residency_moment next; /* that is being read */
    uint64_t next_number, next_flags, next_bytes;
    bool reading;
    unsigned deltas; /* since the last full moment */
    uint8_t *bytes;
    size_t length, capacity;
    struct last_owners last;
    struct residency_sum *owners; /* by number from 1: stack and type */
    size_t owner_count, owner_capacity;
    struct index_map owner_by_hash;
    struct stack_owner *stack_owners; /* by stack: its last one */
    size_t stack_owner_capacity;
    struct residency_blocks blocks;
    uint64_t known[KNOWN_HEAPS]; /* by the low bits of a number: the last one in `heaps`, plus 1 */
    uint64_t *heaps;             /* numbers of the 64 MiB in which glibc has an arena */
    size_t heap_count, heap_capacity;
    struct index_map heap_by_hash;
    struct residency_moment *moments;
    size_t moment_count, moment_capacity;
    uint64_t work, left_out; /* blocks visited; moments without a ledger, because there were many */
};

/* Returns NULL if memory is exhausted. `scan` must outlive it. */
struct residency *residency_new(const struct trace_scan *scan);
void residency_free(struct residency *residency);

/* Take records. False if memory is exhausted. */
bool residency_mapping(struct residency *residency, const struct trace_extension *extension);
bool residency_begin(struct residency *residency, const struct trace_extension *extension,
                     uint64_t begin_ns, uint64_t end_ns, const char *mark);
bool residency_pages(struct residency *residency, const struct trace_extension *extension);

/* Returns true if the records of a moment are complete. */
bool residency_is_whole(const struct residency *residency);
/* Ends the moment without a ledger. */
void residency_leave_out(struct residency *residency);

/* A block of the heap begins at the address; `block` is still what the table had there. False if
 * memory is exhausted. */
bool residency_allocated(struct residency *residency, uint64_t address,
                         const struct live_block *block);
/* A block of the heap has got another type. False if memory is exhausted. */
bool residency_changed(struct residency *residency, const struct live_block *block);
/* A block of the heap has ended. */
bool residency_freed(struct residency *residency, const struct live_block *block);

/* Returns the owner of the block's stack and type. OWNER_NONE: memory is exhausted. */
uint32_t residency_owner(struct residency *residency, uint32_t stack, uint32_t type);

/* A block of an allocator of the program is live in the moment that has been read. */
void residency_arena_block(struct residency *residency, uint64_t address, const char *arena);
/* Makes the ledger of the moment that has been read. `order` is that of the last block of the heap,
 * `now` the moment in ticks, and `now_ns` in the session's time. False if memory is exhausted. */
bool residency_ledger(struct residency *residency, const struct live_table *heap, uint64_t order,
                      uint64_t now, uint64_t now_ns);

/* ---- for residency_ledger.c ------------------------------------------------------------- */

/* Returns the first mapping that ends after `address`. */
size_t residency_first_mapping(const struct residency *residency, uint64_t address);
/* Stores what the allocator has around a block. Notes that glibc has an arena there if it shows.
 * False if memory is exhausted. */
bool residency_span_elsewhere(struct residency *residency, enum heap_allocator allocator,
                              uint64_t address, uint64_t size, struct chunk_span *span);

/* Returns true if the address lies in the mapping of the program break, as far as it is known. */
static inline bool residency_in_break(const struct residency *residency, uint64_t address)
{
    return address - residency->break_start < residency->break_size;
}

/* Does the same, at once for most blocks: those of glibc below the program break. */
static inline bool residency_span(struct residency *residency, enum heap_allocator allocator,
                                  uint64_t address, uint64_t size, struct chunk_span *span)
{
    if (allocator != HEAP_GLIBC || !residency_in_break(residency, address))
        return residency_span_elsewhere(residency, allocator, address, size, span);
    *span = glibc_chunk(address, size);
    return true;
}

/* Returns true if glibc has an arena in the 64 MiB of this address. */
bool residency_is_heap(const struct residency *residency, uint64_t address);
/* Makes the moment's runs of its bytes. `*good`: the format allows them. False without memory. */
bool residency_apply_runs(struct residency *residency, bool *good);

/* Gives back the blocks: they are read again for another ledger. */
void residency_forget_blocks(struct residency *residency);

const char *residency_class_name(enum residency_class class);
const char *residency_reason_name(enum trace_resident_reason reason);
