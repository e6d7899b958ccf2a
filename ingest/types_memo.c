#include "ingest/types_memo.h"

#include <stdlib.h>
#include <string.h>

/* Powers of two. */
#define STEPS 16384
#define FLOWS 4096

struct flow_place {
    struct types_question question; /* with size and operator left out */
    struct types_flow *flow;        /* NULL: empty */
};

struct types_memo {
    struct types_step steps[STEPS];
    struct flow_place flows[FLOWS];
};

struct types_memo *types_memo_new(void)
{
    return calloc(1, sizeof(struct types_memo));
}

void types_memo_free(struct types_memo *memo)
{
    if (memo == NULL)
        return;
    for (size_t i = 0; i < FLOWS; i++)
        free(memo->flows[i].flow);
    free(memo);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(const struct types_question *question)
{
    uint64_t hash = mix(question->pc, question->module);
    hash = mix(hash, question->size);
    hash = mix(hash, (uint64_t)question->offset);
    return mix(hash, (uint64_t)question->by << 16 | (uint64_t)question->headed << 8 |
                         (uint64_t)question->opaque << 1 | question->in_memory);
}

struct types_step *types_memo_step(struct types_memo *memo, const struct types_question *question)
{
    struct types_step *step = &memo->steps[hash_of(question) & (STEPS - 1)];
    if (memcmp(&step->question, question, sizeof *question) != 0) {
        memset(step, 0, sizeof *step);
        step->question = *question;
    }
    return step;
}

const struct types_flow *types_memo_flow(struct types_memo *memo, const struct types_site *site,
                                         const struct types_question *question)
{
    struct types_question key = *question;
    key.size = 0;
    key.by = 0;
    key.headed = 0;
    struct flow_place *place = &memo->flows[hash_of(&key) & (FLOWS - 1)];
    if (place->flow != NULL && memcmp(&place->question, &key, sizeof key) == 0)
        return place->flow;
    if (place->flow == NULL)
        place->flow = malloc(sizeof *place->flow);
    place->question = key;
    if (place->flow == NULL)
        return NULL;
    if (!types_flow_follow(site, key.offset, key.in_memory != 0, place->flow)) {
        free(place->flow);
        place->flow = NULL;
    }
    return place->flow;
}
