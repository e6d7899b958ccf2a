/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/flow_state.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

/* ---- place types --------------------------------------------------------------------------- */

static bool holds(const struct types_local *local, uint64_t pc)
{
    return local->start <= pc && pc < local->end;
}

/* Finds the scalar at `offset` in the variable. */
static bool type_within(const struct types_place_types *places, const Dwarf_Die *variable,
                        uint64_t offset, struct types_type *type)
{
    struct types_type whole;
    Dwarf_Die die = *variable;
    return types_of(places->site->index, &die, &whole) && whole.die.addr &&
           types_member_at(places->site->index, &whole, offset, type);
}

bool types_place_of(const struct types_place_types *places, const struct types_local *local,
                    struct types_type *type)
{
    return type_within(places, &local->variable, local->piece_offset, type);
}

/* All return false if no known variable is there at `pc`. `type` is that of the variable, or of its
 * member at the place. Only registers that hold the plain value count. */
static bool types_place_register(const struct types_place_types *places, uint64_t pc,
                                 uint8_t number, struct types_type *type)
{
    for (size_t i = 0; i < places->locals.count; i++) {
        const struct types_local *local = &places->locals.locals[i];
        if (!local->on_stack && local->base == number && local->offset == 0 && holds(local, pc) &&
            types_place_of(places, local, type))
            return true;
    }
    return false;
}

/* `offset` is from the canonical frame address. */
static bool types_place_stack(const struct types_place_types *places, uint64_t pc, int64_t offset,
                              struct types_type *type)
{
    uint8_t frame_base = 0;
    int64_t frame_offset = 0;
    bool frame = false, tried = false;
    for (size_t i = 0; i < places->locals.count; i++) {
        const struct types_local *local = &places->locals.locals[i];
        if (!local->on_stack || !holds(local, pc))
            continue;
        int64_t start = local->offset;
        if (local->base != TYPES_FRAME_ADDRESS) {
            if (!tried)
                frame = types_locals_frame(&places->locals, pc, &frame_base, &frame_offset);
            tried = true;
            if (!frame || local->base != frame_base)
                continue;
            start -= frame_offset;
        }
        if (offset < start)
            continue;
        uint64_t inside = (uint64_t)(offset - start);
        if (local->piece_size != 0 && inside >= local->piece_size)
            continue;
        if (type_within(places, &local->variable, local->piece_offset + inside, type))
            return true;
    }
    return false;
}

static bool types_place_global(const struct types_place_types *places,
                               const struct types_value *address, struct types_type *type)
{
    Dwarf_Die variable;
    struct types_type whole;
    uint64_t offset;
    return places->site->globals &&
           types_globals_find(places->site->globals, places->site->index, (uint64_t)address->offset,
                              &variable, &offset) &&
           (!address->indexed || (types_of(places->site->index, &variable, &whole) &&
                                  (whole.shape == TYPES_ARRAY ||
                                   types_is_array_at(places->site->index, &whole, offset)))) &&
           type_within(places, &variable, offset, type);
}

/* ---- flow state ---------------------------------------------------------------------------- */

static const struct types_value unknown = {.kind = TYPES_VALUE_UNKNOWN};

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
    return types_place_register(places, pc, number, &type) ? pointer_value(places, &type)
                                                           : state->registers[number];
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

static uint64_t thread_pointer(const struct types_place_types *places)
{
    return !places->site->globals ? 0 : types_globals_thread_pointer(places->site->globals);
}

bool types_flow_state_is_thread(const struct types_place_types *places,
                                const struct types_value *value)
{
    return value->kind == TYPES_VALUE_ADDRESS && !value->indexed &&
           value->offset >= (int64_t)TYPES_THREAD_BLOCK &&
           (uint64_t)value->offset == thread_pointer(places);
}

struct types_value types_flow_state_thread(const struct types_place_types *places,
                                           const struct types_value *offset)
{
    struct types_value value = *offset;
    const uint64_t pointer = thread_pointer(places);
    if (pointer == 0 || (value.kind != TYPES_VALUE_ADDRESS && value.kind != TYPES_VALUE_UNKNOWN))
        return unknown;
    value.indexed = value.indexed || value.kind == TYPES_VALUE_UNKNOWN;
    value.kind = TYPES_VALUE_ADDRESS;
    if (value.offset < (int64_t)(TYPES_THREAD_BLOCK / 2))
        value.offset = types_offset_sum(value.offset, (int64_t)pointer);
    return value;
}

struct types_value types_flow_state_address(const struct types_flow_state *state,
                                            const struct types_place_types *places, uint64_t pc,
                                            const struct decode_operand *operand)
{
    struct types_value value = unknown;
    if (operand->thread) {
        struct decode_operand offset = *operand;
        offset.thread = false;
        value = types_flow_state_address(state, places, pc, &offset);
        if (operand->base == REGISTER_NONE && operand->index != REGISTER_NONE) {
            value.offset = operand->value;
            value.scale = operand->scale;
        }
        return types_flow_state_thread(places, &value);
    }
    const bool indexed = operand->index != REGISTER_NONE;
    uint8_t index = operand->index;
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
        value.kind != TYPES_VALUE_ADDRESS && operand->scale == 1) {
        value = types_flow_state_register(state, places, pc, operand->index);
        value.offset = types_offset_sum(value.offset, operand->value);
        index = operand->base;
    }
    /* A number that was added to the index. */
    if (index < 16 && state->registers[index].kind == TYPES_VALUE_UNKNOWN)
        value.offset = types_offset_sum(value.offset,
                                        (int64_t)((uint64_t)state->registers[index].offset *
                                                  (index == operand->index ? operand->scale : 1)));
    value.indexed = true;
    value.scale = operand->scale;
    return value.kind == TYPES_VALUE_POINTER || value.kind == TYPES_VALUE_RESULT ||
                   value.kind == TYPES_VALUE_ADDRESS
               ? value
               : (struct types_value){.kind = TYPES_VALUE_UNKNOWN, .offset = value.offset};
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
    if (whole->shape == TYPES_RECORD && address->scale > 1 && whole->size % address->scale != 0 &&
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
        return types_place_global(places, address, type);
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
    /* The thread pointer points to itself. */
    if (types_flow_state_is_thread(places, address))
        return *address;
    if (address->kind == TYPES_VALUE_ADDRESS && !address->indexed && places->site->globals) {
        const uint64_t variable =
            types_globals_slot(places->site->globals, (uint64_t)address->offset);
        if (variable != 0)
            return (struct types_value){.kind = TYPES_VALUE_ADDRESS, .offset = (int64_t)variable};
    }
    return types_flow_state_place(places, pc, address, &type) ? pointer_value(places, &type)
                                                              : unknown;
}

/* ---- variables ----------------------------------------------------------------------------- */

#define COMPUTED_MAX 16

/* The machine of DWARF's expressions (DWARF 5, 2.5.1), on values as this file knows them. */
struct computing {
    const struct types_flow_state *state;
    const struct types_place_types *places;
    uint64_t pc;
    Dwarf_Attribute *location;
    size_t count;
    struct types_value values[COMPUTED_MAX];
};

/* An unknown value that is not indexed is a constant there. */
static const struct types_value not_a_constant = {.kind = TYPES_VALUE_UNKNOWN, .indexed = true};

static struct types_value pop(struct computing *computing)
{
    return computing->count > 0 ? computing->values[--computing->count] : not_a_constant;
}

/* Finds the type to which the first parameter of the frame's own function points. It is in rdi when
 * the function begins. */
static bool first_pointee(const struct types_site *site, struct types_type *pointee)
{
    Dwarf_Die function = site->entries[site->entry_count - 1], child;
    struct types_type pointer;
    if (dwarf_child(&function, &child) != 0)
        return false;
    while (dwarf_tag(&child) != DW_TAG_formal_parameter)
        if (!types_index_sibling(site->index, &child))
            return false;
    return types_of(site->index, &child, &pointer) && types_pointee(site->index, &pointer, pointee);
}

/* Returns the value that a register had when the function began: DWARF 5, 2.5.1.7. */
static struct types_value entry_value(const struct computing *computing, const Dwarf_Op *operation)
{
    struct types_value value = {.kind = TYPES_VALUE_POINTER};
    Dwarf_Attribute inner;
    Dwarf_Op *entry;
    size_t count;
    const bool known = dwarf_getlocation_attr(computing->location, operation, &inner) == 0 &&
                       dwarf_getlocation(&inner, &entry, &count) == 0 && count == 1 &&
                       entry[0].atom == DW_OP_reg5 &&
                       first_pointee(computing->places->site, &value.type);
    return known ? value : (struct types_value){.kind = TYPES_VALUE_UNKNOWN, .indexed = true};
}

/* Returns the value of a register plus `offset`. An unknown one is indexed, not constant. */
static struct types_value register_value(const struct computing *computing, uint8_t number,
                                         int64_t offset)
{
    struct types_value value =
        types_flow_state_register(computing->state, computing->places, computing->pc, number);
    value.offset = types_offset_sum(value.offset, offset);
    value.indexed = value.indexed || value.kind == TYPES_VALUE_UNKNOWN;
    return value;
}

static struct types_value sum_of(struct types_value one, struct types_value other)
{
    struct types_value sum = one.kind == TYPES_VALUE_UNKNOWN ? other : one;
    sum.indexed = one.indexed || other.indexed;
    sum.offset = types_offset_sum(one.offset, other.offset);
    return one.kind != TYPES_VALUE_UNKNOWN && other.kind != TYPES_VALUE_UNKNOWN ? not_a_constant
                                                                                : sum;
}

/* Finds the value that an operation puts on the stack. Returns false if it is not known. */
static bool compute(struct computing *computing, const Dwarf_Op *operation,
                    struct types_value *value)
{
    const uint8_t atom = operation->atom, base = computing->places->locals.frame_base;
    const int64_t number = (int64_t)operation->number;
    uint8_t machine;
    *value = unknown;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        value->offset = atom - DW_OP_lit0;
        return true;
    }
    if ((atom >= DW_OP_breg0 && atom <= DW_OP_breg31) ||
        (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)) {
        const bool sum = atom >= DW_OP_breg0;
        if (!types_machine_register((uint64_t)atom - (sum ? DW_OP_breg0 : DW_OP_reg0), &machine))
            return false;
        *value = register_value(computing, machine, sum ? number : 0);
        return true;
    }
    switch (atom) {
    case DW_OP_addr:
        value->kind = TYPES_VALUE_ADDRESS;
        value->offset = types_offset_sum(number, (int64_t)computing->places->site->file->bias);
        return true;
    case DW_OP_fbreg:
        if (base == TYPES_FRAME_ADDRESS)
            *value = (struct types_value){.kind = TYPES_VALUE_STACK, .offset = number};
        else
            *value = register_value(computing, base, number);
        return true;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        *value = entry_value(computing, operation);
        return true;
    case DW_OP_plus_uconst:
        *value = pop(computing);
        value->offset = types_offset_sum(value->offset, number);
        return true;
    case DW_OP_deref:
        *value = pop(computing);
        *value = types_flow_state_load(computing->state, computing->places, computing->pc, value);
        if (value->kind == TYPES_VALUE_UNKNOWN)
            *value = not_a_constant;
        return true;
    case DW_OP_plus:
        *value = pop(computing);
        *value = sum_of(pop(computing), *value);
        return true;
    case DW_OP_and:
    case DW_OP_mul:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
        pop(computing);
        pop(computing);
        *value = not_a_constant;
        return true;
    default:
        value->offset = number;
        return atom >= DW_OP_const1u && atom <= DW_OP_consts;
    }
}

struct types_value types_flow_state_variable(const struct types_flow_state *state,
                                             const struct types_place_types *places, uint64_t pc,
                                             Dwarf_Attribute *location)
{
    struct computing computing = {state, places, pc, location, 0, {unknown}};
    struct types_value value;
    Dwarf_Op *operations;
    size_t count;
    if (dwarf_getlocation_addr(location, pc - places->site->file->bias, &operations, &count, 1) !=
        1)
        return unknown;
    const uint8_t last = count == 0 ? 0 : operations[count - 1].atom;
    const bool itself = last == DW_OP_stack_value || (last >= DW_OP_reg0 && last <= DW_OP_reg31);
    for (size_t i = 0; i < count && !(i + 1 == count && last == DW_OP_stack_value); i++) {
        if (computing.count == COMPUTED_MAX || !compute(&computing, &operations[i], &value))
            return unknown;
        computing.values[computing.count++] = value;
    }
    value = pop(&computing);
    return itself ? value : types_flow_state_load(state, places, pc, &value);
}

void types_flow_state_clear(struct types_flow_state *state)
{
    memset(state, 0, offsetof(struct types_flow_state, slots));
}

void types_flow_state_copy(struct types_flow_state *to, const struct types_flow_state *from)
{
    memcpy(to, from,
           offsetof(struct types_flow_state, slots) + from->slot_count * sizeof(*from->slots));
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

/* ---- function ------------------------------------------------------------------------------ */

/* The number of last used functions that are certainly kept. */
#define FUNCTIONS 64
/* The most places to which a function may jump, and the most code that it may have, in bytes. */
#define BLOCKS_MAX 2048
#define CODE_MAX 262144

struct kept_function {
    uint64_t start;
    uint32_t module;
    struct types_function *function; /* NULL: an item without content (array.h) */
};

/* An instruction that was decoded, at the place of its address. Paths meet, and the calls of a
 * function have code in common. */
#define DECODED 4096u
struct decoded {
    uint64_t address; /* 0: none */
    uint8_t bytes[16];
    struct decode_instruction instruction;
};

struct types_functions {
    struct generation_cache recent;
    uint64_t read;
    struct decoded decoded[DECODED];
};

static void drop(void *item)
{
    const struct kept_function *kept = item;
    if (!kept->function)
        return;
    types_locals_free(&kept->function->locals);
    for (size_t i = 0; i < kept->function->block_count; i++)
        free(kept->function->blocks[i].before);
    free(kept->function->blocks);
    free(kept->function);
}

static bool same_function(const void *item, const void *key)
{
    const struct kept_function *kept = item, *wanted = key;
    return kept->function && kept->start == wanted->start && kept->module == wanted->module;
}

struct types_functions *types_functions_new(void)
{
    struct types_functions *functions = calloc(1, sizeof(*functions));
    if (functions)
        functions->recent = (struct generation_cache){
            .item_size = sizeof(struct kept_function), .limit = FUNCTIONS, .drop = drop};
    return functions;
}

void types_functions_free(struct types_functions *functions)
{
    if (functions)
        generation_cache_free(&functions->recent);
    free(functions);
}

struct types_function *types_functions_find(struct types_functions *functions,
                                            const struct types_site *site,
                                            const struct types_part_code *parts, size_t part_count)
{
    const uint64_t start = part_count == 0 ? 0 : parts[0].start;
    struct kept_function wanted = {.start = start, .module = site->module};
    uint64_t hash = hash_combine(hash_combine(hash_seed(), start), site->module);
    const struct kept_function *kept =
        generation_cache_find(&functions->recent, hash, same_function, &wanted);
    if (kept)
        return kept->function;
    wanted.function = calloc(1, sizeof(*wanted.function));
    if (!wanted.function)
        return NULL;
    functions->read++;
    wanted.function->part_count = part_count;
    for (size_t i = 0; i < part_count; i++) {
        struct types_part_code *part = &wanted.function->parts[i];
        size_t size = 0;
        *part = parts[i];
        part->code = types_code(site->file, part->start, &size);
        if (size < part->end - part->start)
            part->code = NULL;
    }
    if (types_locals_read(&wanted.function->locals, site) &&
        generation_cache_add(&functions->recent, hash, &wanted))
        return wanted.function;
    drop(&wanted);
    return NULL;
}

bool types_functions_decode(struct types_functions *functions, const struct types_part_code *part,
                            uint64_t pc, struct decode_instruction *instruction)
{
    struct decoded *kept =
        &functions->decoded[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (DECODED - 1)];
    if (!part->code)
        return false;
    const uint8_t *bytes = part->code + (pc - part->start);
    const size_t size = part->end - pc;
    /* Another module may have other bytes there. */
    if (kept->address == pc && size >= kept->instruction.length &&
        memcmp(kept->bytes, bytes, kept->instruction.length) == 0) {
        *instruction = kept->instruction;
        return true;
    }
    if (!types_decode(bytes, size, pc, instruction))
        return false;
    kept->address = pc;
    kept->instruction = *instruction;
    memcpy(kept->bytes, bytes, instruction->length); /* at most 15 */
    return true;
}

uint64_t types_functions_read(const struct types_functions *functions)
{
    return functions->read;
}

const struct types_part_code *types_function_part(const struct types_function *function,
                                                  uint64_t address)
{
    for (size_t i = 0; i < function->part_count; i++)
        if (address >= function->parts[i].start && address < function->parts[i].end)
            return &function->parts[i];
    return NULL;
}

static bool scan_part(struct types_function *function, const struct types_part_code *part)
{
    if (!part->code)
        return false;
    for (uint64_t pc = part->start; pc < part->end;) {
        struct decode_instruction in;
        if (!types_decode_branch(part->code + (pc - part->start), part->end - pc, pc, &in))
            return true; /* data after the code */
        pc += in.length;
        if ((in.operation != DECODE_BRANCH && in.operation != DECODE_JUMP) ||
            !types_function_part(function, in.target))
            continue;
        if (!ARRAY_RESERVE(function->blocks, function->block_count, function->block_capacity))
            return false;
        function->blocks[function->block_count++] = (struct types_block){in.target, NULL};
    }
    return true;
}

bool types_function_scan(struct types_function *function)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < function->part_count; i++)
        bytes += function->parts[i].end - function->parts[i].start;
    if (bytes > CODE_MAX)
        return false;
    for (size_t i = 0; i < function->part_count; i++)
        if (!scan_part(function, &function->parts[i]))
            return false;
    size_t kept = 0;
    if (function->block_count > 1)
        qsort(function->blocks, function->block_count, sizeof(*function->blocks), compare_uint64);
    for (size_t i = 0; i < function->block_count; i++)
        if (kept == 0 || function->blocks[kept - 1].address != function->blocks[i].address)
            function->blocks[kept++] = function->blocks[i];
    function->block_count = kept;
    return kept <= BLOCKS_MAX;
}

struct types_block *types_function_block(const struct types_function *function, uint64_t address)
{
    return function->block_count == 0 ? NULL
                                      : bsearch(&address, function->blocks, function->block_count,
                                                sizeof(*function->blocks), compare_uint64);
}

static bool same_value(const struct types_value *one, const struct types_value *other)
{
    return one->kind == other->kind && one->offset == other->offset &&
           one->indexed == other->indexed && one->scale == other->scale &&
           (one->kind != TYPES_VALUE_POINTER || one->type.die.addr == other->type.die.addr);
}

/* Forgets a register or slot that has another value on another way. */
static bool meet_value(struct types_value *value, const struct types_value *other)
{
    if (same_value(value, other) || same_value(value, &unknown))
        return false;
    *value = unknown;
    return true;
}

bool types_block_reach(struct types_block *block, const struct types_flow_state *state,
                       bool *changed)
{
    struct types_flow_state *before = block->before;
    if (!before) {
        *changed = true;
        block->before = malloc(offsetof(struct types_flow_state, slots) +
                               state->slot_count * sizeof(*state->slots));
        if (block->before)
            types_flow_state_copy(block->before, state);
        return block->before != NULL;
    }
    bool less = (before->varying & ~state->varying) != 0;
    before->varying &= state->varying;
    for (size_t i = 0; i < 16; i++)
        less = meet_value(&before->registers[i], &state->registers[i]) || less;
    for (size_t i = before->slot_count; i-- > 0;) {
        size_t k = 0;
        while (k < state->slot_count && state->slots[k].offset != before->slots[i].offset)
            k++;
        if (k < state->slot_count && same_value(&before->slots[i].value, &state->slots[k].value))
            continue;
        before->slots[i] = before->slots[--before->slot_count];
        less = true;
    }
    *changed = *changed || less;
    return true;
}
