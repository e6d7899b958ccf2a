/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of a session: which type each allocation has, and the sums of each.
 *
 * Type ids are rows of the table `type`, from 1; 0 is unknown. The answers of the type rules are
 * kept: one for each stack, and in a table of bounded size those for the call chains and sizes
 * asked last.
 */
#ifndef MPROF_INGEST_TYPE_TABLE_H
#define MPROF_INGEST_TYPE_TABLE_H

#include "ingest/array.h"
#include "ingest/call_chains.h"
#include "ingest/recent.h"
#include "ingest/stacks.h"
#include "ingest/types.h"
#include "ingest/types_tags.h"

struct type_row {
    const char *name;    /* of the symbolizer */
    uint64_t size;       /* 0: unknown */
    const char *element; /* what a container's node holds, NULL: it is none */
    enum types_confidence confidence;
    uint64_t allocations, bytes, live_count, live_bytes; /* of the process heap */
};

struct type_answer {
    uint32_t type;
    uint64_t count; /* of elements, at least 1 */
};

/* Blocks of `size` bytes by one stack whose type is unknown. */
struct unknown_block {
    uint64_t size;
    uint32_t stack;
    uint32_t next; /* index of the stack's next in `unknown` + 1; 0: none */
};

struct type_of_stack;
struct named_type;

struct type_table {
    struct stacks *stacks;
    struct types *types;
    bool shared;           /* they are not its own */
    struct type_row *rows; /* [0] is unknown */
    size_t count, capacity;
    struct index_map by_name;
    struct recent memos; /* of struct type_memo */
    struct call_chains chains;
    uint64_t questions;             /* that the rules were asked */
    struct type_of_stack *by_stack; /* by stack id: the answer given last */
    size_t by_stack_capacity;
    struct types_tags *tags; /* types that the program names itself */
    struct named_type *named;
    size_t named_count, named_capacity;
    struct index_map by_symbol;
    struct unknown_block *unknown; /* at most TYPE_TABLE_UNKNOWN_SIZES a stack */
    size_t unknown_count, unknown_capacity;
};

/* Sizes of a stack's unknown blocks that are kept, and the names that each may have. */
#define TYPE_TABLE_UNKNOWN_SIZES 8
#define TYPE_TABLE_CANDIDATES 16

/*
 * `stacks` and `symbols` must outlive it, and `types`, which are of the same symbolizer; NULL: it
 * makes its own. False where memory is exhausted; then free it.
 */
bool type_table_init(struct type_table *table, struct stacks *stacks, struct symbols *symbols,
                     struct types *types);
void type_table_free(struct type_table *table);

/*
 * Type of an allocation of `size` bytes with that stack; `kind` is one of the session's. What
 * cannot be known, also for lack of memory, is unknown.
 */
struct type_answer type_table_find(struct type_table *table, uint32_t stack, uint64_t size,
                                   uint8_t kind);

/*
 * The type that the program named by the variable at the ELF address `symbol` of module `module`;
 * `size` of one object, 0: unknown. 0 where no name is found, or for lack of memory.
 */
uint32_t type_table_named(struct type_table *table, uint32_t module, uint64_t symbol,
                          uint64_t size);

/* Adds one allocation to the sums of its type. */
void type_table_count(struct type_table *table, uint32_t type, uint64_t size, bool live);

/* Which of C++'s operators new asked for the blocks of this stack (enum operator_new); 0: none. */
unsigned type_table_operator(struct type_table *table, uint32_t stack);

/*
 * What blocks like `block` could be: names[0 …], at most TYPE_TABLE_CANDIDATES, in an order that
 * says nothing. Returns how many; none need be right.
 */
size_t type_table_candidates(struct type_table *table, const struct unknown_block *block,
                             const char **names);

/* In schema words: 'exact', 'inferred', 'candidate'. */
const char *type_table_confidence_name(enum types_confidence confidence);

#endif
