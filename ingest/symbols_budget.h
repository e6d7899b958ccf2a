/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much work a module's debug information may ask for. Each step that an honest compiler pays
 * with bytes of its own (an entry, a range, a row) takes one; lists that many entries share would
 * otherwise make a small file take hours.
 */
#ifndef MPROF_INGEST_SYMBOLS_BUDGET_H
#define MPROF_INGEST_SYMBOLS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct symbols_budget {
    uint64_t left;
    bool spent; /* more was asked for */
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
