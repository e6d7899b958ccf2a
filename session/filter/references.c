/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/references.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "session/store/database.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

const char *const reachability_words[REACHABILITY_WORDS] = {
    [REACHABILITY_UNKNOWN] = "unknown",   [REACHABILITY_REACHABLE] = "reachable",
    [REACHABILITY_POSSIBLY] = "possibly", [REACHABILITY_UNREACHABLE] = "unreachable",
    [REACHABILITY_ROOT] = "root",
};

uint64_t reachability_rank(enum reachability reachability)
{
    static const uint64_t ranks[REACHABILITY_WORDS] = {
        [REACHABILITY_POSSIBLY] = 0, [REACHABILITY_REACHABLE] = 1,   [REACHABILITY_ROOT] = 1,
        [REACHABILITY_UNKNOWN] = 2,  [REACHABILITY_UNREACHABLE] = 3,
    };
    return ranks[reachability];
}

static bool damaged(const struct session *session, const char *table, struct session_error *error)
{
    return session_fail(error, 0, "%s: table %s is damaged; ingest the trace again",
                        database_path(session->database), table);
}

/* ---- snapshots -------------------------------------------------------------------------- */

/* The snapshot of each process that has one. */
struct snapshots {
    struct session *session;
    struct filter_live live;
    struct snapshot {
        int64_t id, process;
        uint64_t ns;
    } * rows;
    size_t count, capacity;
};

/* Takes the snapshots by process and time: of equally near ones the later. */
static bool read_snapshot(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct snapshots *all = context;
    struct snapshot read = {.id = database_number(row, 0), .process = database_number(row, 1)};
    struct snapshot *last = all->count > 0 ? &all->rows[all->count - 1] : NULL;
    const uint64_t at = all->live.time.ns;
    if (!database_natural(all->session->database, row, 2, "the time of a snapshot", &read.ns,
                          error))
        return false;
    if (last && last->process == read.process) {
        const uint64_t before = last->ns > at ? last->ns - at : at - last->ns;
        const uint64_t here = read.ns > at ? read.ns - at : at - read.ns;
        if (all->live.end || here <= before)
            *last = read;
        return true;
    }
    if (!ARRAY_GROW(all->rows, all->count, all->capacity))
        return session_fail_memory(error, "the snapshots of references");
    all->rows[all->count++] = read;
    return true;
}

/* Finds the snapshots nearest to a time. The caller frees their rows. */
static bool find_snapshots(struct session *session, const struct filter_live *live,
                           struct snapshots *all, struct session_error *error)
{
    bool has;
    *all = (struct snapshots){.session = session, .live = *live};
    return database_has_table(session->database, "heap_snapshot", &has, error) &&
           (!has || database_each(session->database,
                                  "SELECT id, process_id, ns FROM heap_snapshot ORDER BY 2, 3, 1",
                                  read_snapshot, all, error));
}

bool references_known(struct session *session, const char *what, int column,
                      struct session_error *error)
{
    const struct filter_live live = {.end = true};
    const uint32_t selected = session->processes.selected;
    struct snapshots all;
    bool good = find_snapshots(session, &live, &all, error);
    bool known = false;
    for (size_t i = 0; good && i < all.count; i++)
        known |= selected == 0 || all.rows[i].process == selected;
    if (good && !known)
        good = session_fail(error, column,
                            "%s needs the references between blocks, and %s has none: record with "
                            "mprof-run --references=end",
                            what, all.count > 0 ? "the selected process" : "this session");
    free(all.rows);
    return good;
}

static bool take_truth(void *context, const struct database_row *row, struct session_error *error)
{
    *(bool *)context = database_number(row, 0) != 0;
    return true;
}

bool references_at_end(struct session *session)
{
    const unsigned selected = session->processes.selected;
    bool found = false;
    char sql[400];
    snprintf(sql, sizeof(sql),
             "SELECT NOT EXISTS(SELECT 1 FROM process WHERE allocations > 0 AND %u IN (0, id) AND"
             " id NOT IN (SELECT process_id FROM heap_snapshot"
             " WHERE reason = 'end' AND why IS NULL))",
             selected);
    return references_known(session, "", 0, NULL) &&
           database_each(session->database, sql, take_truth, &found, NULL) && found;
}

/* ---- values ----------------------------------------------------------------------------- */

struct reading {
    struct session *session;
    struct pins *pins;
    size_t capacity;
};

/* Returns true if the column has the id of a block of the session, and stores its row. */
static bool block_at(const struct session *session, const struct database_row *row, int column,
                     uint64_t *block)
{
    const int64_t id = database_number(row, column);
    *block = (uint64_t)id - 1;
    return id > 0 && *block < column_store_rows(session->columns);
}

static bool read_value(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    struct pins *pins = reading->pins;
    struct pin value;
    if (!block_at(reading->session, row, 0, &value.row))
        return damaged(reading->session, "retained", error);
    if (database_is_null(row, 1))
        return true;
    if (!database_natural(reading->session->database, row, 1, "table retained", &value.bytes,
                          error))
        return false;
    if (!ARRAY_GROW(pins->pins, pins->count, reading->capacity))
        return session_fail_memory(error, "who keeps memory alive");
    pins->pins[pins->count++] = value;
    return true;
}

ARRAY_ORDER(compare_rows, struct pin, ORDER(a->row, b->row))

/* Reads one number of each block of the snapshots for which it is not null, by row. */
static bool read_values(const struct snapshots *all, const char *number, struct pins *pins,
                        struct session_error *error)
{
    struct reading reading = {.session = all->session, .pins = pins};
    char sql[256];
    bool good = true;
    for (size_t i = 0; good && i < all->count; i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT allocation_id, %s FROM retained WHERE snapshot_id = %" PRId64
                 " ORDER BY allocation_id",
                 number, all->rows[i].id);
        good = database_each(all->session->database, sql, read_value, &reading, error);
    }
    if (good && all->count > 1 && pins->count > 0)
        qsort(pins->pins, pins->count, sizeof(*pins->pins), compare_rows);
    return good;
}

bool references_values(struct session *session, enum filter_field field, int column,
                       const struct filter_live *live, struct pins *pins,
                       struct session_error *error)
{
    static const char *const numbers[] = {
        /* enum reachability */
        [FIELD_REACHABILITY] = "iif(state = 1 AND holder_id < 0, 4, min(state, 3))",
        [FIELD_RETAINED] = "bytes",
        [FIELD_REFERENCES] = "referrers",
        [FIELD_DOMINATOR] = "iif(dominator_id > 0, dominator_id, NULL)",
    };
    struct snapshots all;
    if (!references_known(session, filter_fields[field].name, column, error))
        return false;
    bool good = find_snapshots(session, live, &all, error) &&
                read_values(&all, numbers[field], pins, error);
    free(all.rows);
    return good;
}

uint8_t *references_by_row(struct session *session, int column, const struct filter_live *live,
                           struct session_error *error)
{
    struct pins *pins = pins_find(session, FIELD_REACHABILITY, column, live, error);
    uint8_t *of_row = pins ? calloc(column_store_rows(session->columns) + 1, 1) : NULL;
    for (size_t i = 0; of_row && i < pins->count; i++)
        of_row[pins->pins[i].row] = (uint8_t)(pins->pins[i].bytes + 1);
    if (pins && !of_row)
        session_fail_memory(error, "who keeps memory alive");
    pins_free(pins);
    return of_row;
}

/* ---- steps ------------------------------------------------------------------------------ */

static bool has(const uint64_t *words, uint64_t row)
{
    return words[row / 64] >> row % 64 & 1;
}

static void put(uint64_t *words, uint64_t row)
{
    words[row / 64] |= UINT64_C(1) << row % 64;
}

struct following {
    struct session *session;
    const uint64_t *of;
    uint64_t *found;
};

/* Follows a reference from the first column to the second one. */
static bool follow(void *context, const struct database_row *row, struct session_error *error)
{
    const struct following *following = context;
    uint64_t from, to;
    if (block_at(following->session, row, 0, &from) && block_at(following->session, row, 1, &to) &&
        has(following->of, from))
        put(following->found, to);
    return true;
}

static bool find_neighbours(const struct snapshots *all, bool outward, const uint64_t *of,
                            uint64_t *found, struct session_error *error)
{
    struct following following = {all->session, of, found};
    char sql[320];
    bool good = true;
    for (size_t i = 0; good && i < all->count; i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT %s FROM (SELECT holder_id AS from_id, allocation_id AS to_id FROM retained"
                 " WHERE snapshot_id = %" PRId64 " UNION ALL SELECT from_id, to_id"
                 " FROM other_reference WHERE snapshot_id = %" PRId64 ") WHERE from_id > 0",
                 outward ? "from_id, to_id" : "to_id, from_id", all->rows[i].id, all->rows[i].id);
        good = database_each(all->session->database, sql, follow, &following, error);
    }
    return good;
}

/* A mark says what is known of a block while the tree of dominators is climbed. */
enum mark { MARK_NONE, MARK_CLIMBED, MARK_OUT, MARK_IN };

/* Returns the place of the block above, or that of no block. */
static size_t place_above(const struct pins *above, size_t i)
{
    if (above->pins[i].bytes == 0)
        return above->count;
    const size_t place = pins_from(above, above->pins[i].bytes - 1);
    return place < above->count && above->pins[place].row == above->pins[i].bytes - 1
               ? place
               : above->count;
}

/* Climbs from a block until it is known what is below: the blocks on the way then are, too. */
static void climb(const struct pins *above, uint8_t *marks, const uint64_t *of, size_t begin)
{
    size_t i = begin;
    while (i < above->count && marks[i] == MARK_NONE && !has(of, above->pins[i].row)) {
        marks[i] = MARK_CLIMBED;
        i = place_above(above, i);
    }
    const bool in =
        i < above->count && (marks[i] == MARK_IN || (marks[i] == MARK_NONE)); /* one of `of` */
    if (in)
        marks[i] = MARK_IN;
    for (i = begin; i < above->count && marks[i] == MARK_CLIMBED; i = place_above(above, i))
        marks[i] = in ? MARK_IN : MARK_OUT;
}

static bool find_retained(const struct snapshots *all, const uint64_t *of, uint64_t *found,
                          struct session_error *error)
{
    struct pins above = {.count = 0};
    bool good = read_values(all, "max(dominator_id, 0)", &above, error);
    uint8_t *marks = good ? calloc(above.count + 1, sizeof(*marks)) : NULL;
    if (good && !marks)
        good = session_fail_memory(error, "who keeps memory alive");
    for (size_t i = 0; good && i < above.count; i++) {
        climb(&above, marks, of, i);
        if (marks[i] == MARK_IN)
            put(found, above.pins[i].row);
        good = i % 65536 != 0 || scan_go_on(all->session, error);
    }
    FREE_ALL(marks, above.pins);
    return good;
}

bool references_keep(struct session *session, enum filter_step_kind way,
                     const struct filter_live *live, const struct row_set *of, struct row_set *set,
                     struct session_error *error)
{
    struct snapshots all;
    bool good = find_snapshots(session, live, &all, error);
    uint64_t *found = good ? calloc((size_t)set->chunks * ROW_SET_WORDS + 1, sizeof(*found)) : NULL;
    if (good && !found)
        good = session_fail_memory(error, "the filter");
    if (good && way == STEP_RETAINED)
        good = find_retained(&all, of->words, found, error);
    else if (good)
        good = find_neighbours(&all, way == STEP_HELD, of->words, found, error);
    for (size_t i = 0; good && i < (size_t)set->chunks * ROW_SET_WORDS; i++)
        set->words[i] &= found[i];
    FREE_ALL(found, all.rows);
    return good;
}
