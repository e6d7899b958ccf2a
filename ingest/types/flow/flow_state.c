/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/flow_state.h"

static const struct types_value unknown = {.kind = TYPES_VALUE_UNKNOWN};

/* Returns the value of a place whose declared type is a pointer. */
static struct types_value pointer_value(const struct types_place_types *places,
                                        const struct types_type *type)
{
    struct types_value value = {.kind = TYPES_VALUE_POINTER};
    return types_pointee(places->site->index, type, &value.type) ? value : unknown;
}

struct types_value types_flow_state_register(const struct types_flow_state *state,
                                             const struct types_place_types *places, uint64_t pc,
                                             uint8_t number)
{
    struct types_type type;
    if (number > 15)
        return unknown;
    if (state->registers[number].kind != TYPES_VALUE_UNKNOWN)
        return state->registers[number];
    uint8_t base;
    int64_t offset;
    if ((number == REGISTER_RSP || number == REGISTER_RBP) &&
        types_locals_frame(&places->locals, pc, &base, &offset) && base == number)
        return (struct types_value){.kind = TYPES_VALUE_STACK, .offset = -offset};
    return types_place_register(places, pc, number, &type) ? pointer_value(places, &type) : unknown;
}

static struct types_value stack_address(const struct types_flow_state *state,
                                        const struct types_place_types *places, uint64_t pc,
                                        const struct decode_operand *operand)
{
    uint8_t base;
    int64_t offset;
    if (types_locals_frame(&places->locals, pc, &base, &offset) && base == operand->base)
        return (struct types_value){.kind = TYPES_VALUE_STACK, .offset = operand->value - offset};
    struct types_value value = state->registers[operand->base];
    value.offset = types_offset_sum(value.offset, operand->value);
    return value;
}

struct types_value types_flow_state_address(const struct types_flow_state *state,
                                            const struct types_place_types *places, uint64_t pc,
                                            const struct decode_operand *operand)
{
    struct types_value value = unknown;
    bool indexed = operand->index != REGISTER_NONE;
    if (operand->base == REGISTER_RIP)
        return (struct types_value){.kind = TYPES_VALUE_ADDRESS, .offset = operand->value};
    if (operand->base == REGISTER_NONE) {
        if (!indexed)
            value = (struct types_value){.kind = TYPES_VALUE_ADDRESS, .offset = operand->value};
        return value;
    }
    if (operand->base == REGISTER_RSP || operand->base == REGISTER_RBP)
        value = stack_address(state, places, pc, operand);
    if (value.kind == TYPES_VALUE_UNKNOWN) {
        value = types_flow_state_register(state, places, pc, operand->base);
        value.offset = types_offset_sum(value.offset, operand->value);
    }
    if (!indexed)
        return value;
    /* In base + index, either may be the pointer if the scale is 1. */
    if (value.kind != TYPES_VALUE_POINTER && value.kind != TYPES_VALUE_RESULT &&
        operand->scale == 1) {
        value = types_flow_state_register(state, places, pc, operand->index);
        value.offset = types_offset_sum(value.offset, operand->value);
    }
    value.indexed = true;
    value.scale = operand->scale;
    return value.kind == TYPES_VALUE_POINTER || value.kind == TYPES_VALUE_RESULT ? value : unknown;
}

/* Finds the place inside the pointer's type or, if it points into an array, inside one element. */
static bool place_through_pointer(const struct types_place_types *places,
                                  const struct types_value *address, struct types_type *type)
{
    int64_t offset = address->offset;
    const struct types_type *whole = &address->type;
    if (!whole->die.addr || whole->size == 0)
        return false;
    bool inside = offset >= 0 && (uint64_t)offset < whole->size;
    if (!inside && whole->shape == TYPES_RECORD && !address->indexed)
        return false;
    /* The index counts elements of the record's type, or of an array inside it. */
    if (whole->shape == TYPES_RECORD && address->scale > 1 && address->scale != whole->size &&
        !types_is_array_at(places->site->index, whole, (uint64_t)offset))
        return false;
    int64_t size = (int64_t)whole->size;
    offset = ((offset % size) + size) % size;
    return types_member_at(places->site->index, whole, (uint64_t)offset, type);
}

bool types_flow_state_place(const struct types_place_types *places, uint64_t pc,
                            const struct types_value *address, struct types_type *type)
{
    switch (address->kind) {
    case TYPES_VALUE_STACK:
        return types_place_stack(places, pc, address->offset, type);
    case TYPES_VALUE_ADDRESS:
        return types_place_global(places, (uint64_t)address->offset, type);
    case TYPES_VALUE_POINTER:
        return place_through_pointer(places, address, type);
    default:
        return false;
    }
}

struct types_value types_flow_state_load(const struct types_flow_state *state,
                                         const struct types_place_types *places, uint64_t pc,
                                         const struct types_value *address)
{
    struct types_type type;
    if (address->kind == TYPES_VALUE_STACK)
        for (size_t i = 0; i < state->slot_count; i++)
            if (state->slots[i].offset == address->offset)
                return state->slots[i].value;
    return types_flow_state_place(places, pc, address, &type) ? pointer_value(places, &type)
                                                              : unknown;
}

void types_flow_state_store(struct types_flow_state *state, int64_t slot,
                            const struct types_value *value)
{
    size_t at = 0;
    while (at < state->slot_count && state->slots[at].offset != slot)
        at++;
    if (value->kind == TYPES_VALUE_UNKNOWN) {
        if (at < state->slot_count)
            state->slots[at] = state->slots[--state->slot_count];
        return;
    }
    if (at == TYPES_SLOTS_MAX)
        return;
    if (at == state->slot_count)
        state->slot_count++;
    state->slots[at].offset = slot;
    state->slots[at].value = *value;
}

void types_flow_state_clobber(struct types_flow_state *state, uint32_t registers)
{
    for (unsigned i = 0; i < 16; i++)
        if (registers & (UINT32_C(1) << i))
            state->registers[i] = unknown;
}
