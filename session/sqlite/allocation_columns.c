/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/allocation_columns.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/collected.h"
#include "session/data/error.h"
#include "session/data/session_state.h"

#define BIT(column) (1u << (column))

static const struct {
    enum allocation_by by;
    unsigned needs;
} about[ALLOCATION_COLUMNS] = {
    [ALLOCATION_ID] = {BY_ROW, 0},
    [ALLOCATION_ADDRESS] = {BY_ROW, BIT(COLUMN_ADDRESS)},
    [ALLOCATION_SIZE] = {BY_ROW, BIT(COLUMN_SIZE)},
    [ALLOCATION_COUNT] = {BY_ROW, BIT(COLUMN_COUNT_OF_OBJECTS)},
    [ALLOCATION_KIND] = {BY_KIND, BIT(COLUMN_KIND)},
    [ALLOCATION_ALIGNMENT] = {BY_ROW, BIT(COLUMN_ALIGNMENT)},
    [ALLOCATION_ARENA_ID] = {BY_ROW, BIT(COLUMN_ARENA)},
    [ALLOCATION_THREAD_ID] = {BY_THREAD, BIT(COLUMN_THREAD)},
    [ALLOCATION_STACK_ID] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_TYPE_ID] = {BY_TYPE, BIT(COLUMN_TYPE)},
    [ALLOCATION_ALLOC_NS] = {BY_ROW, BIT(COLUMN_ALLOC_NS)},
    [ALLOCATION_FREE_NS] = {BY_ROW, BIT(COLUMN_ALLOC_NS) | BIT(COLUMN_LIFE_NS)},
    [ALLOCATION_FREE_THREAD_ID] = {BY_ROW, BIT(COLUMN_FREE_THREAD) | BIT(COLUMN_LIFE_NS)},
    [ALLOCATION_FREE_STACK_ID] = {BY_ROW, BIT(COLUMN_FREE_STACK) | BIT(COLUMN_LIFE_NS)},
    [ALLOCATION_REALLOC_OF] = {BY_ROW, BIT(COLUMN_REALLOC_OF)},
    [ALLOCATION_FUNCTION] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_FILE] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_LINE] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_MODULE] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_TYPE] = {BY_TYPE, BIT(COLUMN_TYPE)},
    [ALLOCATION_CONFIDENCE] = {BY_TYPE, BIT(COLUMN_TYPE)},
    [ALLOCATION_THREAD] = {BY_THREAD, BIT(COLUMN_THREAD)},
    [ALLOCATION_LIFETIME_NS] = {BY_ROW, BIT(COLUMN_ALLOC_NS) | BIT(COLUMN_LIFE_NS)},
    [ALLOCATION_EXTRA_BYTES] = {BY_ROW,
                                BIT(COLUMN_SIZE) | BIT(COLUMN_COUNT_OF_OBJECTS) | BIT(COLUMN_TYPE)},
    [ALLOCATION_PROCESS_ID] = {BY_THREAD, BIT(COLUMN_THREAD)},
    [ALLOCATION_PID] = {BY_THREAD, BIT(COLUMN_THREAD)},
    [ALLOCATION_PROCESS] = {BY_THREAD, BIT(COLUMN_THREAD)},
    [ALLOCATION_OWNER] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_USER] = {BY_STACK, BIT(COLUMN_STACK)},
    [ALLOCATION_FREED_BY] = {BY_ROW, BIT(COLUMN_LIFE_NS) | BIT(COLUMN_FREE_STACK)},
    [ALLOCATION_KEPT] = {BY_ROW, BIT(COLUMN_ALLOC_NS) | BIT(COLUMN_LIFE_NS) | BIT(COLUMN_ARENA)},
};

enum allocation_by allocation_column_by(int column)
{
    return about[column].by;
}

unsigned allocation_column_needs(int column)
{
    return about[column].needs;
}

bool allocation_column_is_plain(int column)
{
    switch (column) {
    case ALLOCATION_ADDRESS:
    case ALLOCATION_SIZE:
    case ALLOCATION_COUNT:
    case ALLOCATION_ALIGNMENT:
    case ALLOCATION_ARENA_ID:
    case ALLOCATION_THREAD_ID:
    case ALLOCATION_STACK_ID:
    case ALLOCATION_TYPE_ID:
    case ALLOCATION_ALLOC_NS:
        return true;
    default:
        return false;
    }
}

enum column allocation_by_column(enum allocation_by by)
{
    static const enum column columns[BY_TOTAL] = {[BY_STACK] = COLUMN_STACK,
                                                  [BY_TYPE] = COLUMN_TYPE,
                                                  [BY_THREAD] = COLUMN_THREAD,
                                                  [BY_KIND] = COLUMN_KIND};
    return columns[by];
}

struct allocation_columns {
    struct session *session;
    struct string_pool pool;
    int64_t end_ns;
    struct allocation_value *values[ALLOCATION_COLUMNS]; /* by id; NULL: not in use, or BY_ROW */
    struct allocation_value *type_size; /* by type; NULL: ALLOCATION_EXTRA_BYTES is not in use */
    struct collected_arenas collected;  /* of ALLOCATION_KEPT */
    bool has_collected;                 /* that column is in use */
};

static struct allocation_value number(int64_t value)
{
    return (struct allocation_value){.number = value, .form = VALUE_NUMBER};
}

static struct allocation_value text(const char *value)
{
    if (!value)
        return (struct allocation_value){.form = VALUE_NULL};
    return (struct allocation_value){
        .text = value, .length = (uint32_t)strlen(value), .form = VALUE_TEXT};
}

/* ---- columns by id ---- */

size_t allocation_ids(const struct allocation_columns *columns, enum allocation_by by)
{
    const struct session *session = columns->session;
    switch (by) {
    case BY_STACK:
        return session->stacks.count;
    case BY_TYPE:
        return session->names.type.count;
    case BY_THREAD:
        return session->names.thread.count;
    case BY_KIND:
        return session->names.kind.count;
    default:
        return 0;
    }
}

/* Returns true if a column is about a place in the code. */
static bool is_of_code(int column)
{
    return column == ALLOCATION_FUNCTION || column == ALLOCATION_FILE ||
           column == ALLOCATION_LINE || column == ALLOCATION_MODULE || column == ALLOCATION_USER;
}

/* Returns the value that a frame has; of ALLOCATION_FUNCTION, that a function has. */
static struct allocation_value of_code(const struct session *session, int column, int64_t id)
{
    const struct names *names = &session->names;
    if (id <= 0 ||
        id >= (column == ALLOCATION_FUNCTION ? names->function_count : session->stacks.frame_count))
        return text(NULL);
    if (column == ALLOCATION_FUNCTION)
        return text(session_function_name(session, (uint32_t)id));
    const struct stack_frame *frame = &session->stacks.frame_table[id];
    switch (column) {
    case ALLOCATION_FILE:
        return text(frame->file != 0 ? names->file.name[frame->file] : NULL);
    case ALLOCATION_LINE:
        return frame->line != 0 ? number(frame->line) : text(NULL);
    case ALLOCATION_MODULE:
        return text(frame->module != 0 ? names->module.name[frame->module] : NULL);
    default:
        return text(frame->function != 0 ? session_function_name(session, frame->function) : NULL);
    }
}

/* A column that a query of the tables fills. */
struct filling {
    struct allocation_columns *columns;
    struct allocation_value *values;
    size_t count;
    int column;
};

static bool fill_row(void *context, const struct database_row *row, struct session_error *error)
{
    struct filling *filling = context;
    const int64_t id = database_number(row, 0), value = database_number(row, 2);
    if (id < 0 || (uint64_t)id >= filling->count)
        return true;
    struct allocation_value *to = &filling->values[id];
    if (database_is_null(row, 1) && database_is_null(row, 2))
        return true;
    if (is_of_code(filling->column)) {
        *to = of_code(filling->columns->session, filling->column, value);
        return true;
    }
    if (database_is_null(row, 1)) {
        *to = number(value);
        return true;
    }
    const char *copy = string_pool_add(&filling->columns->pool, database_text(row, 1));
    *to = text(copy);
    return copy || session_fail_memory(error, "the names of allocations");
}

/* Fills by the rows (id, text, number) of a query: one of the last two is null, or both. The number
 * of a place in the code is that of the frame, or of the function. */
static bool fill_by_sql(struct allocation_columns *columns, struct allocation_value *values,
                        size_t count, const char *sql, int column, struct session_error *error)
{
    struct filling filling = {columns, values, count, column};
    return database_each(columns->session->database, sql, fill_row, &filling, error);
}

static struct allocation_value of_type(const struct session *session, int column, uint32_t type)
{
    const struct names *names = &session->names;
    if (column == ALLOCATION_CONFIDENCE)
        return text(type != 0 ? names->confidence[type] : "unknown");
    return text(type != 0 ? names->type.name[type] : NULL);
}

static bool fill(struct allocation_columns *columns, int column, struct allocation_value *values,
                 size_t count, struct session_error *error)
{
    static const char *const queries[ALLOCATION_COLUMNS] = {
        [ALLOCATION_KIND] = "SELECT id, name, NULL FROM kind",
        [ALLOCATION_THREAD] = "SELECT id, name, NULL FROM thread",
        [ALLOCATION_PROCESS_ID] = "SELECT id, NULL, process_id FROM thread",
        [ALLOCATION_PID] =
            "SELECT t.id, NULL, pid FROM thread t JOIN process p ON p.id = process_id",
        [ALLOCATION_PROCESS] =
            "SELECT t.id, program, NULL FROM thread t JOIN process p ON p.id = process_id",
        [ALLOCATION_OWNER] = "SELECT s.id, name, NULL FROM stack s JOIN owner o ON o.id = owner_id",
        /* As ingest stored them, like all views: settings may have moved those of the session. */
        [ALLOCATION_FUNCTION] = "SELECT id, NULL, function_id FROM stack",
        [ALLOCATION_FILE] = "SELECT id, NULL, call_site_frame_id FROM stack",
        [ALLOCATION_LINE] = "SELECT id, NULL, call_site_frame_id FROM stack",
        [ALLOCATION_MODULE] = "SELECT id, NULL, call_site_frame_id FROM stack",
        [ALLOCATION_USER] = "SELECT id, NULL, user_frame_id FROM stack",
    };
    if (queries[column])
        return fill_by_sql(columns, values, count, queries[column], column, error);
    for (size_t id = 0; id < count; id++) {
        if (column == ALLOCATION_THREAD_ID || column == ALLOCATION_STACK_ID ||
            column == ALLOCATION_TYPE_ID)
            values[id] = number((int64_t)id);
        else
            values[id] = of_type(columns->session, column, (uint32_t)id);
    }
    return true;
}

/* Makes an array of nulls. */
static struct allocation_value *nulls(size_t count, struct session_error *error)
{
    struct allocation_value *values = calloc(count + 1, sizeof(*values));
    if (!values)
        session_fail_memory(error, "the names of allocations");
    return values;
}

static bool use(struct allocation_columns *columns, int column, struct session_error *error)
{
    const struct names *names = &columns->session->names;
    const bool sizes = column == ALLOCATION_EXTRA_BYTES && !columns->type_size;
    const bool named = about[column].by != BY_ROW && !columns->values[column];
    const size_t count = sizes ? names->type.count : allocation_ids(columns, about[column].by);
    if (column == ALLOCATION_KEPT && !columns->has_collected)
        return columns->has_collected =
                   collected_arenas_read(columns->session, &columns->collected, error);
    if (!sizes && !named)
        return true;
    struct allocation_value *values = nulls(count, error);
    bool good = values != NULL;
    if (good && sizes)
        good =
            fill_by_sql(columns, values, count, "SELECT id, NULL, size FROM type", column, error);
    else if (good)
        good = fill(columns, column, values, count, error);
    if (!good) {
        free(values);
        return false;
    }
    *(sizes ? &columns->type_size : &columns->values[column]) = values;
    return true;
}

bool allocation_columns_use(struct allocation_columns *columns, uint64_t used,
                            struct session_error *error)
{
    for (int column = 0; column < ALLOCATION_COLUMNS; column++) {
        if ((used >> column & 1) != 0 && !use(columns, column, error))
            return false;
    }
    return true;
}

const struct allocation_value *allocation_values(const struct allocation_columns *columns,
                                                 int column)
{
    return columns->values[column];
}

/* ---- columns by row ---- */

int64_t allocation_end_ns(const struct allocation_columns *columns)
{
    return columns->end_ns;
}

static struct allocation_value extra_bytes(const struct allocation_columns *columns,
                                           const struct allocation_row *row)
{
    const struct allocation_value *size = &columns->type_size[row->of[COLUMN_TYPE]];
    if (size->form != VALUE_NUMBER)
        return text(NULL);
    const uint64_t held = row->of[COLUMN_COUNT_OF_OBJECTS] * (uint64_t)size->number;
    const uint64_t bytes = row->of[COLUMN_SIZE];
    return number(bytes > held ? (int64_t)(bytes - held) : 0);
}

static bool is_kept(const struct allocation_columns *columns, const struct allocation_row *row)
{
    const uint64_t arena = row->of[COLUMN_ARENA];
    if (row->of[COLUMN_LIFE_NS] != 0)
        return false;
    return arena >= columns->session->names.arena.count ||
           collected_arenas_keep(&columns->collected, row->id, arena, row->of[COLUMN_ALLOC_NS]);
}

bool allocation_columns_need_id(const struct allocation_columns *columns, uint64_t used)
{
    return (used >> ALLOCATION_ID & 1) != 0 ||
           ((used >> ALLOCATION_KEPT & 1) != 0 && columns->collected.earlier_count > 0);
}

void allocation_value_of_row(const struct allocation_columns *columns, int column,
                             const struct allocation_row *row, struct allocation_value *value)
{
    const uint64_t *of = row->of;
    const bool live = of[COLUMN_LIFE_NS] == 0;
    const uint64_t freed = of[COLUMN_ALLOC_NS] + of[COLUMN_LIFE_NS] - 1;
    *value = (struct allocation_value){.form = VALUE_NULL};
    switch (column) {
    case ALLOCATION_ID:
        *value = number((int64_t)row->id);
        break;
    case ALLOCATION_FREE_NS:
        if (!live)
            *value = number((int64_t)freed);
        break;
    case ALLOCATION_FREE_THREAD_ID:
        if (!live && of[COLUMN_FREE_THREAD] != 0)
            *value = number((int64_t)of[COLUMN_FREE_THREAD]);
        break;
    case ALLOCATION_FREE_STACK_ID:
        if (!live && of[COLUMN_FREE_STACK] != 0)
            *value = number((int64_t)of[COLUMN_FREE_STACK]);
        break;
    case ALLOCATION_REALLOC_OF:
        if (of[COLUMN_REALLOC_OF] != 0)
            *value = number((int64_t)of[COLUMN_REALLOC_OF]);
        break;
    case ALLOCATION_LIFETIME_NS:
        *value = number((live ? columns->end_ns : (int64_t)freed) - (int64_t)of[COLUMN_ALLOC_NS]);
        break;
    case ALLOCATION_EXTRA_BYTES:
        *value = extra_bytes(columns, row);
        break;
    case ALLOCATION_FREED_BY:
        if (!live)
            *value =
                text(stacks_by_collector(&columns->session->stacks, (uint32_t)of[COLUMN_FREE_STACK])
                         ? "collector"
                         : "program");
        break;
    case ALLOCATION_KEPT:
        *value = number(is_kept(columns, row));
        break;
    default:
        break;
    }
}

/* ---- order ---- */

int allocation_compare(const struct allocation_value *left, const struct allocation_value *right)
{
    if (left->form != right->form)
        return left->form < right->form ? -1 : 1;
    if (left->form == VALUE_NUMBER)
        return left->number < right->number ? -1 : left->number > right->number;
    if (left->form == VALUE_NULL || left->text == right->text)
        return 0;
    return strcmp(left->text, right->text);
}

struct ranking {
    const struct allocation_value *values[ALLOCATION_COLUMNS];
    size_t count;
    unsigned descending;
};

static int compare_ids(const void *left, const void *right, void *context)
{
    const struct ranking *ranking = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    for (size_t i = 0; i < ranking->count; i++) {
        const int order = allocation_compare(&ranking->values[i][a], &ranking->values[i][b]);
        if (order != 0)
            return (ranking->descending >> i & 1) != 0 ? -order : order;
    }
    return 0;
}

/* Returns true if two ids have the same values, as far as that shows without a look at texts. */
static bool same_values(const struct ranking *ranking, uint32_t left, uint32_t right)
{
    for (size_t i = 0; i < ranking->count; i++) {
        const struct allocation_value *a = &ranking->values[i][left];
        const struct allocation_value *b = &ranking->values[i][right];
        if (a->form != b->form || (a->form == VALUE_NUMBER && a->number != b->number) ||
            (a->form == VALUE_TEXT && a->text != b->text))
            return false;
    }
    return true;
}

static size_t hash_values(const struct ranking *ranking, uint32_t id)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        const struct allocation_value *value = &ranking->values[i][id];
        const uint64_t part = value->form == VALUE_NUMBER ? (uint64_t)value->number
                              : value->form == VALUE_TEXT ? (uint64_t)(uintptr_t)value->text
                                                          : 1;
        hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

static bool in_order(const struct ranking *ranking, size_t ids)
{
    for (uint32_t id = 1; id < ids; id++) {
        const uint32_t before = id - 1;
        if (compare_ids(&before, &id, (void *)(uintptr_t)ranking) > 0)
            return false;
    }
    return true;
}

/* Finds ids with the same values: lists one of each in `order`, and stores it for each id in
 * `same`. Returns how many there are, 0 if memory is exhausted. */
static size_t find_same(const struct ranking *ranking, size_t ids, uint32_t *order, uint32_t *same)
{
    size_t slots = 64, count = 0;
    while (slots < 2 * ids)
        slots *= 2;
    uint32_t *place = calloc(slots, sizeof(*place)); /* id + 1 */
    for (uint32_t id = 0; place && id < ids; id++) {
        size_t slot = hash_values(ranking, id) & (slots - 1);
        while (place[slot] != 0 && !same_values(ranking, place[slot] - 1, id))
            slot = (slot + 1) & (slots - 1);
        if (place[slot] == 0) {
            place[slot] = id + 1;
            order[count++] = id;
        }
        same[id] = place[slot] - 1;
    }
    free(place);
    return count;
}

/* Stores the ranks of ids. Many have the same values: a session has more stacks than functions, and
 * only one of each is sorted. Returns the number of ranks, 0 if memory is exhausted. */
static size_t rank_ids(struct ranking *ranking, size_t ids, uint32_t *order, uint32_t *same,
                       uint32_t *ranks)
{
    size_t rank = 0, count = ids;
    if (in_order(ranking, ids)) {
        for (uint32_t id = 0; id < ids; id++)
            order[id] = same[id] = id;
    } else {
        count = find_same(ranking, ids, order, same);
        if (count == 0)
            return 0;
        qsort_r(order, count, sizeof(*order), compare_ids, ranking);
    }
    for (size_t i = 0; i < count; i++) {
        rank += i > 0 && compare_ids(&order[i - 1], &order[i], ranking) != 0;
        ranks[order[i]] = (uint32_t)rank;
    }
    for (size_t id = 0; id < ids; id++)
        ranks[id] = ranks[same[id]];
    return rank + 1;
}

size_t allocation_ranks(const struct allocation_columns *columns, const int *of, size_t count,
                        unsigned descending, uint32_t **ranks, struct session_error *error)
{
    struct ranking ranking = {.count = count, .descending = descending};
    const size_t ids = allocation_ids(columns, about[of[0]].by);
    uint32_t *order = malloc((ids + 1) * sizeof(*order));
    uint32_t *same = malloc((ids + 1) * sizeof(*same));
    *ranks = calloc(ids + 1, sizeof(**ranks));
    for (size_t i = 0; i < count; i++)
        ranking.values[i] = columns->values[of[i]];
    const size_t found = order && same && *ranks ? rank_ids(&ranking, ids, order, same, *ranks) : 0;
    free(order);
    free(same);
    if (found > 0)
        return found;
    free(*ranks);
    *ranks = NULL;
    session_fail_memory(error, "the order of allocations");
    return 0;
}

/* ---- all ---- */

static bool read_end(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    *(int64_t *)context = database_number(row, 0);
    return true;
}

struct allocation_columns *allocation_columns_new(struct session *session,
                                                  struct session_error *error)
{
    struct allocation_columns *columns = calloc(1, sizeof(*columns));
    if (!columns) {
        session_fail_memory(error, "the columns of allocations");
        return NULL;
    }
    columns->session = session;
    if (!database_each(session->database, "SELECT value FROM meta WHERE key = 'duration_ns'",
                       read_end, &columns->end_ns, error)) {
        allocation_columns_free(columns);
        return NULL;
    }
    return columns;
}

void allocation_columns_free(struct allocation_columns *columns)
{
    if (!columns)
        return;
    for (int column = 0; column < ALLOCATION_COLUMNS; column++)
        free(columns->values[column]);
    free(columns->type_size);
    collected_arenas_free(&columns->collected);
    string_pool_free(&columns->pool);
    free(columns);
}
