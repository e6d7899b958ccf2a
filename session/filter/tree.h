/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parsed filter graph: the parser makes it from a text and the engine runs it. It is typed, but
 * needs no session: names of marks, functions and the like are still text. Columns point into the
 * text, for errors that only a session shows (a mark that it does not have).
 */
#ifndef MPROF_SESSION_FILTER_TREE_H
#define MPROF_SESSION_FILTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

enum filter_field {
    FIELD_SIZE,
    FIELD_COUNT,
    FIELD_ADDRESS,
    FIELD_TYPE,
    FIELD_CONFIDENCE,
    FIELD_FUNCTION,
    FIELD_CALLER,
    FIELD_STACK,
    FIELD_FREE_STACK,
    FIELD_FILE,
    FIELD_LINE,
    FIELD_MODULE,
    FIELD_THREAD,
    FIELD_PROCESS,
    FIELD_ARENA,
    FIELD_KIND,
    FIELD_ALLOC_TIME,
    FIELD_FREE_TIME,
    FIELD_LIFETIME,
    FIELD_FREED,
    FIELD_ID,
    FIELD_COLOR,
    FIELD_TOTAL
};

/* The type of the values that a field is compared with. */
enum filter_type {
    TYPE_NUMBER,
    TYPE_SIZE,     /* bytes, K M G */
    TYPE_MOMENT,   /* a time of the session */
    TYPE_DURATION, /* ns us ms s */
    TYPE_TEXT,
    TYPE_TEXT_OR_NUMBER, /* a name, or an id */
    TYPE_BOOLEAN,
    TYPE_COLOR,
};

struct filter_field_description {
    const char *name;
    enum filter_type type;
    int color_by; /* enum session_color_by, -1: cannot be coloured by */
};
extern const struct filter_field_description filter_fields[FIELD_TOTAL];

enum filter_operator {
    OPERATOR_EQUAL,
    OPERATOR_NOT_EQUAL,
    OPERATOR_LESS,
    OPERATOR_LESS_EQUAL,
    OPERATOR_GREATER,
    OPERATOR_GREATER_EQUAL,
    OPERATOR_MATCH,
    OPERATOR_NOT_MATCH,
    OPERATOR_IN,
    OPERATOR_IS_NULL,
    OPERATOR_IS_NOT_NULL,
    OPERATOR_HAS,
};

enum filter_moment { MOMENT_NUMBER, MOMENT_START, MOMENT_PEAK, MOMENT_END, MOMENT_MARK };

struct filter_value {
    bool is_number;
    uint64_t number;           /* bytes, ns, plain; a colour's number; false 0 or true 1 */
    const char *text;          /* if it is not a number */
    enum filter_moment moment; /* of a TYPE_MOMENT value; MOMENT_MARK: `text` is its name */
    int column;
};

struct filter_test {
    enum filter_field field;
    enum filter_operator operator_;
    struct filter_value low, high; /* `high` only with OPERATOR_IN */
};

enum filter_predicate_kind { PREDICATE_TEST, PREDICATE_NOT, PREDICATE_AND, PREDICATE_OR };
struct filter_predicate {
    enum filter_predicate_kind kind;
    struct filter_predicate *left, *right; /* NOT has only `left` */
    struct filter_test test;
};

enum filter_step_kind { STEP_WHERE, STEP_COLOR, STEP_COLOR_BY, STEP_SORT, STEP_TOP };
struct filter_step {
    enum filter_step_kind kind;
    struct filter_predicate *predicate; /* WHERE; COLOR: NULL for all */
    struct filter_value color;          /* COLOR */
    enum filter_field field;            /* COLOR_BY, SORT */
    bool descending;                    /* SORT */
    uint64_t limit;                     /* TOP */
    const char *text;                   /* as written, for legends */
    struct filter_step *next;
};

enum filter_set_kind {
    SET_ALL,
    SET_LIVE_AT, /* also `live`, with MOMENT_END */
    SET_LEAKED,
    SET_PIPELINE,
    SET_PLUS,
    SET_MINUS,
    SET_BOTH, /* & */
};
struct filter_pipeline;
struct filter_set {
    enum filter_set_kind kind;
    struct filter_value moment;
    struct filter_pipeline *pipeline; /* the one in parentheses, or the one with that name */
    struct filter_set *left, *right;
};

struct filter_pipeline {
    struct filter_set *set;
    struct filter_step *steps;
};

struct filter_graph;

/* Parses `text` (NULL or blank: `all`). Returns NULL with `error` and its column set. */
struct filter_graph *filter_parse(const char *text, struct session_error *error);
void filter_graph_free(struct filter_graph *graph);
const struct filter_pipeline *filter_graph_pipeline(const struct filter_graph *graph);

#endif
