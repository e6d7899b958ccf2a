/* SPDX-License-Identifier: BSD-2-Clause */
/* A list with columns. The table owns selection, scroll, order, search and the mouse. The view owns
 * the rows, and gives them by a source.
 *
 * A struct table of zeros is a table at its first row; `sort` and `descending` say how the view
 * sorts its rows at first. In update() the view makes the source of its present rows and calls
 * table_update() with every action. If the answer is TABLE_SORTED, it sorts its rows by
 * `table->sort` and calls table_settle(). It also calls table_settle() after each change of the
 * rows. render() calls table_render() with a source of the same rows.
 *
 * A row has a key, so that the same thing stays selected when rows are sorted, filtered or
 * renewed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/screen/action.h"
#include "tui/screen/alike.h"
#include "tui/screen/cells.h"

#define TABLE_COLUMNS 24

/* The cut of a text that is too long. Names in one column that look alike then get their
 * parameters, or are cut elsewhere (alike.h). */
enum table_cut {
    TABLE_CUT_END,
    TABLE_CUT_NAME,     /* a function, as area_name() */
    TABLE_CUT_CATEGORY, /* a type, as area_category() */
    TABLE_CUT_BRANCH,   /* a row of a tree (branch.h) */
    TABLE_CUT_FILE,     /* a file with its folders: the end stays */
    TABLE_CUT_PATH,     /* functions with " ← " between them, each as area_name() */
};

/* Between two names in a row of a tree, which are short already. */
#define TABLE_BY "  by "

/* The form of a number of a list (tui/view/common/list.h). */
enum table_number {
    TABLE_NO_NUMBER, /* the view writes the cell */
    TABLE_COUNT,
    TABLE_BYTES,
    TABLE_INSTANT,
    TABLE_SHARE,  /* its part of the column's sum, in percent */
    TABLE_GROWTH, /* bytes as an int64_t, with their sign; sorted by its size, whatever the sign */
};

struct table_column {
    const char *title;
    int width;           /* 0: its part of the rest of the screen; also a least width of 12 */
    int least_width;     /* of an area that shows the column */
    bool text;           /* flush left, A first; otherwise a number, flush right, largest first */
    bool keep;           /* shown at any width; others make way from the right if room is missing */
    bool unsorted;       /* the view cannot sort by it */
    enum table_cut cut;  /* of text */
    const char *meaning; /* a few words, said when the table is sorted by it, or NULL */
    const char *file; /* its name in files (docs/tables.md); NULL: the title; "": a drawing, which
                         is not in files */
    enum table_number number;
    size_t at; /* offset of that uint64_t in the row; TABLE_ASKED: the list's kind returns it */
    bool bar;  /* the number's part of the column's sum, as a bar behind it */
};
#define TABLE_ASKED SIZE_MAX

struct table_cell {
    char text[256];
    const char *name; /* in place of `text`, of any length; valid until the next call. NULL: text */
    const char *caller; /* drawn after the name, as "name ← caller"; not in files. NULL: none */
    struct alike_name apart; /* the whole name, if it tells more than what is shown (alike.h); a row
                              * of a tree without one is not told apart. NULL: as shown */
    struct cell_style style; /* if `styled`; otherwise plain */
    bool styled;
    bool sentence;  /* no name: cut at its end, in any column */
    bool is_number; /* for `:w`: the exact value of what `text` rounds */
    uint64_t number;
    bool negative;        /* the value is -number */
    uint64_t part, whole; /* a bar of this share behind the text; whole 0: none */
};

struct table_source {
    void *context;
    const struct table_column *columns;
    size_t column_count, rows;
    const char *about; /* before the titles of numbers: "~" for estimates; NULL: nothing */
    /* Writes a cell, which is zero before. */
    void (*cell)(void *context, size_t row, size_t column, struct table_cell *cell);
    /* Returns what identifies a row, however the rows are sorted. */
    uint64_t (*key)(void *context, size_t row);
    /* Finds the row with a key. Returns false if there is none. NULL: all rows are looked at. */
    bool (*find)(void *context, uint64_t key, size_t *row);
    /* Returns true if a search finds the row. NULL: a text column has it, in any case of letters.
     */
    bool (*matches)(void *context, size_t row, const char *text);
};

struct table {
    size_t selected, first; /* rows: the selected one, the topmost one on the screen */
    uint64_t key;           /* of the selected row */
    bool has_key;
    size_t sort; /* column */
    bool descending;
    bool blurred; /* keys go to another part of the view */
    char search[200];
    size_t searched; /* rows after the selected one that n has looked at in vain */
};

enum table_answer {
    TABLE_IGNORED,   /* the action means nothing to a table */
    TABLE_USED,      /* it did what was asked, or there was nothing to do */
    TABLE_SORTED,    /* the view sorts its rows now, and calls table_settle() */
    TABLE_FOLLOW,    /* a double click: the view does what Enter does */
    TABLE_NO_SEARCH, /* n or N before the first search */
    TABLE_NOT_FOUND, /* no row matches */
    TABLE_GAVE_UP,   /* none of the next TABLE_SEARCH_MOST rows matches; n looks further */
};

#define TABLE_SEARCH_MOST 250000 /* rows that one key looks at */

/* The place of a table in the area of its view: one row of titles, then the rows. */
struct table_place {
    int x, y, width, height;
};

/* Does an action. ACTION_REFRESH only settles. Positions of the mouse outside of `place` are
 * ignored; a wheel inside moves the selection. */
enum table_answer table_update(struct table *table, const struct table_source *source,
                               const struct view_input *input, const struct table_place *place);
/* Selects the row with the key of the one that was selected, as far as there is one, and scrolls so
 * that it is visible. */
void table_settle(struct table *table, const struct table_source *source,
                  const struct table_place *place);
/* Selects a row. table_settle() then scrolls to it. */
void table_select(struct table *table, const struct table_source *source, size_t row);
/* Returns the part of an area. */
struct area table_area(const struct area *area, const struct table_place *place);
/* Returns how many columns an area of this width shows. */
size_t table_columns_shown(const struct table_source *source, int width);
void table_render(const struct table *table, const struct table_source *source,
                  const struct area *area);

/* The order of a table's rows and the selected one, to be kept beyond a run. */
struct table_order {
    size_t sort; /* column */
    bool descending, has_key;
    uint64_t key;
};
/* Stores the order of a table or, with `set`, takes it from there. Returns false if these columns
 * have no such order; the table stays as it is. */
bool table_order(struct table *table, const struct table_column *columns, size_t count,
                 struct table_order *order, bool set);

/* The texts of what the table did, for the footer. Returns `out`, "" if there is nothing to say. */
#define TABLE_MESSAGE_SIZE 300
char *table_message(const struct table *table, const struct table_source *source,
                    enum table_answer answer, char *out);

enum table_format { TABLE_CSV, TABLE_JSON };
/* Writes all rows and all columns. CSV has a line with the columns' names in files, after RFC 4180;
 * JSON is an array of objects with these names. */
void table_write(const struct table_source *source, FILE *out, enum table_format format);
/* Stores the value of a cell that may be below 0. */
void table_cell_signed(struct table_cell *cell, int64_t value);
/* Writes one row as "TITLE  TEXT" lines, for `y`. */
void table_copy(const struct table_source *source, size_t row, FILE *out);
