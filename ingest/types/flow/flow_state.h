/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of registers and stack slots at one point of a function (flow.h).
 */
#ifndef MPROF_INGEST_TYPES_FLOW_FLOW_STATE_H
#define MPROF_INGEST_TYPES_FLOW_FLOW_STATE_H

#include "ingest/types/dwarf/place_types.h"
#include "ingest/types/flow/decode.h"

enum types_value_kind {
    TYPES_VALUE_UNKNOWN,
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

/*
 * Adds offsets. They come from the program's own code and can be any number, so they wrap as the
 * machine's do.
 */
static inline int64_t types_offset_sum(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left + (uint64_t)right);
}

#define TYPES_SLOTS_MAX 48

struct types_flow_state {
    struct types_value registers[16];
    struct {
        int64_t offset; /* from the canonical frame address */
        struct types_value value;
    } slots[TYPES_SLOTS_MAX];
    size_t slot_count;
};

/*
 * Returns the value of a register at `pc`: the tracked one, or else a pointer by its declared type.
 */
struct types_value types_flow_state_register(const struct types_flow_state *state,
                                             const struct types_place_types *places, uint64_t pc,
                                             uint8_t number);

/* Returns the address that a memory operand means at `pc`, which may be unknown. */
struct types_value types_flow_state_address(const struct types_flow_state *state,
                                            const struct types_place_types *places, uint64_t pc,
                                            const struct decode_operand *operand);

/*
 * Returns the value at an address: that of a tracked slot, or a pointer by the place's declared
 * type.
 */
struct types_value types_flow_state_load(const struct types_flow_state *state,
                                         const struct types_place_types *places, uint64_t pc,
                                         const struct types_value *address);

/* Finds the declared type of the place at an address. Returns false if it is not known. */
bool types_flow_state_place(const struct types_place_types *places, uint64_t pc,
                            const struct types_value *address, struct types_type *type);

/* Remembers `value` in the slot. Forgets the slot if the value is unknown. */
void types_flow_state_store(struct types_flow_state *state, int64_t slot,
                            const struct types_value *value);

/* Forgets the registers in the mask. */
void types_flow_state_clobber(struct types_flow_state *state, uint32_t registers);

#endif
