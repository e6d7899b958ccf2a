/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Applies all rules about one frame that no function's name answers, in their order.
 */
#ifndef MPROF_INGEST_TYPES_DECIDE_H
#define MPROF_INGEST_TYPES_DECIDE_H

#include "ingest/types/answer_cache.h"
#include "ingest/types/choose.h"

/*
 * Decides the type of the block, or that the caller must be asked (`choice->wrapper`). In the
 * second case it also sets whether the question is headed from now on.
 */
void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice);

#endif
