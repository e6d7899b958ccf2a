/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work that a module's debug information may ask for. Each step for which an honest compiler
 * writes bytes (an entry, a range, a row) takes one unit. Without this limit, a small file whose
 * entries share long lists would take hours.
 */
#ifndef MPROF_INGEST_SYMBOLS_BUDGET_H
#define MPROF_INGEST_SYMBOLS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct symbols_budget {
    uint64_t left;
    bool spent; /* a step was refused */
};

static inline bool symbols_budget_take(struct symbols_budget *budget)
{
    if (budget->left == 0) {
        budget->spent = true;
        return false;
    }
    budget->left--;
    return true;
}

#endif
