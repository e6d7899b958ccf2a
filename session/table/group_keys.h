/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of a join: the way from a row to its group.
 *
 * Keys that depend on the same column form one dimension. A table gives each value of the column a
 * class: values with equal keys have the same class. So `join function, file, type` has two
 * dimensions, one by stack and one by type. If there are few combinations of classes, each is a
 * cell of an array. Otherwise the classes are packed into a code, for a hash table. */
#pragma once

#include "session/filter/field_names.h"
#include "session/filter/program.h"
#include "session/filter/tree.h"
#include "session/groups.h"
#include "session/store/kernels.h"
#include "session/store/scan.h"
#include "session/table/code_map.h"

/* Sources of a dimension that are not the value of a column. */
enum group_source { SOURCE_COLUMN, SOURCE_FREED, SOURCE_COLOR, SOURCE_REACHABILITY };

/* One key. */
struct group_part {
    enum filter_field field;
    uint32_t frame;
    struct session_key_column column;
    char name[32];
    size_t dimension;
    struct field_names names; /* of fields with names */
    uint32_t *same;           /* by name id: the first id with the same text. NULL: ids differ */
};

struct group_dimension {
    enum group_source source;
    enum column column;
    uint32_t *class_of_value; /* NULL: the class is value - min */
    uint32_t *value_of_class; /* one of its values; NULL: min + class */
    uint64_t min, classes;
    uint64_t stride; /* in cells */
    unsigned shift;  /* in codes */
};

#define DIMENSIONS_MAX 12
struct group_keys {
    struct group_part *parts;
    struct session_key_column *columns; /* those of the parts */
    size_t part_count;
    struct group_dimension dimensions[DIMENSIONS_MAX];
    size_t dimension_count;
    uint8_t *reachability; /* by row of the session: its value + 1, 0: null; NULL: not joined */
    uint64_t cells;        /* 0: there are codes */
};

/* Finds the keys of a session's rows. Returns false with `error` set; otherwise group_keys_close().
 */
bool group_keys_open(struct session *session, const struct filter_field_use *uses, size_t count,
                     const struct filter_colors *colors, struct group_keys *keys,
                     struct session_error *error);
void group_keys_close(struct group_keys *keys);

/* Opens the names of part->field and finds equal texts. Returns false with `error` set; otherwise
 * group_part_close(). */
bool group_part_names(struct session *session, struct group_part *part,
                      struct session_error *error);
void group_part_close(struct group_part *part);

/* The columns of one chunk that give the keys. */
struct group_key_views {
    struct column_view views[DIMENSIONS_MAX];
    const uint8_t *colors; /* by row, NULL: no row has one */
    const uint8_t *reachability;
};
/* Returns the columns that they are, as bits, and takes them from those of a chunk. */
unsigned group_keys_columns(const struct group_keys *keys);
void group_keys_take(const struct group_keys *keys, const struct chunk_rows *rows,
                     struct group_key_views *views);
/* Reads them. Returns false with `error` set. */
bool group_keys_views(const struct group_keys *keys, const struct row_set *set,
                      struct scan_worker *worker, uint32_t chunk, struct group_key_views *views,
                      struct session_error *error);
/* Store the cells or the codes of the rows of a batch, one after another. */
void group_keys_cells(const struct group_keys *keys, const struct group_key_views *views,
                      const struct kernel_rows *rows, uint32_t *cells);
void group_keys_codes(const struct group_keys *keys, const struct group_key_views *views,
                      const struct kernel_rows *rows, struct code *codes);

/* Return the value of a dimension's column that stands for a cell or code. */
uint64_t group_keys_value_of_cell(const struct group_keys *keys, size_t dimension, uint64_t cell);
uint64_t group_keys_value_of_code(const struct group_keys *keys, size_t dimension,
                                  struct code code);
