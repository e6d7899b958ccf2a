/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that hold what a budget measured, or what changed there since the base: by the
 * innermost function of the user's own code and the type. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/groups.h"
#include "session/session.h"

/* The most rows of the program, and of what is kept. */
#define CAUSES_MOST 5
#define CAUSES_KEPT_MOST 2

struct budget_cause {
    /* NULL: not known. `function` is that of the call site where no own code is on the stack. */
    char *function, *module, *type;
    char *file; /* as `module` that of the call in that function with most of it, with its line;
                   NULL: not known */
    uint32_t line;
    bool kept; /* by the language's runtime or a collector, or suppressed */
    uint64_t now, before;
    double variance; /* of the change, or without a base of `now`; 0 if not sampled */
};

/* The sums of rows are bytes, or allocations if the measure counts. */
struct budget_causes {
    struct budget_cause *rows; /* those of the program first, then what is kept */
    size_t count, own_all;     /* own_all: all rows of the program, shown or not */
    uint64_t now, before;      /* of all rows */
    bool counts, compared;     /* compared: with a base */
};

/* A session with the sentence of a budget, without its measure, and what it measured. */
struct budget_side {
    struct session *session;
    const char *sentence;
    const struct session_measure *measure;
};

/* Finds the rows. `base` NULL: the largest ones now. Otherwise the largest changes since the base,
 * or with `falls` those that went down most. A sentence that gives no allocations of the session
 * alone has no rows. Returns false if memory is exhausted. budget_causes_free() in any case. */
bool budget_causes_find(struct budget_causes *causes, const struct budget_side *now,
                        const struct budget_side *base, bool falls);
void budget_causes_free(struct budget_causes *causes);
