/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/flow.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/folded.h"

/* The evidence about a block, and the paths through the code after its allocation on which each
 * piece was met (flow.h).
 *
 * Order of calls: types_flow_path_add() and types_flow_path_add_own() along a path,
 * types_flow_path_end() at its end. Then follow the next path, with `seen`, `last` and `rerun` as
 * they were where it left the first. types_flow_path_finish() when all paths are done. */

struct types_flow_path {
    struct types_flow *flow;
    uint32_t seen; /* bit n: evidence n was met on this path so far */
    uint8_t last;  /* 1 + the number of the last evidence that names a record; 0: none */
    bool rerun;    /* this code was run before: it adds no evidence, only new paths */
    uint32_t path_ends[TYPES_PATH_ENDS_MAX];
};

/* Notes that a piece of evidence was met on this path through the code. */
static void meet(struct types_flow_path *path, size_t number)
{
    const struct types_evidence *evidence = &path->flow->evidence[number];
    path->seen |= UINT32_C(1) << number;
    if (evidence->symbol || evidence->type.shape == TYPES_RECORD)
        path->last = (uint8_t)(number + 1);
}

/* Adds that the result, as `pointer` has it, goes to `type`, or meets `symbol`. */
static void types_flow_path_add(struct types_flow_path *path, enum types_evidence_kind kind,
                                const struct types_type *type, const struct types_value *pointer,
                                const char *symbol)
{
    int64_t offset = pointer->offset;
    struct types_flow *flow = path->flow;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *known = &flow->evidence[i];
        if (known->kind == kind && known->offset == offset && known->symbol == symbol &&
            known->indexed == pointer->indexed &&
            known->type.die.addr == (!type ? NULL : type->die.addr)) {
            meet(path, i);
            return;
        }
    }
    /* A large object has many members with constructors: they leave room for the object itself. */
    const bool part = kind != TYPES_EVIDENCE_PLACE && offset != flow->offset;
    if (path->rerun || flow->count >= TYPES_EVIDENCE_MAX - (part ? TYPES_EVIDENCE_WHOLE : 0))
        return;
    struct types_evidence *evidence = &flow->evidence[flow->count++];
    *evidence = (struct types_evidence){
        .kind = kind, .offset = offset, .indexed = pointer->indexed, .symbol = symbol};
    if (type)
        evidence->type = *type;
    meet(path, flow->count - 1);
}

static void types_flow_path_end(struct types_flow_path *path)
{
    size_t count = path->flow->path_end_count;
    for (size_t i = 0; i < count; i++)
        if (path->path_ends[i] == path->seen)
            return;
    if (count == TYPES_PATH_ENDS_MAX || path->seen == 0)
        return;
    path->path_ends[count] = path->seen;
    path->flow->path_end_count++;
}

/* Writes into each piece of evidence at which ends it was met. */
static void types_flow_path_finish(struct types_flow_path *path)
{
    struct types_flow *flow = path->flow;
    for (size_t i = 0; i < flow->count; i++)
        for (size_t k = 0; k < flow->path_end_count; k++)
            if (path->path_ends[k] & (UINT32_C(1) << i))
                flow->evidence[i].path_ends |= UINT32_C(1) << k;
}

/* Adds that the block, at `stored_at`, points into itself. */
static void types_flow_path_add_own(struct types_flow_path *path, int64_t stored_at, int64_t offset)
{
    struct types_flow *flow = path->flow;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_OWN && flow->evidence[i].offset == offset &&
            flow->evidence[i].stored_at == stored_at)
            return;
    if (!path->rerun && flow->count < TYPES_EVIDENCE_MAX - TYPES_EVIDENCE_WHOLE)
        flow->evidence[flow->count++] = (struct types_evidence){
            .kind = TYPES_EVIDENCE_OWN, .offset = offset, .stored_at = stored_at};
}

/* How often the code of a function is run to find out what it holds where jumps lead to. */
#define ROUNDS_MAX 8
/* Limits for the code after the call: the number of instructions, and of waiting paths. */
#define STEPS_MAX 600
#define PATHS_MAX 12
/* Further instructions for each path that waits at that limit. */
#define STEPS_EXTRA 48
#define VISITED_MAX 2048

struct pending_path {
    uint64_t address;
    uint32_t seen;
    uint8_t last;
    bool rerun;
    struct types_flow_state state;
};

struct follower {
    const struct types_site *site;
    struct types_function *function;
    struct types_place_types places; /* its variables belong to `function` */
    struct types_flow *flow;
    struct types_flow_state state;
    struct types_flow_path current; /* the path that is run now */
    bool lost;                      /* the path ended in a function that does not return */
    bool returns_nothing;
    bool reached; /* the call, by running the code before it */
    bool follows_object;
    int64_t object; /* the object's place on the stack */
    size_t pending_count, visited_count;
    bool before; /* the code before the call runs: it tells nothing about the result */
    const struct types_part_code *part; /* of the function, with the call; NULL: not known */
    uint64_t marks[64];                 /* a bit for each hash of what was visited */
    /* Written when they are counted: */
    struct pending_path pending[PATHS_MAX];
    uint64_t visited[VISITED_MAX];
};

/* The registers that a call may change, and those that carry arguments: System V ABI, 3.2. */
#define CALL_CLOBBERS 0x0fc7u
static const uint8_t argument_registers[] = {REGISTER_RDI, REGISTER_RSI, REGISTER_RDX,
                                             REGISTER_RCX, REGISTER_R8,  REGISTER_R9};

/* ---- evidence --------------------------------------------------------------------------- */

static void add_pointer(struct follower *follower, enum types_evidence_kind kind,
                        const struct types_type *pointer, const struct types_value *value)
{
    struct types_type pointee;
    if (types_pointee(follower->site->index, pointer, &pointee))
        types_flow_path_add(&follower->current, kind, &pointee, value, NULL);
}

/* Notes the place into which the result was stored, beside the evidence that the place's type is.
 */
static void note_place(struct follower *follower, const struct types_type *pointer,
                       const struct types_value *to, const struct types_value *value)
{
    struct types_type pointee;
    struct types_flow *flow = follower->flow;
    if ((to->kind != TYPES_VALUE_POINTER && to->kind != TYPES_VALUE_ADDRESS) ||
        !types_pointee(follower->site->index, pointer, &pointee))
        return;
    for (size_t i = 0; i < flow->count; i++) {
        struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE || evidence->offset != value->offset ||
            evidence->indexed != value->indexed || evidence->type.die.addr != pointee.die.addr)
            continue;
        if (evidence->stored == TYPES_VALUE_UNKNOWN) {
            evidence->stored = to->kind;
            evidence->holder = to->type;
            evidence->stored_into = to->offset;
            evidence->stored_indexed = to->indexed;
        } else if (evidence->stored != to->kind || evidence->stored_into != to->offset ||
                   evidence->holder.die.addr != to->type.die.addr) {
            evidence->stored_twice = true;
        }
        return;
    }
}

/* Looks at the variables that, from `pc` on, lie in a register that holds the result. */
static void look_at_variables(struct follower *follower, uint64_t pc)
{
    const struct types_locals *locals = &follower->places.locals;
    for (size_t i = 0; i < locals->count; i++) {
        const struct types_local *local = &locals->locals[i];
        if (local->on_stack || local->base > 15 || pc < local->start || pc >= local->end)
            continue;
        struct types_value value = follower->state.registers[local->base];
        struct types_type type;
        if (value.kind != TYPES_VALUE_RESULT || !types_place_of(&follower->places, local, &type))
            continue;
        Dwarf_Die variable = local->variable, function = local->function;
        const char *name = dwarf_diename(&variable);
        enum types_evidence_kind kind = TYPES_EVIDENCE_PLACE;
        if (dwarf_tag(&variable) == DW_TAG_formal_parameter &&
            dwarf_tag(&function) == DW_TAG_inlined_subroutine) {
            kind = TYPES_EVIDENCE_ARGUMENT;
            if (name && strcmp(name, "this") == 0 &&
                types_is_constructor(follower->site->index, &function))
                kind = TYPES_EVIDENCE_CONSTRUCTOR;
        }
        value.offset = types_offset_sum(value.offset, local->offset);
        add_pointer(follower, kind, &type, &value);
    }
}

/* Returns the symbol of the code at `address` if a coroutine of clang's goes on there. */
static const char *resuming(const struct types_site *site, uint64_t address)
{
    struct symbols_place place;
    return symbols_place(site->symbols, site->module, address, &place) && place.name &&
                   place.start == address && types_is_resuming(place.name)
               ? place.name
               : NULL;
}

static void look_at_store(struct follower *follower, uint64_t pc, const struct types_value *to,
                          const struct types_value *value)
{
    struct types_type type;
    if (follower->before)
        return;
    if (value->kind == TYPES_VALUE_RESULT && to->kind != TYPES_VALUE_RESULT &&
        types_flow_state_place(&follower->places, pc, to, &type)) {
        add_pointer(follower, TYPES_EVIDENCE_PLACE, &type, value);
        note_place(follower, &type, to, value);
    }
    if (value->kind == TYPES_VALUE_RESULT && to->kind == TYPES_VALUE_RESULT && !value->indexed &&
        !to->indexed && value->offset > to->offset)
        types_flow_path_add_own(&follower->current, to->offset, value->offset);
    /* The stored address skips the first two words: Itanium C++ ABI, 2.5.2. */
    if (value->kind == TYPES_VALUE_ADDRESS && to->kind == TYPES_VALUE_RESULT) {
        const char *symbol =
            types_data_symbols_find(follower->site->data_symbols, (uint64_t)value->offset);
        if (!symbol || strncmp(symbol, "_ZTV", 4) != 0)
            symbol = resuming(follower->site, (uint64_t)value->offset);
        if (symbol)
            types_flow_path_add(&follower->current, TYPES_EVIDENCE_TABLE, NULL, to,
                                symbols_keep(follower->site->symbols, symbol));
    }
}

/* Looks at __cxa_throw(object, its typeinfo, destructor): Itanium C++ ABI, 2.4.3. */
static void look_at_throw(struct follower *follower, const struct types_call *call)
{
    const struct types_value *object = &follower->state.registers[REGISTER_RDI];
    const struct types_value *typeinfo = &follower->state.registers[REGISTER_RSI];
    if (follower->before || !call->linkage || strcmp(call->linkage, "__cxa_throw") != 0 ||
        object->kind != TYPES_VALUE_RESULT || typeinfo->kind != TYPES_VALUE_ADDRESS)
        return;
    const char *symbol =
        types_data_symbols_find(follower->site->data_symbols, (uint64_t)typeinfo->offset);
    if (symbol && strncmp(symbol, "_ZTI", 4) == 0)
        types_flow_path_add(&follower->current, TYPES_EVIDENCE_THROWN, NULL, object,
                            symbols_keep(follower->site->symbols, symbol));
}

/* Returns true if the function takes its last argument as a value to move from, or swaps. */
static bool is_move(struct symbols *symbols, const char *linkage)
{
    const char *name = symbols_demangle(symbols, linkage);
    const size_t length = strlen(name);
    return (length > 3 && strcmp(name + length - 3, "&&)") == 0) || strstr(name, "::swap(") ||
           strstr(name, "std::swap<");
}

/* Looks at a call that may move the object into the one to which its first argument points. */
static void look_at_move(struct follower *follower, const struct types_call *call)
{
    const struct types_value *to = &follower->state.registers[REGISTER_RDI];
    const struct types_value *from = &follower->state.registers[REGISTER_RSI];
    struct types_flow *flow = follower->flow;
    if (from->kind != TYPES_VALUE_STACK || from->offset != follower->object || !call->linkage ||
        !is_move(follower->site->symbols, call->linkage))
        return;
    if (to->kind == TYPES_VALUE_STACK && !to->indexed)
        follower->object = to->offset;
    else if ((to->kind == TYPES_VALUE_POINTER || to->kind == TYPES_VALUE_ADDRESS) &&
             flow->count < TYPES_EVIDENCE_MAX)
        flow->evidence[flow->count++] = (struct types_evidence){.kind = TYPES_EVIDENCE_HANDED,
                                                                .stored = to->kind,
                                                                .holder = to->type,
                                                                .stored_into = to->offset,
                                                                .stored_indexed = to->indexed};
}

/* Returns true if it is a member function of a standard pointer that owns its object. */
static bool is_of_pointer(struct symbols *symbols, const char *linkage)
{
    static const char *const classes[] = {"std::unique_ptr<", "std::shared_ptr<",
                                          "std::__1::unique_ptr<", "std::__1::shared_ptr<",
                                          "std::__shared_ptr<"};
    const char *name = symbols_demangle(symbols, linkage);
    if (strncmp(name, "void ", 5) == 0) /* of a template */
        name += 5;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (strncmp(name, classes[i], strlen(classes[i])) == 0)
            return true;
    return false;
}

/* Looks at a call that gives the result to a pointer that owns it: reset(), or a constructor. */
static void look_at_pointer(struct follower *follower, const struct types_call *call)
{
    const struct types_value *to = &follower->state.registers[REGISTER_RDI];
    const struct types_value *value = &follower->state.registers[REGISTER_RSI];
    struct types_flow *flow = follower->flow;
    if (value->kind == TYPES_VALUE_RESULT && !value->indexed && !follower->current.rerun &&
        (to->kind == TYPES_VALUE_POINTER || to->kind == TYPES_VALUE_ADDRESS) && call->linkage &&
        flow->count < TYPES_EVIDENCE_MAX && is_of_pointer(follower->site->symbols, call->linkage))
        flow->evidence[flow->count++] = (struct types_evidence){.kind = TYPES_EVIDENCE_HANDED,
                                                                .offset = value->offset,
                                                                .stored = to->kind,
                                                                .holder = to->type,
                                                                .stored_into = to->offset,
                                                                .stored_indexed = to->indexed};
}

static void look_at_arguments(struct follower *follower, const struct types_call *call)
{
    look_at_pointer(follower, call);
    if (follower->follows_object)
        look_at_move(follower, call);
    for (unsigned i = 0; i < sizeof(argument_registers); i++) {
        const struct types_value *value = &follower->state.registers[argument_registers[i]];
        struct types_type type;
        if (value->kind != TYPES_VALUE_RESULT)
            continue;
        if (i == 0 && call->constructor && !call->described)
            types_flow_path_add(&follower->current, TYPES_EVIDENCE_CONSTRUCTOR, NULL, value,
                                call->linkage);
        else if (types_call_parameter(follower->site, call, i, &type))
            add_pointer(follower,
                        i == 0 && call->constructor && types_call_takes_object(follower->site, call)
                            ? TYPES_EVIDENCE_CONSTRUCTOR
                            : TYPES_EVIDENCE_ARGUMENT,
                        &type, value);
    }
}

/* ---- one instruction -------------------------------------------------------------------- */

static struct types_value operand_value(struct follower *follower, uint64_t pc,
                                        const struct decode_operand *operand, uint8_t width)
{
    const struct types_value unknown = {.kind = TYPES_VALUE_UNKNOWN};
    if (operand->kind == DECODE_IMMEDIATE)
        return (struct types_value){.kind = TYPES_VALUE_ADDRESS, .offset = operand->value};
    if (width != 8)
        return unknown;
    if (operand->kind == DECODE_REGISTER)
        return types_flow_state_register(&follower->state, &follower->places, pc, operand->base);
    if (operand->kind != DECODE_MEMORY)
        return unknown;
    struct types_value address =
        types_flow_state_address(&follower->state, &follower->places, pc, operand);
    return types_flow_state_load(&follower->state, &follower->places, pc, &address);
}

static void assign(struct follower *follower, uint64_t pc, const struct decode_instruction *in,
                   const struct types_value *value)
{
    if (in->to.kind == DECODE_REGISTER && in->to.base < 16) {
        follower->state.registers[in->to.base] = *value;
    } else if (in->to.kind == DECODE_MEMORY) {
        struct types_value to =
            types_flow_state_address(&follower->state, &follower->places, pc, &in->to);
        if (to.kind == TYPES_VALUE_STACK)
            types_flow_state_store(&follower->state, to.offset, value);
        look_at_store(follower, pc + in->length, &to, value);
    }
}

/* Returns the variable of threads whose address the called function returns. 0: another function.
 */
static uint64_t called_for_variable(const struct follower *follower, const struct types_call *call)
{
    struct types_globals *globals = follower->site->globals;
    const struct types_value *slot = &follower->state.registers[REGISTER_RDI];
    if (!globals || !call->linkage)
        return 0;
    if (strcmp(call->linkage, "__tls_get_addr") == 0)
        return slot->kind == TYPES_VALUE_ADDRESS && !slot->indexed
                   ? types_globals_slot(globals, (uint64_t)slot->offset)
                   : 0;
    return types_globals_thread_wrapped(globals, call->linkage);
}

static void add_to(struct follower *follower, uint64_t pc, const struct decode_instruction *in)
{
    struct types_value unknown = {.kind = TYPES_VALUE_UNKNOWN}, result = unknown;
    if (in->to.kind != DECODE_REGISTER) {
        assign(follower, pc, in, &unknown);
        return;
    }
    struct types_value value =
        types_flow_state_register(&follower->state, &follower->places, pc, in->to.base);
    if (in->from.kind == DECODE_IMMEDIATE) {
        result = value;
        int64_t added = in->from.value;
        if (in->operation != DECODE_ADD)
            added = (int64_t)(0 - (uint64_t)added);
        result.offset = types_offset_sum(result.offset, added);
    } else if (in->operation == DECODE_ADD) {
        struct types_value other = operand_value(follower, pc, &in->from, 8);
        const bool thread = types_flow_state_is_thread(&follower->places, &other);
        if (thread || types_flow_state_is_thread(&follower->places, &value)) {
            follower->state.registers[in->to.base] =
                types_flow_state_thread(&follower->places, thread ? &value : &other);
            return;
        }
        bool first = value.kind == TYPES_VALUE_POINTER || value.kind == TYPES_VALUE_RESULT;
        first = first || (value.kind == TYPES_VALUE_ADDRESS && other.kind == TYPES_VALUE_UNKNOWN);
        result = first ? value : other;
        const struct types_value *index = first ? &other : &value;
        if (index->kind == TYPES_VALUE_UNKNOWN)
            result.offset = types_offset_sum(result.offset, index->offset);
        result.indexed = true;
        if (result.kind == TYPES_VALUE_STACK)
            result = unknown;
    }
    follower->state.registers[in->to.base] = result;
}

/* Returns the value that the called function is declared to return, if that is a pointer. */
static struct types_value returned_pointer(const struct follower *follower,
                                           const struct types_call *target)
{
    struct types_value value = {.kind = TYPES_VALUE_POINTER};
    struct types_type pointer;
    Dwarf_Die function = target->function;
    if (!types_of(follower->site->index, &function, &pointer) ||
        !types_pointee(follower->site->index, &pointer, &value.type) || value.type.size == 0)
        value.kind = TYPES_VALUE_UNKNOWN;
    return value;
}

static void call(struct follower *follower, const struct decode_instruction *in)
{
    struct types_call target;
    types_call_target(follower->site, in->target, &target);
    struct types_value kept =
        follower->state.registers[target.returns_second ? REGISTER_RSI : REGISTER_RDI];
    if (!follower->before)
        look_at_arguments(follower, &target);
    if (target.constructor && follower->state.registers[REGISTER_RDI].kind == TYPES_VALUE_RESULT &&
        types_folded_at(follower->site->folded, in->target))
        follower->flow->shared = true;
    look_at_throw(follower, &target);
    const uint64_t variable = called_for_variable(follower, &target);
    types_flow_state_clobber(&follower->state, CALL_CLOBBERS);
    if ((target.returns_first || target.returns_second) &&
        (kept.kind == TYPES_VALUE_RESULT || kept.kind == TYPES_VALUE_STACK))
        follower->state.registers[REGISTER_RAX] = kept;
    else if (variable != 0)
        follower->state.registers[REGISTER_RAX] =
            (struct types_value){.kind = TYPES_VALUE_ADDRESS, .offset = (int64_t)variable};
    else if (target.described)
        follower->state.registers[REGISTER_RAX] = returned_pointer(follower, &target);
    follower->lost = target.no_return;
}

/* Stores a word below the end of the stack, if the frame address is counted from rsp. */
static void push(struct follower *follower, uint64_t pc, const struct decode_instruction *in)
{
    uint8_t base;
    int64_t offset;
    struct types_value value = operand_value(follower, pc, &in->from, 8);
    if (types_locals_frame(&follower->places.locals, pc, &base, &offset) && base == REGISTER_RSP)
        types_flow_state_store(&follower->state, -offset - 8, &value);
}

static void pop(struct follower *follower, uint64_t pc, const struct decode_instruction *in)
{
    uint8_t base;
    int64_t offset;
    struct types_value value = {.kind = TYPES_VALUE_UNKNOWN};
    if (types_locals_frame(&follower->places.locals, pc, &base, &offset) && base == REGISTER_RSP)
        for (size_t i = 0; i < follower->state.slot_count; i++)
            if (follower->state.slots[i].offset == -offset)
                value = follower->state.slots[i].value;
    assign(follower, pc, in, &value);
}

static bool is_varying(const struct types_flow_state *state, uint8_t number)
{
    return number < 16 && (state->varying & (UINT32_C(1) << number)) != 0;
}

/* Returns true if the instruction computes a number that the compiler did not know. A choice
 * between two constants is not such, so comparisons and logic do not count. */
static bool computes(const struct types_flow_state *state, const struct decode_instruction *in)
{
    switch (in->operation) {
    case DECODE_MOVE:
        return in->from.kind == DECODE_MEMORY ||
               (in->from.kind == DECODE_REGISTER && is_varying(state, in->from.base));
    case DECODE_LEA:
        return (in->from.index != REGISTER_NONE && in->from.scale > 1) ||
               is_varying(state, in->from.base) || is_varying(state, in->from.index);
    case DECODE_ADD:
    case DECODE_SUBTRACT:
        return is_varying(state, in->to.base) ||
               (in->from.kind == DECODE_REGISTER && is_varying(state, in->from.base));
    case DECODE_MULTIPLY:
    case DECODE_CALL:
        return true;
    default:
        return false;
    }
}

static void note_varying(struct types_flow_state *state, const struct decode_instruction *in)
{
    const bool varies = computes(state, in);
    uint32_t writes = in->operation == DECODE_CALL ? CALL_CLOBBERS : in->writes;
    if (in->to.kind == DECODE_REGISTER && in->to.base < 16)
        writes |= UINT32_C(1) << in->to.base;
    state->varying = varies ? state->varying | writes : state->varying & ~writes;
}

static void step(struct follower *follower, uint64_t pc, const struct decode_instruction *in)
{
    struct types_value value;
    note_varying(&follower->state, in);
    switch (in->operation) {
    case DECODE_MOVE:
        value = operand_value(follower, pc, &in->from, in->width);
        assign(follower, pc, in, &value);
        break;
    case DECODE_LEA:
        value = types_flow_state_address(&follower->state, &follower->places, pc, &in->from);
        assign(follower, pc, in, &value);
        break;
    case DECODE_ADD:
    case DECODE_SUBTRACT:
        add_to(follower, pc, in);
        break;
    case DECODE_PUSH:
        push(follower, pc, in);
        break;
    case DECODE_POP:
        pop(follower, pc, in);
        break;
    case DECODE_CALL:
        call(follower, in);
        break;
    case DECODE_MULTIPLY: /* an index that counts from a constant */
        value = follower->state.registers[in->from.base & 15];
        types_flow_state_clobber(&follower->state, in->writes);
        if (in->factor != 0 && value.kind == TYPES_VALUE_UNKNOWN)
            follower->state.registers[in->to.base & 15].offset =
                (int64_t)((uint64_t)value.offset * (uint64_t)in->factor);
        break;
    default:
        types_flow_state_clobber(&follower->state, in->writes);
    }
}

/* ---- before the call -------------------------------------------------------------------- */

/* Finds the parts of the site's function; the one that is entered comes first. */
static size_t find_parts(const struct types_site *site, struct types_part_code *parts)
{
    uint64_t pc = site->return_address - 1;
    struct symbols_place place;
    size_t count = 0;
    bool inside = false;
    if (site->entry_count > 0) {
        Dwarf_Die function = site->entries[site->entry_count - 1];
        Dwarf_Addr base, start, end;
        for (ptrdiff_t at = 0; count < TYPES_PARTS_MAX &&
                               (at = dwarf_ranges(&function, at, &base, &start, &end)) > 0;) {
            parts[count++] =
                (struct types_part_code){start + site->file->bias, end + site->file->bias, NULL};
            inside = inside || (pc >= parts[count - 1].start && pc < parts[count - 1].end);
        }
    }
    if (inside)
        return count;
    if (!symbols_place(site->symbols, site->module, pc, &place) || place.end <= place.start)
        return 0;
    parts[0] = (struct types_part_code){place.start, place.end, NULL};
    return 1;
}

/* Runs a part of the function from `pc` on: to its end, to give to each block the state in which
 * the code reaches it; or to the site's call. Nothing is known at a place to which no way leads.
 * Returns false if the code ends, or if memory is exhausted. */
static bool run_part(struct follower *follower, const struct types_part_code *part, uint64_t pc,
                     bool to_call, bool *changed)
{
    struct types_function *function = follower->function;
    struct types_flow_state *state = &follower->state;
    if (!part->code)
        return false;
    bool reached = pc == function->parts[0].start;
    types_flow_state_clear(state);
    if (reached)
        state->varying = UINT32_MAX; /* the function's own arguments */
    while (pc < part->end) {
        struct decode_instruction in;
        struct types_block *block = types_function_block(function, pc);
        if (!types_functions_decode(follower->site->functions, part, pc, &in))
            return !to_call;
        if (!reached && !block && types_is_padding(&in)) {
            pc += in.length;
            continue;
        }
        if (block && reached && !to_call && !types_block_reach(block, state, changed))
            return false;
        if (block && block->before)
            types_flow_state_copy(state, block->before);
        else if (block || !reached)
            types_flow_state_clear(state);
        reached = !block || block->before;
        if (to_call && pc + in.length >= follower->site->return_address)
            return true;
        const bool jumps = in.operation == DECODE_JUMP || in.operation == DECODE_BRANCH;
        struct types_block *next =
            jumps && reached && !to_call ? types_function_block(function, in.target) : NULL;
        if (next && !types_block_reach(next, state, changed))
            return false;
        follower->lost = false;
        if (!jumps)
            step(follower, pc, &in);
        reached = reached && !follower->lost && in.operation != DECODE_JUMP &&
                  in.operation != DECODE_RETURN && in.operation != DECODE_STOP;
        pc += in.length;
    }
    return !to_call;
}

/* Finds the states of the blocks. A loop may take away what is known at its start, so the code is
 * run until nothing changes. Returns false if there is too much of it, or memory is exhausted. */
static bool settle(struct follower *follower)
{
    struct types_function *function = follower->function;
    bool changed = true;
    if (!types_function_scan(function))
        return false;
    for (int i = 0; i < ROUNDS_MAX && changed; i++) {
        changed = false;
        for (size_t k = 0; k < function->part_count; k++)
            if (!run_part(follower, &function->parts[k], function->parts[k].start, false, &changed))
                return false;
    }
    for (size_t i = 0; changed && i < function->block_count; i++)
        if (function->blocks[i].before)
            types_flow_state_clear(function->blocks[i].before);
    return true;
}

/* Runs the code that leads to the call. Returns false if it is not known. */
static bool run_to_call(struct follower *follower)
{
    struct types_function *function = follower->function;
    const struct types_part_code *part = follower->part;
    const uint64_t call = follower->site->return_address - 1;
    uint64_t from = part->start;
    if (function->settled == TYPES_NOT_SETTLED)
        function->settled = settle(follower) ? TYPES_SETTLED : TYPES_NEVER_SETTLED;
    if (function->settled == TYPES_NEVER_SETTLED)
        return false;
    for (size_t i = 0; i < function->block_count && function->blocks[i].address <= call; i++)
        if (function->blocks[i].address >= from)
            from = function->blocks[i].address;
    return run_part(follower, part, from, true, NULL);
}

/* ---- after the call --------------------------------------------------------------------- */

static bool visit_once(struct follower *follower, uint64_t key)
{
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 52;
    uint64_t *mark = &follower->marks[hash / 64];
    for (size_t i = 0; (*mark >> hash % 64 & 1) && i < follower->visited_count; i++)
        if (follower->visited[i] == key)
            return false;
    *mark |= UINT64_C(1) << hash % 64;
    if (follower->visited_count == VISITED_MAX)
        return false;
    follower->visited[follower->visited_count++] = key;
    return true;
}

/* Returns true if an instruction must run. It is run again if other places hold the result, because
 * paths may meet there. It is also run again if another record was met on the path, to see what
 * both paths have in common. */
static bool visit(struct follower *follower, uint64_t address)
{
    uint64_t holders = 0, last = follower->current.last;
    for (unsigned i = 0; i < 16; i++)
        if (follower->state.registers[i].kind == TYPES_VALUE_RESULT)
            holders |= UINT64_C(1) << i;
    for (size_t i = 0; i < follower->state.slot_count; i++)
        if (follower->state.slots[i].value.kind == TYPES_VALUE_RESULT)
            holders += (uint64_t)follower->state.slots[i].offset * 0x9e37;
    address ^= holders << 48;
    if (!follower->current.rerun && visit_once(follower, address)) {
        if (last != 0)
            visit_once(follower, address ^ ~last << 40);
        return true;
    }
    follower->current.rerun = true;
    return last != 0 && visit_once(follower, address ^ ~last << 40);
}

static void add_path(struct follower *follower, uint64_t address)
{
    if (follower->pending_count == PATHS_MAX || !types_function_part(follower->function, address))
        return;
    struct pending_path *path = &follower->pending[follower->pending_count++];
    path->address = address;
    path->seen = follower->current.seen;
    path->last = follower->current.last;
    path->rerun = follower->current.rerun;
    path->state = follower->state;
}

/* Returns true if the function is declared to return nothing. */
static bool returns_nothing(const struct types_site *site)
{
    struct types_type type;
    if (site->entry_count == 0)
        return false;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    return types_of(site->index, &function, &type) && type.shape == TYPES_VOID;
}

/* Notes that the function returns the result. A void one may leave it in rax by chance. */
static void leave(struct follower *follower)
{
    const struct types_value *value = &follower->state.registers[REGISTER_RAX];
    if (value->kind != TYPES_VALUE_RESULT || value->indexed || follower->returns_nothing)
        return;
    follower->flow->returned = true;
    follower->flow->returned_offset = value->offset;
}

/* Moves `*pc` on from the instruction. Returns false if the path ends. */
static bool advance(struct follower *follower, const struct decode_instruction *in, uint64_t *pc)
{
    switch (in->operation) {
    case DECODE_JUMP:
        if (types_function_part(follower->function, in->target)) {
            *pc = in->target;
            return true;
        }
        if (in->target != 0) { /* a call whose result is returned */
            call(follower, in);
            leave(follower);
        }
        return false;
    case DECODE_BRANCH:
        add_path(follower, in->target);
        *pc += in->length;
        return true;
    case DECODE_RETURN:
        leave(follower);
        return false;
    case DECODE_STOP:
        return false;
    default:
        *pc += in->length;
        return true;
    }
}

/* True while a register or a stack slot holds the result. */
static bool holds_result(const struct types_flow_state *state)
{
    for (size_t i = 0; i < 16; i++)
        if (state->registers[i].kind == TYPES_VALUE_RESULT)
            return true;
    for (size_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].value.kind == TYPES_VALUE_RESULT)
            return true;
    return false;
}

/* Runs the code from `pc` on for at most `*steps` instructions, and subtracts the ones it ran. */
static void run_path(struct follower *follower, uint64_t pc, unsigned *steps)
{
    const struct types_part_code *part;
    while (*steps > 0 && (part = types_function_part(follower->function, pc)) &&
           visit(follower, pc) && (follower->follows_object || holds_result(&follower->state))) {
        struct decode_instruction in;
        if (!types_functions_decode(follower->site->functions, part, pc, &in))
            break;
        --*steps;
        look_at_variables(follower, pc);
        if (in.operation != DECODE_JUMP && in.operation != DECODE_BRANCH)
            step(follower, pc, &in);
        if (follower->lost || !advance(follower, &in, &pc))
            break;
    }
    if (!follower->lost)
        types_flow_path_end(&follower->current);
    follower->lost = false;
}

static void start_after_call(struct follower *follower, int64_t offset, bool in_memory)
{
    struct types_value result = {.kind = TYPES_VALUE_RESULT, .offset = offset};
    struct types_value place = types_flow_state_register(
        &follower->state, &follower->places, follower->site->return_address - 1, REGISTER_RDI);
    follower->flow->size_varies = is_varying(&follower->state, REGISTER_RDI);
    types_flow_state_clobber(&follower->state, CALL_CLOBBERS);
    /* Evidence from the code before the call is about other results, so it does not count. */
    follower->flow->count = 0;
    follower->current.seen = 0;
    follower->current.last = 0;
    follower->lost = false;
    if (!in_memory) {
        follower->state.registers[REGISTER_RAX] = result;
        return;
    }
    if (place.kind == TYPES_VALUE_STACK)
        types_flow_state_store(&follower->state, place.offset, &result);
    look_at_store(follower, follower->site->return_address, &place, &result);
}

static void take_path(struct follower *follower, size_t number, unsigned *steps)
{
    const struct pending_path *path = &follower->pending[number];
    uint64_t address = path->address;
    follower->state = path->state;
    follower->current.seen = path->seen;
    follower->current.last = path->last;
    follower->current.rerun = path->rerun;
    run_path(follower, address, steps);
}

/* Runs the code after the call along all paths, the last path found first. */
static void run_paths(struct follower *follower)
{
    unsigned steps = STEPS_MAX;
    run_path(follower, follower->site->return_address, &steps);
    while (follower->pending_count > 0 && steps > 0)
        take_path(follower, --follower->pending_count, &steps);
    for (size_t i = 0; i < follower->pending_count; i++) {
        steps = STEPS_EXTRA;
        take_path(follower, i, &steps);
    }
    types_flow_path_finish(&follower->current);
}

/* Returns a follower that has run the code up to the site's call; free() it. NULL if memory is
 * exhausted. Its bounds are empty if the function's code is not known. */
static struct follower *follower_before_call(const struct types_site *site, struct types_flow *flow)
{
    struct follower *follower = malloc(sizeof(*follower));
    if (!follower)
        return NULL;
    memset(follower, 0, offsetof(struct follower, pending));
    follower->site = site;
    follower->flow = follower->current.flow = flow;
    follower->places.site = site;
    struct types_part_code parts[TYPES_PARTS_MAX];
    const size_t count = find_parts(site, parts);
    follower->function = types_functions_find(site->functions, site, parts, count);
    if (!follower->function) {
        free(follower);
        return NULL;
    }
    follower->part = types_function_part(follower->function, site->return_address - 1);
    if (follower->part) {
        follower->places.locals = follower->function->locals;
        follower->before = true;
        follower->reached = run_to_call(follower);
        follower->before = false;
    }
    return follower;
}

bool types_flow_before_call(const struct types_site *site, types_flow_look *look, void *context)
{
    struct types_flow flow = {.count = 0};
    if (!site->file)
        return true;
    struct follower *follower = follower_before_call(site, &flow);
    if (!follower)
        return false;
    if (follower->reached)
        look(context, &follower->state, &follower->places);
    free(follower);
    return true;
}

bool types_flow_follow(const struct types_site *site, int64_t offset, bool in_memory,
                       struct types_flow *flow)
{
    memset(flow, 0, sizeof(*flow));
    flow->offset = offset;
    if (!site->file)
        return true;
    struct follower *follower = follower_before_call(site, flow);
    bool good = follower != NULL;
    if (good && follower->part) {
        follower->returns_nothing = returns_nothing(site);
        start_after_call(follower, offset, in_memory);
        run_paths(follower);
    }
    free(follower);
    return good;
}

bool types_flow_follow_object(const struct types_site *site, uint8_t number, bool returned,
                              struct types_flow *flow)
{
    memset(flow, 0, sizeof(*flow));
    if (!site->file)
        return true;
    struct follower *follower = follower_before_call(site, flow);
    bool good = follower != NULL;
    if (good && follower->reached) {
        const struct types_value object = types_flow_state_register(
            &follower->state, &follower->places, site->return_address - 1, number);
        flow->count = 0;
        follower->follows_object = true;
        follower->object = object.offset;
        types_flow_state_clobber(&follower->state, CALL_CLOBBERS);
        if (returned)
            follower->state.registers[REGISTER_RAX] = object;
        if (object.kind == TYPES_VALUE_STACK && !object.indexed)
            run_paths(follower);
    }
    free(follower);
    return good;
}

bool types_flow_jump_varies(const struct types_site *site, uint64_t function)
{
    struct types_flow_state state = {.varying = UINT32_MAX};
    struct symbols_place place;
    size_t size;
    const uint8_t *code = types_code(site->file, function, &size);
    if (!code || !symbols_place(site->symbols, site->module, function, &place) ||
        place.start != function || size < place.end - place.start)
        return false;
    for (uint64_t pc = function; pc < place.end;) {
        struct decode_instruction in;
        if (!types_decode(code + (pc - function), place.end - pc, pc, &in))
            return false;
        if (in.operation == DECODE_JUMP && (in.target < place.start || in.target >= place.end))
            return is_varying(&state, REGISTER_RDI);
        if (in.operation == DECODE_JUMP || in.operation == DECODE_BRANCH ||
            in.operation == DECODE_CALL || in.operation == DECODE_RETURN)
            return false;
        note_varying(&state, &in);
        pc += in.length;
    }
    return false;
}
