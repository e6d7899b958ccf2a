/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiles a predicate for one session and runs it over chunks. Names are resolved once: a test on
 * text becomes a table of truth values by stack, type, thread, kind or arena id, computed over the
 * distinct names. A row then costs one load, however complex the test is. Tests on numbers become
 * ranges, which a chunk's min and max often decide without reading it.
 *
 * Call filter_program_new(), filter_program_run() for each chunk, filter_program_free(). Several
 * threads may run one program. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/tree.h"
#include "session/session.h"
#include "session/store/row_set.h"

/* ---- candidates ---- */

/* The stacks and sizes for which ingest stored possible types (type_candidate). Their blocks have
 * an unknown type: a candidate is never an answer. */

struct candidates;
struct database;
struct session_error;

/* Returns true if a block of unknown type with this stack and size has candidates. */
bool candidates_have(const struct candidates *candidates, uint64_t stack, uint64_t size);

/* ---- number list ---- */

/* A list of numbers, as in `id in (7, 12..40)`. */

struct number_range {
    uint64_t low, high; /* both included */
};

struct number_list {
    size_t count;
    struct number_range ranges[]; /* ascending; none meets another */
};

/* Returns the position of the first range that does not end before `number`. */
size_t number_list_from(const struct number_list *list, uint64_t number);
bool number_list_has(const struct number_list *list, uint64_t number);

/* ---- regex ---- */

/* POSIX extended regular expressions with bounds: an expression that a user types must not use up
 * the time or the memory of the machine. Beyond POSIX's own rules these are refused: more than 512
 * bytes; more than 10000 atoms once repetitions are written out (1000 if some may be empty: with
 * any of * ? { | or ()); back references (which POSIX leaves out of extended expressions). */

/* Compiles without the positions of subexpressions. Returns false with `error` at `column`.
 * Otherwise the caller regfree()s it. */
bool filter_regex_compile(regex_t *regex, const char *text, int column,
                          struct session_error *error);

struct candidates;
struct number_list;
struct column_reader;
struct pins;

/* The `color` steps met so far, by number from 1 (row_set.colors). */
#define FILTER_COLOR_STEPS 255
struct filter_colors {
    size_t count;
    struct {
        int number;
        char label[96];
    } step[FILTER_COLOR_STEPS + 1];
};

enum leaf_kind {
    LEAF_CONSTANT, /* `low` 0 or 1 */
    LEAF_RANGE,    /* low <= value <= high of a column */
    LEAF_FREE_TIME,
    LEAF_LIFETIME,
    LEAF_ID,
    LEAF_LIVE_AT,   /* at `low` */
    LEAF_TABLE,     /* table[value of the column] */
    LEAF_COLOR,     /* table[colour of the row] */
    LEAF_PINS,      /* low <= value of `pins` <= high; or table[value], if there is a table */
    LEAF_CANDIDATE, /* of unknown type, with candidates; `outside`: all others */
    LEAF_CROSSED,   /* freed by another thread; `outside`: all others */
    LEAF_KEPT,      /* kept by `kept`, if it is live */
    LEAF_LIST,      /* one of `list` */
    LEAF_LIST_ID,   /* the same for ids */
};

struct collected_arenas;

struct filter_program {
    enum filter_predicate_kind kind;
    struct filter_program *left, *right;
    enum leaf_kind leaf;
    enum column column;
    bool outside; /* the range is negated, nulls stay false */
    uint64_t low, high;
    uint8_t *table;
    const struct filter_test *unknown;   /* the test, if no allocation has its name */
    struct pins *pins;                   /* of PINS */
    struct candidates *candidates;       /* of CANDIDATE */
    struct number_list *list;            /* of LIST and LIST_ID */
    const struct collected_arenas *kept; /* of KEPT; not the program's own */
};

/* Returns NULL with `error` set: no memory, no such mark. `colors` are those known at this step. */
struct filter_program *filter_program_new(struct session *session,
                                          const struct filter_predicate *predicate,
                                          const struct filter_colors *colors,
                                          struct session_error *error);
void filter_program_free(struct filter_program *program);

/* A time of a session, or a duration. */
struct filter_ns {
    uint64_t ns; /* 0 if `before` */
    bool before; /* the time lies before the start of the session; the duration is negative */
};

/* Computes a time or a duration: a number, start, peak, end, a mark, or a sum of these. */
bool filter_moment_ns(const struct session *session, const struct filter_value *value,
                      struct filter_ns *time, struct session_error *error);

/* The time of `live at`. */
struct filter_live {
    struct filter_ns time;
    bool end; /* `live at end`: the blocks that were never freed, whatever the stamps say */
};
/* Computes it; that of NULL is the end. */
bool filter_live_time(const struct session *session, const struct filter_value *value,
                      struct filter_live *live, struct session_error *error);
/* Returns the program that tells which blocks are live. It needs not be freed. */
struct filter_program filter_live_program(const struct filter_live *live);

/* Writes the truth of every row of a chunk to `words` (ROW_SET_WORDS words). `colors` is that of
   the set that the program runs on, or NULL. Views that `reader` gave before are no longer valid.
 */
bool filter_program_run(const struct session *session, struct column_reader *reader,
                        const struct filter_program *program, uint32_t chunk, const uint8_t *colors,
                        uint64_t *words, struct session_error *error);
