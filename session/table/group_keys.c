/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/group_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/hash.h"
#include "session/filter/references.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_set.h"

/* As many cells, at 16 bytes each, fit into the cache of a core. */
enum { CELLS_MAX = 1 << 18 };

/* ---- equal texts ---- */

static uint64_t hash_text(const char *text)
{
    const uint64_t hash = text_hash(text);
    return hash ^ hash >> 32;
}

/* Stores, for each name id, the first id with the same text. Ids without a name have CODE_NONE. */
static bool find_same(struct group_part *part, struct session_error *error)
{
    const struct field_names *names = &part->names;
    size_t slots = 64;
    while (slots < (size_t)names->name_count * 2)
        slots *= 2;
    uint32_t *table = calloc(slots, sizeof(*table)); /* id + 1 */
    part->same = calloc((size_t)names->name_count + 1, sizeof(*part->same));
    if (!table || !part->same) {
        free(table);
        return session_fail_memory(error, "the keys of groups");
    }
    for (uint32_t id = 0; id < names->name_count; id++) {
        part->same[id] = CODE_NONE;
        if (!names->name[id])
            continue;
        size_t slot = (size_t)hash_text(names->name[id]) & (slots - 1);
        while (table[slot] != 0 && strcmp(names->name[table[slot] - 1], names->name[id]) != 0)
            slot = (slot + 1) & (slots - 1);
        if (table[slot] == 0)
            table[slot] = id + 1;
        part->same[id] = table[slot] - 1;
    }
    free(table);
    return true;
}

bool group_part_names(struct session *session, struct group_part *part, struct session_error *error)
{
    return field_names_open(session, part->field, part->frame, &part->names, error) &&
           find_same(part, error);
}

void group_part_close(struct group_part *part)
{
    field_names_close(&part->names);
    free(part->same);
    part->same = NULL;
}

/* ---- dimensions ---- */

static struct group_dimension *find_dimension(struct group_keys *keys, enum group_source source,
                                              enum column column, bool *is_new)
{
    for (size_t i = 0; i < keys->dimension_count; i++) {
        struct group_dimension *dimension = &keys->dimensions[i];
        if (dimension->source == source && dimension->column == column) {
            *is_new = false;
            return dimension;
        }
    }
    struct group_dimension *added = &keys->dimensions[keys->dimension_count++];
    *added = (struct group_dimension){.source = source, .column = column};
    *is_new = true;
    return added;
}

/* Splits the classes of a dimension so that values with different codes are in different ones.
 * `codes` has one for each of `count` values. */
static bool split(struct group_dimension *dimension, bool is_new, const uint32_t *codes,
                  uint32_t count, struct session_error *error)
{
    struct code_map map = {.count = 0};
    uint32_t *class_of_value = malloc(((size_t)count + 1) * sizeof(*class_of_value));
    uint32_t *value_of_class = malloc(((size_t)count + 1) * sizeof(*value_of_class));
    bool good = class_of_value && value_of_class;
    for (uint32_t value = 0; good && value < count; value++) {
        const uint32_t before = is_new ? 0 : dimension->class_of_value[value];
        const size_t known = map.count;
        good = code_map_add(&map, (struct code){(uint64_t)before << 32 | codes[value], 0}, SIZE_MAX,
                            &class_of_value[value]);
        if (good && map.count > known)
            value_of_class[known] = value;
    }
    const uint64_t classes = map.count;
    code_map_free(&map);
    if (!good) {
        FREE_ALL(class_of_value, value_of_class);
        return session_fail_memory(error, "the keys of groups");
    }
    FREE_ALL(dimension->class_of_value, dimension->value_of_class);
    dimension->class_of_value = class_of_value;
    dimension->value_of_class = value_of_class;
    dimension->classes = classes;
    return true;
}

/* Makes each of the values from `min` to `max` a class of its own. */
static void separate(struct group_dimension *dimension, uint64_t min, uint64_t max)
{
    FREE_ALL(dimension->class_of_value, dimension->value_of_class);
    dimension->class_of_value = NULL;
    dimension->value_of_class = NULL;
    dimension->min = min;
    /* The classes of all 64-bit numbers are one too many for the number of classes. */
    dimension->classes = max - min == UINT64_MAX ? UINT64_MAX : max - min + 1;
}

/* Adds a key that is one of the values of a column of ids. */
static bool add_ids(struct group_keys *keys, struct group_part *part, enum column column,
                    uint32_t count)
{
    bool is_new;
    struct group_dimension *dimension = find_dimension(keys, SOURCE_COLUMN, column, &is_new);
    part->dimension = (size_t)(dimension - keys->dimensions);
    separate(dimension, 0, count == 0 ? 0 : count - 1);
    return true;
}

/* Adds a key that is a code for each value of a column. */
static bool add_codes(struct group_keys *keys, struct group_part *part, enum group_source source,
                      enum column column, const uint32_t *codes, uint32_t count,
                      struct session_error *error)
{
    bool is_new;
    struct group_dimension *dimension = find_dimension(keys, source, column, &is_new);
    part->dimension = (size_t)(dimension - keys->dimensions);
    if (!is_new && !dimension->class_of_value)
        return true; /* each value is a class already */
    return split(dimension, is_new, codes, count, error);
}

static bool add_numbers(struct session *session, struct group_keys *keys, struct group_part *part,
                        enum column column)
{
    const struct column_store *columns = session->columns;
    uint64_t min = UINT64_MAX, max = 0;
    bool is_new;
    for (uint32_t chunk = 0; chunk < column_store_chunks(columns); chunk++) {
        const uint64_t low = column_store_min(columns, chunk, column);
        const uint64_t high = column_store_max(columns, chunk, column);
        min = low < min ? low : min;
        max = high > max ? high : max;
    }
    struct group_dimension *dimension = find_dimension(keys, SOURCE_COLUMN, column, &is_new);
    part->dimension = (size_t)(dimension - keys->dimensions);
    separate(dimension, min > max ? 0 : min, min > max ? 0 : max);
    return true;
}

static bool add_lines(struct session *session, struct group_keys *keys, struct group_part *part,
                      struct session_error *error)
{
    const uint32_t count = session->stacks.count;
    uint32_t *lines = malloc(((size_t)count + 1) * sizeof(*lines));
    if (!lines)
        return session_fail_memory(error, "the keys of groups");
    for (uint32_t stack = 0; stack < count; stack++)
        lines[stack] = stacks_call_site(&session->stacks, stack)->line;
    bool good = add_codes(keys, part, SOURCE_COLUMN, COLUMN_STACK, lines, count, error);
    free(lines);
    return good;
}

static bool add_collected(struct session *session, struct group_keys *keys, struct group_part *part,
                          struct session_error *error)
{
    const uint32_t count = session->stacks.count;
    uint32_t *truths = malloc(((size_t)count + 1) * sizeof(*truths));
    if (!truths)
        return session_fail_memory(error, "the keys of groups");
    for (uint32_t stack = 0; stack < count; stack++)
        truths[stack] = session_stack_by_collector(session, stack);
    bool good = add_codes(keys, part, SOURCE_COLUMN, COLUMN_FREE_STACK, truths, count, error);
    free(truths);
    return good;
}

static bool add_colors(const struct filter_colors *colors, struct group_keys *keys,
                       struct group_part *part, struct session_error *error)
{
    uint32_t codes[FILTER_COLOR_STEPS + 1] = {CODE_NONE};
    for (size_t step = 1; step <= colors->count; step++)
        codes[step] = (uint32_t)colors->step[step].number;
    return add_codes(keys, part, SOURCE_COLOR, COLUMN_TOTAL, codes, (uint32_t)colors->count + 1,
                     error);
}

/* Adds the reachability of blocks, which no column has: a byte for each row of the session. */
static bool add_reachability(struct session *session, struct group_keys *keys,
                             struct group_part *part, const struct filter_field_use *use,
                             struct session_error *error)
{
    /* By reachability plus 1: what a root refers to is reachable. */
    const uint32_t codes[REACHABILITY_WORDS + 1] = {
        0, 1, 2, 3, 4, [REACHABILITY_ROOT + 1] = REACHABILITY_REACHABLE + 1};
    struct filter_live live;
    keys->reachability = filter_live_time(session, use->moment, &live, error)
                             ? references_by_row(session, use->column, &live, error)
                             : NULL;
    if (!keys->reachability)
        return false;
    return group_part_names(session, part, error) &&
           add_codes(keys, part, SOURCE_REACHABILITY, COLUMN_TOTAL, codes, REACHABILITY_WORDS + 1,
                     error);
}

static bool add_names(struct session *session, struct group_keys *keys, struct group_part *part,
                      bool by_id, struct session_error *error)
{
    if (by_id ? !field_names_open(session, part->field, part->frame, &part->names, error)
              : !group_part_names(session, part, error))
        return false;
    const struct field_names *names = &part->names;
    if (by_id && !names->name_id)
        return add_ids(keys, part, names->column, names->count);
    uint32_t *codes = malloc(((size_t)names->count + 1) * sizeof(*codes));
    if (!codes)
        return session_fail_memory(error, "the keys of groups");
    for (uint32_t value = 0; value < names->count; value++) {
        const uint32_t id = field_names_id(names, value);
        codes[value] = part->same ? part->same[id] : id;
    }
    bool good = add_codes(keys, part, SOURCE_COLUMN, names->column, codes, names->count, error);
    free(codes);
    return good;
}

/* ---- parts ---- */

static enum session_key_type type_of(enum filter_field field)
{
    switch (field) {
    case FIELD_SIZE:
        return KEY_BYTES;
    case FIELD_COUNT:
    case FIELD_LINE:
        return KEY_NUMBER;
    case FIELD_FREED:
    case FIELD_COLLECTED:
        return KEY_TRUTH;
    case FIELD_COLOR:
        return KEY_COLOR;
    case FIELD_STACK:
    case FIELD_FREE_STACK:
    case FIELD_THREAD:
    case FIELD_FREE_THREAD:
    case FIELD_PROCESS:
    case FIELD_ARENA:
        return KEY_ID;
    case FIELD_PATH:
        return KEY_PATH;
    default:
        return KEY_TEXT;
    }
}

static bool add_part(struct session *session, const struct filter_colors *colors,
                     struct group_keys *keys, struct group_part *part,
                     const struct filter_field_use *use, struct session_error *error)
{
    switch (part->field) {
    case FIELD_SIZE:
        return add_numbers(session, keys, part, COLUMN_SIZE);
    case FIELD_COUNT:
        return add_numbers(session, keys, part, COLUMN_COUNT_OF_OBJECTS);
    case FIELD_STACK:
    case FIELD_PATH:
        return add_ids(keys, part, COLUMN_STACK, session->stacks.count);
    case FIELD_FREE_STACK:
        return add_ids(keys, part, COLUMN_FREE_STACK, session->stacks.count);
    case FIELD_COLLECTED:
        return add_collected(session, keys, part, error);
    case FIELD_LINE:
        return add_lines(session, keys, part, error);
    case FIELD_FREED: {
        const uint32_t codes[2] = {0, 1};
        return add_codes(keys, part, SOURCE_FREED, COLUMN_LIFE_NS, codes, 2, error);
    }
    case FIELD_COLOR:
        return add_colors(colors, keys, part, error);
    case FIELD_REACHABILITY:
        return add_reachability(session, keys, part, use, error);
    default:
        return add_names(session, keys, part, type_of(part->field) == KEY_ID, error);
    }
}

/* ---- cells and codes ---- */

static unsigned bits_of(uint64_t classes)
{
    return classes <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(classes - 1);
}

static bool lay_out(struct group_keys *keys, struct session_error *error)
{
    uint64_t cells = 1;
    unsigned bits = 0;
    bool few = true;
    for (size_t i = keys->dimension_count; i-- > 0;) {
        struct group_dimension *dimension = &keys->dimensions[i];
        dimension->stride = cells;
        dimension->shift = bits;
        few = few && dimension->classes <= GROUPS_MAX;
        cells = few ? cells * dimension->classes : cells;
        few = few && cells <= (keys->dimension_count > 1 ? CELLS_MAX : GROUPS_MAX);
        const unsigned more = bits_of(dimension->classes);
        /* No class lies across the two words of a code. */
        if (bits < 64 && bits + more > 64)
            bits = dimension->shift = 64;
        bits += more;
    }
    /* An array of sizes would mostly be empty. */
    if (keys->dimension_count == 1 && keys->dimensions[0].source == SOURCE_COLUMN &&
        (keys->dimensions[0].column == COLUMN_SIZE ||
         keys->dimensions[0].column == COLUMN_COUNT_OF_OBJECTS))
        few = few && cells <= CELLS_MAX;
    keys->cells = few ? cells : 0;
    return bits <= 128 || session_fail(error, 0, "the joined fields have too many values together");
}

bool group_keys_open(struct session *session, const struct filter_field_use *uses, size_t count,
                     const struct filter_colors *colors, struct group_keys *keys,
                     struct session_error *error)
{
    *keys = (struct group_keys){.part_count = count};
    keys->parts = calloc(count + 1, sizeof(*keys->parts));
    keys->columns = calloc(count + 1, sizeof(*keys->columns));
    bool good = (keys->parts && keys->columns) || session_fail_memory(error, "the keys of groups");
    for (size_t i = 0; good && i < count; i++) {
        struct group_part *part = &keys->parts[i];
        part->field = uses[i].field;
        part->frame = uses[i].frame;
        if (part->field == FIELD_FRAME)
            snprintf(part->name, sizeof(part->name), "frame %u", (unsigned)part->frame);
        else
            snprintf(part->name, sizeof(part->name), "%s", filter_fields[part->field].name);
        part->column = (struct session_key_column){part->name, type_of(part->field)};
        keys->columns[i] = part->column;
        good = add_part(session, colors, keys, part, &uses[i], error);
    }
    good = good && lay_out(keys, error);
    if (!good)
        group_keys_close(keys);
    return good;
}

void group_keys_close(struct group_keys *keys)
{
    for (size_t i = 0; keys->parts && i < keys->part_count; i++)
        group_part_close(&keys->parts[i]);
    for (size_t i = 0; i < keys->dimension_count; i++)
        FREE_ALL(keys->dimensions[i].class_of_value, keys->dimensions[i].value_of_class);
    FREE_ALL(keys->parts, keys->columns, keys->reachability);
    *keys = (struct group_keys){.part_count = 0};
}

/* ---- rows ---- */

static bool has_column(const struct group_dimension *dimension)
{
    return dimension->source != SOURCE_COLOR && dimension->source != SOURCE_REACHABILITY;
}

unsigned group_keys_columns(const struct group_keys *keys)
{
    unsigned columns = 0;
    for (size_t i = 0; i < keys->dimension_count; i++)
        if (has_column(&keys->dimensions[i]))
            columns |= COLUMN_BIT(keys->dimensions[i].column);
    return columns;
}

void group_keys_take(const struct group_keys *keys, const struct chunk_rows *rows,
                     struct group_key_views *views)
{
    views->colors = rows->colors;
    views->reachability = !keys->reachability ? NULL : keys->reachability + rows->first_row;
    for (size_t i = 0; i < keys->dimension_count; i++)
        if (has_column(&keys->dimensions[i]))
            views->views[i] = rows->views[keys->dimensions[i].column];
}

bool group_keys_views(const struct group_keys *keys, const struct row_set *set,
                      struct scan_worker *worker, uint32_t chunk, struct group_key_views *views,
                      struct session_error *error)
{
    views->colors = !set->colors ? NULL : set->colors + (size_t)chunk * COLUMN_CHUNK_ROWS;
    views->reachability =
        !keys->reachability ? NULL : keys->reachability + (size_t)chunk * COLUMN_CHUNK_ROWS;
    for (size_t i = 0; i < keys->dimension_count; i++) {
        const struct group_dimension *dimension = &keys->dimensions[i];
        if (has_column(dimension) &&
            !scan_column(worker, chunk, dimension->column, &views->views[i], error))
            return false;
    }
    return true;
}

static void take_classes(const struct group_dimension *dimension, const struct column_view *view,
                         const struct group_key_views *views, const struct kernel_rows *rows,
                         uint64_t *classes)
{
    const uint32_t *const table = dimension->class_of_value;
    const uint64_t min = dimension->min;
    if (!has_column(dimension)) {
        const uint8_t *of_row =
            dimension->source == SOURCE_COLOR ? views->colors : views->reachability;
        for (size_t i = 0; i < rows->count; i++)
            classes[i] = of_row ? of_row[rows->first + rows->row[i]] : 0;
    } else {
        kernel_take(view, rows, classes);
    }
    if (dimension->source == SOURCE_FREED)
        for (size_t i = 0; i < rows->count; i++)
            classes[i] = classes[i] != 0;
    if (table)
        for (size_t i = 0; i < rows->count; i++)
            classes[i] = table[classes[i]];
    else if (min != 0)
        for (size_t i = 0; i < rows->count; i++)
            classes[i] -= min;
}

void group_keys_cells(const struct group_keys *keys, const struct group_key_views *views,
                      const struct kernel_rows *rows, uint32_t *cells)
{
    uint64_t classes[KERNEL_ROWS];
    for (size_t i = 0; i < keys->dimension_count; i++) {
        const uint32_t stride = (uint32_t)keys->dimensions[i].stride;
        take_classes(&keys->dimensions[i], &views->views[i], views, rows, classes);
        if (i == 0)
            for (size_t row = 0; row < rows->count; row++)
                cells[row] = (uint32_t)classes[row] * stride;
        else
            for (size_t row = 0; row < rows->count; row++)
                cells[row] += (uint32_t)classes[row] * stride;
    }
}

void group_keys_codes(const struct group_keys *keys, const struct group_key_views *views,
                      const struct kernel_rows *rows, struct code *codes)
{
    uint64_t classes[KERNEL_ROWS];
    memset(codes, 0, rows->count * sizeof(*codes));
    for (size_t i = 0; i < keys->dimension_count; i++) {
        const unsigned shift = keys->dimensions[i].shift;
        take_classes(&keys->dimensions[i], &views->views[i], views, rows, classes);
        for (size_t row = 0; row < rows->count; row++)
            if (shift < 64)
                codes[row].low |= classes[row] << shift;
            else if (shift < 128)
                codes[row].high |= classes[row] << (shift - 64);
    }
}

static uint64_t value_of(const struct group_dimension *dimension, uint64_t class)
{
    return dimension->value_of_class ? dimension->value_of_class[class] : dimension->min + class;
}

uint64_t group_keys_value_of_cell(const struct group_keys *keys, size_t dimension, uint64_t cell)
{
    const struct group_dimension *of = &keys->dimensions[dimension];
    return value_of(of, cell / of->stride % of->classes);
}

uint64_t group_keys_value_of_code(const struct group_keys *keys, size_t dimension, struct code code)
{
    const struct group_dimension *of = &keys->dimensions[dimension];
    const unsigned bits = bits_of(of->classes);
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t class = bits == 0         ? 0
                           : of->shift >= 64 ? code.high >> (of->shift - 64)
                                             : code.low >> of->shift;
    return value_of(of, class & mask);
}
