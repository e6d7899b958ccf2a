/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits the records of chunks into columns that hold only what the model did not predict, and
 * joins them again (schemas/trace-format.md, "Predicted records"). The columns are those of
 * trace_columns.h.
 */
#ifndef MPROF_SCHEMAS_PACK_TRACE_PREDICTED_H
#define MPROF_SCHEMAS_PACK_TRACE_PREDICTED_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/pack/trace_columns.h"
#include "schemas/pack/trace_model.h"

/*
 * Each call takes one chunk of a payload, in order, with one model that was reset before the first.
 * `base_ticks` is that of the chunk.
 *
 * trace_predicted_split() moves the records of a chunk into the columns until they are used up. It
 * returns false if they do not decode, are not as trace_codec.h writes them, or a column is full;
 * the moved bytes are then useless. trace_predicted_join() moves records from the columns until
 * `records` is full, which is exactly as large as they are. It returns false if the columns do not
 * give that.
 */
bool trace_predicted_split(struct trace_model *model, uint64_t base_ticks,
                           struct trace_span *records,
                           struct trace_span columns[TRACE_COLUMN_COUNT]);
bool trace_predicted_join(struct trace_model *model, uint64_t base_ticks,
                          struct trace_span *records,
                          struct trace_span columns[TRACE_COLUMN_COUNT]);

#endif
