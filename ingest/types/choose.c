/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/choose.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/outer_frames.h"

/* A pointer into a block names only a part of it: a member, the first of its elements, or the data
 * after a header. These rules find the type that holds the parts. */

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

/* Copies the flow without the places that name a part of another place's type. If one pointer leads
 * to a node and another one to the node's first member, the one to the node stays. If many kinds of
 * records begin with one head, the one to the kind stays. Only records that fit the block of `size`
 * bytes hold others. */
static void types_enclosing_record_reduce(const struct types_site *site,
                                          const struct types_flow *flow, uint64_t size,
                                          struct types_flow *reduced)
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

/* Finds the one record in the site's unit that is as large as the block after its first `offset`
 * bytes, and that has the named types at the places, at least one of them not at its start. Returns
 * false if there is none, or several. */
static bool types_enclosing_record_find(const struct types_site *site,
                                        const struct types_flow *flow, uint64_t size,
                                        int64_t offset, struct types_type *record)
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

/* ---- choose -------------------------------------------------------------------------------- */

static void choose(struct types_choice *choice, const struct types_type *type, int64_t offset,
                   enum types_confidence confidence, enum types_rule rule)
{
    choice->chosen = true;
    choice->type = *type;
    choice->offset = (uint64_t)offset;
    choice->one_object = false;
    choice->exact_size = false;
    choice->confidence = confidence;
    choice->rule = rule;
}

char *types_frame_name(struct symbols *symbols, const char *linkage, size_t length)
{
    char *symbol = strndup(linkage, length), *frame = NULL;
    char *function = !symbol ? NULL : types_spelling(symbols_demangle(symbols, symbol));
    if (!function || asprintf(&frame, "%s frame", function) < 0)
        frame = NULL;
    FREE_ALL(symbol, function);
    return frame;
}

/* ---- one object by operator new --------------------------------------------------------- */

/* Returns "Foo" for "Foo::Foo(int)", "vtable for Foo" and "typeinfo for Foo", in its one spelling.
 * The caller frees it. */
static char *class_of_symbol(struct symbols *symbols, const char *linkage)
{
    static const char *const tables[] = {"vtable for ", "typeinfo for "};
    if (types_is_resuming(linkage))
        return types_frame_name(symbols, linkage, strlen(linkage) - strlen(".resume"));
    const char *name = symbols_demangle(symbols, linkage);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strncmp(name, tables[i], strlen(tables[i])) == 0)
            return types_spelling(name + strlen(tables[i]));
    const char *end = NULL;
    int depth = 0;
    for (const char *at = name; *at != '\0' && !(depth == 0 && *at == '('); at++)
        if (*at == '<')
            depth++;
        else if (*at == '>')
            depth--;
        else if (depth == 0 && at[0] == ':' && at[1] == ':')
            end = at;
    char *class = !end ? NULL : strndup(name, (size_t)(end - name));
    char *spelled = !class ? NULL : types_spelling(class);
    free(class);
    return spelled;
}

/* Finds the class to which a constructor, a table of virtual functions or a typeinfo belongs. */
static bool class_of(const struct types_site *site, const struct types_evidence *evidence,
                     struct types_type *type)
{
    if (!evidence->symbol) {
        *type = evidence->type;
        return true;
    }
    char *name = !site->index ? NULL : class_of_symbol(site->symbols, evidence->symbol);
    bool found = name && types_named(site->index, name, type);
    free(name);
    return found;
}

/* Finds the class of an object of that size by a piece of evidence. False: it names none. */
static bool class_made(const struct types_site *site, const struct types_evidence *evidence,
                       enum types_operator by, uint64_t size, struct types_type *class)
{
    if ((evidence->kind != TYPES_EVIDENCE_TABLE && evidence->kind != TYPES_EVIDENCE_CONSTRUCTOR) ||
        evidence->indexed || !class_of(site, evidence, class) || class->shape != TYPES_RECORD)
        return false;
    if (by == TYPES_BY_NEW_LARGER)
        return evidence->offset >= 0 && class->size > 0 && class->size <= size &&
               (uint64_t)evidence->offset <= size - class->size;
    return evidence->offset == 0 && class->size == size;
}

/* Returns true if an object of `outer` is also one of `inner`, or begins with one. */
static bool includes(const struct types_site *site, const struct types_type *outer,
                     const struct types_type *inner)
{
    return types_is_derived(site->index, outer, inner) ||
           types_has_member_at(site->index, outer, 0, inner);
}

/* Looks at the classes whose objects fit the block, by one kind of evidence. Chooses the one that
 * is derived from the others or holds them as its first member. */
static bool choose_class(const struct types_site *site, const struct types_flow *flow,
                         enum types_evidence_kind kind, enum types_operator by, uint64_t size,
                         struct types_type *class)
{
    bool found = false;
    for (size_t i = 0; i < flow->count; i++) {
        struct types_type type;
        if (flow->evidence[i].kind != kind ||
            !class_made(site, &flow->evidence[i], by, size, &type))
            continue;
        if (!found || includes(site, &type, class))
            *class = type;
        found = true;
    }
    return found;
}

/* Returns true if the block becomes objects of several classes: neither of two includes the other,
 * or one path through the code ends with less than `class`, which includes all others. */
static bool is_class_ambiguous(const struct types_site *site, const struct types_flow *flow,
                               enum types_operator by, uint64_t size,
                               const struct types_type *class)
{
    uint32_t some = 0, whole = 0;
    for (size_t i = 0; i < flow->count; i++) {
        struct types_type type;
        if (!class_made(site, &flow->evidence[i], by, size, &type))
            continue;
        some |= flow->evidence[i].path_ends;
        if (includes(site, &type, class))
            whole |= flow->evidence[i].path_ends;
        else if (!includes(site, class, &type))
            return true;
    }
    return (some & ~whole) != 0;
}

/* Chooses the first place that points to a type of the block's size. */
static bool choose_whole(const struct types_site *site, const struct types_flow *flow,
                         enum types_evidence_kind kind, uint64_t size, struct types_type *type)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != kind || evidence->offset != 0 || evidence->indexed ||
            types_fit(site->index, &evidence->type, size, 0) != TYPES_FIT_WHOLE)
            continue;
        *type = evidence->type;
        return true;
    }
    return false;
}

/* Finds the type that the function's declared return type points to. */
static bool returned_type(const struct types_site *site, struct types_type *type)
{
    struct types_type pointer;
    if (site->entry_count == 0)
        return false;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    return types_of(site->index, &function, &pointer) && types_pointee(site->index, &pointer, type);
}

/* Returns true if it is the complete-object constructor of the class (Itanium C++ ABI, 5.1.4.3).
 * Only a base class's part of an object is made by the other one, which may be the same code. */
static bool is_complete_constructor(struct symbols *symbols, const char *linkage, const char *class)
{
    size_t length;
    const char *last = types_spelling_last_part(class, &length);
    const char *name = symbols_demangle(symbols, linkage), *open = strrchr(name, ')');
    int depth = 0;
    if (!strstr(linkage, "C1E") || !open)
        return false;
    /* From the end of the parameters back to their start, which the function's name is before. */
    do {
        depth += *open == ')';
        depth -= *open == '(';
    } while (depth > 0 && --open > name);
    return open >= name + length && memcmp(open - length, last, length) == 0;
}

/* Chooses the class of one object by the name of its constructor or table, if the debug information
 * has no such class: most of a library's classes are only declared in the programs that use it. A
 * class of that name with another size is a member at the object's start. */
static void choose_named(const struct types_site *site, const struct types_flow *flow,
                         uint64_t size, struct types_choice *choice)
{
    const struct types_evidence *found = NULL;
    struct types_type class;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        const bool table =
            evidence->kind == TYPES_EVIDENCE_TABLE || evidence->kind == TYPES_EVIDENCE_THROWN;
        if (!evidence->symbol || evidence->offset != flow->offset || evidence->indexed ||
            (!table && evidence->kind != TYPES_EVIDENCE_CONSTRUCTOR))
            continue;
        /* The table that is stored last is the object's own. */
        if (found && found->kind != TYPES_EVIDENCE_CONSTRUCTOR && !table)
            continue;
        if (found && (found->path_ends != evidence->path_ends ||
                      (!table && strcmp(found->symbol, evidence->symbol) != 0)))
            return;
        found = evidence;
    }
    char *name = !found ? NULL : class_of_symbol(site->symbols, found->symbol);
    if (name &&
        (found->kind != TYPES_EVIDENCE_CONSTRUCTOR ||
         is_complete_constructor(site->symbols, found->symbol, name)) &&
        (!site->index || !types_named(site->index, name, &class) ||
         class.size == size - (uint64_t)flow->offset)) {
        *choice = (struct types_choice){.chosen = true,
                                        .named = symbols_keep(site->symbols, name),
                                        .offset = (uint64_t)flow->offset,
                                        .exact_size = true,
                                        .confidence = TYPES_INFERRED,
                                        .rule = TYPES_RULE_CONSTRUCTOR};
        choice->chosen = choice->named != NULL;
    }
    free(name);
}

/* Chooses the type of one object. A pointer to a base class may stand for any derived class. For
 * classes with virtual functions, only the constructor or the table tells which. */
static void choose_object(const struct types_site *site, const struct types_flow *flow,
                          uint64_t size, struct types_choice *choice)
{
    struct types_type class, place;
    bool placed = choose_whole(site, flow, TYPES_EVIDENCE_PLACE, size, &place);
    bool tabled = choose_class(site, flow, TYPES_EVIDENCE_TABLE, TYPES_BY_NEW, size, &class);
    if (tabled ||
        choose_class(site, flow, TYPES_EVIDENCE_CONSTRUCTOR, TYPES_BY_NEW, size, &class)) {
        if (is_class_ambiguous(site, flow, TYPES_BY_NEW, size, &class)) {
            choice->ambiguous = true;
            return;
        }
        /* The constructor may be that of the first member, which fills the whole object. */
        if (!placed || types_is_derived(site->index, &class, &place) ||
            types_has_member_at(site->index, &class, 0, &place) ||
            types_is_polymorphic(site->index, &place)) {
            /* The code contains the address of its table, so a function that stores another table
             * is another function. */
            bool sure = tabled || types_is_polymorphic(site->index, &class) ||
                        (!flow->shared && !types_outer_frames_constructs_doubted(site, &class));
            choose(choice, &class, 0, sure ? TYPES_EXACT : TYPES_INFERRED, TYPES_RULE_CONSTRUCTOR);
            return;
        }
    }
    if (placed && !types_is_polymorphic(site->index, &place)) {
        choose(choice, &place, 0, TYPES_INFERRED, TYPES_RULE_RECEIVER);
        return;
    }
    if (flow->returned && flow->returned_offset == 0 && returned_type(site, &place) &&
        types_fit(site->index, &place, size, 0) == TYPES_FIT_WHOLE &&
        !types_is_polymorphic(site->index, &place))
        choose(choice, &place, 0, TYPES_INFERRED, TYPES_RULE_RETURN);
    else if (choose_whole(site, flow, TYPES_EVIDENCE_ARGUMENT, size, &place) &&
             !types_is_polymorphic(site->index, &place))
        choose(choice, &place, 0, TYPES_INFERRED, TYPES_RULE_ARGUMENT);
    else if (!flow->size_varies)
        choose_named(site, flow, size, choice);
}

/* Chooses the type of one object in a block that has more bytes than it. Its constructor or table
 * tells, or the pointer that gets it. */
static void choose_larger_object(const struct types_site *site, const struct types_flow *flow,
                                 uint64_t size, struct types_choice *choice)
{
    struct types_type class;
    const enum types_operator by = TYPES_BY_NEW_LARGER;
    bool found = choose_class(site, flow, TYPES_EVIDENCE_TABLE, by, size, &class) ||
                 choose_class(site, flow, TYPES_EVIDENCE_CONSTRUCTOR, by, size, &class);
    if (found && is_class_ambiguous(site, flow, by, size, &class)) {
        choice->ambiguous = true;
        return;
    }
    for (size_t i = 0; i < flow->count && !found; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        found = evidence->kind == TYPES_EVIDENCE_PLACE && !evidence->indexed &&
                evidence->offset == flow->offset && evidence->offset >= 0 &&
                evidence->type.shape == TYPES_RECORD && evidence->type.size > 0 &&
                evidence->type.size + (uint64_t)evidence->offset <= size &&
                !types_is_polymorphic(site->index, &evidence->type);
        class = evidence->type;
    }
    if (!found)
        return;
    choose(choice, &class, flow->offset, TYPES_INFERRED, TYPES_RULE_CONSTRUCTOR);
    choice->one_object = true;
}

/* Chooses the class of a thrown exception, which follows the C++ library's own data about it. */
static bool choose_thrown(const struct types_site *site, const struct types_flow *flow,
                          uint64_t size, struct types_choice *choice)
{
    for (size_t i = 0; i < flow->count && !choice->ambiguous; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        struct types_type type;
        if (evidence->kind != TYPES_EVIDENCE_THROWN || evidence->indexed ||
            !class_of(site, evidence, &type) ||
            types_fit(site->index, &type, size, evidence->offset) != TYPES_FIT_WHOLE)
            continue;
        choice->ambiguous = choice->chosen && !types_same(site->index, &choice->type, &type);
        choose(choice, &type, evidence->offset, TYPES_EXACT, TYPES_RULE_THROWN);
        choice->exact_size = true;
    }
    if (choice->ambiguous)
        choice->chosen = false;
    return choice->chosen || choice->ambiguous;
}

/* Returns true if the site asks the C++ library for room for an exception. */
static bool is_exception(const struct types_site *site)
{
    struct types_call call;
    types_called(site, &call);
    return call.linkage && strcmp(call.linkage, "__cxa_allocate_exception") == 0;
}

/* ---- other allocations ------------------------------------------------------------------ */

/* Returns true if `rest` shows that other bytes follow the record of `front`. */
static bool follows(const struct types_site *site, const struct types_evidence *front,
                    const struct types_evidence *rest, uint64_t size)
{
    uint64_t end = (uint64_t)front->offset + front->type.size;
    if (rest->indexed || rest->offset <= 0 || (uint64_t)rest->offset < end ||
        (uint64_t)rest->offset >= size)
        return false;
    if (rest->kind == TYPES_EVIDENCE_PLACE)
        return rest->type.die.addr != front->type.die.addr &&
               (rest->type.shape == TYPES_RECORD || rest->type.shape == TYPES_CHARACTER ||
                rest->type.shape == TYPES_SCALAR);
    /* A record's member points there, not to its own kind as a list in an array. */
    struct types_type member, pointee;
    return rest->kind == TYPES_EVIDENCE_OWN && rest->stored_at >= front->offset &&
           types_member_at(site->index, &front->type, (uint64_t)(rest->stored_at - front->offset),
                           &member) &&
           types_pointee(site->index, &member, &pointee) && pointee.shape != TYPES_VOID &&
           !types_same(site->index, &pointee, &front->type);
}

/* Chooses a record that is followed, in the same block, by something that another pointer points
 * to. The block is then one object of the record's type with that data after it. */
static bool choose_record_in_front(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_choice *choice)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *front = &flow->evidence[i];
        if (front->kind != TYPES_EVIDENCE_PLACE || front->indexed || front->offset < 0 ||
            front->type.shape != TYPES_RECORD || front->type.size == 0)
            continue;
        for (size_t k = 0; k < flow->count; k++) {
            if (!follows(site, front, &flow->evidence[k], size))
                continue;
            choose(choice, &front->type, front->offset, TYPES_INFERRED, TYPES_RULE_RECEIVER);
            choice->one_object = true;
            return true;
        }
    }
    return false;
}

/* Returns true if the block has, at or before the place, a record that is not as long as the block.
 * Other data in the block is then only a part of it and does not give the block's type. */
static bool follows_record(const struct types_site *site, const struct types_flow *flow,
                           const struct types_evidence *place, uint64_t size)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *front = &flow->evidence[i];
        if (front->kind == TYPES_EVIDENCE_PLACE && !front->indexed && front->offset >= 0 &&
            front->offset <= place->offset && front->type.shape == TYPES_RECORD &&
            front->type.size > 0 && !types_is_head(site->index, &front->type) &&
            types_fit(site->index, &front->type, size, front->offset) == TYPES_FIT_NOT)
            return true;
    }
    return false;
}

/* Returns true if the place points to a record after a number of records of its size. It is then
 * taken as one of an array, because headers are shorter. */
static bool is_last_element(const struct types_flow *flow, const struct types_evidence *evidence)
{
    const int64_t size = (int64_t)evidence->type.size, before = evidence->offset - flow->offset;
    return evidence->type.shape == TYPES_RECORD && size > 0 && before >= 3 * size &&
           before % size == 0;
}

/* Chooses the first place that fits best. Records of exactly the size come first. */
static bool choose_place(const struct types_site *site, const struct types_flow *flow,
                         enum types_operator by, uint64_t size, struct types_choice *choice)
{
    enum types_fit best = TYPES_FIT_NOT;
    if (choose_record_in_front(site, flow, size, choice))
        return true;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE)
            continue;
        enum types_fit fit = types_fit(site->index, &evidence->type, size, evidence->offset);
        /* A pointer to somewhere in the block tells only that it has characters there. */
        if (evidence->indexed && fit != TYPES_FIT_BUFFER)
            continue;
        bool better = best == TYPES_FIT_NOT || (fit == TYPES_FIT_WHOLE && best != TYPES_FIT_WHOLE &&
                                                evidence->type.shape == TYPES_RECORD);
        /* A pointer to the last element of an array seems to point to a whole object. */
        if (best != TYPES_FIT_NOT && fit >= TYPES_FIT_ARRAY &&
            evidence->offset != (int64_t)choice->offset &&
            types_same(site->index, &choice->type, &evidence->type))
            better = evidence->offset < (int64_t)choice->offset;
        if (fit == TYPES_FIT_NOT || !better)
            continue;
        if (fit == TYPES_FIT_ARRAY && evidence->type.shape == TYPES_SCALAR &&
            follows_record(site, flow, evidence, size))
            continue;
        /* Not an array of heads but one object that begins with a head, of unknown kind. */
        if (fit == TYPES_FIT_ARRAY && by == TYPES_BY_FUNCTION &&
            types_is_head(site->index, &evidence->type))
            continue;
        best = fit;
        int64_t start = is_last_element(flow, evidence) ? flow->offset : evidence->offset;
        choose(choice, &evidence->type, start, TYPES_INFERRED, TYPES_RULE_RECEIVER);
        choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    }
    return best != TYPES_FIT_NOT;
}

/* Returns true if a place or parameter names a record at the start that can fill the block. */
static bool is_claim(const struct types_site *site, const struct types_flow *flow, size_t number,
                     uint64_t size)
{
    const struct types_evidence *evidence = &flow->evidence[number];
    return (evidence->kind == TYPES_EVIDENCE_PLACE || evidence->kind == TYPES_EVIDENCE_ARGUMENT) &&
           evidence->offset == flow->offset && !evidence->indexed &&
           evidence->type.shape == TYPES_RECORD &&
           types_fit(site->index, &evidence->type, size, evidence->offset) == TYPES_FIT_WHOLE;
}

/* Returns the ends of the paths where the block is, or begins with, that record. */
static uint32_t ends_with(const struct types_site *site, const struct types_flow *flow,
                          uint64_t size, const struct types_type *type)
{
    uint32_t ends = 0;
    for (size_t i = 0; i < flow->count; i++)
        if (is_claim(site, flow, i, size) &&
            (types_same(site->index, &flow->evidence[i].type, type) ||
             includes(site, &flow->evidence[i].type, type)))
            ends |= flow->evidence[i].path_ends;
    return ends;
}

/* Returns true if the block becomes one record on one path through the code and another on another
 * path, so that no type is on all paths that name any. */
static bool is_ambiguous(const struct types_site *site, const struct types_flow *flow,
                         uint64_t size)
{
    uint32_t all = 0;
    for (size_t i = 0; i < flow->count; i++)
        if (is_claim(site, flow, i, size))
            all |= flow->evidence[i].path_ends;
    for (size_t i = 0; i < flow->count; i++)
        if (is_claim(site, flow, i, size) &&
            ends_with(site, flow, size, &flow->evidence[i].type) == all)
            return false;
    return all != 0;
}

/* Chooses a record of exactly that size with all types that pointers into the block name. */
static bool choose_surrounding(const struct types_site *site, const struct types_flow *flow,
                               enum types_operator by, uint64_t size, struct types_choice *choice)
{
    struct types_type type;
    if (by != TYPES_BY_FUNCTION ||
        !types_enclosing_record_find(site, flow, size, flow->offset, &type))
        return false;
    choose(choice, &type, flow->offset, TYPES_INFERRED, TYPES_RULE_RECEIVER);
    choice->exact_size = true;
    return true;
}

static bool choose_return(const struct types_site *site, const struct types_flow *flow,
                          uint64_t size, struct types_choice *choice)
{
    struct types_type type;
    if (!flow->returned || !returned_type(site, &type))
        return false;
    enum types_fit fit = types_fit(site->index, &type, size, flow->returned_offset);
    if (fit == TYPES_FIT_NOT || (fit == TYPES_FIT_ARRAY && types_is_head(site->index, &type)))
        return false;
    choose(choice, &type, flow->returned_offset, TYPES_INFERRED, TYPES_RULE_RETURN);
    choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    return true;
}

/* Returns true if the record ends in text that begins at `offset`, or if text follows it. */
static bool has_text_at(const struct types_site *site, const struct types_type *record,
                        int64_t offset)
{
    uint64_t start;
    return types_flexible_end(site->index, record, &start) ? (uint64_t)offset >= start
                                                           : (uint64_t)offset >= record->size;
}

/* Chooses a record before the text that the function returns: "struct text *t = malloc(sizeof *t +
 * n); … return t->characters;". A function that returns void * hands on memory that others will
 * fill. */
static bool choose_record_before_text(const struct types_site *site, const struct types_flow *flow,
                                      uint64_t size, struct types_choice *choice)
{
    const struct types_evidence *found = NULL;
    struct types_type text;
    if (!flow->returned || flow->returned_offset <= 0 || flow->offset != 0 ||
        !returned_type(site, &text) || text.shape != TYPES_CHARACTER)
        return false;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE || evidence->indexed || evidence->offset != 0 ||
            evidence->type.shape == TYPES_VOID || evidence->type.size == 1)
            continue;
        if (evidence->type.shape != TYPES_RECORD ||
            (found && !types_same(site->index, &found->type, &evidence->type)))
            return false;
        found = evidence;
    }
    if (!found || found->type.size == 0 || found->type.size > size ||
        !has_text_at(site, &found->type, flow->returned_offset))
        return false;
    choose(choice, &found->type, 0, TYPES_INFERRED, TYPES_RULE_RECEIVER);
    choice->one_object = true;
    return true;
}

/* Chooses bytes that are given out in pieces. Pointers to bytes are set to the block's start and to
 * its end, no matter what is placed at its start first. */
static bool choose_bytes_with_end(const struct types_flow *flow, uint64_t size,
                                  struct types_choice *choice)
{
    const struct types_evidence *start = NULL, *end = NULL;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE || evidence->indexed ||
            evidence->type.shape != TYPES_CHARACTER)
            continue;
        if (evidence->offset == flow->offset)
            start = evidence;
        if (evidence->offset > 0 && (uint64_t)evidence->offset == size)
            end = evidence;
    }
    if (!start || !end)
        return false;
    choose(choice, &start->type, flow->offset, TYPES_INFERRED, TYPES_RULE_RECEIVER);
    return true;
}

/* Chooses by a parameter. It may be a base class or first member: only the exact size counts. */
static void choose_argument(const struct types_site *site, const struct types_flow *flow,
                            uint64_t size, struct types_choice *choice)
{
    struct types_type type;
    if (choose_whole(site, flow, TYPES_EVIDENCE_ARGUMENT, size, &type) &&
        type.shape == TYPES_RECORD)
        choose(choice, &type, 0, TYPES_INFERRED, TYPES_RULE_ARGUMENT);
}

/* Returns true if the result leaves the function as a pointer that names no type. */
static bool is_wrapper(const struct types_site *site, const struct types_flow *flow)
{
    struct types_type type;
    if (!flow->returned)
        return false;
    if (site->entry_count == 0)
        return true;
    /* A function that returns no pointer may still leave it in rax. */
    return returned_type(site, &type) &&
           (type.shape == TYPES_VOID || type.shape == TYPES_CHARACTER);
}

/* Chooses by the evidence. `size` is the size asked of the allocator. */
static void types_choose(const struct types_site *site, const struct types_flow *whole_flow,
                         enum types_operator by, uint64_t size, struct types_choice *choice)
{
    struct types_flow reduced;
    const struct types_flow *flow = &reduced;
    types_enclosing_record_reduce(site, whole_flow, size, &reduced);
    struct types_type type;
    *choice = (struct types_choice){.wrapper = false};
    bool wrapper = is_wrapper(site, flow);
    if (by == TYPES_BY_FUNCTION && choose_thrown(site, flow, size, choice))
        return;
    if (by == TYPES_BY_FUNCTION && flow->offset > 0 && (uint64_t)flow->offset < size &&
        is_exception(site)) {
        choose_named(site, flow, size, choice);
        if (choice->chosen)
            return;
    }
    if (choose_bytes_with_end(flow, size, choice) ||
        (by == TYPES_BY_FUNCTION && choose_record_before_text(site, flow, size, choice)))
        return;
    /* new T[n] names its type on the spot, so its function is not a wrapper. */
    if (by == TYPES_BY_NEW_ARRAY &&
        (choose_place(site, flow, by, size, choice) || choose_return(site, flow, size, choice)))
        return;
    if (is_ambiguous(site, flow, size)) {
        choice->ambiguous = true;
        return;
    }
    if (choose_surrounding(site, flow, by, size, choice))
        return;
    if (wrapper) {
        /* An object that is made here and returned as a handle. */
        if (flow->returned_offset == 0 &&
            choose_whole(site, flow, TYPES_EVIDENCE_PLACE, size, &type) &&
            type.shape == TYPES_RECORD && by == TYPES_BY_FUNCTION)
            choose(choice, &type, 0, TYPES_INFERRED, TYPES_RULE_RECEIVER);
        else if (by == TYPES_BY_NEW)
            choose_object(site, flow, size, choice);
        else if (by == TYPES_BY_NEW_LARGER)
            choose_larger_object(site, flow, size, choice);
        choice->exact_size = choice->chosen;
        choice->wrapper = !choice->chosen;
        return;
    }
    if (by == TYPES_BY_NEW || by == TYPES_BY_NEW_LARGER) {
        if (by == TYPES_BY_NEW)
            choose_object(site, flow, size, choice);
        else
            choose_larger_object(site, flow, size, choice);
        choice->exact_size = choice->chosen;
        return;
    }
    if (!choose_place(site, flow, by, size, choice) && !choose_return(site, flow, size, choice))
        choose_argument(site, flow, size, choice);
    choice->exact_size = choice->chosen && types_fit(site->index, &choice->type, size,
                                                     (int64_t)choice->offset) == TYPES_FIT_WHOLE;
}

/* Chooses a record with bytes after it, for a block that nothing else names or that pointers to
 * bytes point to. All other places of the result must name the record, no other record may begin
 * with it, and its size must not divide the block's. */
static void types_choose_record_with_tail(const struct types_site *site,
                                          const struct types_flow *flow, uint64_t size,
                                          struct types_choice *choice)
{
    const struct types_evidence *found = NULL;
    if (flow->offset < 0 || (uint64_t)flow->offset >= size)
        return;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE || evidence->indexed ||
            evidence->offset != flow->offset || evidence->type.shape == TYPES_VOID ||
            evidence->type.size == 1)
            continue;
        /* Skips places of heads: a header with which all objects of a program begin. */
        if (types_is_head(site->index, &evidence->type))
            continue;
        if (evidence->type.shape != TYPES_RECORD || evidence->type.size == 0 ||
            evidence->type.size >= size - (uint64_t)flow->offset ||
            (found && !types_same(site->index, &found->type, &evidence->type)))
            return;
        found = evidence;
    }
    if (!found)
        return;
    choose(choice, &found->type, flow->offset, TYPES_INFERRED, TYPES_RULE_RECEIVER);
    choice->one_object = true;
}

/* Chooses by the declared return type of the function that the site calls. Such a function leaves
 * no frame of its own if it ends in a jump to the allocator. An object by operator new may be of a
 * derived class. */
static bool types_choose_called(const struct types_site *site, enum types_operator by,
                                uint64_t size, struct types_choice *choice)
{
    struct types_call call;
    struct types_type pointer, type;
    types_called(site, &call);
    if (!call.described || !types_of(site->index, &call.function, &pointer) ||
        !types_pointee(site->index, &pointer, &type) || types_is_polymorphic(site->index, &type))
        return false;
    enum types_fit fit = types_fit(site->index, &type, size, 0);
    if (fit == TYPES_FIT_NOT)
        return false;
    Dwarf_Addr start;
    const bool computed = by == TYPES_BY_NEW && dwarf_entrypc(&call.function, &start) == 0 &&
                          types_flow_jump_varies(site, start + site->file->bias);
    if (fit != TYPES_FIT_WHOLE &&
        ((by == TYPES_BY_NEW && !computed) ||
         (fit == TYPES_FIT_ARRAY && types_is_head(site->index, &type))) &&
        !types_allocates_elements(site->index, &call.function))
        return false;
    choose(choice, &type, 0, TYPES_INFERRED, TYPES_RULE_RETURN);
    choice->exact_size = fit == TYPES_FIT_WHOLE;
    choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    return true;
}

/* ---- the attribute of clang ------------------------------------------------------------- */

/* Finds the type that the compiler itself states for an allocating call. clang 21 and later write
 * the allocated type of `new`, and of functions with an allocator attribute, as
 * DW_AT_LLVM_alloc_type of the call's DW_TAG_call_site. */

/* A vendor's attribute that libdw's header does not name: llvm/BinaryFormat/Dwarf.def. */
#define ATTRIBUTE_LLVM_ALLOC_TYPE 0x3e0e
/* The limit for blocks and inlined functions inside one another. */
#define NESTING_MAX 128

/* Returns true if the call returns to `address`. DWARF 5 has its own attribute for the return
 * address, and GNU's form uses low_pc. */
static bool returns_to(Dwarf_Die *call, uint64_t address)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr found;
    unsigned name = dwarf_tag(call) == DW_TAG_GNU_call_site ? DW_AT_low_pc : DW_AT_call_return_pc;
    return dwarf_attr(call, name, &attribute) && dwarf_formaddr(&attribute, &found) == 0 &&
           found == address;
}

/* Returns true if it is a unit of GNU's compilers. They never write the attribute, so their
 * functions need no search. */
static bool is_gnu_unit(const Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    if (!dwarf_cu_die(function->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return false;
    const char *producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
    return producer && strncmp(producer, "GNU ", 4) == 0;
}

/* Finds the call in `function`, or in one inlined into it, that returns to `address`. */
static bool find_call(Dwarf_Die *function, uint64_t address, Dwarf_Die *call)
{
    Dwarf_Die path[NESTING_MAX];
    if (dwarf_child(function, &path[0]) != 0)
        return false;
    for (size_t depth = 1; depth > 0;) {
        Dwarf_Die *die = &path[depth - 1];
        int tag = dwarf_tag(die);
        if ((tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) && returns_to(die, address)) {
            *call = *die;
            return true;
        }
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
            depth < NESTING_MAX && dwarf_child(die, &path[depth]) == 0) {
            depth++;
            continue;
        }
        while (depth > 0 && !types_next_sibling(&path[depth - 1]))
            depth--;
    }
    return false;
}

/* Chooses the type stated at the call that returns to the site. `size` is the size asked of the
 * allocator; the call's result is `offset` bytes after the start of the block. Returns false if no
 * type is stated, or the block is too small for it. */
static bool types_attribute_choose(const struct types_site *site, enum types_operator by,
                                   uint64_t size, int64_t offset, struct types_choice *choice)
{
    Dwarf_Die call, die;
    Dwarf_Attribute attribute;
    struct types_type type;
    if (site->entry_count == 0 || offset < 0 || (uint64_t)offset >= size)
        return false;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    if (is_gnu_unit(&function) ||
        !find_call(&function, site->return_address - site->file->bias, &call) ||
        !dwarf_attr(&call, ATTRIBUTE_LLVM_ALLOC_TYPE, &attribute) ||
        !types_reference(&attribute, &die) || !types_from(site->index, &die, &type) ||
        type.size == 0 || type.size > size - (uint64_t)offset)
        return false;
    uint64_t held = size - (uint64_t)offset;
    /* The number of elements: Itanium C++ ABI, 2.7. */
    bool counted = by == TYPES_BY_NEW_ARRAY && held % type.size != 0 && held > 8 &&
                   (held - 8) % type.size == 0;
    *choice = (struct types_choice){.chosen = true,
                                    .type = type,
                                    .offset = (uint64_t)offset + (counted ? 8 : 0),
                                    .exact_size = held == type.size,
                                    .one_object = !counted && held % type.size != 0,
                                    .confidence = TYPES_EXACT,
                                    .rule = TYPES_RULE_STATED};
    return true;
}

/* Returns true if machine code puts the block, or a part of it, into a pointer to `type`. */
static bool reaches(const struct types_site *site, const struct types_flow *flow,
                    const struct types_type *type)
{
    for (size_t i = 0; i < flow->count; i++)
        if ((flow->evidence[i].kind == TYPES_EVIDENCE_PLACE ||
             flow->evidence[i].kind == TYPES_EVIDENCE_ARGUMENT) &&
            types_same(site->index, &flow->evidence[i].type, type))
            return true;
    return false;
}

/* Returns true if a pointer to a record gets what the call returned. */
static bool goes_to_record(const struct types_flow *flow)
{
    for (size_t i = 0; i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_PLACE && !flow->evidence[i].indexed &&
            flow->evidence[i].offset == flow->offset &&
            flow->evidence[i].type.shape == TYPES_RECORD)
            return true;
    return false;
}

/* Returns true if the library's function that the site calls is not named after allocation. It may
 * take the size of elements: g_array_new(FALSE, FALSE, sizeof(int)). */
static bool takes_size_of_elements(const struct types_site *site)
{
    struct types_call call;
    types_called(site, &call);
    return call.linkage && !strstr(call.linkage, "alloc");
}

/* Chooses the name of a record that is only declared here, for a block that a library made and
 * returned as a pointer to it: a handle, such as GHashTable. */
static void choose_handle(const struct types_site *site, const struct types_flow *flow,
                          struct types_choice *choice)
{
    const struct types_evidence *found = NULL;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *evidence = &flow->evidence[i];
        if (evidence->kind != TYPES_EVIDENCE_PLACE || evidence->type.shape == TYPES_VOID)
            continue;
        if (evidence->type.shape != TYPES_RECORD || evidence->type.size != 0 ||
            evidence->offset != 0 || evidence->indexed ||
            (found && !types_same(site->index, &found->type, &evidence->type)))
            return;
        found = evidence;
    }
    if (!found)
        return;
    /* The name of a typedef is better known than a tag such as _GHashTable. */
    Dwarf_Die die = found->type.die, record;
    if (!types_strip(&die, &record) || !dwarf_hasattr(&record, DW_AT_declaration))
        return; /* of a size that only the running program knows */
    char *name = dwarf_tag(&die) == DW_TAG_typedef ? strdup(dwarf_diename(&die))
                                                   : types_name(site->index, &found->type);
    if (name)
        *choice = (struct types_choice){.chosen = true,
                                        .named = symbols_keep(site->symbols, name),
                                        .exact_size = true,
                                        .confidence = TYPES_INFERRED,
                                        .rule = TYPES_RULE_RECEIVER};
    choice->chosen = choice->chosen && choice->named;
    free(name);
}

/* Lets the source refine the choice. A place of another size than the block's may be of a base
 * class, a first member or bytes, and the source is better evidence if it is available. A statement
 * around an inlined function that keeps the block does not count, because it hands on another
 * block. */
static void refine(const struct types_site *site, const struct types_flow *flow,
                   const struct types_question *question, bool front, struct types_choice *choice)
{
    struct types_choice source;
    uint64_t size = question->size;
    if (choice->ambiguous || (choice->chosen && choice->exact_size))
        return;
    bool named = types_source_choose(site, question->by, size, question->offset, front, &source);
    if (named && choice->chosen && choice->type.size > 1 && !flow->returned && source.from_caller &&
        !reaches(site, flow, &source.type))
        named = false;
    if (named && source.type.shape == TYPES_SCALAR && !reaches(site, flow, &source.type) &&
        (goes_to_record(flow) || (question->opaque && takes_size_of_elements(site))))
        named = false;
    /* The sizes in a wrapper are those of its own header, unless it makes one kind of object. */
    if (named && choice->wrapper)
        named = source.type.shape == TYPES_RECORD && source.type.size == size;
    if (named)
        *choice = source;
    else if (!choice->chosen && !choice->wrapper)
        types_choose_called(site, question->by, size, choice);
}

/* Returns true if the question is headed from now on. A function may make objects of many kinds and
 * return all as a pointer to their common head. If the pointer's type is not that of the whole
 * block, the caller may know better. */
static bool is_headed(const struct types_flow *flow, const struct types_question *question,
                      const struct types_choice *choice)
{
    return question->by == TYPES_BY_FUNCTION && flow->returned && flow->returned_offset == 0 &&
           !choice->exact_size && !choice->one_object && choice->rule != TYPES_RULE_SOURCE;
}

void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice)
{
    if (types_attribute_choose(site, question->by, question->size, question->offset, choice))
        return;
    types_choose(site, flow, question->by, question->size, choice);
    if (choice->ambiguous)
        return;
    if (question->by == TYPES_BY_FUNCTION &&
        types_source_pool(site, question->size, question->offset, choice))
        return;
    /* The result of a function may be the head of objects of many kinds, unless an inner function
     * already said so. */
    bool front = question->by == TYPES_BY_FUNCTION && !question->opaque &&
                 (question->headed || !flow->returned);
    refine(site, flow, question, front, choice);
    /* A head begins one object, even if the block's size is a multiple of its size. */
    if (question->headed && choice->chosen && choice->rule == TYPES_RULE_RECEIVER &&
        choice->type.shape == TYPES_RECORD && !types_is_head(site->index, &choice->type))
        choice->one_object = true;
    bool object = choice->type.shape == TYPES_RECORD &&
                  (choice->exact_size || choice->one_object || choice->rule == TYPES_RULE_SOURCE);
    if (question->headed && !object)
        choice->chosen = false;
    /* Bytes may be those of a record and the data after it, but not if the source says bytes. */
    bool open = !choice->chosen || choice->type.size == 1;
    if (open && !choice->wrapper && question->by == TYPES_BY_FUNCTION &&
        !types_source_bytes(site, question->size, question->offset, choice) && front)
        types_choose_record_with_tail(site, flow, question->size, choice);
    if (!choice->chosen && !choice->wrapper && question->opaque && flow->offset == 0 &&
        question->by == TYPES_BY_FUNCTION)
        choose_handle(site, flow, choice);
    if (!choice->wrapper && is_headed(flow, question, choice)) {
        choice->wrapper = true;
        question->headed = 1;
        if (choice->type.shape == TYPES_RECORD)
            choice->chosen = false;
    }
}

/* ---- languages ----------------------------------------------------------------------------- */

/* The language of the function's unit, 0: unknown. */
static int language_of(const struct types_site *site)
{
    Dwarf_Die unit;
    if (site->entry_count == 0 || !dwarf_cu_die(site->entries[site->entry_count - 1].cu, &unit,
                                                NULL, NULL, NULL, NULL, NULL, NULL))
        return 0;
    return dwarf_srclang(&unit);
}

bool types_language_is_ada(const struct types_site *site)
{
    const int language = language_of(site);
    return language == DW_LANG_Ada83 || language == DW_LANG_Ada95;
}

bool types_language_denies(const struct types_site *site, const struct types_type *type,
                           const char *name, uint64_t size, bool opaque)
{
    const char *function = site->frames[site->frame_count - 1].function;
    const bool part = opaque && type->shape == TYPES_RECORD && type->size != size;
    switch (language_of(site)) {
    case DW_LANG_Pascal83:
        return true;
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
        return strstr(name, "___X") || strncmp(name, "ada__tags__", 11) == 0;
    case DW_LANG_D:
        return part;
    default:
        /* gcc calls Objective-C C, but not its methods. */
        return strncmp(name, "tyObject_NimSeqPayloadBase", 26) == 0 ||
               strcmp(name, "objc_object") == 0 || strcmp(name, "objc_class") == 0 ||
               (part && (strncmp(function, "-[", 2) == 0 || strncmp(function, "+[", 2) == 0));
    }
}
