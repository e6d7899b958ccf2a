/* SPDX-License-Identifier: BSD-2-Clause */
/* A list: a table whose rows are the answer to one question. The kind of a list says what it asks,
 * and describes its columns; the list loads, sorts and shows the rows, which are structs of the
 * kind's own. */
#pragma once

#include <stdbool.h>

#include "tui/screen/alike.h"
#include "tui/screen/table.h"
#include "tui/view/common/browse.h"

/* ---- lists ------------------------------------------------------------------------------ */

#define LIST_TEXT 4096

/* The answer to a kind's question. The data of its load_kind begin with it. */
struct list_data {
    struct list_request {
        /* `of[0]` is the state of the selection. `of[1]` is what a list in a pane is about: with
         * another value it begins at its first row again. */
        uint64_t of[5];
        const struct list_kind *kind;
        char text[LIST_TEXT]; /* zeros to the end */
    } request;
    void *rows; /* by run(), which kind.load.clear frees */
    size_t count;
    uint64_t serial; /* of the list */
};

/* `view` is the state of the view. Functions may be NULL. */
struct list_kind {
    const struct table_column *columns;
    size_t column_count;
    bool last_optional; /* the last column is hidden until list_hide_last() shows it */
    size_t row_size;    /* the first eight bytes of a row are its key, unless there is key() */
    size_t sort; /* the column by which it is sorted at first, the largest or Z first unless */
    bool ascending;
    const char *none;      /* words in place of no rows, in a pane */
    struct load_kind load; /* LIST_LOAD() */
    /* Makes the rows of what the view has, in place of `load`. False if memory is exhausted. */
    bool (*make)(const void *view, struct list_data *data);
    /* Completes the request about the selection. False if there is nothing to ask. */
    bool (*ask)(const void *view, const struct browse *browse, struct list_request *request);
    uint64_t (*key)(const void *view, const void *row);
    /* Completes a cell, which has the number of its column. */
    void (*cell)(const void *view, const void *row, size_t column, struct table_cell *cell);
    /* Returns the number of a column whose `at` is TABLE_ASKED, to sort by and to show. */
    uint64_t (*number)(const void *view, const void *row, size_t column);
    /* Rows of a lower rank come before the others, whatever they are sorted by. */
    uint64_t (*rank)(const void *view, const void *row);
    /* Returns true if the table leaves a row out. */
    bool (*hides)(const void *view, const void *row);
    /* The rows are a tree, each before those below it, which stay there: returns its level. */
    int (*level)(const void *row);
    /* Returns the step of the filter language that selects the blocks of a row; the caller frees
     * it. NULL if there is none, or no memory; `*why` then says why unless it is out of memory. */
    char *(*step)(const void *view, const void *row, const char **why);
    /* Writes what that step selects, for the menu of steps. */
    void (*label)(const void *view, const void *row, char *out, size_t size);
};

/* The members of a kind whose rows have this type, with the table `columns` of COLUMNS. */
#define LIST_OF(type) .columns = columns, .column_count = COLUMNS, .row_size = sizeof(type)

/* Frees the rows, as the `clear` of a load_kind. */
void list_free_rows(void *data);
#define LIST_LOAD(data, run, clear)                                                                \
    {                                                                                              \
        sizeof(struct list_request), sizeof(struct data), run, clear                               \
    }

struct list {
    const struct list_kind *kind;
    const void *view;
    struct load load;
    const void *data;       /* of the kind; NULL: the rows are not known */
    struct list_data *made; /* by kind->make(), or NULL */
    const char *rows;
    uint32_t *order;  /* rows of the table to rows of the data */
    uint32_t *above;  /* of a tree: the row above each */
    size_t count;     /* of the table */
    size_t shown;     /* of `order` */
    uint64_t about;   /* request.of[1] of the last question */
    uint64_t ordered; /* serial of the data that `order` is of */
    size_t by;        /* the column and direction by which `order` is sorted */
    bool down;
    uint64_t sums[TABLE_COLUMNS];
    bool asked, estimated, failed;
    bool without_last; /* the last column has nothing to tell here */
    struct table table;
};

void list_init(struct list *list, const struct list_kind *kind, const void *view);
void list_clear(struct list *list, struct browse *browse);
/* Asks for the rows, and takes them if they are there. */
void list_load(struct list *list, struct browse *browse);
/* Sorts the rows again: a number that they have is another one. */
void list_sort(struct list *list);
/* Lets the next list_load() ask kind.hides() again. */
void list_renew(struct list *list);
struct table_source list_source(const struct list *list);
/* Hides the last column, or shows it. */
void list_hide_last(struct list *list, bool hide);
/* Returns a row of the table. */
const void *list_row(const struct list *list, size_t place);
/* Returns the selected row, NULL if there is none. */
const void *list_selected(const struct list *list);
/* Does an action, as list_update_table(); sorts the rows if that is what it asks for. */
enum table_answer list_update(struct list *list, struct browse *browse,
                              const struct view_input *input, const struct table_place *place);
/* Does table_update(), and says in the footer what it did. */
enum table_answer list_update_table(struct browse *browse, struct table *table,
                                    const struct table_source *source,
                                    const struct view_input *input,
                                    const struct table_place *place);

/* ---- cells and words -------------------------------------------------------------------- */

/* Returns the name of a function, with what tells it from another one of this name. */
/* Returns the place where a function begins or, if it is not known, its module. */
const char *list_function_place(const struct session *session, uint32_t function);
struct alike_name list_function_name(const struct session *session, uint32_t function);
/* Writes this to a cell. */
void list_function_cell(const struct session *session, uint32_t function, struct table_cell *cell);
/* Writes the step "where FIELD == NAME", or "is null" if `name` is NULL. NULL if memory is
 * exhausted. The caller frees it. */
char *list_name_step(const char *field, const char *name);
/* Writes the step "where size >= LEAST and size <= MOST", "size == LEAST" if they are the same, the
 * least size alone if `most` is UINT64_MAX. NULL if memory is exhausted. The caller frees it. */
char *list_size_step(uint64_t least, uint64_t most);
/* Returns what a filter by the name of a function takes, for the labels of view_offer: "this
 * function", or "each function of this name" if others have it, too. */
const char *list_named(const struct session *session, uint32_t function);
/* The names of a legend for alike_rewrite(): the context is a struct legend_names. */
struct legend_names {
    const struct session *session;
    const struct session_legend *legend;
};
struct alike_name list_legend_name(void *context, size_t entry);
/* Draws the words that take the place of rows: how far the engine is if they are not `known` yet,
 * otherwise why there are none. */
void list_render_empty(const struct browse *browse, const struct area *area, int y, bool known);
