/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of csv and ndjson against a base: sums of groups, and allocations as a multiset. */
#include <stdlib.h>

#include "report/export/rows.h"
#include "report/output/ids.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/same_modules.h"

/* ---- groups ---- */

/* The sums that can be subtracted. */
static const enum session_group_measure sums[] = {MEASURE_ALLOCATIONS, MEASURE_BYTES,
                                                  MEASURE_OBJECTS,     MEASURE_LIVE_BYTES,
                                                  MEASURE_LIVE_COUNT,  MEASURE_AT_PEAK_BYTES};
enum { SUMS = sizeof(sums) / sizeof(*sums) };

struct difference_row {
    char *key;                     /* all keys as one text */
    struct session_group_set *set; /* the set and row whose keys are written */
    size_t row;
    int64_t values[SUMS];
};

struct difference {
    struct difference_row *rows;
    size_t count, capacity;
    struct text_ids *known;    /* keys; numbers are places in `rows` */
    struct same_modules *same; /* of the base's names, while its rows are added; else NULL */
};

/* Returns a key as text, as the session and not the base calls it. The caller frees it. */
static char *key_text(const struct difference *all, const struct session_group_set *set, size_t row,
                      size_t key)
{
    const struct session_key_column *columns;
    char *own = session_group_key_whole(set, row, key);
    session_groups_keys(set, &columns);
    char *named = own && all->same ? same_modules_name(all->same, columns[key].name, own) : NULL;
    if (!own || !all->same)
        return own;
    free(own);
    return named;
}

/* Returns all keys of a row as one text, which the caller frees. */
static char *row_key(const struct difference *all, const struct session_group_set *set, size_t row,
                     size_t key_count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bool good = out != NULL;
    for (size_t key = 0; good && key < key_count; key++) {
        char *shown = key_text(all, set, row, key);
        good = shown != NULL;
        fprintf(out, "%d%s\x1f", session_group_key(set, row, key).is_null, good ? shown : "");
        free(shown);
    }
    if (out && fclose(out) == 0 && good)
        return text;
    free(text);
    return NULL;
}

/* Adds a row, which takes over the key. Returns false if memory is exhausted. */
static bool append_row(struct difference *all, char *key, struct session_group_set *set, size_t row)
{
    if (!ARRAY_GROW(all->rows, all->count, all->capacity))
        return false;
    all->rows[all->count++] = (struct difference_row){.key = key, .set = set, .row = row};
    return true;
}

static bool add_row(struct difference *all, const struct export *export,
                    struct session_group_set *set, size_t row, size_t key_count, int64_t sign)
{
    char *key = row_key(all, set, row, key_count);
    uint32_t id;
    bool is_new = false;
    const bool good = key && text_ids_find(all->known, key, &id, &is_new) &&
                      (!is_new || append_row(all, key, set, row));
    if (!good || !is_new)
        free(key);
    if (!good || !all->rows)
        return report_fail_memory(export->error, "the difference");
    for (size_t i = 0; i < SUMS; i++) {
        uint64_t value;
        if (!session_group_value(set, row, sums[i], &value, export->error))
            return false;
        all->rows[id].values[i] += sign * (int64_t)value;
    }
    return true;
}

static bool put_groups(const struct export *export, struct difference *all, size_t key_count,
                       const struct session_key_column *keys, bool ndjson)
{
    const char *names[SESSION_GROUP_KEYS_MOST + SUMS];
    struct row_writer rows;
    for (size_t i = 0; i < key_count; i++)
        names[i] = keys[i].name;
    for (size_t i = 0; i < SUMS; i++)
        names[key_count + i] = session_group_measure_name(sums[i]);
    rows_begin(&rows, export->out, ndjson, names, key_count + SUMS);
    for (size_t i = 0; i < all->count; i++) {
        const struct difference_row *row = &all->rows[i];
        bool differs = false;
        for (size_t sum = 0; sum < SUMS; sum++)
            differs |= row->values[sum] != 0;
        for (size_t key = 0; differs && key < key_count; key++)
            rows_put_key(&rows, row->set, row->row, key);
        for (size_t sum = 0; differs && sum < SUMS; sum++)
            rows_signed(&rows, row->values[sum]);
    }
    return !rows.failed || report_fail_memory(export->error, "a row");
}

static bool subtract(const struct export *export, struct session_group_set *own,
                     struct session_group_set *base, bool ndjson)
{
    const struct session_key_column *keys;
    const size_t key_count = session_groups_keys(own, &keys);
    struct difference all = {.known = text_ids_new()};
    bool good = all.known || report_fail_memory(export->error, "the difference");
    for (size_t row = 0; good && row < session_groups_count(own); row++)
        good = add_row(&all, export, own, row, key_count, 1);
    all.same = same_modules_find(export->base.session, export->own.session, export->error);
    good = good && all.same;
    for (size_t row = 0; good && row < session_groups_count(base); row++)
        good = add_row(&all, export, base, row, key_count, -1);
    good = good && put_groups(export, &all, key_count, keys, ndjson);
    text_ids_free(all.known);
    same_modules_free(all.same);
    for (size_t i = 0; i < all.count; i++)
        free(all.rows[i].key);
    free(all.rows);
    return good;
}

/* ---- allocations ---- */

/* Writes a name as a string of the filter language. */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* Returns the sentence that gives what each side has more of, which the caller frees. NULL if
 * memory is exhausted. */
static char *compose(const struct export *export)
{
    static const char name[] = "\"rows of one session\"";
    const char *filter = filter_text_blank(export->filter) ? "all" : export->filter;
    const char *pipeline = filter_text_pipeline(filter), *base = session_path(export->base.session);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "%.*s %s = %s; (%s - session ", (int)(pipeline - filter), filter, name,
            filter_text_blank(pipeline) ? "all" : pipeline, name);
    put_string(out, base);
    fprintf(out, ".%s) + (session ", name);
    put_string(out, base);
    fprintf(out, ".%s - %s)", name, name);
    return fclose(out) == 0 ? text : NULL;
}

/* Writes the rows of both sides, those of the session first. */
static bool put_sides(const struct export *export, const struct graph_result *both, bool ndjson)
{
    const struct graph_side *sides;
    const size_t count = graph_result_sides(both, &sides);
    struct row_writer rows;
    rows_begin_allocations(&rows, export, ndjson, true);
    bool good =
        rows_put_allocations(&rows, export, export->own.session, graph_result_selection(both), 1);
    for (size_t i = 0; good && i < count; i++)
        good = session_load_stacks(sides[i].session, export->error) &&
               rows_put_allocations(&rows, export, sides[i].session, sides[i].selection, -1);
    return good;
}

static bool put_allocations(const struct export *export, bool ndjson)
{
    if (export->process)
        return report_fail(export->error,
                           "the allocations of a difference are of the processes that ingest "
                           "chose: leave out --process, or end the filter with a join");
    char *sentence = compose(export);
    struct graph_result *both =
        sentence ? graph_run(export->own.session, sentence, export->error) : NULL;
    if (!sentence)
        report_fail_memory(export->error, "a sentence");
    free(sentence);
    export->error->column = 0; /* of a text that the user does not see */
    const bool good = both && put_sides(export, both, ndjson);
    graph_result_free(both);
    return good;
}

/* ---- both ---- */

bool rows_put_difference(struct export *export, const struct graph_result *own, bool ndjson)
{
    if (graph_result_kind(own) == RESULT_ALLOCATIONS)
        return put_allocations(export, ndjson);
    if (graph_result_kind(own) == RESULT_MEASURE) {
        report_fail(export->error, "a measure has no rows to compare with --base: leave out this "
                                   "step, or use a budget with a percentage");
        export->error->column = filter_text_last_step(export->filter);
        return false;
    }
    struct graph_result *base = graph_run(export->base.session, export->filter, export->error);
    const bool good =
        base && subtract(export, graph_result_groups(own), graph_result_groups(base), ndjson);
    graph_result_free(base);
    return good;
}
