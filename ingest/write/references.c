/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells for each snapshot of references who keeps each live block alive: the tables root,
 * retained, other_reference and retained_group, from heap_snapshot and the tables beside it.
 *
 * A word in a live block is a reference from that block if it holds an address in a live block. A
 * word outside of the heap belongs to a root: a module's data, a stack, the registers of a thread,
 * a mapping of the program's own. A word in memory that the allocator keeps for itself is none.
 * Blocks that references from roots reach are reachable, or possibly so if each way leads through a
 * reference into the middle of a block that no layout of its type explains; the rest is
 * unreachable. A block retains what its removal would make unreachable: its subtree in the tree of
 * dominators. References in doubt count there only for blocks that no others reach.
 *
 * Memory: about 105 bytes a live block and 45 a reference. */
#include "ingest/write/derived.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/write/dominators.h"
#include "ingest/write/members.h"
#include "schemas/array.h"
#include "schemas/trace_references.h"
#include "other_allocators_sql.h"
#include "reference_indexes_sql.h"
#include "snapshot_begin_sql.h"
#include "snapshot_blocks_sql.h"
#include "snapshot_ranges_sql.h"
#include "snapshot_regions_sql.h"
#include "snapshot_registers_sql.h"
#include "snapshot_stacks_sql.h"
#include "snapshot_threads_sql.h"
#include "snapshot_variables_sql.h"
#include "snapshot_words_sql.h"
#include "snapshots_sql.h"

#define PAGE UINT64_C(4096)
/* glibc gives each arena but the first its memory in pieces at multiples of this (HEAP_MAX_SIZE).
 */
#define ARENA_PIECE (UINT64_C(64) << 20)
/* glibc maps no smaller block by itself (DEFAULT_MMAP_THRESHOLD). */
#define MAPPED_LEAST (UINT64_C(128) << 10)
/* The header of such a block. */
#define MAPPED_HEADER UINT64_C(16)
#define PIECES_LEAST 4096u
#define REGISTERS 33u /* by DWARF number */
/* Words between two looks at Ctrl-C. */
#define WORDS_PER_LOOK 65536u

/* Nodes of the graph: the outside, what nothing reaches, then the roots, then the blocks. */
enum { NODE_OUTSIDE, NODE_UNREACHABLE, NODE_FIRST_ROOT };

enum state {
    STATE_NONE,
    STATE_REACHABLE,
    STATE_POSSIBLY,
    STATE_UNREACHABLE,
    STATE_BY_UNREACHABLE,
    STATE_COUNT
};

enum range_kind { RANGE_HEAP, RANGE_ANONYMOUS, RANGE_DATA, RANGE_STACK, RANGE_FILE };

/* Why a word may be no reference: as other_reference.doubt. */
enum doubt { DOUBT_NONE, DOUBT_INSIDE, DOUBT_TAGGED, DOUBT_TEXT };

enum group { GROUP_TYPE, GROUP_FUNCTION, GROUP_USER, GROUP_OWNER, GROUP_THREAD, GROUP_COUNT };

struct block {
    uint64_t address, size;
    int64_t id;
    uint32_t stack, type, thread, referrers;
    bool is_array;
};

struct range {
    uint64_t address, end;
    enum range_kind kind;
    char *path;
    bool allocator;        /* an allocator other than glibc's gave out blocks of it */
    uint32_t root;         /* index + 1; 0: none yet */
    uint32_t stack, local; /* threads that have their stack, or their storage, there: index + 1 */
};

/* A variable, or a mapping of the program's own with the function that made it. */
struct variable {
    uint64_t address, end;
    char *name;
    int64_t tid; /* of the thread whose own variable it is; 0: it is in the data of a module */
    uint32_t root;
};

struct variables {
    struct variable *rows; /* by address */
    size_t count, capacity;
};

struct root {
    const char *kind;
    char *name, *module;
    int64_t tid; /* 0: none */
    uint64_t address;
};

struct thread {
    int64_t tid;
    uint64_t stack_pointer, thread_pointer;
    char *name;
    uint32_t stack_root, local_root, register_roots[REGISTERS]; /* index + 1 */
};

/* The ends of a reference: the word and the place to which it leads. */
struct place {
    uint64_t from_offset, to_offset;
    uint32_t member;
    uint8_t doubt; /* enum doubt */
};

struct snapshot {
    struct writer_database *database;
    struct members *members;
    int64_t id;
    bool glibc;
    bool whole;         /* neither words nor blocks are missing */
    int64_t first_root; /* id of root 0 */
    struct block *blocks;
    size_t block_count, block_capacity;
    uint64_t *pieces; /* of arenas, sorted */
    size_t piece_count, piece_capacity, piece_limit;
    struct range *ranges;
    size_t range_count, range_capacity;
    struct variables variables, regions;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    struct root *roots;
    size_t root_count, root_capacity;
    /* The references: nodes, with the blocks before the roots as long as those are not counted. */
    uint32_t *from, *to;
    struct place *places; /* of those that words are */
    size_t reference_count, from_capacity, to_capacity, place_count, place_capacity;
    /* By node. */
    uint8_t *state;
    uint32_t *holder;
    uint32_t *held; /* index + 1 of the reference from the holder; 0: none */
    uint64_t *bytes, *count;
    struct dominators dominators;
    uint64_t words;
};

static bool fail_memory(struct snapshot *snapshot)
{
    ingest_fail_memory(snapshot->database->status, "the references between blocks");
    return false;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool is_mapped_alone(const struct snapshot *snapshot, uint64_t address, uint64_t size)
{
    return snapshot->glibc && size >= MAPPED_LEAST && address % PAGE == MAPPED_HEADER;
}

/* Notes the piece of an arena in which a block lies. Blocks of several threads take turns, so the
 * list is cleared of copies each time it has doubled. */
static bool add_piece(struct snapshot *snapshot, uint64_t address)
{
    const uint64_t piece = address & ~(ARENA_PIECE - 1);
    if (snapshot->piece_count != 0 && snapshot->pieces[snapshot->piece_count - 1] == piece)
        return true;
    if (snapshot->piece_count == snapshot->piece_limit) {
        size_t kept = 0;
        if (snapshot->piece_count != 0)
            qsort(snapshot->pieces, snapshot->piece_count, sizeof(piece), compare_uint64);
        for (size_t i = 0; i < snapshot->piece_count; i++)
            if (kept == 0 || snapshot->pieces[kept - 1] != snapshot->pieces[i])
                snapshot->pieces[kept++] = snapshot->pieces[i];
        snapshot->piece_count = kept;
        snapshot->piece_limit = 2 * kept + PIECES_LEAST;
    }
    if (!ARRAY_RESERVE(snapshot->pieces, snapshot->piece_count, snapshot->piece_capacity))
        return fail_memory(snapshot);
    snapshot->pieces[snapshot->piece_count++] = piece;
    return true;
}

static bool read_block(void *context, sqlite3_stmt *query)
{
    struct snapshot *snapshot = context;
    const uint64_t address = (uint64_t)sqlite3_column_int64(query, 0);
    const uint64_t size = (uint64_t)sqlite3_column_int64(query, 1);
    if (!is_mapped_alone(snapshot, address, size) && !add_piece(snapshot, address))
        return false;
    if (!sqlite3_column_int(query, 2))
        return true;
    if (snapshot->block_count >= UINT32_MAX / 2 ||
        !ARRAY_GROW(snapshot->blocks, snapshot->block_count, snapshot->block_capacity))
        return fail_memory(snapshot);
    const int64_t kind = sqlite3_column_int64(query, 7);
    snapshot->blocks[snapshot->block_count++] = (struct block){
        .address = address,
        .size = size,
        .id = sqlite3_column_int64(query, 3),
        .stack = (uint32_t)sqlite3_column_int64(query, 4),
        .type = (uint32_t)sqlite3_column_int64(query, 5),
        .thread = (uint32_t)sqlite3_column_int64(query, 6),
        .is_array = kind == 10 || kind == 13 || kind == 15 || kind == 17,
    };
    return true;
}

static bool read_blocks(struct snapshot *snapshot)
{
    if (!writer_database_each(snapshot->database, snapshot_blocks_sql, read_block, snapshot))
        return false;
    if (snapshot->block_count != 0)
        qsort(snapshot->blocks, snapshot->block_count, sizeof(*snapshot->blocks), compare_uint64);
    if (snapshot->piece_count != 0)
        qsort(snapshot->pieces, snapshot->piece_count, sizeof(*snapshot->pieces), compare_uint64);
    return true;
}

/* Returns the number of blocks that begin at or below the address. */
static size_t blocks_up_to(const struct snapshot *snapshot, uint64_t address)
{
    size_t next = 0;
    ARRAY_BISECT(next, snapshot->block_count, snapshot->blocks[middle].address <= address);
    return next;
}

/* Returns true if the address lies in the block. One of no bytes has its first. */
static bool holds(const struct block *block, uint64_t address)
{
    return address - block->address < (block->size ? block->size : 1);
}

/* ---- places outside ------------------------------------------------------------------------ */

static char *text_of(sqlite3_stmt *query, int column)
{
    const char *text = (const char *)sqlite3_column_text(query, column);
    return strdup(text ? text : "");
}

static bool read_range(void *context, sqlite3_stmt *query)
{
    static const char *const kinds[] = {"heap", "anonymous", "data", "stack", "file"};
    struct snapshot *snapshot = context;
    const char *kind = (const char *)sqlite3_column_text(query, 2);
    if (!ARRAY_RESERVE(snapshot->ranges, snapshot->range_count, snapshot->range_capacity))
        return fail_memory(snapshot);
    struct range *range = &snapshot->ranges[snapshot->range_count++];
    range->address = (uint64_t)sqlite3_column_int64(query, 0);
    range->end = range->address + (uint64_t)sqlite3_column_int64(query, 1);
    range->path = text_of(query, 3);
    range->kind = RANGE_ANONYMOUS;
    for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kind, kinds[i]) == 0)
            range->kind = (enum range_kind)i;
    const size_t before = blocks_up_to(snapshot, range->end - 1);
    range->allocator =
        !snapshot->glibc && before != 0 && snapshot->blocks[before - 1].address >= range->address;
    return range->path || fail_memory(snapshot);
}

static bool add_variable(struct snapshot *snapshot, struct variables *variables,
                         sqlite3_stmt *query)
{
    if (!ARRAY_RESERVE(variables->rows, variables->count, variables->capacity))
        return fail_memory(snapshot);
    struct variable *variable = &variables->rows[variables->count++];
    variable->address = (uint64_t)sqlite3_column_int64(query, 0);
    variable->end = variable->address + (uint64_t)sqlite3_column_int64(query, 1);
    variable->name = text_of(query, 2);
    variable->tid = sqlite3_column_int64(query, 3);
    return variable->name || fail_memory(snapshot);
}

static bool read_variable(void *context, sqlite3_stmt *query)
{
    struct snapshot *snapshot = context;
    return add_variable(snapshot, &snapshot->variables, query);
}

static bool read_region(void *context, sqlite3_stmt *query)
{
    struct snapshot *snapshot = context;
    return add_variable(snapshot, &snapshot->regions, query);
}

static bool read_thread(void *context, sqlite3_stmt *query)
{
    struct snapshot *snapshot = context;
    if (!ARRAY_RESERVE(snapshot->threads, snapshot->thread_count, snapshot->thread_capacity))
        return fail_memory(snapshot);
    struct thread *thread = &snapshot->threads[snapshot->thread_count++];
    thread->tid = sqlite3_column_int64(query, 0);
    thread->stack_pointer = (uint64_t)sqlite3_column_int64(query, 1);
    thread->thread_pointer = (uint64_t)sqlite3_column_int64(query, 2);
    thread->name = text_of(query, 3);
    return thread->name || fail_memory(snapshot);
}

/* Makes a root if `*place` is 0, and puts its index + 1 there. */
static bool make_root(struct snapshot *snapshot, uint32_t *place, const struct root *root)
{
    if (*place != 0)
        return true;
    if (!ARRAY_RESERVE(snapshot->roots, snapshot->root_count, snapshot->root_capacity))
        return fail_memory(snapshot);
    struct root *made = &snapshot->roots[snapshot->root_count++];
    *made = *root;
    made->name = strdup(root->name);
    made->module = root->module ? strdup(root->module) : NULL;
    *place = (uint32_t)snapshot->root_count;
    return (made->name && (made->module || !root->module)) || fail_memory(snapshot);
}

/* Returns the range that holds the address, or NULL. */
static struct range *range_at(struct snapshot *snapshot, uint64_t address)
{
    size_t next = 0;
    ARRAY_BISECT(next, snapshot->range_count, snapshot->ranges[middle].address <= address);
    return next > 0 && address < snapshot->ranges[next - 1].end ? &snapshot->ranges[next - 1]
                                                                : NULL;
}

/* Notes in the ranges which threads have their stacks and their storage there. */
static void place_threads(struct snapshot *snapshot)
{
    for (size_t i = snapshot->thread_count; i-- > 0;) {
        struct range *stack = range_at(snapshot, snapshot->threads[i].stack_pointer);
        struct range *local = range_at(snapshot, snapshot->threads[i].thread_pointer);
        if (stack && stack->kind == RANGE_STACK)
            stack->stack = (uint32_t)i + 1;
        if (local && (local->kind == RANGE_STACK || local->kind == RANGE_ANONYMOUS))
            local->local = (uint32_t)i + 1;
    }
}

/* Returns the variable that holds the address, or NULL. */
static struct variable *variable_at(const struct variables *variables, uint64_t address)
{
    size_t next = 0;
    ARRAY_BISECT(next, variables->count, variables->rows[middle].address <= address);
    return next > 0 && address < variables->rows[next - 1].end ? &variables->rows[next - 1] : NULL;
}

/* Finds the root of a word in a mapping of the program's own, by the function that made that. */
static bool root_of_region(struct snapshot *snapshot, struct variable *region, uint32_t *root)
{
    char name[256];
    snprintf(name, sizeof(name), "%s: %" PRIu64 " KiB at %" PRIx64, region->name,
             (region->end - region->address) >> 10, region->address);
    const bool made = make_root(snapshot, &region->root,
                                &(struct root){"mapping", name, NULL, 0, region->address});
    *root = region->root;
    return made;
}

/* Finds the root of a word in the range, which is in no block. */
static bool root_of(struct snapshot *snapshot, struct range *range, uint64_t where, uint32_t *root)
{
    char name[128];
    struct variable *variable = variable_at(&snapshot->variables, where);
    if (variable && (variable->tid != 0 || range->kind == RANGE_DATA)) {
        const bool made = make_root(
            snapshot, &variable->root,
            &(struct root){variable->tid ? "thread-local" : "data", variable->name,
                           variable->tid ? NULL : range->path, variable->tid, variable->address});
        *root = variable->root;
        return made;
    }
    struct variable *region = range->kind == RANGE_ANONYMOUS && !range->local && !range->stack
                                  ? variable_at(&snapshot->regions, where)
                                  : NULL;
    if (region)
        return root_of_region(snapshot, region, root);
    *root = range->root;
    if (range->root != 0)
        return true;
    bool good;
    if (range->stack) {
        struct thread *thread = &snapshot->threads[range->stack - 1];
        good = make_root(snapshot, &thread->stack_root,
                         &(struct root){"stack", thread->name, NULL, thread->tid, range->address});
        range->root = thread->stack_root;
    } else if (range->local) {
        struct thread *thread = &snapshot->threads[range->local - 1];
        good = make_root(
            snapshot, &thread->local_root,
            &(struct root){"thread-local", thread->name, NULL, thread->tid, range->address});
        range->root = thread->local_root;
    } else {
        const char *slash = strrchr(range->path, '/');
        const bool file = range->kind == RANGE_DATA || range->kind == RANGE_FILE;
        snprintf(name, sizeof(name), "%" PRIu64 " KiB at %" PRIx64,
                 (range->end - range->address) >> 10, range->address);
        good = make_root(snapshot, &range->root,
                         &(struct root){range->kind == RANGE_DATA    ? "data"
                                        : range->kind == RANGE_FILE  ? "file"
                                        : range->kind == RANGE_STACK ? "stack"
                                                                     : "mapping",
                                        file ? (char *)(slash ? slash + 1 : range->path) : name,
                                        file ? range->path : NULL, 0, range->address});
    }
    *root = range->root;
    return good;
}

/* Returns true if the allocator keeps the memory at the address for itself. `next`: the number of
 * blocks that begin at or below it, none of which holds it. */
static bool is_allocators(const struct snapshot *snapshot, const struct range *range,
                          uint64_t address, size_t next)
{
    if (range->kind == RANGE_HEAP || range->allocator)
        return true;
    if (range->kind != RANGE_ANONYMOUS || !snapshot->glibc)
        return false;
    const uint64_t piece = address & ~(ARENA_PIECE - 1);
    if (snapshot->piece_count != 0 &&
        bsearch(&piece, snapshot->pieces, snapshot->piece_count, sizeof(piece), compare_uint64))
        return true;
    if (next > 0) {
        const struct block *before = &snapshot->blocks[next - 1];
        const uint64_t end = (before->address + before->size + PAGE - 1) & ~(PAGE - 1);
        if (is_mapped_alone(snapshot, before->address, before->size) && address < end)
            return true;
    }
    return next < snapshot->block_count &&
           is_mapped_alone(snapshot, snapshot->blocks[next].address, snapshot->blocks[next].size) &&
           address >= snapshot->blocks[next].address - MAPPED_HEADER;
}

/* Returns true if a word in the data of glibc may lead to a chunk that its allocator keeps: the
 * header of the chunk behind a block begins in that block's last 8 bytes that can be used. */
static bool is_chunk_of_libc(const struct range *range, const struct block *block, uint64_t offset)
{
    const char *slash = strrchr(range->path, '/');
    const uint64_t chunk = (block->size + 8 + 15) & ~UINT64_C(15);
    return range->kind == RANGE_DATA && slash && strncmp(slash, "/libc", 5) == 0 &&
           (slash[5] == '.' || slash[5] == '-') && offset == (chunk < 32 ? 32 : chunk) - 16;
}

/* ---- references ---------------------------------------------------------------------------- */

/* Adds a reference. Roots have the nodes from UINT32_MAX / 2 on until they are all known. */
#define ROOT_NODE (UINT32_MAX / 2)

static bool add_reference(struct snapshot *snapshot, uint32_t from, uint64_t from_offset,
                          uint32_t to, uint64_t to_offset, bool tagged,
                          const struct member_place *place)
{
    struct block *target = &snapshot->blocks[to];
    const bool inside =
        to_offset != 0 &&
        !members_explain(snapshot->members,
                         &(struct member_block){target->type, target->size, target->is_array},
                         to_offset, place);
    const enum doubt doubt = tagged                    ? DOUBT_TAGGED
                             : place && place->is_text ? DOUBT_TEXT
                             : inside                  ? DOUBT_INSIDE
                                                       : DOUBT_NONE;
    const size_t count = snapshot->reference_count + 1;
    if (!array_grow(&snapshot->from, &snapshot->from_capacity, count, sizeof(*snapshot->from)) ||
        !array_grow(&snapshot->to, &snapshot->to_capacity, count, sizeof(*snapshot->to)) ||
        !array_grow(&snapshot->places, &snapshot->place_capacity, count, sizeof(*snapshot->places)))
        return fail_memory(snapshot);
    snapshot->from[count - 1] = from;
    snapshot->to[count - 1] = to;
    snapshot->places[count - 1] =
        (struct place){from_offset, to_offset, place ? place->name : 0, (uint8_t)doubt};
    snapshot->reference_count = snapshot->place_count = count;
    target->referrers++;
    return true;
}

/* The state of a walk over ascending words. */
struct walk {
    struct snapshot *snapshot;
    size_t block; /* blocks that begin at or below the last word */
    size_t range, thread;
};

static bool add_word(struct walk *walk, const struct trace_references_word *word)
{
    const uint64_t where = word->where, to = word->to;
    struct snapshot *snapshot = walk->snapshot;
    const size_t target = blocks_up_to(snapshot, to);
    uint32_t root;
    if (target == 0 || !holds(&snapshot->blocks[target - 1], to))
        return true;
    while (walk->block < snapshot->block_count && snapshot->blocks[walk->block].address <= where)
        walk->block++;
    const uint64_t to_offset = to - snapshot->blocks[target - 1].address;
    if (walk->block > 0 && holds(&snapshot->blocks[walk->block - 1], where)) {
        const struct block *block = &snapshot->blocks[walk->block - 1];
        const uint64_t offset = where - block->address;
        if (walk->block == target)
            return true; /* a block keeps nothing alive by pointing to itself */
        const struct member_place *place = members_at(
            snapshot->members, &(struct member_block){block->type, block->size, block->is_array},
            offset, snapshot->blocks[target - 1].type);
        return place ? add_reference(snapshot, (uint32_t)walk->block - 1, offset,
                                     (uint32_t)target - 1, to_offset, word->tagged, place)
                     : fail_memory(snapshot);
    }
    while (walk->range < snapshot->range_count && snapshot->ranges[walk->range].end <= where)
        walk->range++;
    if (walk->range == snapshot->range_count || snapshot->ranges[walk->range].address > where)
        return true; /* the trace names no such memory */
    struct range *range = &snapshot->ranges[walk->range];
    if (is_allocators(snapshot, range, where, walk->block) ||
        is_chunk_of_libc(range, &snapshot->blocks[target - 1], to_offset))
        return true;
    return root_of(snapshot, range, where, &root) &&
           add_reference(snapshot, ROOT_NODE + root - 1, where, (uint32_t)target - 1, to_offset,
                         word->tagged, NULL);
}

static bool read_words(void *context, sqlite3_stmt *query)
{
    struct walk *walk = context;
    const uint8_t *data = sqlite3_column_blob(query, 0);
    const uint8_t *end = data + sqlite3_column_bytes(query, 0);
    struct trace_references_word word = {0};
    uint64_t count;
    if (!data || !trace_get_varint(&data, end, &count))
        return true;
    while (count-- > 0 && trace_references_next(&data, end, &word)) {
        if (!add_word(walk, &word))
            return false;
        if (++walk->snapshot->words % WORDS_PER_LOOK == 0 &&
            writer_database_interrupted(walk->snapshot->database))
            return writer_database_fail(walk->snapshot->database, NULL);
    }
    return true;
}

/* Returns the name of the register with that DWARF number (psABI for x86-64, figure 3.36). */
static const char *register_name(uint64_t number)
{
    static const char *const names[REGISTERS] = {
        "rax",   "rdx",   "rcx",   "rbx",   "rsi",   "rdi",  "rbp",  "rsp",  "r8",
        "r9",    "r10",   "r11",   "r12",   "r13",   "r14",  "r15",  NULL,   "xmm0",
        "xmm1",  "xmm2",  "xmm3",  "xmm4",  "xmm5",  "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"};
    return number < REGISTERS && names[number] ? names[number] : "a register";
}

/* Registers come by their threads, as the threads do. */
static bool read_register(void *context, sqlite3_stmt *query)
{
    struct walk *walk = context;
    struct snapshot *snapshot = walk->snapshot;
    const int64_t tid = sqlite3_column_int64(query, 0);
    const uint64_t value = (uint64_t)sqlite3_column_int64(query, 2);
    const size_t target = blocks_up_to(snapshot, value);
    if (target == 0 || !holds(&snapshot->blocks[target - 1], value))
        return true;
    while (walk->thread < snapshot->thread_count && snapshot->threads[walk->thread].tid < tid)
        walk->thread++;
    if (walk->thread == snapshot->thread_count || snapshot->threads[walk->thread].tid != tid)
        return true;
    struct thread *thread = &snapshot->threads[walk->thread];
    const uint64_t number = (uint64_t)sqlite3_column_int64(query, 1);
    uint32_t *root = &thread->register_roots[number < REGISTERS ? number : REGISTERS - 1];
    char name[128];
    snprintf(name, sizeof(name), "%s of %s", register_name(number), thread->name);
    return make_root(snapshot, root, &(struct root){"register", name, NULL, tid, 0}) &&
           add_reference(snapshot, ROOT_NODE + *root - 1, number, (uint32_t)target - 1,
                         value - snapshot->blocks[target - 1].address, false, NULL);
}

static bool read_references(struct snapshot *snapshot)
{
    struct walk walk = {.snapshot = snapshot};
    return writer_database_each(snapshot->database, snapshot_words_sql, read_words, &walk) &&
           writer_database_each(snapshot->database, snapshot_registers_sql, read_register, &walk);
}

/* ---- states -------------------------------------------------------------------------------- */

static uint32_t first_block(const struct snapshot *snapshot)
{
    return NODE_FIRST_ROOT + (uint32_t)snapshot->root_count;
}

static bool is_doubted(const struct snapshot *snapshot, size_t reference)
{
    return reference < snapshot->place_count && snapshot->places[reference].doubt != DOUBT_NONE;
}

/* Gives the references the nodes of the graph, and adds those from outside to the roots. */
static bool number_nodes(struct snapshot *snapshot)
{
    const uint32_t blocks = first_block(snapshot);
    for (size_t i = 0; i < snapshot->reference_count; i++) {
        snapshot->from[i] = snapshot->from[i] >= ROOT_NODE
                                ? snapshot->from[i] - ROOT_NODE + NODE_FIRST_ROOT
                                : snapshot->from[i] + blocks;
        snapshot->to[i] += blocks;
    }
    const size_t most =
        snapshot->reference_count + snapshot->root_count + snapshot->block_count + 1;
    if (!array_grow(&snapshot->from, &snapshot->from_capacity, most, sizeof(*snapshot->from)) ||
        !array_grow(&snapshot->to, &snapshot->to_capacity, most, sizeof(*snapshot->to)))
        return fail_memory(snapshot);
    for (size_t i = 0; i < snapshot->root_count; i++) {
        snapshot->from[snapshot->reference_count] = NODE_OUTSIDE;
        snapshot->to[snapshot->reference_count++] = NODE_FIRST_ROOT + (uint32_t)i;
    }
    return true;
}

/* Visits in breadth first order all nodes without a state that the queue reaches, gives them the
 * state and their holder, and adds them to the queue. Returns its new length. */
static size_t visit(struct snapshot *snapshot, const struct graph *graph, uint32_t *queue,
                    size_t begin, size_t length, uint8_t state)
{
    for (size_t i = begin; i < length; i++)
        for (uint32_t e = graph->first[queue[i]]; e < graph->first[queue[i] + 1]; e++) {
            const uint32_t node = graph->targets[e];
            if (snapshot->state[node] != STATE_NONE)
                continue;
            snapshot->state[node] = state;
            snapshot->holder[node] = queue[i];
            queue[length++] = node;
        }
    return length;
}

/* Makes the graph of all references, or of those without doubt. */
static bool make_graph(struct snapshot *snapshot, struct graph *graph, bool all)
{
    const size_t nodes = first_block(snapshot) + snapshot->block_count;
    if (all)
        return graph_make(graph, nodes, snapshot->from, snapshot->to, snapshot->reference_count) ||
               fail_memory(snapshot);
    size_t count = 0;
    uint32_t *from = malloc((snapshot->reference_count + 1) * sizeof(*from));
    uint32_t *to = malloc((snapshot->reference_count + 1) * sizeof(*to));
    for (size_t i = 0; from && to && i < snapshot->reference_count; i++) {
        from[count] = snapshot->from[i];
        to[count] = snapshot->to[i];
        count += !is_doubted(snapshot, i);
    }
    const bool good = from && to && graph_make(graph, nodes, from, to, count);
    FREE_ALL(from, to);
    return good || fail_memory(snapshot);
}

/* Makes unreachable blocks that no other one reaches the first of their groups. In a circle it is
 * the oldest. One that a later group reaches is in that group. */
static void find_groups(struct snapshot *snapshot, const struct graph *graph, uint32_t *queue,
                        const uint32_t *by_age)
{
    const uint32_t blocks = first_block(snapshot);
    for (size_t i = 0; i < snapshot->block_count; i++) {
        const uint32_t node = blocks + by_age[i];
        if (snapshot->state[node] != STATE_NONE)
            continue;
        size_t length = 1;
        queue[0] = node;
        snapshot->state[node] = STATE_UNREACHABLE;
        for (size_t j = 0; j < length; j++)
            for (uint32_t e = graph->first[queue[j]]; e < graph->first[queue[j] + 1]; e++) {
                const uint32_t target = graph->targets[e];
                if (snapshot->state[target] == STATE_NONE)
                    queue[length++] = target;
                if (target != node && (snapshot->state[target] == STATE_NONE ||
                                       snapshot->state[target] == STATE_UNREACHABLE))
                    snapshot->state[target] = STATE_BY_UNREACHABLE;
            }
    }
}

static bool find_states(struct snapshot *snapshot, const uint32_t *by_age)
{
    const size_t nodes = first_block(snapshot) + snapshot->block_count;
    struct graph strong = {0}, all = {0};
    uint32_t *queue = malloc((nodes + 1) * sizeof(*queue));
    snapshot->state = calloc(nodes, sizeof(*snapshot->state));
    snapshot->holder = calloc(nodes, sizeof(*snapshot->holder));
    bool good = (queue && snapshot->state && snapshot->holder) || fail_memory(snapshot);
    good = good && make_graph(snapshot, &strong, false) && make_graph(snapshot, &all, true);
    if (good) {
        queue[0] = NODE_OUTSIDE;
        snapshot->state[NODE_OUTSIDE] = STATE_REACHABLE;
        const size_t length = visit(snapshot, &strong, queue, 0, 1, STATE_REACHABLE);
        visit(snapshot, &all, queue, 0, length, STATE_POSSIBLY);
        find_groups(snapshot, &all, queue, by_age);
    }
    graph_free(&strong);
    graph_free(&all);
    free(queue);
    return good;
}

/* Finds for each block the first reference from its holder, rather one without doubt. */
static bool find_held(struct snapshot *snapshot)
{
    const size_t nodes = first_block(snapshot) + snapshot->block_count;
    snapshot->held = calloc(nodes, sizeof(*snapshot->held));
    for (size_t i = 0; snapshot->held && i < snapshot->place_count; i++) {
        const uint32_t to = snapshot->to[i];
        uint32_t *held = &snapshot->held[to];
        if (snapshot->state[to] <= STATE_POSSIBLY && snapshot->holder[to] == snapshot->from[i] &&
            (*held == 0 || (is_doubted(snapshot, *held - 1) && !is_doubted(snapshot, i))))
            *held = (uint32_t)i + 1;
    }
    return snapshot->held || fail_memory(snapshot);
}

/* ---- dominators ---------------------------------------------------------------------------- */

static bool find_dominators(struct snapshot *snapshot)
{
    const uint32_t blocks = first_block(snapshot);
    const size_t nodes = blocks + snapshot->block_count;
    struct graph graph = {0};
    size_t count = 0;
    for (size_t i = 0; i < snapshot->reference_count; i++) {
        const uint8_t from = snapshot->state[snapshot->from[i]],
                      to = snapshot->state[snapshot->to[i]];
        /* Unreachable blocks keep nothing alive. Neither do references in doubt, where others do.
         */
        const bool counts = (from <= STATE_POSSIBLY || to > STATE_POSSIBLY) &&
                            (to != STATE_REACHABLE || !is_doubted(snapshot, i));
        snapshot->from[count] = snapshot->from[i];
        snapshot->to[count] = snapshot->to[i];
        count += counts;
    }
    snapshot->from[count] = NODE_OUTSIDE;
    snapshot->to[count++] = NODE_UNREACHABLE;
    for (size_t i = 0; i < snapshot->block_count; i++)
        if (snapshot->state[blocks + i] == STATE_UNREACHABLE) {
            snapshot->from[count] = NODE_UNREACHABLE;
            snapshot->to[count++] = blocks + (uint32_t)i;
        }
    bool good = graph_make(&graph, nodes, snapshot->from, snapshot->to, count) &&
                dominators_find(&snapshot->dominators, &graph);
    graph_free(&graph);
    snapshot->bytes = calloc(nodes, sizeof(*snapshot->bytes));
    snapshot->count = calloc(nodes, sizeof(*snapshot->count));
    if (!good || !snapshot->bytes || !snapshot->count)
        return fail_memory(snapshot);
    for (size_t i = 0; i < snapshot->block_count; i++) {
        snapshot->bytes[blocks + i] = snapshot->blocks[i].size;
        snapshot->count[blocks + i] = 1;
    }
    for (size_t i = snapshot->dominators.reached; i-- > 1;) {
        const uint32_t node = snapshot->dominators.order[i];
        snapshot->bytes[snapshot->dominators.of[node]] += snapshot->bytes[node];
        snapshot->count[snapshot->dominators.of[node]] += snapshot->count[node];
    }
    return true;
}

/* ---- groups -------------------------------------------------------------------------------- */

/* The keys of each stack, and the sums by key. */
struct groups {
    struct snapshot *snapshot;
    uint32_t (*stacks)[3]; /* function, user, owner; by id */
    size_t stack_count, stack_capacity;
    struct group_sum {
        uint32_t depth; /* blocks of the group on the path from the root */
        uint64_t own_bytes, own_count, bytes, count;
    } * sums[GROUP_COUNT];
    size_t sum_count[GROUP_COUNT], sum_capacity[GROUP_COUNT];
};

static bool read_stack(void *context, sqlite3_stmt *query)
{
    struct groups *groups = context;
    const size_t id = (size_t)sqlite3_column_int64(query, 0);
    if (id >= UINT32_MAX || !ARRAY_RESERVE(groups->stacks, id, groups->stack_capacity))
        return fail_memory(groups->snapshot);
    for (int i = 0; i < 3; i++)
        groups->stacks[id][i] = (uint32_t)sqlite3_column_int64(query, i + 1);
    groups->stack_count = id + 1;
    return true;
}

static struct group_sum *sum_of(struct groups *groups, enum group group, const struct block *block)
{
    uint32_t key = group == GROUP_TYPE ? block->type : block->thread;
    if (group != GROUP_TYPE && group != GROUP_THREAD)
        key = block->stack < groups->stack_count
                  ? groups->stacks[block->stack][group - GROUP_FUNCTION]
                  : 0;
    if (!ARRAY_RESERVE(groups->sums[group], key, groups->sum_capacity[group]))
        return NULL;
    if (key >= groups->sum_count[group])
        groups->sum_count[group] = (size_t)key + 1;
    return &groups->sums[group][key];
}

/* Enters a block on the way down the tree of dominators, or leaves it. */
static bool pass_block(struct groups *groups, uint32_t node, bool enters)
{
    const struct snapshot *snapshot = groups->snapshot;
    const struct block *block = &snapshot->blocks[node - first_block(snapshot)];
    for (enum group group = 0; group < GROUP_COUNT; group++) {
        struct group_sum *sum = sum_of(groups, group, block);
        if (!sum)
            return false;
        if (!enters) {
            sum->depth--;
            continue;
        }
        sum->own_bytes += block->size;
        sum->own_count++;
        if (sum->depth++ == 0) {
            sum->bytes += snapshot->bytes[node];
            sum->count += snapshot->count[node];
        }
    }
    return true;
}

/* Walks the tree of dominators. */
static bool sum_groups(struct groups *groups)
{
    const struct snapshot *snapshot = groups->snapshot;
    const struct dominators *dominators = &snapshot->dominators;
    const uint32_t blocks = first_block(snapshot);
    const size_t nodes = blocks + snapshot->block_count;
    struct graph tree = {0};
    size_t count = 0, depth = 0;
    uint32_t *from = malloc((nodes + 1) * sizeof(*from)), *to = malloc((nodes + 1) * sizeof(*to));
    for (size_t i = 1; from && to && i < dominators->reached; i++) {
        to[count] = dominators->order[i];
        from[count++] = dominators->of[dominators->order[i]];
    }
    bool good = from && to && graph_make(&tree, nodes, from, to, count);
    /* From here on `to` is the path, and `from` the next edge of each node on it. */
    if (good) {
        memcpy(from, tree.first, nodes * sizeof(*from));
        to[depth++] = NODE_OUTSIDE;
    }
    while (good && depth > 0) {
        const uint32_t node = to[depth - 1];
        if (from[node] < tree.first[node + 1]) {
            to[depth] = tree.targets[from[node]++];
            good = to[depth] < blocks || pass_block(groups, to[depth], true);
            depth++;
        } else {
            good = node < blocks || pass_block(groups, node, false);
            depth--;
        }
    }
    graph_free(&tree);
    FREE_ALL(from, to);
    return good;
}

static sqlite3_stmt *prepare(struct snapshot *snapshot, const char *sql)
{
    sqlite3_stmt *put = NULL;
    if (sqlite3_prepare_v2(snapshot->database->sqlite, sql, -1, &put, NULL) != SQLITE_OK)
        writer_database_fail(snapshot->database, NULL);
    return put;
}

/* Puts a row, whose other values are NULL. */
static bool put_numbers(struct snapshot *snapshot, sqlite3_stmt *put, size_t count,
                        const int64_t *numbers)
{
    sqlite3_clear_bindings(put);
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(put, (int)i + 1, numbers[i]);
    sqlite3_step(put);
    return sqlite3_reset(put) == SQLITE_OK || writer_database_fail(snapshot->database, NULL);
}

/* Returns the state as the tables have it. If anything is missing, nothing is surely unreachable.
 */
static enum state stored_state(const struct snapshot *snapshot, uint32_t node)
{
    const enum state state = (enum state)snapshot->state[node];
    return snapshot->whole || state <= STATE_POSSIBLY ? state : STATE_NONE;
}

static bool put_states(struct snapshot *snapshot)
{
    uint64_t bytes[STATE_COUNT] = {0}, count[STATE_COUNT] = {0};
    sqlite3_stmt *put =
        prepare(snapshot, "INSERT INTO retained_group VALUES (?,'state',?,?,?,?,?)");
    bool good = put != NULL;
    for (size_t i = 0; i < snapshot->block_count; i++) {
        const enum state state = stored_state(snapshot, first_block(snapshot) + (uint32_t)i);
        bytes[state] += snapshot->blocks[i].size;
        count[state]++;
    }
    for (size_t state = STATE_NONE; good && state < STATE_COUNT; state++)
        if (count[state] != 0)
            good = put_numbers(snapshot, put, 6,
                               (const int64_t[]){snapshot->id, (int64_t)state,
                                                 (int64_t)bytes[state], (int64_t)count[state],
                                                 (int64_t)bytes[state], (int64_t)count[state]});
    sqlite3_finalize(put);
    return good;
}

static bool put_groups(struct snapshot *snapshot)
{
    static const char *const names[] = {"type", "function", "user", "owner", "thread"};
    struct groups groups = {.snapshot = snapshot};
    bool good = writer_database_each(snapshot->database, snapshot_stacks_sql, read_stack, &groups);
    good = good && (sum_groups(&groups) || fail_memory(snapshot));
    for (enum group group = 0; group < GROUP_COUNT; group++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "INSERT INTO retained_group VALUES (?,'%s',?,?,?,?,?)",
                 names[group]);
        sqlite3_stmt *put = good ? prepare(snapshot, sql) : NULL;
        good = put != NULL;
        for (size_t key = 0; good && key < groups.sum_count[group]; key++) {
            const struct group_sum *sum = &groups.sums[group][key];
            if (sum->own_count != 0)
                good =
                    put_numbers(snapshot, put, 6,
                                (const int64_t[]){snapshot->id, (int64_t)key,
                                                  (int64_t)sum->own_bytes, (int64_t)sum->own_count,
                                                  (int64_t)sum->bytes, (int64_t)sum->count});
        }
        sqlite3_finalize(put);
        free(groups.sums[group]);
    }
    free(groups.stacks);
    return good;
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Returns a node as the tables name it. */
static int64_t node_id(const struct snapshot *snapshot, uint32_t node)
{
    const uint32_t blocks = first_block(snapshot);
    if (node == GRAPH_NONE || node < NODE_FIRST_ROOT)
        return 0;
    return node < blocks ? -(snapshot->first_root + (int64_t)(node - NODE_FIRST_ROOT))
                         : snapshot->blocks[node - blocks].id;
}

static bool put_retained(struct snapshot *snapshot, const uint32_t *by_age)
{
    const uint32_t blocks = first_block(snapshot);
    sqlite3_stmt *put = prepare(snapshot, "INSERT INTO retained VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    bool good = put != NULL;
    for (size_t i = 0; good && i < snapshot->block_count; i++) {
        const struct block *block = &snapshot->blocks[by_age[i]];
        const uint32_t node = blocks + by_age[i], held = snapshot->held[node];
        const struct place place = held ? snapshot->places[held - 1] : (struct place){.doubt = 0};
        good = put_numbers(snapshot, put, held ? 12 : 8,
                           (const int64_t[]){snapshot->id, block->id, stored_state(snapshot, node),
                                             node_id(snapshot, snapshot->dominators.of[node]),
                                             held ? node_id(snapshot, snapshot->holder[node]) : 0,
                                             (int64_t)snapshot->bytes[node],
                                             (int64_t)snapshot->count[node], block->referrers,
                                             (int64_t)place.from_offset, (int64_t)place.to_offset,
                                             place.member, place.doubt});
    }
    sqlite3_finalize(put);
    return good;
}

/* Puts the references that are none of those in `retained`. Call it before find_dominators(), which
 * drops some. */
static bool put_references(struct snapshot *snapshot)
{
    sqlite3_stmt *put = prepare(snapshot, "INSERT INTO other_reference VALUES (?,?,?,?,?,?,?)");
    bool good = put != NULL;
    for (size_t i = 0; good && i < snapshot->place_count; i++) {
        const struct place *place = &snapshot->places[i];
        if (snapshot->held[snapshot->to[i]] == i + 1)
            continue;
        good = put_numbers(
            snapshot, put, 7,
            (const int64_t[]){snapshot->id, node_id(snapshot, snapshot->from[i]),
                              (int64_t)place->from_offset, node_id(snapshot, snapshot->to[i]),
                              (int64_t)place->to_offset, place->member, place->doubt});
    }
    sqlite3_finalize(put);
    return good;
}

static bool put_roots(struct snapshot *snapshot)
{
    sqlite3_stmt *put = prepare(snapshot, "INSERT INTO root VALUES (?,?,?,?,?,?,?,?,?)");
    bool good = put != NULL;
    for (size_t i = 0; good && i < snapshot->root_count; i++) {
        const struct root *root = &snapshot->roots[i];
        sqlite3_bind_int64(put, 1, snapshot->first_root + (int64_t)i);
        sqlite3_bind_int64(put, 2, snapshot->id);
        sqlite3_bind_text(put, 3, root->kind, -1, SQLITE_STATIC);
        sqlite3_bind_text(put, 4, root->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(put, 5, root->module, -1, SQLITE_STATIC);
        if (root->tid)
            sqlite3_bind_int64(put, 6, root->tid);
        else
            sqlite3_bind_null(put, 6);
        if (root->address)
            sqlite3_bind_int64(put, 7, (int64_t)root->address);
        else
            sqlite3_bind_null(put, 7);
        sqlite3_bind_int64(put, 8, (int64_t)snapshot->bytes[NODE_FIRST_ROOT + i]);
        sqlite3_bind_int64(put, 9, (int64_t)snapshot->count[NODE_FIRST_ROOT + i]);
        sqlite3_step(put);
        good = sqlite3_reset(put) == SQLITE_OK || writer_database_fail(snapshot->database, NULL);
    }
    sqlite3_finalize(put);
    return good;
}

/* Returns the indices of the blocks in the order of their ids, or NULL. */
static uint32_t *sort_by_age(const struct snapshot *snapshot)
{
    struct {
        uint64_t id;
        uint32_t index;
    } *pairs = malloc((snapshot->block_count + 1) * sizeof(*pairs));
    uint32_t *order = pairs ? calloc(snapshot->block_count + 1, sizeof(*order)) : NULL;
    for (size_t i = 0; pairs && i < snapshot->block_count; i++) {
        pairs[i].id = (uint64_t)snapshot->blocks[i].id;
        pairs[i].index = (uint32_t)i;
    }
    if (pairs && snapshot->block_count != 0)
        qsort(pairs, snapshot->block_count, sizeof(*pairs), compare_uint64);
    for (size_t i = 0; order && i < snapshot->block_count; i++)
        order[i] = pairs[i].index;
    free(pairs);
    return order;
}

static bool resolve(struct snapshot *snapshot)
{
    int64_t other = 0;
    struct writer_database *database = snapshot->database;
    if (!writer_database_run(database, snapshot_begin_sql) ||
        !writer_database_run_with(database, "INSERT INTO resolved VALUES (?)", NULL,
                                  snapshot->id) ||
        !writer_database_number(database, "SELECT ifnull(max(id), 0) + 1 FROM root",
                                &snapshot->first_root) ||
        !writer_database_number(database, other_allocators_sql, &other))
        return false;
    snapshot->glibc = other == 0;
    if (!read_blocks(snapshot) ||
        !writer_database_each(database, snapshot_ranges_sql, read_range, snapshot) ||
        !writer_database_each(database, snapshot_variables_sql, read_variable, snapshot) ||
        !writer_database_each(database, snapshot_regions_sql, read_region, snapshot) ||
        !writer_database_each(database, snapshot_threads_sql, read_thread, snapshot))
        return false;
    place_threads(snapshot);
    if (!read_references(snapshot) || !number_nodes(snapshot))
        return false;
    uint32_t *by_age = sort_by_age(snapshot);
    if (!by_age)
        return fail_memory(snapshot);
    const bool good = find_states(snapshot, by_age) && find_held(snapshot) &&
                      put_references(snapshot) && find_dominators(snapshot) &&
                      put_roots(snapshot) && put_retained(snapshot, by_age) &&
                      put_groups(snapshot) && put_states(snapshot);
    free(by_age);
    return good;
}

static void free_variables(struct variables *variables)
{
    for (size_t i = 0; i < variables->count; i++)
        free(variables->rows[i].name);
    free(variables->rows);
}

static void free_snapshot(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->range_count; i++)
        free(snapshot->ranges[i].path);
    free_variables(&snapshot->variables);
    free_variables(&snapshot->regions);
    for (size_t i = 0; i < snapshot->thread_count; i++)
        free(snapshot->threads[i].name);
    for (size_t i = 0; i < snapshot->root_count; i++)
        FREE_ALL(snapshot->roots[i].name, snapshot->roots[i].module);
    FREE_ALL(snapshot->blocks, snapshot->pieces, snapshot->ranges, snapshot->threads,
             snapshot->roots, snapshot->from, snapshot->to, snapshot->places, snapshot->held,
             snapshot->state, snapshot->holder, snapshot->bytes, snapshot->count);
    dominators_free(&snapshot->dominators);
}

struct all_snapshots {
    struct writer_database *database;
    struct members members;
};

static bool resolve_row(void *context, sqlite3_stmt *query)
{
    struct all_snapshots *all = context;
    struct snapshot snapshot = {.database = all->database,
                                .members = &all->members,
                                .id = sqlite3_column_int64(query, 0),

                                .whole = sqlite3_column_int64(query, 1) != 0};
    const bool good = resolve(&snapshot);
    free_snapshot(&snapshot);
    return good;
}

static bool put_members(struct all_snapshots *all)
{
    sqlite3_stmt *put = NULL;
    bool good =
        sqlite3_prepare_v2(all->database->sqlite, "INSERT INTO reference_member VALUES (?,?)", -1,
                           &put, NULL) == SQLITE_OK ||
        writer_database_fail(all->database, NULL);
    for (size_t i = 0; good && i < all->members.name_count; i++) {
        sqlite3_bind_int64(put, 1, (int64_t)i + 1);
        sqlite3_bind_text(put, 2, all->members.names[i], -1, SQLITE_STATIC);
        sqlite3_step(put);
        good = sqlite3_reset(put) == SQLITE_OK || writer_database_fail(all->database, NULL);
    }
    sqlite3_finalize(put);
    return good;
}

bool writer_references_put(struct writer_database *database)
{
    struct all_snapshots all = {.database = database};
    int64_t snapshots;
    if (!writer_database_number(database, "SELECT count(*) FROM heap_snapshot", &snapshots))
        return false;
    if (snapshots == 0)
        return true;
    const bool good = members_read(&all.members, database) &&
                      writer_database_each(database, snapshots_sql, resolve_row, &all) &&
                      put_members(&all) && writer_database_run(database, reference_indexes_sql);
    members_free(&all.members);
    return good;
}
