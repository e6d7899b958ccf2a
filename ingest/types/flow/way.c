/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/way.h"

/* Notes that a piece of evidence was met on this way through the code. */
static void meet(struct types_way *way, size_t number)
{
    const struct types_evidence *evidence = &way->flow->evidence[number];
    way->seen |= UINT32_C(1) << number;
    if (evidence->symbol || evidence->type.shape == TYPES_RECORD)
        way->last = (uint8_t)(number + 1);
}

void types_way_add(struct types_way *way, enum types_evidence_kind kind,
                   const struct types_type *type, const struct types_value *pointer,
                   const char *symbol)
{
    int64_t offset = pointer->offset;
    struct types_flow *flow = way->flow;
    for (size_t i = 0; i < flow->count; i++) {
        const struct types_evidence *known = &flow->evidence[i];
        if (known->kind == kind && known->offset == offset && known->symbol == symbol &&
            known->indexed == pointer->indexed &&
            known->type.die.addr == (!type ? NULL : type->die.addr)) {
            meet(way, i);
            return;
        }
    }
    if (way->again || flow->count == TYPES_EVIDENCE_MAX)
        return;
    struct types_evidence *evidence = &flow->evidence[flow->count++];
    *evidence = (struct types_evidence){
        .kind = kind, .offset = offset, .indexed = pointer->indexed, .symbol = symbol};
    if (type)
        evidence->type = *type;
    meet(way, flow->count - 1);
}

void types_way_end(struct types_way *way)
{
    size_t count = way->flow->end_count;
    for (size_t i = 0; i < count; i++)
        if (way->ends[i] == way->seen)
            return;
    if (count == TYPES_ENDS_MAX || way->seen == 0)
        return;
    way->ends[count] = way->seen;
    way->flow->end_count++;
}

void types_way_finish(struct types_way *way)
{
    struct types_flow *flow = way->flow;
    for (size_t i = 0; i < flow->count; i++)
        for (size_t k = 0; k < flow->end_count; k++)
            if (way->ends[k] & (UINT32_C(1) << i))
                flow->evidence[i].ends |= UINT32_C(1) << k;
}

void types_way_add_own(struct types_way *way, int64_t stored_at, int64_t offset)
{
    struct types_flow *flow = way->flow;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_OWN && flow->evidence[i].offset == offset &&
            flow->evidence[i].stored_at == stored_at)
            return;
    if (!way->again && flow->count < TYPES_EVIDENCE_MAX)
        flow->evidence[flow->count++] = (struct types_evidence){
            .kind = TYPES_EVIDENCE_OWN, .offset = offset, .stored_at = stored_at};
}
