/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums that ingest has made by stack, by type and by size, for questions about all rows of the
 * process heap. Those by stack lie in packed arrays (schemas/columns.md) and in a table, which
 * takes ten times as long. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/packed_array.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_state.h"
#include "size_rows_sql.h"
#include "stack_sums_sql.h"
#include "type_sums_sql.h"

size_t group_rows_per_stack = 64;

enum { STACKS_PER_LOOK = 1 << 17 };

/* The words of a record: those of SUMS_TOTAL, SUMS_LIVE and SUMS_AT_PEAK. */
enum { ALLOCATIONS, BYTES, LIVE_COUNT, LIVE_BYTES, AT_PEAK_COUNT, AT_PEAK_BYTES, WORDS };
#define STORED_PARTS (SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_LIVE) | SUMS_BIT(SUMS_AT_PEAK))

struct reading {
    struct session *session;
    enum column column;
    uint64_t values; /* of stacks and types: their number */
    const struct group_dimension *dimension;
    struct sums *sums; /* by class */
    size_t capacity;
    bool held; /* more is asked for than the total */
    uint64_t allocations;
};

static bool add_record(struct reading *reading, uint64_t value, const uint64_t words[WORDS],
                       struct session_error *error)
{
    struct sums *sums = reading->sums;
    const struct group_dimension *dimension = reading->dimension;
    const uint64_t place =
        dimension->class_of_value ? dimension->class_of_value[value] : value - dimension->min;
    uint32_t number = (uint32_t)place;
    /* If a value is left out, the sum of allocations will show it. */
    if (words[ALLOCATIONS] == 0 || place >= dimension->classes)
        return true;
    if (reading->capacity > 0 || sums->count == 0) {
        if (sums->codes.count == GROUPS_MAX &&
            code_map_find(&sums->codes, (struct code){place, 0}) == CODE_NONE)
            return session_fail(error, 0, "more than %zu groups: filter first", GROUPS_MAX);
        if (!code_map_add(&sums->codes, (struct code){place, 0}, GROUPS_MAX, &number))
            return session_fail_memory(error, "the groups");
        if (sums->codes.capacity > reading->capacity) {
            const size_t each = sums->width * sizeof(*sums->words);
            uint64_t *more = realloc(sums->words, sums->codes.capacity * each);
            if (!more)
                return session_fail_memory(error, "the groups");
            memset(more + reading->capacity * sums->width, 0,
                   (sums->codes.capacity - reading->capacity) * each);
            sums->words = more;
            reading->capacity = sums->codes.capacity;
        }
    }
    for (size_t i = 0; i < sums->width; i++)
        sums->words[number * sums->width + i] += words[i];
    reading->allocations += words[ALLOCATIONS];
    return true;
}

/* ---- tables ----------------------------------------------------------------------------- */

static bool read_row(void *context, const struct database_row *row, struct session_error *error)
{
    static const char *const tables[COLUMN_TOTAL] = {
        [COLUMN_STACK] = "stack", [COLUMN_TYPE] = "type_total", [COLUMN_SIZE] = "size_bin"};
    struct reading *reading = context;
    const bool by_size = reading->column == COLUMN_SIZE;
    uint64_t number[1 + WORDS];
    for (int i = 0; i < (by_size ? 4 : 1 + WORDS); i++)
        if (!database_natural(reading->session->database, row, i, tables[reading->column],
                              &number[i], error))
            return false;
    const uint64_t value = number[0];
    const uint64_t of_size[WORDS] = {number[1],         number[1] * value, number[2],
                                     number[2] * value, number[3],         number[3] * value};
    return value >= reading->values ||
           add_record(reading, value, by_size ? of_size : number + 1, error);
}

/* ---- packed arrays ---------------------------------------------------------------------- */

struct arrays {
    uint8_t *counts, *bytes, *held;
    size_t count_size, byte_size, held_size;
};

/* Adds what stacks held at the peak and the end to `words`. False if the array does not fit. */
static bool take_held(const struct arrays *arrays, uint64_t stacks, uint64_t *words)
{
    uint64_t next = 0; /* the least id of the next record */
    if (!arrays->held || arrays->held_size % PACKED_HELD_SIZE != 0)
        return false;
    for (size_t at = 0; at < arrays->held_size; at += PACKED_HELD_SIZE) {
        const uint8_t *record = arrays->held + at;
        const uint32_t stack = packed_get32(record);
        if (stack < next || stack >= stacks)
            return false;
        next = (uint64_t)stack + 1;
        uint64_t *to = words + (size_t)stack * WORDS;
        to[LIVE_COUNT] = packed_get64(record + PACKED_HELD_LIVE_COUNT);
        to[LIVE_BYTES] = packed_get64(record + PACKED_HELD_LIVE_BYTES);
        to[AT_PEAK_COUNT] = packed_get64(record + PACKED_HELD_AT_PEAK_COUNT);
        to[AT_PEAK_BYTES] = packed_get64(record + PACKED_HELD_AT_PEAK_BYTES);
        if (to[LIVE_COUNT] > to[ALLOCATIONS] || to[AT_PEAK_COUNT] > to[ALLOCATIONS] ||
            to[LIVE_BYTES] > to[BYTES] || to[AT_PEAK_BYTES] > to[BYTES])
            return false;
    }
    return true;
}

/* Takes what the arrays have for each stack. Returns false if they do not fit. */
static bool take_arrays(const struct reading *reading, const struct arrays *arrays,
                        uint64_t allocations, uint64_t *words)
{
    const size_t stacks = (size_t)reading->values, each = sizeof(uint64_t);
    uint64_t *to = words, sum = 0;
    if (!arrays->counts || !arrays->bytes || arrays->count_size != stacks * each ||
        arrays->byte_size != stacks * each)
        return false;
    for (size_t stack = 0; stack < stacks; stack++) {
        /* The table is asked then, and knows, too. */
        if (stack % STACKS_PER_LOOK == 0 && scan_cancelled(reading->session))
            return false;
        to[ALLOCATIONS] = packed_get64(arrays->counts + stack * each);
        to[BYTES] = packed_get64(arrays->bytes + stack * each);
        if (to[ALLOCATIONS] > allocations - sum)
            return false;
        sum += to[ALLOCATIONS];
        to += reading->sums->width;
    }
    return sum == allocations && (!reading->held || take_held(arrays, stacks, words));
}

/* Reads the sums of `allocations` from packed arrays, if they are there and fit. */
static bool read_arrays(struct reading *reading, uint64_t allocations, struct session_error *error)
{
    struct database *database = reading->session->database;
    struct arrays arrays = {.counts = NULL};
    struct sums *sums = reading->sums;
    const bool by_stack = sums->count == reading->values && !reading->dimension->class_of_value;
    uint64_t *words = calloc((size_t)reading->values * sums->width + 1, sizeof(*words));
    bool good = (words || session_fail_memory(error, "the groups")) &&
                database_packed_array(database, PACKED_STACK_ALLOCATIONS, &arrays.counts,
                                      &arrays.count_size, error) &&
                database_packed_array(database, PACKED_STACK_BYTES, &arrays.bytes,
                                      &arrays.byte_size, error) &&
                (!reading->held || database_packed_array(database, PACKED_STACK_HELD, &arrays.held,
                                                         &arrays.held_size, error));
    const bool fit = good && take_arrays(reading, &arrays, allocations, words);
    if (fit && by_stack) {
        uint64_t *none = sums->words;
        sums->words = words;
        words = none;
        reading->allocations = allocations;
    }
    for (uint64_t stack = 0; fit && !by_stack && good && stack < reading->values; stack++)
        good = add_record(reading, stack, words + stack * sums->width, error);
    FREE_ALL(words, arrays.counts, arrays.bytes, arrays.held);
    return good;
}

static bool read_stored(struct reading *reading, uint64_t allocations, struct session_error *error)
{
    struct session *session = reading->session;
    if (reading->column != COLUMN_STACK)
        return database_each(session->database,
                             reading->column == COLUMN_SIZE ? size_rows_sql : type_sums_sql,
                             read_row, reading, error);
    if (!read_arrays(reading, allocations, error))
        return false;
    /* A pass over few rows is faster than the table. */
    return reading->allocations > 0 ||
           (!reading->held && allocations / group_rows_per_stack < session->stacks.count) ||
           database_each(session->database, stack_sums_sql, read_row, reading, error);
}

/* Returns true if the rows are all of the session, and all of them are of the process heap. */
static bool has_all_rows(const struct session_group_set *set)
{
    const struct column_store *columns = set->session->columns;
    for (uint32_t chunk = 0; chunk < set->rows.chunks; chunk++)
        if (column_store_max(columns, chunk, COLUMN_ARENA) != 0 ||
            row_set_chunk_count(&set->rows, chunk) != column_store_chunk_rows(columns, chunk))
            return false;
    return true;
}

/* Returns true if ingest may have made the sums that are asked for. */
static bool may_be_stored(const struct session_group_set *set, const struct sums_query *query)
{
    const struct group_dimension *dimension = set->keys.dimensions;
    if (set->session->estimate || (query->parts & ~STORED_PARTS) != 0 ||
        set->keys.dimension_count != 1 || dimension->source != SOURCE_COLUMN)
        return false;
    if (dimension->column == COLUMN_STACK && query->parts == SUMS_BIT(SUMS_TOTAL))
        return has_all_rows(set);
    return query->everything && summary_answers(set->session) &&
           (dimension->column == COLUMN_STACK || dimension->column == COLUMN_TYPE ||
            dimension->column == COLUMN_SIZE);
}

bool group_set_read_sums(struct session_group_set *set, const struct sums_query *query,
                         struct sums *sums, bool *known, struct session_error *error)
{
    struct session *session = set->session;
    const struct group_dimension *dimension = set->keys.dimensions;
    uint64_t allocations = 0;
    *sums = (struct sums){.count = (size_t)set->keys.cells};
    *known = false;
    if (!may_be_stored(set, query))
        return true;
    struct reading reading = {.session = session,
                              .column = dimension->column,
                              .values = dimension->column == COLUMN_STACK ? session->stacks.count
                                        : dimension->column == COLUMN_TYPE
                                            ? session->names.type.count
                                            : UINT64_MAX,
                              .dimension = dimension,
                              .sums = sums,
                              .held = query->parts != SUMS_BIT(SUMS_TOTAL)};
    sums_lay_out(&(struct sums_query){.parts = reading.held ? STORED_PARTS : query->parts,
                                      .keys = &set->keys},
                 sums);
    if (!(sums->words = calloc(sums->count * sums->width + 1, sizeof(*sums->words))))
        return session_fail_memory(error, "the groups");
    for (uint32_t chunk = 0; chunk < set->rows.chunks; chunk++)
        allocations += row_set_chunk_count(&set->rows, chunk);
    if (!read_stored(&reading, allocations, error)) {
        sums_free(sums);
        return false;
    }
    /* A session that ingest has not finished has no sums. */
    *known = reading.allocations == allocations;
    if (!*known)
        sums_free(sums);
    else if (sums->count == 0)
        sums->count = sums->codes.count;
    return true;
}
