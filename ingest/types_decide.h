/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All rules about one frame that no name of a function answers, in their order.
 */
#ifndef MPROF_INGEST_TYPES_DECIDE_H
#define MPROF_INGEST_TYPES_DECIDE_H

#include "ingest/types_choose.h"
#include "ingest/types_memo.h"

/*
 * Says what the block is, or that the caller is to be asked (`choice->wrapper`), and then whether
 * the question is headed from now on.
 */
void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice);

#endif
