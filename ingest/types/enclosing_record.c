/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/enclosing_record.h"

#include <dwarf.h>

#include "ingest/types/dwarf/fit.h"
#include "ingest/types/flow/calls.h"

static bool is_record_place(const struct types_evidence *evidence)
{
    return evidence->kind == TYPES_EVIDENCE_PLACE && !evidence->indexed && evidence->offset >= 0 &&
           evidence->type.shape == TYPES_RECORD && evidence->type.size > 0;
}

/* Returns true if `part` is a member, at that place, of the records that `whole` points to. */
static bool holds(const struct types_site *site, const struct types_evidence *whole,
                  const struct types_evidence *part)
{
    if (!is_record_place(whole) || part->kind != TYPES_EVIDENCE_PLACE || part->indexed ||
        part->offset < 0 || part->type.size == 0 || part->type.size > whole->type.size ||
        (part->type.shape != TYPES_RECORD && part->type.shape != TYPES_SCALAR))
        return false;
    int64_t size = (int64_t)whole->type.size;
    int64_t offset = ((part->offset - whole->offset) % size + size) % size;
    return !types_same(site->index, &whole->type, &part->type) &&
           types_has_member_at(site->index, &whole->type, (uint64_t)offset, &part->type);
}

/* Returns true if records of many kinds begin with `head`, and `whole` tells the kind at that
 * place.
 */
static bool names_kind(const struct types_site *site, const struct types_evidence *whole,
                       const struct types_evidence *head)
{
    return is_record_place(whole) && is_record_place(head) && whole->offset == head->offset &&
           whole->type.size > head->type.size && types_is_head(site->index, &head->type) &&
           !types_is_head(site->index, &whole->type);
}

/* Returns true if it is a record that is nothing but a pointer to its own kind. */
static bool is_bare_link(const struct types_site *site, const struct types_type *type)
{
    struct types_type member, pointee;
    return type->shape == TYPES_RECORD && type->size == sizeof(void *) &&
           types_member_at(site->index, type, 0, &member) &&
           types_pointee(site->index, &member, &pointee) && types_same(site->index, &pointee, type);
}

/* Returns true if `link` is the type by which a free list names blocks given back to it, and
 * `whole` is the block's type before that. */
static bool was_before(const struct types_site *site, const struct types_evidence *whole,
                       const struct types_evidence *link, uint64_t size)
{
    return link->kind == TYPES_EVIDENCE_PLACE && whole->kind == TYPES_EVIDENCE_PLACE &&
           !whole->indexed && whole->offset == link->offset && is_bare_link(site, &link->type) &&
           !is_bare_link(site, &whole->type) &&
           types_fit(site->index, &whole->type, size, whole->offset) >= TYPES_FIT_ARRAY;
}

void types_enclosing_record_reduce(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_flow *reduced)
{
    *reduced = *flow;
    reduced->count = 0;
    for (size_t i = 0; i < flow->count; i++) {
        bool held = false;
        for (size_t k = 0; k < flow->count && !held; k++)
            held = k != i && (names_kind(site, &flow->evidence[k], &flow->evidence[i]) ||
                              was_before(site, &flow->evidence[k], &flow->evidence[i], size) ||
                              (types_fit(site->index, &flow->evidence[k].type, size,
                                         flow->evidence[k].offset) >= TYPES_FIT_ARRAY &&
                               holds(site, &flow->evidence[k], &flow->evidence[i])));
        if (!held)
            reduced->evidence[reduced->count++] = flow->evidence[i];
    }
}

/* Returns true if all places that name records inside the block are members of `record`. */
static bool agrees(const struct types_site *site, const struct types_flow *flow, uint64_t size,
                   int64_t offset, const struct types_type *record)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (!is_record_place(evidence) || evidence->offset < offset ||
            (uint64_t)evidence->offset >= size)
            continue;
        if (!types_has_member_at(site->index, record, (uint64_t)(evidence->offset - offset),
                                 &evidence->type))
            return false;
    }
    return true;
}

/* By the records of one unit; false where none agrees, or several do. */
static bool record_of_unit(const struct types_site *site, const struct types_unit *unit,
                           const struct types_flow *flow, uint64_t size, int64_t offset,
                           struct types_type *record)
{
    bool found = false;
    for (size_t i = 0; unit && i < unit->count; i++) {
        const struct types_entry *entry = &unit->entries[i];
        struct types_type type;
        Dwarf_Die die;
        if ((entry->tag != DW_TAG_structure_type && entry->tag != DW_TAG_class_type) ||
            entry->declaration || entry->size != size - (uint64_t)offset ||
            !types_index_die(unit, entry, &die) || !types_from(site->index, &die, &type) ||
            !agrees(site, flow, size, offset, &type))
            continue;
        if (found && !types_same(site->index, &type, record))
            return false;
        *record = type;
        found = true;
    }
    return found;
}

bool types_enclosing_record_find(const struct types_site *site, const struct types_flow *flow,
                                 uint64_t size, int64_t offset, struct types_type *record)
{
    bool inside = false;
    for (size_t i = 0; i < flow->count; i++)
        inside =
            inside || (is_record_place(&flow->evidence[i]) && flow->evidence[i].offset > offset &&
                       (uint64_t)flow->evidence[i].offset < size);
    if (!inside || offset < 0 || (uint64_t)offset >= size)
        return false;
    /* Functions of other units may be inlined there: they allocate for what their caller knows. */
    const struct types_unit *last = NULL;
    for (size_t i = 0; i < site->entry_count; i++) {
        const struct types_unit *unit = types_home_unit(site, i);
        if (unit != last && record_of_unit(site, unit, flow, size, offset, record))
            return true;
        last = unit;
    }
    return false;
}
