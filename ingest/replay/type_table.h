/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of a session, and the type of each allocation.
 *
 * Type ids are rows of the table `type`, from 1; 0 is unknown. The table keeps the answers of the
 * type rules: one for each stack and, up to a limit, those for the call chains and sizes asked
 * last. */
#pragma once

#include "ingest/base/array.h"
#include "ingest/replay/stacks.h"
#include "ingest/types/types.h"

/* The owners of the blocks of stacks, asked of the type rules (types/owner.h). All-zero is
 * empty. */

struct owner_row {
    const char *name; /* owned by the symbolizer */
    enum types_confidence confidence;
};

struct owner_memo;

struct owners {
    struct owner_row *rows; /* by id - 1 */
    size_t count, capacity;
    struct index_map by_name;
    struct owner_memo *memos; /* the answers so far, by the frames that decide */
    size_t memo_count, memo_capacity;
    struct types_frame *frames; /* of all memos */
    size_t frame_count, frame_capacity;
    struct index_map by_frames;
};

/* Returns the id of the owner of the stack's blocks, 0 if it is unknown or memory is exhausted. A
 * stack without the user's own code has none. */
uint32_t owners_find(struct owners *owners, struct types *types, const struct stacks *stacks,
                     uint32_t stack);

/* Call chains: the numbered innermost frames of stacks that decide a block's type. Thousands of
 * stacks often share the one or two frames that the type rules look at.
 *
 * A chain is a shorter chain with one more frame outside it. The number of chains is limited. A
 * stack whose chain finds no room has none. */

struct call_chain;

/* Empty if zero-initialized. */
struct call_chains {
    struct call_chain *rows; /* chain n is rows[n - 1] */
    size_t count, capacity;
    struct index_map by_frame;
};

/* ---- type table ---------------------------------------------------------------------------- */

struct type_row {
    const char *name;    /* owned by the symbolizer */
    uint64_t size;       /* 0: unknown */
    const char *element; /* what a container's node holds; NULL: not a node */
    enum types_confidence confidence;
};

struct type_answer {
    uint32_t type;
    uint64_t count; /* of elements, at least 1 */
};

/* Blocks of `size` bytes from one stack whose type is unknown. */
struct unknown_block {
    uint64_t size;
    uint32_t stack;
    uint32_t next; /* index into `unknown` + 1 of the stack's next; 0: none */
};

struct type_of_stack;
struct named_type;

struct type_table {
    struct stacks *stacks;
    struct types *types;
    bool shared;           /* `types` belongs to someone else */
    struct type_row *rows; /* [0] is unknown */
    size_t count, capacity;
    struct index_map by_name;
    struct generation_cache memos; /* of struct type_memo */
    struct call_chains chains;
    uint64_t questions;             /* asked of the rules so far */
    struct type_of_stack *by_stack; /* by stack id: the last answer */
    size_t by_stack_capacity;
    struct types_program_types *program_types; /* for types that the program names itself */
    struct named_type *named;
    size_t named_count, named_capacity;
    struct index_map by_symbol;
    struct unknown_block *unknown; /* at most TYPE_TABLE_UNKNOWN_SIZES for each stack */
    size_t unknown_count, unknown_capacity;
    struct owners owners;
};

/* The limits of sizes kept for a stack's unknown blocks, and of names for each. */
#define TYPE_TABLE_UNKNOWN_SIZES 8
#define TYPE_TABLE_CANDIDATES 16

/* Initializes the table. `stacks` and `symbols` must outlive it, and so must `types`, which uses
 * the same symbolizer. If `types` is NULL, the table makes its own. Returns false if memory is
 * exhausted; then free the table. */
bool type_table_init(struct type_table *table, struct stacks *stacks, struct symbols *symbols,
                     struct types *types);
void type_table_free(struct type_table *table);

/* Returns the type of an allocation of `size` bytes with that stack. `kind` is one of the
 * session's. The type is unknown if no rule names it or memory is exhausted. */
struct type_answer type_table_find(struct type_table *table, uint32_t stack, uint64_t size,
                                   uint8_t kind);

/* Remembers an allocation whose type is unknown, for type_table_candidates(). Without memory it
 * only gets no candidates. */
void type_table_unknown(struct type_table *table, uint32_t stack, uint64_t size);

/* Returns true if type_table_unknown() will add no more sizes for the stack. */
bool type_table_unknown_full(const struct type_table *table, uint32_t stack);

/* Prefetches the entry of the stack, for a type_table_find() soon. */
void type_table_prefetch(const struct type_table *table, uint32_t stack);

/* Returns the type that the program named by the variable at the ELF address `symbol` of module
 * `module`. `size` is that of one object, 0 if unknown. Returns 0 without a name or memory. */
uint32_t type_table_named(struct type_table *table, uint32_t module, uint64_t symbol,
                          uint64_t size);

/* Returns the type of this name, exact by the program's runtime. 0: memory is exhausted. */
uint32_t type_table_kind(struct type_table *table, const char *name);

/* Returns the operator new (enum operator_new) that asked for the stack's blocks, or 0. */
unsigned type_table_operator(struct type_table *table, uint32_t stack);

/* Writes the types that blocks like `block` could have to names[0 …], at most
 * TYPE_TABLE_CANDIDATES, in no meaningful order. Returns their number. Possibly none is right. */
size_t type_table_candidates(struct type_table *table, const struct unknown_block *block,
                             const char **names);

/* Returns the schema's word: 'exact', 'inferred', 'candidate'. */
const char *type_table_confidence_name(enum types_confidence confidence);
