/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/place_types.h"

#include <dwarf.h>

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

bool types_place_register(const struct types_place_types *places, uint64_t pc, uint8_t number,
                          struct types_type *type)
{
    for (size_t i = 0; i < places->locals.count; i++) {
        const struct types_local *local = &places->locals.locals[i];
        if (!local->on_stack && local->base == number && local->offset == 0 && holds(local, pc) &&
            types_place_of(places, local, type))
            return true;
    }
    return false;
}

bool types_place_stack(const struct types_place_types *places, uint64_t pc, int64_t offset,
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

bool types_place_global(const struct types_place_types *places, uint64_t address,
                        struct types_type *type)
{
    Dwarf_Die variable;
    uint64_t offset;
    return places->site->globals &&
           types_globals_find(places->site->globals, places->site->index, address, &variable,
                              &offset) &&
           type_within(places, &variable, offset, type);
}
