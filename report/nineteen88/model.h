/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of each stack by classes of size, and its call chain, from which all tables are made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/tables/reports.h"

/* ---- a line of the tables: columns of a least width that never touch ---- */

/* The classes of sizes: s ≤ 32 < m ≤ 256 < l ≤ 2048 < x. */
#define SIZE_CLASSES 4

struct line {
    FILE *out;
    bool estimated; /* numbers are estimates */
    bool touches;   /* the last character is not blank */
};

/* Writes a text as it is. Only its last byte counts for the next column. */
void line_put(struct line *line, const char *text);
/* Writes a name from outside, without a blank before it. */
void line_name(struct line *line, const char *name);
void line_end(struct line *line);

/* Write a column, padded on the left or on the right. */
void line_right(struct line *line, int width, const char *text);
void line_left(struct line *line, int width, const char *text);
void line_number(struct line *line, int width, uint64_t number);

/* Stores a percentage with one decimal, truncated. */
void line_decimal(char text[16], uint64_t part, uint64_t whole);
/* Writes the share of a part in brackets, padded on the right: blank 0, "(.)" under 1, "(**)" 100.
 */
void line_share(struct line *line, int width, uint64_t part, uint64_t whole);
/* Writes four times a blank and a class's share of `whole` in two columns; blanks if that is 0. */
void line_breakdown(struct line *line, const uint64_t parts[SIZE_CLASSES], uint64_t whole);

struct class_sums {
    uint64_t allocations, bytes, kept_count, kept_bytes; /* kept: never freed, see model */
};

/* A call with its callers: chains are one tree of them, as stacks are, whose sum of depths has no
 * bound but the square of the session's size. */
struct call {
    uint32_t caller;          /* the call outward, before this one in the list; 0: none */
    uint32_t function, frame; /* 0: not known */
    uint32_t within; /* the function in whose code the call lies; for a call in inlined code, the
                        one into which all of it is inlined, even if the chain leaves that out. 0:
                        not known */
    uint32_t depth;  /* of the chains that begin here, with what starts_cut() leaves out */
    bool used;       /* a chain has it */
};

/* A stack's sums and its chain. Chains run from `main`, or a thread's first function, to the call
 * site; the functions that start programs and threads are left out. */
struct chain {
    uint32_t stack;
    uint32_t call;  /* of the call site: model_caller() leads outward */
    uint32_t depth; /* at least 1 */
    bool whole;     /* no callers are missing */
    struct class_sums sums[SIZE_CLASSES], all;
};

struct model {
    struct session *session;
    const struct report_request *request;
    bool estimated;
    bool collected; /* a garbage collector took blocks: kept is what its last collection left */
    struct class_sums all;
    struct chain *chains;
    size_t count;
    struct call *calls; /* of all chains; [0] is none */
    uint32_t call_count;
    size_t call_capacity;
    uint32_t function_count; /* ids are up to this */
    bool *starts; /* by function: it starts programs or threads, and is left out of all chains */
};

/* Reads the sums and the stacks. Returns false with `error` set. model_free() in any case. */
bool model_read(struct model *model, const struct report_request *request,
                struct session_error *error);
void model_free(struct model *model);

/* Returns the call outward of one that no chain leaves out, 0 if their chains begin there. */
uint32_t model_caller(const struct model *model, uint32_t call);
/* Returns whether a chain has the call, and does not leave it out. */
bool model_has(const struct model *model, uint32_t call);
/* Adds a call after its caller. Returns false if memory is exhausted. */
bool model_add_call(struct model *model, uint32_t caller, uint32_t function, uint32_t frame,
                    uint32_t within, uint32_t *call);

/* Returns the name of a function, "?" if it is not known. */
const char *model_name(const struct model *model, uint32_t function);

void class_sums_add(struct class_sums *to, const struct class_sums *sums);
