/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of chunks, taken apart into columns that hold only what was not expected, and put
 * together again (schemas/trace-format.md, "Predicted records"). The columns are those of
 * trace_columns.h.
 */
#ifndef MPROF_SCHEMAS_TRACE_PREDICTED_H
#define MPROF_SCHEMAS_TRACE_PREDICTED_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/trace_columns.h"
#include "schemas/trace_model.h"

/*
 * Each takes the chunks of a payload one after another, with one model that was reset before the
 * first. `base_ticks` is that of the chunk.
 *
 * To split: moves the records of one chunk into the columns until they are used up. False where
 * they do not decode, are not as trace_codec.h writes them, or some column is full; what was moved
 * is then of no use. To join: moves records from the columns until the room for them, which is as
 * large as they are, is full. False where the columns do not give that.
 */
bool trace_predicted_split(struct trace_model *model, uint64_t base_ticks,
                           struct trace_span *records,
                           struct trace_span columns[TRACE_COLUMN_COUNT]);
bool trace_predicted_join(struct trace_model *model, uint64_t base_ticks,
                          struct trace_span *records,
                          struct trace_span columns[TRACE_COLUMN_COUNT]);

#endif
