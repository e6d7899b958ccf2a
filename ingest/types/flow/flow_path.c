/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/flow_path.h"

/* Notes that a piece of evidence was met on this path through the code. */
static void meet(struct types_flow_path *path, size_t number)
{
    const struct types_evidence *evidence = &path->flow->evidence[number];
    path->seen |= UINT32_C(1) << number;
    if (evidence->symbol || evidence->type.shape == TYPES_RECORD)
        path->last = (uint8_t)(number + 1);
}

void types_flow_path_add(struct types_flow_path *path, enum types_evidence_kind kind,
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
    if (path->rerun || flow->count == TYPES_EVIDENCE_MAX)
        return;
    struct types_evidence *evidence = &flow->evidence[flow->count++];
    *evidence = (struct types_evidence){
        .kind = kind, .offset = offset, .indexed = pointer->indexed, .symbol = symbol};
    if (type)
        evidence->type = *type;
    meet(path, flow->count - 1);
}

void types_flow_path_end(struct types_flow_path *path)
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

void types_flow_path_finish(struct types_flow_path *path)
{
    struct types_flow *flow = path->flow;
    for (size_t i = 0; i < flow->count; i++)
        for (size_t k = 0; k < flow->path_end_count; k++)
            if (path->path_ends[k] & (UINT32_C(1) << i))
                flow->evidence[i].path_ends |= UINT32_C(1) << k;
}

void types_flow_path_add_own(struct types_flow_path *path, int64_t stored_at, int64_t offset)
{
    struct types_flow *flow = path->flow;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_OWN && flow->evidence[i].offset == offset &&
            flow->evidence[i].stored_at == stored_at)
            return;
    if (!path->rerun && flow->count < TYPES_EVIDENCE_MAX)
        flow->evidence[flow->count++] = (struct types_evidence){
            .kind = TYPES_EVIDENCE_OWN, .offset = offset, .stored_at = stored_at};
}
