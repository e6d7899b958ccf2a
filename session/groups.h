/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of filter graphs (schemas/filter-language.md): allocations, groups of allocations, or
 * one number. graph_run() runs a text and gives a result that says which of the three it is.
 *
 * Order of calls: session_open(), graph_run(), the getters of the result's kind,
 * graph_result_free(), session_close(). The rules of session.h hold: one thread at a time uses a
 * session and everything made from it; times are nanoseconds since the trace began; sizes are
 * bytes; sums are estimates if the session is sampled.
 *
 * A set of groups is a table. Each row is a group of allocations with equal keys. Its columns are
 * the keys (the fields of the `join`, or the path of a `fold`) and the measures. Rows are numbered
 * from 0 in the present order; sorting renumbers them. Only the groups that `where` and `top` left
 * have rows.
 *
 * Allocations, bytes, avg_size and share are known from the start. The others are computed for all
 * groups at once, when they are first asked for, most of them together: in one pass over the
 * selected allocations, peak_bytes and turnover in some. session_groups_prepare() does it at a
 * moment of the caller's choice, and in one pass for all that it is asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* ---- results ---------------------------------------------------------------------------- */

enum graph_result_kind { RESULT_ALLOCATIONS, RESULT_GROUPS, RESULT_MEASURE };

struct graph_result;
struct session_group_set;
struct session_measure;

/* Parses and runs `text` (NULL or "": `all`). Returns NULL with `error` set; `error->column` counts
 * from 1 if a place in the text is to blame. The caller graph_result_free()s the result before it
 * closes the session. */
struct graph_result *graph_run(struct session *session, const char *text,
                               struct session_error *error);
/* The rights of a text. graph_run() and selection_new() give none. */
struct graph_options {
    bool write;        /* its steps write may make files */
    bool stored_write; /* so may those of the saved filters that it uses */
};
struct graph_result *graph_run_with(struct session *session, const char *text,
                                    const struct graph_options *options,
                                    struct session_error *error);
/* Runs steps ("where size > 1K | join type") on the allocations of a selection, which any
 * filter may have made. A set at the beginning of the text is not used. Otherwise it does what
 * graph_run() does. */
struct graph_result *selection_graph(struct selection *selection, const char *steps,
                                     struct session_error *error);
void graph_result_free(struct graph_result *result);

enum graph_result_kind graph_result_kind(const struct graph_result *result);
/* Return what the result is, NULL if it is of another kind. It belongs to the result. */
struct selection *graph_result_selection(const struct graph_result *result);
struct session_group_set *graph_result_groups(const struct graph_result *result);
const struct session_measure *graph_result_measure(const struct graph_result *result);
/* The allocations of other sessions in a result of allocations. Each side has the rows of its
 * session; those of the session that ran the graph are graph_result_selection(). Other sessions
 * stay open as long as that one. */
struct graph_side {
    struct session *session; /* session_path() is its file */
    struct selection *selection;
};
/* Returns the number of sides of other sessions, and stores them. They belong to the result. */
size_t graph_result_sides(const struct graph_result *result, const struct graph_side **sides);

/* Returns the number of warnings, and stores them. They belong to the result. */
size_t graph_result_warnings(const struct graph_result *result,
                             const struct session_warning **warnings);
/* Returns true if the graph used the set `leaked` of a session whose recording stopped before the
 * program ended: nobody knows what is a leak there (session_stopped()). */
bool graph_result_leaks_unknown(const struct graph_result *result);
/* The same, but the caller owns it from now on and frees it by selection_free() or
 * session_groups_free(). The result then has none. */
struct selection *graph_result_take_selection(struct graph_result *result);
struct session_group_set *graph_result_take_groups(struct graph_result *result);

/* ---- one number ------------------------------------------------------------------------- */

/* The unit of a value. A moment is ns since the trace began, a duration ns. */
enum session_unit { UNIT_NUMBER, UNIT_BYTES, UNIT_DURATION, UNIT_MOMENT };

/* One of the numbers that explain a measure. Growth has the bytes and the blocks of each part. */
struct session_measure_part {
    const char *name; /* of growth: born, died, stayed, born blocks, …; of peak: time */
    enum session_unit unit;
    uint64_t value;
};

/* The result of count, sum, avg, min, max, peak or growth. */
struct session_measure {
    const char *name; /* as written: "sum size", "growth start..end". Lives as long as the result */
    enum session_unit unit;
    bool is_null;  /* avg, min or max of nothing: there is no value */
    bool negative; /* growth: the value counts below 0 */
    uint64_t value;
    struct session_measure_part part[6];
    size_t part_count;
    bool estimated; /* the session is sampled and the value is a sum or an average */
    /* If estimated: the value's standard error in its unit, below 0 if unknown. Otherwise 0. */
    double standard_error;
};

/* ---- groups: shape ---------------------------------------------------------------------- */

/* Frees a set that the caller owns. NULL is allowed. */
void session_groups_free(struct session_group_set *set);

/* Returns the number of rows. */
size_t session_groups_count(const struct session_group_set *set);
/* Returns the number of groups that the join or fold made, before any `where` and `top`. */
size_t session_groups_made(const struct session_group_set *set);

enum session_key_type {
    KEY_TEXT,   /* `id` is the same for equal texts, and of no meaning elsewhere */
    KEY_NUMBER, /* `id` is the number: count, line */
    KEY_BYTES,  /* `id` is the number of bytes: size */
    KEY_TRUTH,  /* `id` is 0 or 1 */
    KEY_COLOR,  /* `id` is a colour from 0 to 255 */
    KEY_ID,     /* `id` is that of the stack, thread, process (its row) or arena; `text` its name */
    KEY_PATH, /* of `fold`: session_group_path() gives the frames; `text` is the last one's name */
};
#define SESSION_GROUP_KEYS_MOST 16 /* of one join */
struct session_key_column {
    const char *name; /* as in the language: "type", "frame 2", "path"; as long as the set */
    enum session_key_type type;
};
/* Stores the key columns, at least one. Returns their number. They belong to the set. */
size_t session_groups_keys(const struct session_group_set *set,
                           const struct session_key_column **columns);
/* Returns what files call the column with the ids of a KEY_ID column, beside that with its names:
 * "thread_id". Several of one name can then be told apart. NULL: it has no ids. */
const char *session_group_id_name(const struct session_key_column *column);

struct session_group_key {
    bool is_null;
    uint64_t id;
    /* NULL: no name. Lives as long as the session. For a stack the call site's function. */
    const char *text;
};
/* Returns a key of a row. A row or key that does not exist gives null. */
struct session_group_key session_group_key(const struct session_group_set *set, size_t row,
                                           size_t key);
/* Writes a key as text: the name; a number in digits; true or false; "-" for null; for a path all
 * functions from the root inwards with ';' between them. Cuts what does not fit into `size` bytes
 * (at least 1). Control characters are not escaped (session_printable() does that). Returns the
 * length of the whole text without the NUL. */
size_t session_group_key_text(const struct session_group_set *set, size_t row, size_t key,
                              char *out, size_t size);
/* Returns the whole text, malloc()ed, NULL if memory is exhausted. */
char *session_group_key_whole(const struct session_group_set *set, size_t row, size_t key);
/* Writes up to `capacity` functions of a path, from the root inwards, and returns their number. 0
 * if the set was not folded. */
size_t session_group_path(const struct session_group_set *set, size_t row, uint32_t *functions,
                          size_t capacity);

/* ---- groups: measures ------------------------------------------------------------------- */

enum session_group_measure {
    MEASURE_ALLOCATIONS,
    MEASURE_BYTES,   /* allocated in all */
    MEASURE_OBJECTS, /* sum of `count` */
    MEASURE_LIVE_BYTES,
    MEASURE_LIVE_COUNT,    /* never freed, as in `live at end` */
    MEASURE_AT_PEAK_BYTES, /* live at the program's peak */
    MEASURE_PEAK_BYTES,    /* the group's own largest live bytes */
    MEASURE_AVG_SIZE,      /* bytes / allocations, rounded down */
    MEASURE_AVG_LIFETIME,  /* ns, rounded down */
    MEASURE_MIN_SIZE,      /* these four are of the recorded blocks */
    MEASURE_MAX_SIZE,
    MEASURE_MIN_LIFETIME,
    MEASURE_MAX_LIFETIME,
    MEASURE_FIRST_TIME, /* of the first allocation, and the last */
    MEASURE_LAST_TIME,
    MEASURE_BORN_OVER, /* ns between these */
    MEASURE_DIED_OVER, /* ns between the first and the last end of a life */
    MEASURE_RISES,     /* 0 to 9: of ten moments, those with more live bytes than the one before */
    MEASURE_CLIMB,     /* percent of the recorded blocks that climb from the one before */
    MEASURE_REPLACED,  /* percent of the recorded bytes in blocks from which another climbs */
    MEASURE_TURNOVER,  /* bytes / peak_bytes, rounded down */
    MEASURE_WASTED,    /* bytes of the objects that no member covers */
    MEASURE_SHARE,     /* percent of the allocations of all groups that were made, rounded down */
    MEASURE_TOTAL,
    /* Not in the language: */
    MEASURE_AT_PEAK_COUNT = MEASURE_TOTAL,
    MEASURE_SHORT_COUNT, /* blocks that lived less than SESSION_SHORT_LIVED_NS */
    /* `live at peak | sum resident`; 0 if session_reads_residency() says that it is not known. */
    MEASURE_AT_PEAK_RESIDENT,
    MEASURE_ALL
};
/* Return the name in the language ("live_bytes") and the unit. */
const char *session_group_measure_name(enum session_group_measure measure);
enum session_unit session_group_measure_unit(enum session_group_measure measure);

/* Computes the measures whose bits (1u << measure) are set, for all groups. Returns false with
 * `error` set: a damaged chunk, no memory, cancelled. Facts that were known stay known. */
bool session_groups_prepare(struct session_group_set *set, unsigned measures,
                            struct session_error *error);
/* Stores a measure of a row. Returns false with `error` set, as session_groups_prepare() does, or
 * if there is no such row. */
bool session_group_value(struct session_group_set *set, size_t row,
                         enum session_group_measure measure, uint64_t *value,
                         struct session_error *error);
/* Stores the standard error of an estimate: the square root of the variance of the group's
 * allocations, objects, bytes, live_count, live_bytes or at_peak_bytes. 0 if the session is not
 * sampled, below 0 for a measure whose error is not known. Returns false with `error` set. */
bool session_group_error(struct session_group_set *set, size_t row,
                         enum session_group_measure measure, double *standard_error,
                         struct session_error *error);
/* Stores the sum of a measure over all rows. Only allocations, bytes, objects, live_bytes,
 * live_count and at_peak_bytes have one. Returns false with `error` set. */
bool session_groups_sum(struct session_group_set *set, enum session_group_measure measure,
                        uint64_t *sum, struct session_error *error);

/* Returns the colour (0 to 255) that a `color` step gave the row, or -1. */
int session_group_color(const struct session_group_set *set, size_t row);

/* ---- groups: files ---------------------------------------------------------------------- */

/* Take the values of a row one by one. A text of NULL is null. */
struct session_group_writer {
    void (*text)(void *file, const char *text);
    void (*number)(void *file, uint64_t number);
    void (*truth)(void *file, bool truth);
};
/* A file has all keys, after a KEY_ID its id, all measures, and whether they are estimates. */
#define SESSION_GROUP_COLUMNS_MOST (2 * SESSION_GROUP_KEYS_MOST + MEASURE_TOTAL + 1)
/* Stores the columns of a file, as long as the set. Returns their number. */
size_t session_group_columns(const struct session_group_set *set,
                             struct session_key_column columns[SESSION_GROUP_COLUMNS_MOST]);
/* Writes a key. Returns false if memory is exhausted. */
bool session_group_put_key(const struct session_group_set *set, size_t row, size_t key,
                           const struct session_group_writer *writer, void *file);
/* Writes a row. Returns false with `error` set, as session_group_value() does. */
bool session_group_put(struct session_group_set *set, size_t row,
                       const struct session_group_writer *writer, void *file,
                       struct session_error *error);

/* ---- groups: order and members ---------------------------------------------------------- */

/* Sort the rows by a measure or by a key (from 0), as the step `sort` does: null comes last, equal
 * rows are in the order of their keys. False with `error` set and the order of before. */
bool session_groups_sort(struct session_group_set *set, enum session_group_measure measure,
                         bool descending, struct session_error *error);
bool session_groups_sort_by_key(struct session_group_set *set, size_t key, bool descending,
                                struct session_error *error);

/* Returns the allocations of one row, as `ungroup` does of all: a new selection that the caller
 * frees, by id, with the colours of the allocations and groups. NULL with `error` set. */
struct selection *session_group_members(struct session_group_set *set, size_t row,
                                        struct session_error *error);
