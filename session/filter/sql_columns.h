/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of the translation of filters into SQL (session/translation.h): the columns
 * of a block, which sql_columns.c finds in the exported tables, what the databases spell in
 * different ways, and the times and regular expressions of filters.
 *
 * A query is a chain of common table expressions. `run` has a row for each session: its first and
 * last moment, its peak, the selected process. With --by, `unit` has a row for each group of
 * sessions: its number, its keys by_1, by_2, …, and how many sessions it has. `block` has the
 * blocks that the filter may select, with the columns that its steps use. Each step is one more
 * expression. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "session/filter/tree.h"
#include "session/store/error.h"
#include "session/translation.h"

enum sql_column {
    SQL_SIZE,
    SQL_COUNT,
    SQL_ADDRESS,
    SQL_TYPE,
    SQL_CONFIDENCE,
    SQL_CANDIDATE,
    SQL_FUNCTION,
    SQL_USER,
    SQL_OWNER,
    SQL_FILE,
    SQL_LINE,
    SQL_MODULE,
    SQL_STACK,
    SQL_FREE_STACK,
    SQL_THREAD,
    SQL_THREAD_NAME,
    SQL_FREE_THREAD,
    SQL_FREE_THREAD_NAME,
    SQL_CROSSED,
    SQL_PROCESS,
    SQL_PROCESS_NAME,
    SQL_PID,
    SQL_ARENA,
    SQL_ARENA_NAME,
    SQL_KIND,
    SQL_ALLOC_TIME,
    SQL_FREE_TIME,
    SQL_LIFETIME,
    SQL_FREED,
    SQL_COLLECTED,
    SQL_REALLOC_OF,
    SQL_RUNTIME,    /* the language's runtime keeps it, or a suppression names it */
    SQL_COLLECTING, /* of an arena that a garbage collector cleans */
    SQL_SURVIVES,   /* the last collection of its arena left it */
    SQL_PADDING,    /* bytes of an object that no member of its type covers */
    SQL_UNIT,       /* of --by: the number of the group of sessions */
    SQL_BLOCKS,     /* the number of blocks that the row stands for, and their bytes */
    SQL_BYTES,
    SQL_COLOR,
    SQL_COLUMNS,
    SQL_ID = SQL_COLUMNS, /* always there */
    SQL_NONE
};

/* The databases spell these in different ways. In forms $1 and $2 stand for expressions. */
struct sql_dialect {
    const char *wide, *text; /* types: of large sums, of texts */
    const char *divide;      /* two whole numbers, rounded down */
    const char *sum;         /* of numbers, which may exceed 64 bits */
    const char *number;      /* a text that is a number */
    const char *matches;     /* a text and a regular expression */
    const char *collate;     /* puts texts in the order of their bytes */
    const char *fraction;    /* of an id, the number for rounding: filter-language.md, "Groups" */
    const char *last_part;   /* of a path */
    const char *nullable;    /* an expression that may be null */
    const char *color, *no_color; /* the type of colours, and null of it */
    const char *address;          /* a signed number as one without a sign */
    const char *path, *slice, *joined,
        *length;              /* lists of names: of a stack from `frames_of_stack`,
                               * outermost first; the first $2; as text */
    const char *nodes_of_run; /* the FROM of the rows of stack_run, one for each of their nodes */
    struct {                  /* before and after the name of a parameter */
        const char *before, *after;
    } number_parameter, text_parameter;
    const char *end;     /* of the query */
    bool escapes;        /* a backslash in a text is an escape */
    bool regex_of_posix; /* an expression keeps its brackets as they are */
};
extern const struct sql_dialect sql_dialects[DIALECT_TOTAL];

/* The most different frames, marks and times that a filter may name, and the most keys of --by. */
enum {
    SQL_FRAMES_MOST = 64,
    SQL_MARKS_MOST = 64,
    SQL_READINGS_MOST = 64,
    SQL_BY_MOST = SESSION_BY_MOST
};

/* Notes the columns, frames, marks and readings that the steps of a filter use. */
struct sql_use {
    bool column[SQL_COLUMNS];
    struct sql_frame {
        bool caller; /* the field `caller`, not `frame 1` */
        uint32_t outward;
    } frames[SQL_FRAMES_MOST];
    size_t frame_count;
    const char *marks[SQL_MARKS_MOST];
    size_t mark_count;
    const struct filter_value *readings[SQL_READINGS_MOST]; /* of pages, nearest to these */
    size_t reading_count;
    struct sql_by {
        const char *key; /* of `meta`, or of a label; not terminated */
        int length;
    } by[SQL_BY_MOST];
    size_t by_count; /* 0: each session has its own answer */
    bool stacks;     /* `frames_of_stack`, the functions of the stacks */
    bool sites;      /* `call_site`, the depths of call sites there */
    bool recursive;  /* an expression reads itself */
    bool arenas;     /* blocks of arenas are in the sets */
    bool processes;  /* those of all processes are */
};

/* A column's name, and what stands for null in comparisons; NULL: it is never null. */
const char *sql_column_name(enum sql_column column);
const char *sql_column_null(enum sql_column column);
/* Returns the column that has a field, and in `*name` the one with its name, SQL_NONE if there is
 * none. SQL_NONE: no column has it. */
enum sql_column sql_column_of(enum filter_field field, enum sql_column *name);
/* Writes the name of the column of a frame. */
void sql_put_frame_name(FILE *out, const struct sql_frame *frame);
/* Writes a text in quotes. */
void sql_put_text(FILE *out, const struct sql_dialect *dialect, const char *text);
/* Writes a text in quotes, or the parameter in its place. */
void sql_put_text_value(FILE *out, const struct sql_dialect *dialect,
                        const struct filter_value *value);
/* Writes a form of a dialect with its expressions. */
void sql_put_form(FILE *out, const char *form, const char *first, const char *second);
/* Does the same to a buffer: what does not fit is cut off. False if memory is exhausted. */
bool sql_fill(char *to, size_t size, const char *form, const char *first, const char *second);
/* Writes the columns of a block, but its session, id and colour, each after a comma. */
void sql_put_columns(FILE *out, const struct sql_use *use, const char *table);
/* Writes the expressions up to `block`. All marks that they need are in `use`. */
void sql_put_block(FILE *out, struct sql_use *use, const struct sql_dialect *dialect);

/* ---- values: sql_text.c ---- */

/* Writes a regular expression in quotes. Only what POSIX, RE2 and PostgreSQL read alike is written:
 * returns false with `error` set at `column` if there is more. */
bool sql_put_regex(FILE *out, const struct sql_dialect *dialect, const char *text, int column,
                   struct session_error *error);

/* Writes a time or a duration. Sets `*of_run` if it needs a row `r` of `run`. Returns false with
 * `error` set: too large a number, or too many marks. */
bool sql_put_moment(FILE *out, struct sql_use *use, const struct sql_dialect *dialect,
                    const struct filter_value *value, bool *of_run, struct session_error *error);

/* Writes a time as a filter has it, for comments. */
void sql_put_moment_text(FILE *out, const struct filter_value *value);
/* Writes a text for a comment: in one line. */
void sql_put_comment(FILE *out, const char *text);

/* ---- a filter while it is translated ---- */

/* Functions of this part write to `out`. After an error they write something, and no more. */
struct translation {
    FILE *out; /* the expressions after `block` */
    const struct sql_dialect *dialect;
    struct session_error *error;
    struct sql_use use;
    bool measures[FIELD_TOTAL]; /* of groups, that the filter names */
    unsigned steps, tables;     /* so far */
    bool failed;                /* `error` is set, and what is written is thrown away */
};

struct sql_rows {
    unsigned step; /* the number of the expression */
    enum filter_kind kind;
    unsigned members; /* of groups: the expression with their blocks */
    const struct filter_field_use *keys;
    size_t key_count;
    const struct filter_step *sort;    /* NULL: the first order */
    const struct filter_step *measure; /* of a MEASURE */
};

/* Notes an error at a column of the filter. The first one stays. */
#define SQL_FAIL(t, ...)                                                                           \
    do {                                                                                           \
        if (!(t)->failed)                                                                          \
            (t)->failed = !session_fail((t)->error, __VA_ARGS__);                                  \
    } while (false)

/* Notes that there is no memory for the query. */
void sql_fail_memory(struct translation *t);
/* Begins a text. Returns NULL with the error set. sql_end_text() in any case. */
FILE *sql_begin_text(struct translation *t, char **text, size_t *size);
void sql_end_text(struct translation *t, FILE *out);

/* ---- fields and predicates: sql_conditions.c ---- */

/* Notes that a column of the blocks is used. */
void sql_want(struct translation *t, enum sql_column column);
/* Writes the column of a field. `key`: the one that was joined, not the colour of the group. */
void sql_put_field(struct translation *t, FILE *out, const struct filter_field_use *use, bool key);
/* Returns the same as text, which the caller frees; NULL with the error set. */
char *sql_field_text(struct translation *t, const struct filter_field_use *use, bool key);
/* Returns what stands for null in a field, NULL if it is never null. */
const char *sql_null_of(enum filter_field field);
/* Returns the column with the name of a field, SQL_NONE if there is none. */
enum sql_column sql_name_of(enum filter_field field);
/* Returns true if a field of groups has a meaning within one session alone: --by has none. */
bool sql_is_of_session(enum filter_field field);
/* Returns the column of the rows that belong together: of a session, with --by of a group of
 * sessions. The rows of groups have it in place of the session. */
const char *sql_scope(const struct translation *t, const struct sql_rows *rows);
/* Begins the next expression, with a comment; a part of it has a suffix. */
void sql_begin(struct translation *t, const char *comment, int column);
void sql_begin_part(struct translation *t, const char *comment, int column, const char *suffix);
/* Writes the sum of an expression. */
void sql_put_sum(struct translation *t, const char *of);
/* Does the same as sql_put_moment(). */
void sql_put_time(struct translation *t, FILE *out, const struct filter_value *value, bool *of_run);

/* A predicate, and the joins that it needs. */
struct sql_condition {
    char *condition, *joins;
};
/* Writes the predicate of a step. sql_condition_free() in any case. */
void sql_write_condition(struct translation *t, const struct sql_rows *rows,
                         const struct filter_step *step, struct sql_condition *written);
void sql_condition_free(struct sql_condition *written);

/* ---- columns of rows, and groups: sql_groups.c ---- */

/* The forms of keys. */
enum {
    KEYS_OF_BLOCKS = 1, /* the colour is that of the block */
    KEYS_NAMED = 2,     /* each AS its name in the rows of groups */
    KEYS_ALONE = 4,     /* without the names beside ids */
    KEYS_GROUPED = 8,   /* these names are those of any block */
};

/* Writes the keys of groups, each after a comma, and the names beside ids. */
void sql_put_keys(struct translation *t, const struct sql_rows *rows, const char *table,
                  unsigned forms);
/* Writes the measures of groups, each after a comma. */
void sql_put_measures(const struct translation *t);
/* Writes all columns of rows but the colour. */
void sql_put_row_columns(struct translation *t, const struct sql_rows *rows);
/* Writes all columns of rows. ClickHouse gives those of a star other names if tables are joined. */
void sql_put_all(struct translation *t, const struct sql_rows *rows, bool joined);
/* Writes the sum of an expression over the blocks with a condition. */
void sql_put_sum_if(struct translation *t, const char *condition, const char *of);
void sql_translate_join(struct translation *t, const struct filter_step *step,
                        struct sql_rows *rows);
void sql_translate_ungroup(struct translation *t, const struct filter_step *step,
                           struct sql_rows *rows);
