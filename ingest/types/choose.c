/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/choose.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/dwarf/fit.h"
#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/enclosing_record.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/outer_frames.h"

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

/* ---- one object by operator new --------------------------------------------------------- */

/* Returns "Foo" for "Foo::Foo(int)", "vtable for Foo" and "typeinfo for Foo", in its one spelling.
 * The caller frees it. */
static char *class_of_symbol(struct symbols *symbols, const char *linkage)
{
    static const char *const tables[] = {"vtable for ", "typeinfo for "};
    const char *name = symbols_demangle(symbols, linkage);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strncmp(name, tables[i], strlen(tables[i])) == 0)
            return types_spelling(name + strlen(tables[i]));
    const char *end = NULL;
    int depth = 0;
    for (const char *at = name; *at != '\0' && !(depth == 0 && *at == '('); at++) {
        if (*at == '<')
            depth++;
        else if (*at == '>')
            depth--;
        else if (depth == 0 && at[0] == ':' && at[1] == ':')
            end = at;
    }
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

/* Finds the class of an object of that size from a piece of evidence. Returns false if it names
 * none. */
static bool class_made(const struct types_site *site, const struct types_evidence *evidence,
                       uint64_t size, struct types_type *class)
{
    return (evidence->kind == TYPES_EVIDENCE_TABLE ||
            evidence->kind == TYPES_EVIDENCE_CONSTRUCTOR) &&
           evidence->offset == 0 && !evidence->indexed && class_of(site, evidence, class) &&
           class->shape == TYPES_RECORD && class->size == size;
}

/* Returns true if an object of `outer` is also one of `inner`, or begins with one. */
static bool includes(const struct types_site *site, const struct types_type *outer,
                     const struct types_type *inner)
{
    return types_is_derived(site->index, outer, inner) ||
           types_has_member_at(site->index, outer, 0, inner);
}

/* Looks at the classes whose objects have that size, by one kind of evidence. Chooses the one that
 * is derived from the others or holds them as its first member. */
static bool choose_class(const struct types_site *site, const struct types_flow *flow,
                         enum types_evidence_kind kind, uint64_t size, struct types_type *class)
{
    bool found = false;
    for (size_t i = 0; i < flow->count; i++) {
        struct types_type type;
        if (flow->evidence[i].kind != kind || !class_made(site, &flow->evidence[i], size, &type))
            continue;
        if (!found || includes(site, &type, class))
            *class = type;
        found = true;
    }
    return found;
}

/*
 * Returns true if the block becomes objects of several classes: neither of two includes the other,
 * or one path through the code ends with less than `class`, which includes all others.
 */
static bool is_class_ambiguous(const struct types_site *site, const struct types_flow *flow,
                               uint64_t size, const struct types_type *class)
{
    uint32_t some = 0, whole = 0;
    for (size_t i = 0; i < flow->count; i++) {
        struct types_type type;
        if (!class_made(site, &flow->evidence[i], size, &type))
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

/*
 * Chooses the type of one object. A pointer to a base class may stand for any derived class. For
 * classes with virtual functions, only the constructor or the table tells which.
 */
static void choose_object(const struct types_site *site, const struct types_flow *flow,
                          uint64_t size, struct types_choice *choice)
{
    struct types_type class, place;
    bool placed = choose_whole(site, flow, TYPES_EVIDENCE_PLACE, size, &place);
    bool tabled = choose_class(site, flow, TYPES_EVIDENCE_TABLE, size, &class);
    if (tabled || choose_class(site, flow, TYPES_EVIDENCE_CONSTRUCTOR, size, &class)) {
        if (is_class_ambiguous(site, flow, size, &class)) {
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

/* ---- other allocations ------------------------------------------------------------------ */

/* Returns true if `rest` shows that the block has bytes of something else after the record of
 * `front`. */
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
    /* A member of the record points there, and not to a record of its own kind, as a list in an
     * array does. */
    struct types_type member, pointee;
    return rest->kind == TYPES_EVIDENCE_OWN && rest->stored_at >= front->offset &&
           types_member_at(site->index, &front->type, (uint64_t)(rest->stored_at - front->offset),
                           &member) &&
           types_pointee(site->index, &member, &pointee) && pointee.shape != TYPES_VOID &&
           !types_same(site->index, &pointee, &front->type);
}

/*
 * Chooses a record that is followed, in the same block, by something that another pointer points
 * to. The block is then one object of the record's type with that data after it.
 */
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

/*
 * Returns true if the block has, at or before the place, a record that is not as long as the block.
 * Other data in the block is then only a part of it and does not give the block's type.
 */
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

/* Chooses the place that fits best, the first of those that fit alike. Records of exactly the size
 * come first. */
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
        if (fit == TYPES_FIT_NOT || !better)
            continue;
        if (fit == TYPES_FIT_ARRAY && evidence->type.shape == TYPES_SCALAR &&
            follows_record(site, flow, evidence, size))
            continue;
        /* This is not an array of heads but one object that begins with a head. Its kind is not
         * known. */
        if (fit == TYPES_FIT_ARRAY && by == TYPES_BY_FUNCTION &&
            types_is_head(site->index, &evidence->type))
            continue;
        best = fit;
        choose(choice, &evidence->type, evidence->offset, TYPES_INFERRED, TYPES_RULE_RECEIVER);
        choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    }
    return best != TYPES_FIT_NOT;
}

/* Returns true if a place or parameter points to the start and names a record that the whole block
 * can be. */
static bool is_claim(const struct types_site *site, const struct types_flow *flow, size_t number,
                     uint64_t size)
{
    const struct types_evidence *evidence = &flow->evidence[number];
    return (evidence->kind == TYPES_EVIDENCE_PLACE || evidence->kind == TYPES_EVIDENCE_ARGUMENT) &&
           evidence->offset == flow->offset && !evidence->indexed &&
           evidence->type.shape == TYPES_RECORD &&
           types_fit(site->index, &evidence->type, size, evidence->offset) == TYPES_FIT_WHOLE;
}

/* Returns the ends of the paths on which the block is a record of that type, or one that begins
 * with it. */
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

/*
 * Returns true if the block becomes one record on one path through the code and another on another
 * path, so that no type is on all paths that name any.
 */
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

/* Chooses a record of exactly that size that has all the types that pointers into the block
 * name. */
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

/*
 * Chooses a record before the text that the function returns: "struct text *t = malloc(sizeof *t +
 * n); … return t->characters;". A function that returns void * hands on memory that others will
 * fill.
 */
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

/*
 * Chooses bytes that are given out in pieces. Pointers to bytes are set to the block's start and to
 * its end, no matter what is placed at its start first.
 */
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

/* Chooses by a parameter. It may be of a base class or a first member, so only exactly the size is
 * believed. */
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

void types_choose(const struct types_site *site, const struct types_flow *whole_flow,
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
    if (choose_bytes_with_end(flow, size, choice) ||
        (by == TYPES_BY_FUNCTION && choose_record_before_text(site, flow, size, choice)))
        return;
    /* new T[n] names its type on the spot, even for characters, so its function is not a
     * wrapper. */
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
        choice->exact_size = choice->chosen;
        choice->wrapper = !choice->chosen;
        return;
    }
    if (by == TYPES_BY_NEW) {
        choose_object(site, flow, size, choice);
        choice->exact_size = choice->chosen;
        return;
    }
    if (!choose_place(site, flow, by, size, choice) && !choose_return(site, flow, size, choice))
        choose_argument(site, flow, size, choice);
    choice->exact_size = choice->chosen && types_fit(site->index, &choice->type, size,
                                                     (int64_t)choice->offset) == TYPES_FIT_WHOLE;
}

void types_choose_record_with_tail(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_choice *choice)
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

bool types_choose_called(const struct types_site *site, uint64_t size, struct types_choice *choice)
{
    struct types_call call;
    struct types_type pointer, type;
    types_called(site, &call);
    if (!call.described || !types_of(site->index, &call.function, &pointer) ||
        !types_pointee(site->index, &pointer, &type) || types_is_polymorphic(site->index, &type))
        return false;
    enum types_fit fit = types_fit(site->index, &type, size, 0);
    if (fit == TYPES_FIT_NOT || (fit == TYPES_FIT_ARRAY && types_is_head(site->index, &type)))
        return false;
    choose(choice, &type, 0, TYPES_INFERRED, TYPES_RULE_RETURN);
    choice->exact_size = fit == TYPES_FIT_WHOLE;
    choice->one_object = fit == TYPES_FIT_FLEXIBLE;
    return true;
}
