/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/pack/trace_model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct trace_model *trace_model_new(void)
{
    return malloc(sizeof(struct trace_model));
}

void trace_model_free(struct trace_model *model)
{
    free(model);
}

void trace_model_reset(struct trace_model *model, bool find_blocks)
{
    memset(model, 0, offsetof(struct trace_model, freed_addresses));
    model->find_blocks = find_blocks;
    trace_model_forget(model);
}

void trace_model_forget(struct trace_model *model)
{
    model->blocks = model->gap = 0;
    memset(&model->block[0], 0, sizeof(model->block[0]));
    if (model->find_blocks)
        memset(model->places, 0, sizeof(model->places));
}
