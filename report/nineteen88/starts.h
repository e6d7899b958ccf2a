/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that starts programs and threads: chains begin inward of it. */
#ifndef MPROF_REPORT_NINETEEN88_STARTS_H
#define MPROF_REPORT_NINETEEN88_STARTS_H

#include "report/nineteen88/model.h"

/*
 * Cuts the outer end of each chain up to `main`, or to the first function of a thread, and sets
 * model->starts. A function is cut out of all chains or of none, so the sums of a function over the
 * chains are its sums over all stacks. Returns false with `error` set.
 */
bool starts_cut(struct model *model, struct session_error *error);

#endif
