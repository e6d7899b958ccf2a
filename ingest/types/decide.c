/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/decide.h"

#include "ingest/types/clang_attribute.h"
#include "ingest/types/source/source.h"

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

/*
 * Lets the source refine the choice. A place of another size than the block's may be of a base
 * class, a first member or bytes, and the source is better evidence if it is available. A statement
 * around an inlined function that keeps the block does not count, because it hands on another
 * block.
 */
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
    /* The sizes in a wrapper are those of its own header, unless it makes one kind of object. */
    if (named && choice->wrapper)
        named = source.type.shape == TYPES_RECORD && source.type.size == size;
    if (named)
        *choice = source;
    else if (!choice->chosen && !choice->wrapper)
        types_choose_called(site, size, choice);
}

/*
 * Returns true if the question is headed from now on. A function may make objects of many kinds and
 * return all as a pointer to their common head. If the pointer's type is not that of the whole
 * block, the caller may know better.
 */
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
    if (!choice->wrapper && is_headed(flow, question, choice)) {
        choice->wrapper = true;
        question->headed = 1;
        if (choice->type.shape == TYPES_RECORD)
            choice->chosen = false;
    }
}
