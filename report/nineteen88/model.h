/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of each stack by classes of size, and its call chain, from which all tables are made. */
#ifndef MPROF_REPORT_NINETEEN88_MODEL_H
#define MPROF_REPORT_NINETEEN88_MODEL_H

#include "report/nineteen88/columns.h"
#include "report/tables/request.h"

struct class_sums {
    uint64_t allocations, bytes, kept_count, kept_bytes; /* kept: never freed, see model */
};

/* A stack's sums and its chain. Chains run from `main`, or a thread's first function, to the call
 * site; the functions that start programs and threads are left out. */
struct chain {
    uint32_t stack;
    bool whole;   /* no callers are missing */
    size_t depth; /* at least 1 */
    size_t first; /* place in the model's lists: of the call site; its callers follow */
    struct class_sums sums[SIZE_CLASSES];
    struct class_sums all;
};

struct model {
    struct session *session;
    const struct report_request *request;
    bool estimated;
    bool collected; /* a garbage collector took blocks: kept is what its last collection left */
    struct class_sums all;
    struct chain *chains;
    size_t count;
    uint32_t *functions; /* of all chains; 0: not known */
    uint32_t *frames;    /* beside the functions: their frames, 0: none */
    uint32_t *within;    /* beside these: the function in whose code the call lies; for a call in
                            inlined code, the one into which all of it is inlined, even if the
                            chain leaves that out. 0: not known */
    size_t length, capacity;
    uint32_t function_count; /* ids are up to this */
    bool *starts;            /* by function: it starts programs or threads, and is in no chain */
};

/* Reads the sums and the stacks. Returns false with `error` set. model_free() in any case. */
bool model_read(struct model *model, const struct report_request *request,
                struct session_error *error);
void model_free(struct model *model);

/* Returns the name of a function, "?" if it is not known. */
const char *model_name(const struct model *model, uint32_t function);

void class_sums_add(struct class_sums *to, const struct class_sums *sums);

#endif
