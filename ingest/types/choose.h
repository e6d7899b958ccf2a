/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the type of a block from the evidence about where its result went (types/flow/flow.h). */
#pragma once

#include "ingest/types/flow/flow.h"
#include "ingest/types/sites.h"
#include "ingest/types/source/source.h"

/* Applies all rules about one frame that no function's name answers, in their order. */

/* Decides the type of the block, or that the caller must be asked (`choice->wrapper`). In the
 * second case it also sets whether the question is headed from now on. */
void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice);
