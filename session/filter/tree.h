/* SPDX-License-Identifier: BSD-2-Clause */
/* A parsed filter graph: the parser makes it from a text and the engine runs it. It is typed, but
 * needs no session: names of marks, functions and the like are still text. Columns point into the
 * text, for errors that only a session shows (a mark that it does not have).
 *
 * Calls of graphs with parameters are already replaced by the graph with its values. So the tree
 * has no parameters.
 *
 * Within a saved filter columns count in its own text. A negative column there is one of the user's
 * text: that of a value. filter_place_error() makes the error for the user. */
#pragma once

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
    FIELD_FREE_THREAD,
    FIELD_CROSSED, /* freed by another thread */
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
    FIELD_COLLECTED, /* freed by a garbage collector */
    FIELD_ID,
    FIELD_COLOR,
    FIELD_USER,
    FIELD_OWNER,
    FIELD_FRAME, /* the function `frame` frames outward of the call site */
    FIELD_PINS,
    FIELD_RESIDENT, /* bytes in memory */
    /* Known for blocks that were live at a snapshot of references: references.h. */
    FIELD_REACHABILITY,
    FIELD_RETAINED,   /* bytes */
    FIELD_REFERENCES, /* to the block */
    FIELD_DOMINATOR,  /* id of a block */
    FIELD_PATH,       /* of the groups that `fold` makes */
    /* The fields of groups. Keep them together, from ALLOCATIONS to SHARE. */
    FIELD_ALLOCATIONS,
    FIELD_BYTES,
    FIELD_OBJECTS,
    FIELD_LIVE_BYTES,
    FIELD_LIVE_COUNT,
    FIELD_AT_PEAK_BYTES,
    FIELD_PEAK_BYTES,
    FIELD_AVG_SIZE,
    FIELD_AVG_LIFETIME,
    FIELD_MIN_SIZE,
    FIELD_MAX_SIZE,
    FIELD_MIN_LIFETIME,
    FIELD_MAX_LIFETIME,
    FIELD_FIRST_TIME,
    FIELD_LAST_TIME,
    FIELD_BORN_OVER,
    FIELD_DIED_OVER,
    FIELD_RISES,
    FIELD_CLIMB,
    FIELD_REPLACED,
    FIELD_TURNOVER,
    FIELD_WASTED,
    FIELD_SHARE,
    FIELD_TOTAL
};

static inline bool filter_field_of_groups(enum filter_field field)
{
    return field >= FIELD_ALLOCATIONS && field < FIELD_TOTAL;
}

/* Returns true if a snapshot of references tells the field. */
static inline bool filter_field_of_snapshot(enum filter_field field)
{
    return field >= FIELD_REACHABILITY && field <= FIELD_DOMINATOR;
}

/* Returns true if only blocks that were all live at one time have the field. */
static inline bool filter_field_of_moment(enum filter_field field)
{
    return field == FIELD_PINS || field == FIELD_RESIDENT;
}

/* Returns true if no column has the field: pins_find() finds the blocks' values. */
static inline bool filter_field_found(enum filter_field field)
{
    return filter_field_of_moment(field) || filter_field_of_snapshot(field);
}

/* A field as written in a text, with the place for errors. */
struct filter_field_use {
    enum filter_field field;
    uint32_t frame; /* of FIELD_FRAME: 0 is the call site, 1 its caller */
    int column;
    const struct filter_value *moment; /* as in filter_test */
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
    OPERATOR_IN_LIST,
    OPERATOR_IS_NULL,
    OPERATOR_IS_NOT_NULL,
    OPERATOR_HAS,
};

enum filter_moment {
    MOMENT_NUMBER,
    MOMENT_PERCENT, /* `number` billionths of the run */
    MOMENT_START,
    MOMENT_PEAK,
    MOMENT_END,
    MOMENT_MARK,
    MOMENT_SUM, /* of `terms` */
};

struct filter_value {
    bool is_number;
    uint64_t number;           /* bytes, ns, plain; a colour's number; false 0 or true 1 */
    const char *text;          /* if it is not a number */
    enum filter_moment moment; /* of times and durations; MOMENT_MARK: `text` is its name */
    const struct filter_time_term *terms; /* of MOMENT_SUM */
    const char *parameter; /* of a query, in place of the number or text; NULL: it is here */
    int column;
};

/* One term of a sum of times. */
struct filter_time_term {
    bool negative;
    struct filter_value value; /* not a MOMENT_SUM */
    const struct filter_time_term *next;
};

/* One item of a list of numbers: those from `low` to `high`. */
struct filter_item {
    uint64_t low, high;
    const struct filter_item *next;
};

struct filter_test {
    enum filter_field field;
    uint32_t frame; /* of FIELD_FRAME */
    int column;     /* of the field */
    enum filter_operator operator_;
    struct filter_value low, high;     /* `high` only with OPERATOR_IN */
    const struct filter_item *items;   /* of OPERATOR_IN_LIST, the last one first */
    const struct filter_value *moment; /* the time at which the blocks were live; NULL: not known.
                                        * Only fields of filter_field_found() ask for it */
};

enum filter_predicate_kind { PREDICATE_TEST, PREDICATE_NOT, PREDICATE_AND, PREDICATE_OR };
struct filter_predicate {
    enum filter_predicate_kind kind;
    struct filter_predicate *left, *right; /* NOT has only `left` */
    struct filter_test test;
};

enum filter_step_kind {
    STEP_WHERE,
    STEP_COLOR,
    STEP_COLOR_BY,
    STEP_SORT,
    STEP_TOP,
    STEP_JOIN, /* makes groups */
    STEP_FOLD, /* makes groups; FIELD_PATH is their key */
    STEP_UNGROUP,
    STEP_HELD,     /* keeps what the blocks of `pipeline` refer to */
    STEP_HOLDS,    /* keeps what refers to them */
    STEP_RETAINED, /* keeps what they retain */
    STEP_COUNT,    /* this and the rest, but WRITE, make a measure */
    STEP_SUM,
    STEP_AVG,
    STEP_MIN,
    STEP_MAX,
    STEP_PEAK,
    STEP_GROWTH,
    STEP_WRITE,
};

/* Returns true if a step makes a measure. It is the last one, and leaves the rows as they are. */
static inline bool filter_step_measures(enum filter_step_kind kind)
{
    return kind >= STEP_COUNT && kind <= STEP_GROWTH;
}

struct filter_pipeline;
struct filter_step {
    enum filter_step_kind kind;
    int column;
    struct filter_predicate *predicate; /* WHERE; COLOR: NULL for all */
    struct filter_value color;          /* COLOR */
    enum filter_field field;            /* COLOR_BY, SORT, SUM, AVG, MIN, MAX */
    uint32_t frame;                     /* of FIELD_FRAME */
    int field_column;
    const struct filter_value *moment;   /* as in filter_test */
    bool descending;                     /* SORT */
    uint64_t limit;                      /* TOP; FOLD: bytes */
    const struct filter_field_use *keys; /* JOIN */
    size_t key_count;
    struct filter_value from, to;     /* GROWTH */
    struct filter_pipeline *pipeline; /* HELD, HOLDS, RETAINED */
    const char *file;                 /* WRITE */
    bool stored;                      /* WRITE: in a saved filter */
    const char *text;                 /* as written, for legends */
    struct filter_step *next;
};

/* A saved filter, and the place where the user's text led to it. */
struct filter_origin {
    const char *name, *place;
    int column;
};

enum filter_set_kind {
    SET_ALL,
    SET_LIVE_AT, /* also `live`, with MOMENT_END */
    SET_LEAKED,
    SET_OUTLIVED,
    SET_SURVIVED,
    SET_UNREACHABLE,
    SET_POSSIBLY,
    SET_PIPELINE,
    SET_PLUS,
    SET_MINUS,
    SET_BOTH, /* & */
    SET_SESSION,
};
struct filter_set {
    enum filter_set_kind kind;
    int column;
    struct filter_value moment;
    struct filter_pipeline *pipeline;   /* the one in parentheses, or the one with that name */
    const struct filter_origin *stored; /* of a PIPELINE that is stored; NULL: of this text */
    struct filter_set *left, *right;    /* SESSION: `left` is the set there, NULL: `graph` */
    const char *file;                   /* SESSION */
    const char *graph;                  /* SESSION: text of the use of a graph stored there */
};

/* The kinds of rows that a pipeline gives. */
enum filter_kind { KIND_ALLOCATIONS, KIND_GROUPS, KIND_MEASURE };

struct filter_pipeline {
    struct filter_set *set;
    struct filter_step *steps;
    enum filter_kind kind;
    const struct filter_field_use *keys; /* of GROUPS: the joined fields */
    size_t key_count;
    const struct filter_value *moment; /* all blocks were live then; NULL: not known */
};

struct filter_graph;

/* The saved filters that a text may use. A stored text has definitions and then a pipeline, the
 * graph. Without one its last definition has the graph's own name and is the graph. */
struct filter_names {
    void *context;
    /* Returns the text of a graph, malloc()ed, or NULL: there is none. `origin` says where it lies,
     * for messages. From any thread. */
    char *(*find)(void *context, const char *name, const char **origin);
    /* Returns the n-th name, malloc()ed, NULL after the last: for "did you mean". */
    char *(*known)(void *context, size_t n);
    /* If the text has the word `nobody`, gets each word that could be in its place (words.c).
     * NULL: not asked. */
    void (*offered)(void *context, const char *name);
    void *offered_context;
    const char *nobody;
    bool parameters; /* $NAME stands for a value that a query gets when it runs */
};

/* Parses `text` (NULL or blank: `all`). Returns NULL with `error` and its column set. */
struct filter_graph *filter_parse(const char *text, struct session_error *error);
/* Does the same with saved filters; `names` may be NULL. */
struct filter_graph *filter_parse_named(const char *text, const struct filter_names *names,
                                        struct session_error *error);
/* Parses a text that is a time or, by the type, a duration. The value lives as long as the graph
 * that it returns, which has no pipeline. Returns NULL with `error` and its column set. */
struct filter_graph *filter_parse_time(const char *text, enum filter_type type,
                                       struct filter_value *value, struct session_error *error);
/* Returns true if `text` can be stored under `name`. Returns false with `error` and its column set.
 */
bool filter_check_stored(const char *name, const char *text, const struct filter_names *names,
                         struct session_error *error);
void filter_graph_free(struct filter_graph *graph);
/* Moves an error within a saved filter to the user's text. `origin` may be NULL: none. Columns that
 * are in the user's text already become positive only then. */
void filter_place_error(const struct filter_origin *origin, struct session_error *error);
/* The most pipelines of a text: a name may be used any number of times, so a text of one page could
 * need any amount of work. */
enum { FILTER_PIPELINES_MAX = 1000 };
/* Returns true if a pipeline, or one that it uses, tests or joins a field of allocations. */
bool filter_mentions(const struct filter_pipeline *pipeline, enum filter_field field);
const struct filter_pipeline *filter_graph_pipeline(const struct filter_graph *graph);
