/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of registers and stack slots at one point of a function (flow.h). */
#pragma once

#include "ingest/types/dwarf/locals.h"
#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/decode.h"

/* The declared type of a place (a register, a stack slot or a global variable), as the debug
 * information gives it for one address in a function's code. */

struct types_place_types {
    const struct types_site *site;
    struct types_locals locals;
};

/* Finds the type of the value in `local`. Returns false if it is not known. */
bool types_place_of(const struct types_place_types *places, const struct types_local *local,
                    struct types_type *type);

/* ---- flow state ---------------------------------------------------------------------------- */

enum types_value_kind {
    TYPES_VALUE_UNKNOWN, /* a number, + offset */
    TYPES_VALUE_RESULT,  /* the allocation's result + offset */
    TYPES_VALUE_POINTER, /* address of a `type`, + offset */
    TYPES_VALUE_ADDRESS, /* offset is an address of the module */
    TYPES_VALUE_STACK    /* canonical frame address + offset */
};

struct types_value {
    enum types_value_kind kind;
    bool indexed;  /* an index was added; to a pointer, a multiple of an element's size */
    uint8_t scale; /* of the index; 0: not known */
    int64_t offset;
    struct types_type type;
};

/* Adds offsets. Those of the program's code can be any number: they wrap as the machine's. */
static inline int64_t types_offset_sum(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left + (uint64_t)right);
}

#define TYPES_SLOTS_MAX 48

struct types_flow_state {
    struct types_value registers[16];
    uint32_t varying; /* bit n: register n was computed: it cannot hold a constant */
    size_t slot_count;
    struct {
        int64_t offset; /* from the canonical frame address */
        struct types_value value;
    } slots[TYPES_SLOTS_MAX];
};

/* Forgets everything. */
void types_flow_state_clear(struct types_flow_state *state);

/* Copies a state without the slots that are not used. */
void types_flow_state_copy(struct types_flow_state *to, const struct types_flow_state *from);

/* Returns a register's value at `pc`: the tracked one, or a pointer by its declared type. */
struct types_value types_flow_state_register(const struct types_flow_state *state,
                                             const struct types_place_types *places, uint64_t pc,
                                             uint8_t number);

/* Returns the address that a memory operand means at `pc`, which may be unknown. */
struct types_value types_flow_state_address(const struct types_flow_state *state,
                                            const struct types_place_types *places, uint64_t pc,
                                            const struct decode_operand *operand);

/* Returns true if the value is the thread pointer. */
bool types_flow_state_is_thread(const struct types_place_types *places,
                                const struct types_value *value);

/* Returns the address that lies at an offset from the thread pointer. It already is one if the
 * dynamic linker made the offset. */
struct types_value types_flow_state_thread(const struct types_place_types *places,
                                           const struct types_value *offset);

/* Returns the value at an address: a tracked slot's, or a pointer by its declared type. */
struct types_value types_flow_state_load(const struct types_flow_state *state,
                                         const struct types_place_types *places, uint64_t pc,
                                         const struct types_value *address);

/* Returns the value at `pc` of the variable that the location describes. With computed numbers the
 * value is indexed. */
struct types_value types_flow_state_variable(const struct types_flow_state *state,
                                             const struct types_place_types *places, uint64_t pc,
                                             Dwarf_Attribute *location);

/* Finds the declared type of the place at an address. Returns false if it is not known. */
bool types_flow_state_place(const struct types_place_types *places, uint64_t pc,
                            const struct types_value *address, struct types_type *type);

/* Remembers `value` in the slot. Forgets the slot if the value is unknown. */
void types_flow_state_store(struct types_flow_state *state, int64_t slot,
                            const struct types_value *value);

/* Forgets the registers in the mask. */
void types_flow_state_clobber(struct types_flow_state *state, uint32_t registers);

/* The facts read about the last few functions, for all calls in each: the places of its variables,
 * and what its registers and slots hold where jumps lead to, whichever way leads there. */

#define TYPES_PARTS_MAX 4

struct types_part_code {
    uint64_t start, end;
    const uint8_t *code; /* the bytes; NULL: not known */
};

/* A place to which the function jumps. */
struct types_block {
    uint64_t address;
    struct types_flow_state *before; /* without unused slots; NULL: no way was found there */
};

struct types_function {
    struct types_locals locals;
    struct types_part_code parts[TYPES_PARTS_MAX]; /* the one that is entered first */
    size_t part_count;
    struct types_block *blocks; /* sorted */
    size_t block_count, block_capacity;
    /* If the states of the blocks are known. */
    enum { TYPES_NOT_SETTLED, TYPES_SETTLED, TYPES_NEVER_SETTLED } settled;
};

struct types_functions;

/* Returns NULL if memory is exhausted. */
struct types_functions *types_functions_new(void);
void types_functions_free(struct types_functions *functions);

/* Returns the site's function, whose code has parts at those addresses, with its variables. NULL if
 * memory is exhausted. Valid until the next call. */
struct types_function *types_functions_find(struct types_functions *functions,
                                            const struct types_site *site,
                                            const struct types_part_code *parts, size_t part_count);

/* Decodes the instruction at `pc` of the part, and remembers some. False: there is none. */
bool types_functions_decode(struct types_functions *functions, const struct types_part_code *part,
                            uint64_t pc, struct decode_instruction *instruction);

/* Returns how often a function was read. */
uint64_t types_functions_read(const struct types_functions *functions);

/* Returns the part that holds `address`, or NULL. */
const struct types_part_code *types_function_part(const struct types_function *function,
                                                  uint64_t address);

/* Finds the blocks. Returns false if the code cannot be read or jumps too often. */
bool types_function_scan(struct types_function *function);

/* Returns the block that begins at `address`, or NULL. */
struct types_block *types_function_block(const struct types_function *function, uint64_t address);

/* Keeps of the block's state what `state`, with which another way leads there, has too. `*changed`
 * becomes true if that is less than before. Returns false if memory is exhausted. */
bool types_block_reach(struct types_block *block, const struct types_flow_state *state,
                       bool *changed);
