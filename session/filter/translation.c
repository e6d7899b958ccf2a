/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates the sets and steps of a filter. Each becomes one common table expression, which reads
 * from the one before it, so the query has the form of the filter. Blocks are rows with a session
 * and an id; groups are rows with a session and their keys.
 *
 * The filter is translated until no step uses a column that the steps before it lack. */
#include "session/translation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/graphs.h"
#include "session/filter/sql_columns.h"

static void translate_set(struct translation *t, const struct filter_set *set,
                          struct sql_rows *rows);

const char *session_dialect_name(enum session_dialect dialect)
{
    static const char *const names[DIALECT_TOTAL] = {"duckdb", "postgresql", "clickhouse"};
    return names[dialect];
}

/* ---- where, colour, sort, top ---- */

static struct filter_field_use field_of(const struct filter_step *step)
{
    return (struct filter_field_use){step->field, step->frame, step->field_column, step->moment};
}

static void translate_where(struct translation *t, const struct filter_step *step,
                            struct sql_rows *rows)
{
    struct sql_condition written;
    sql_write_condition(t, rows, step, &written);
    sql_begin(t, step->text, step->column);
    sql_put_all(t, rows, written.joins && *written.joins);
    fprintf(t->out, "\n  FROM step_%u x%s\n  WHERE %s)", rows->step, written.joins,
            written.condition);
    sql_condition_free(&written);
    rows->step = t->steps;
}

static void translate_color(struct translation *t, const struct filter_step *step,
                            struct sql_rows *rows)
{
    struct sql_condition written = {.condition = NULL};
    sql_want(t, SQL_COLOR);
    if (step->predicate)
        sql_write_condition(t, rows, step, &written);
    sql_begin(t, step->text, step->column);
    fputs("SELECT ", t->out);
    sql_put_row_columns(t, rows);
    if (step->predicate)
        fprintf(t->out, ",\n    CASE WHEN %s THEN %" PRIu64 " ELSE x.color END AS color",
                written.condition, step->color.number);
    else
        fprintf(t->out, ", CAST(%" PRIu64 " AS %s) AS color", step->color.number,
                t->dialect->color);
    fprintf(t->out, "\n  FROM step_%u x%s)", rows->step, written.joins ? written.joins : "");
    sql_condition_free(&written);
    rows->step = t->steps;
}

/* Writes the order by one field: null last, equal names by their ids. */
static void put_order(struct translation *t, const struct sql_rows *rows,
                      const struct filter_field_use *use, bool descending)
{
    const char *down = descending ? " DESC" : "";
    const enum sql_column name = sql_name_of(use->field);
    const enum filter_type type = filter_fields[use->field].type;
    const bool text = (type == TYPE_TEXT || type == TYPE_TEXT_OR_NUMBER) &&
                      use->field != FIELD_STACK && use->field != FIELD_FREE_STACK;
    if (sql_null_of(use->field)) {
        fputs("x.", t->out);
        sql_put_field(t, t->out, use, rows->kind == KIND_GROUPS);
        fputs(" IS NULL, ", t->out);
    }
    if (name != SQL_NONE)
        fprintf(t->out, "x.%s%s%s", sql_column_name(name), t->dialect->collate, down);
    if (name != SQL_NONE && rows->kind != KIND_GROUPS)
        return;
    fputs(name != SQL_NONE ? ", x." : "x.", t->out);
    sql_put_field(t, t->out, use, rows->kind == KIND_GROUPS);
    fprintf(t->out, "%s%s", text && name == SQL_NONE ? t->dialect->collate : "", down);
}

static void put_orders(struct translation *t, const struct sql_rows *rows)
{
    const struct filter_field_use by_bytes = {.field = FIELD_BYTES};
    if (rows->sort) {
        const struct filter_field_use use = field_of(rows->sort);
        put_order(t, rows, &use, rows->sort->descending);
    } else if (rows->kind == KIND_GROUPS) {
        put_order(t, rows, &by_bytes, true);
    }
    if (rows->kind != KIND_GROUPS) {
        fputs(rows->sort ? ", x.id" : "x.id", t->out);
        return;
    }
    for (size_t i = 0; i < rows->key_count; i++) {
        fputs(", ", t->out);
        put_order(t, rows, &rows->keys[i], false);
    }
}

static void translate_top(struct translation *t, const struct filter_step *step,
                          struct sql_rows *rows)
{
    sql_begin(t, step->text, step->column);
    sql_put_all(t, rows, true);
    fprintf(t->out, "\n  FROM (SELECT x.*, row_number() OVER (PARTITION BY x.%s ORDER BY ",
            sql_scope(t, rows));
    put_orders(t, rows);
    /* DuckDB 1.5 fails on some such queries if it sees the first rows of a window: not so here. */
    fprintf(t->out, ") AS place\n    FROM step_%u x) x\n  WHERE x.place BETWEEN 1 AND %" PRIu64 ")",
            rows->step, step->limit);
    rows->step = t->steps;
}

/* ---- pipelines ---- */

static void translate_step(struct translation *t, const struct filter_step *step,
                           struct sql_rows *rows)
{
    switch (step->kind) {
    case STEP_WHERE:
        translate_where(t, step, rows);
        break;
    case STEP_COLOR:
        translate_color(t, step, rows);
        break;
    case STEP_COLOR_BY:
        break;
    case STEP_SORT: {
        rows->sort = step;
        /* Notes the column that it uses. */
        const struct filter_field_use use = field_of(step);
        char nothing[64];
        FILE *out = fmemopen(nothing, sizeof(nothing), "w");
        if (out) {
            sql_put_field(t, out, &use, false);
            fclose(out);
        } else {
            sql_fail_memory(t);
        }
        break;
    }
    case STEP_TOP:
        translate_top(t, step, rows);
        break;
    case STEP_JOIN:
    case STEP_FOLD:
        sql_translate_join(t, step, rows);
        break;
    case STEP_UNGROUP:
        sql_translate_ungroup(t, step, rows);
        break;
    case STEP_WRITE:
        SQL_FAIL(t, step->column, "write has no translation: a query makes no files");
        break;
    case STEP_HELD:
    case STEP_HOLDS:
    case STEP_RETAINED:
        SQL_FAIL(t, step->column,
                 "%.*s has no translation: a query does not follow the references "
                 "between blocks",
                 (int)strcspn(step->text, " "), step->text);
        break;
    default:
        rows->measure = step;
        break;
    }
}

static void translate_pipeline(struct translation *t, const struct filter_pipeline *pipeline,
                               struct sql_rows *rows)
{
    translate_set(t, pipeline->set, rows);
    for (const struct filter_step *step = pipeline->steps; step && !t->failed; step = step->next)
        translate_step(t, step, rows);
    if (rows->measure)
        rows->kind = KIND_MEASURE;
}

/* Translates a saved filter, whose errors are at the place of its use. */
static void translate_use(struct translation *t, const struct filter_set *set,
                          struct sql_rows *rows)
{
    struct session_error inner = {.column = 0};
    struct session_error *outer = t->error;
    if (set->stored)
        t->error = &inner;
    translate_pipeline(t, set->pipeline, rows);
    t->error = outer;
    if (!set->stored || !t->failed)
        return;
    if (inner.column != 0)
        filter_place_error(set->stored, &inner);
    if (outer)
        *outer = inner;
}

/* ---- sets ---- */

/* Writes + - and &, which compare blocks by their ids. */
static void translate_pair(struct translation *t, const struct filter_set *set,
                           struct sql_rows *rows)
{
    static const struct {
        const char *sign, *join, *where;
    } pairs[] = {
        [SET_PLUS] = {"+", "LEFT JOIN", ""},
        [SET_MINUS] = {"-", "LEFT JOIN", "\n  WHERE y.id IS NULL"},
        [SET_BOTH] = {"&", "JOIN", ""},
    };
    const bool color = t->use.column[SQL_COLOR];
    struct sql_rows other = {.kind = KIND_ALLOCATIONS};
    char comment[64];
    translate_set(t, set->left, rows);
    translate_set(t, set->right, &other);
    snprintf(comment, sizeof(comment), "step_%u %s step_%u", rows->step, pairs[set->kind].sign,
             other.step);
    sql_begin(t, comment, set->column);
    struct sql_rows both = {.kind = KIND_ALLOCATIONS};
    fputs("SELECT ", t->out);
    sql_put_row_columns(t, &both);
    if (color)
        fputs(set->kind == SET_MINUS ? ", x.color" : ", coalesce(x.color, y.color) AS color",
              t->out);
    fprintf(t->out, "\n  FROM step_%u x %s step_%u y ON y.session = x.session AND y.id = x.id%s",
            rows->step, pairs[set->kind].join, other.step, pairs[set->kind].where);
    if (set->kind == SET_PLUS) {
        fputs("\n  UNION ALL\n  SELECT ", t->out);
        sql_put_row_columns(t, &both);
        fprintf(t->out,
                "%s\n  FROM step_%u x LEFT JOIN step_%u y ON y.session = x.session AND y.id = "
                "x.id\n  WHERE y.id IS NULL",
                color ? ", x.color" : "", other.step, rows->step);
    }
    fputc(')', t->out);
    both.step = t->steps;
    *rows = both;
}

/* Writes the blocks that were live at a moment. */
static void translate_live(struct translation *t, const struct filter_set *set)
{
    const bool end = set->moment.moment == MOMENT_END;
    char *comment = NULL, *moment = NULL;
    size_t comment_size = 0, moment_size = 0;
    FILE *out = sql_begin_text(t, &comment, &comment_size);
    FILE *time = sql_begin_text(t, &moment, &moment_size);
    bool of_run = false;
    if (out && set->kind == SET_LIVE_AT) {
        fputs("live at ", out);
        sql_put_moment_text(out, &set->moment);
    } else if (out) {
        fputs(set->kind == SET_LEAKED ? "leaked" : "survived", out);
    }
    sql_put_time(t, time, &set->moment, &of_run);
    sql_end_text(t, out);
    sql_end_text(t, time);
    sql_want(t, SQL_FREE_TIME);
    if (!end)
        sql_want(t, SQL_ALLOC_TIME);
    if (!t->failed) {
        sql_begin(t, comment, set->column);
        sql_put_all(t, &(struct sql_rows){.kind = KIND_ALLOCATIONS}, of_run && !end);
        if (end)
            fputs(" FROM block x WHERE x.free_time IS NULL", t->out);
        else
            fprintf(t->out,
                    " FROM block x%s\n  WHERE x.alloc_time <= %s AND (x.free_time IS NULL OR "
                    "x.free_time > %s)",
                    of_run ? " JOIN run r ON r.session = x.session" : "", moment, moment);
    }
    FREE_ALL(comment, moment);
}

/* Writes the blocks that were live after a clear: schemas/filter-language.md, "Outlived". */
static void translate_outlived(struct translation *t, const struct filter_set *set)
{
    static const enum sql_column used[] = {SQL_STACK, SQL_FREE_STACK, SQL_ALLOC_TIME,
                                           SQL_FREE_TIME};
    static const char *const times[] = {"x.alloc_time", "x.free_time",
                                        "coalesce(x.free_time, r.end_ns)"};
    enum { BEGAN, FREED, ENDED, TIMES };
    char slot[48], length[64], part[TIMES][160];
    bool filled = sql_fill(slot, sizeof(slot), t->dialect->divide, "r.end_ns", "1024");
    snprintf(length, sizeof(length), "%s + 1", slot);
    for (int i = 0; i < TIMES; i++)
        filled = filled && sql_fill(part[i], sizeof(part[i]), t->dialect->divide, times[i], length);
    if (!filled)
        sql_fail_memory(t);
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
        sql_want(t, used[i]);
    sql_begin(t, "The parts of the run in which a clear freed blocks of a stack.", set->column);
    fprintf(t->out,
            "SELECT DISTINCT x.session AS session, x.stack AS stack, least(1023, %s) AS part\n"
            "  FROM block x JOIN run r ON r.session = x.session\n"
            "  JOIN clearing_stack c ON c.session = x.session AND c.stack_id = x.free_stack)",
            part[FREED]);
    sql_begin(t, "outlived", set->column);
    sql_put_all(t, &(struct sql_rows){.kind = KIND_ALLOCATIONS}, true);
    fprintf(t->out,
            "\n  FROM block x JOIN (SELECT DISTINCT x.session AS session, x.id AS id FROM block x\n"
            "    JOIN run r ON r.session = x.session\n"
            "    JOIN step_%u k ON k.session = x.session AND k.stack = x.stack\n"
            "    LEFT JOIN clearing_stack c ON c.session = x.session AND c.stack_id = x.stack\n"
            "    LEFT JOIN clearing_stack f ON f.session = x.session AND f.stack_id = "
            "x.free_stack\n    WHERE k.part > %s AND k.part + 10 <= least(1023, %s)\n"
            "      AND c.stack_id IS NULL AND f.stack_id IS NULL) y ON y.session = x.session AND "
            "y.id = x.id)",
            t->steps - 1, part[BEGAN], part[ENDED]);
}

static void translate_set(struct translation *t, const struct filter_set *set,
                          struct sql_rows *rows)
{
    *rows = (struct sql_rows){.kind = KIND_ALLOCATIONS};
    if (t->failed)
        return;
    switch (set->kind) {
    case SET_ALL:
        sql_begin(t, "all", set->column);
        fputs("SELECT x.* FROM block x)", t->out);
        break;
    case SET_LIVE_AT:
    case SET_LEAKED:
    case SET_SURVIVED:
        translate_live(t, set);
        if (set->kind == SET_LEAKED) {
            sql_want(t, SQL_RUNTIME);
            fputs(" AND NOT x.of_runtime", t->out);
        }
        if (set->kind != SET_LIVE_AT && t->use.arenas) {
            sql_want(t, set->kind == SET_LEAKED ? SQL_COLLECTING : SQL_SURVIVES);
            fputs(set->kind == SET_LEAKED ? " AND NOT x.of_collector" : " AND x.survives", t->out);
        }
        fputc(')', t->out);
        break;
    case SET_PIPELINE:
        translate_use(t, set, rows);
        return;
    case SET_OUTLIVED:
        translate_outlived(t, set);
        break;
    case SET_SESSION:
        SQL_FAIL(t, set->column,
                 "session has no translation: the query gives each session in the "
                 "database its own answer");
        break;
    case SET_UNREACHABLE:
    case SET_POSSIBLY:
        SQL_FAIL(t, set->column,
                 "%s has no translation: a query does not find the snapshot of "
                 "references that counts",
                 set->kind == SET_POSSIBLY ? "possibly" : "unreachable");
        break;
    case SET_PLUS:
    case SET_MINUS:
    case SET_BOTH:
        translate_pair(t, set, rows);
        return;
    }
    rows->step = t->steps;
}

/* ---- the result ---- */

/* Writes whose answer a row is: its session, or the keys of --by. */
static void put_whose(const struct translation *t, const char *table)
{
    if (t->use.by_count == 0)
        fprintf(t->out, "\nSELECT %s.session AS session", table);
    for (size_t i = 0; i < t->use.by_count; i++)
        fprintf(t->out, "%s%s.by_%zu AS \"%.*s\"", i == 0 ? "\nSELECT " : ", ", table, i + 1,
                t->use.by[i].length, t->use.by[i].key);
}

/* Writes the table `r` of all sessions or groups of them, joined with the rows `x` of a table that
 * has their `scope`, and the GROUP BY that makes one row of each. */
static void put_each(const struct translation *t, const char *table, const char *scope)
{
    if (t->use.by_count == 0) {
        fprintf(t->out, "\nFROM run r LEFT JOIN %s x ON x.session = r.session\nGROUP BY r.session",
                table);
        return;
    }
    fprintf(t->out, "\nFROM unit r LEFT JOIN %s x ON x.%s = r.unit\nGROUP BY r.unit, r.sessions",
            table, scope);
    for (size_t i = 0; i < t->use.by_count; i++)
        fprintf(t->out, ", r.by_%zu", i + 1);
}

/* Writes the running sum of the live bytes, and where it is first largest. Frees come before the
 * allocations of the same time, so one number orders the events: the sum is largest after the last
 * allocation of a time. */
static void put_peak(struct translation *t, const struct sql_rows *rows)
{
    fprintf(t->out,
            ",\n-- The largest live bytes, and the first moment that had them.\nevent AS (\n"
            "  SELECT x.session AS session, 2 * x.alloc_time + 1 AS moment, x.bytes AS change FROM "
            "step_%u x\n  UNION ALL SELECT x.session, 2 * x.free_time, -x.bytes FROM step_%u x "
            "WHERE x.free_time IS NOT NULL)",
            rows->step, rows->step);
    fputs(",\nrunning AS (\n  SELECT e.session AS session, e.moment AS moment,\n    sum(e.change) "
          "OVER (PARTITION BY e.session ORDER BY e.moment ROWS UNBOUNDED PRECEDING) AS live\n"
          "  FROM event e),\nmost AS (\n  SELECT e.session AS session, max(e.live) AS live FROM "
          "running e GROUP BY e.session)",
          t->out);
    fputs(",\npeak AS (\n  SELECT m.session AS session, m.live AS live, min(e.moment) AS moment\n"
          "  FROM most m JOIN running e ON e.session = m.session AND e.live = m.live\n  GROUP BY "
          "m.session, m.live)",
          t->out);
    fputs("\nSELECT r.session AS session, CASE WHEN r.machines = 1 THEN coalesce(p.live, 0) END AS "
          "value,\n  CASE WHEN r.machines > 1 THEN NULL WHEN p.live > 0 THEN ",
          t->out);
    sql_put_form(t->out, t->dialect->divide, "p.moment", "2");
    fputs(" ELSE 0 END AS \"time\"\nFROM run r LEFT JOIN peak p ON p.session = r.session", t->out);
}

/* Writes a condition that a block was live at a moment. */
static void put_live(struct translation *t, const struct filter_value *moment)
{
    bool of_run = false;
    if (moment->moment == MOMENT_END) {
        fputs("x.free_time IS NULL", t->out);
        return;
    }
    fputs("(x.alloc_time <= ", t->out);
    sql_put_time(t, t->out, moment, &of_run);
    fputs(" AND (x.free_time IS NULL OR x.free_time > ", t->out);
    sql_put_time(t, t->out, moment, &of_run);
    fputs("))", t->out);
}

static void put_growth(struct translation *t, const struct sql_rows *rows)
{
    static const struct {
        const char *name, *of, *at_from, *at_to;
    } parts[] = {{"born", "x.bytes", "NOT x.at_from", "x.at_to"},
                 {"died", "x.bytes", "x.at_from", "NOT x.at_to"},
                 {"stayed", "x.bytes", "x.at_from", "x.at_to"},
                 {"born_blocks", "x.blocks", "NOT x.at_from", "x.at_to"},
                 {"died_blocks", "x.blocks", "x.at_from", "NOT x.at_to"},
                 {"stayed_blocks", "x.blocks", "x.at_from", "x.at_to"}};
    const bool by = t->use.by_count > 0;
    fprintf(
        t->out,
        ",\n-- Which blocks were live at both moments.\nmoments AS (\n  SELECT x.%s AS session, "
        "x.blocks AS blocks, x.bytes AS bytes,\n    ",
        sql_scope(t, rows));
    put_live(t, &rows->measure->from);
    fputs(" AS at_from,\n    ", t->out);
    put_live(t, &rows->measure->to);
    fprintf(t->out,
            " AS at_to\n  FROM step_%u x JOIN run r ON r.session = x.session),\nparts AS (\n"
            "  SELECT %s",
            rows->step, by ? "r.unit AS unit, r.sessions AS sessions" : "r.session AS session");
    for (size_t i = 0; i < t->use.by_count; i++)
        fprintf(t->out, ", r.by_%zu AS by_%zu", i + 1, i + 1);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        char condition[64];
        snprintf(condition, sizeof(condition), "%s AND %s", parts[i].at_from, parts[i].at_to);
        fputs(",\n    coalesce(", t->out);
        sql_put_sum_if(t, condition, parts[i].of);
        fprintf(t->out, ", 0) AS %s", parts[i].name);
    }
    put_each(t, "moments", "session");
    fputc(')', t->out);
    put_whose(t, "r");
    fprintf(t->out, "%s, r.born - r.died AS value", by ? ", r.sessions" : "");
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        fprintf(t->out, ", r.%s", parts[i].name);
    fputs("\nFROM parts r", t->out);
}

/* Writes the number of a field, of its rows. */
static void put_number_of(struct translation *t, const struct sql_rows *rows, bool groups)
{
    const struct filter_step *step = rows->measure;
    const struct filter_field_use use = field_of(step);
    char *name = sql_field_text(t, &use, groups), column[100], value[160];
    snprintf(column, sizeof(column), "x.%s", name ? name : "");
    free(name);
    const bool bytes = !groups && step->field == FIELD_SIZE;
    if (bytes)
        sql_want(t, SQL_BYTES);
    if (groups)
        snprintf(value, sizeof(value), "%s", column);
    else if (bytes)
        snprintf(value, sizeof(value), "x.bytes");
    else
        snprintf(value, sizeof(value), "CAST(%s AS %s) * x.blocks", column, t->dialect->wide);
    switch (step->kind) {
    case STEP_SUM:
        fputs("coalesce(", t->out);
        sql_put_sum(t, value);
        fputs(", 0)", t->out);
        break;
    case STEP_AVG: {
        /* The mean of the rows that are not null. */
        char sum[200], rows_of[256];
        snprintf(sum, sizeof(sum), "sum(%s)", value);
        snprintf(rows_of, sizeof(rows_of), "nullif(sum(CASE WHEN %s IS NOT NULL THEN %s END), 0)",
                 column, groups ? "1" : "x.blocks");
        sql_put_form(t->out, t->dialect->divide, sum, rows_of);
        break;
    }
    default:
        fprintf(t->out, "%s(%s)", step->kind == STEP_MIN ? "min" : "max", column);
        break;
    }
}

static void put_measure(struct translation *t, const struct sql_rows *rows)
{
    const bool groups = rows->key_count > 0;
    sql_want(t, SQL_BLOCKS);
    if (rows->measure->kind == STEP_PEAK || rows->measure->kind == STEP_GROWTH) {
        sql_want(t, SQL_BYTES);
        sql_want(t, SQL_ALLOC_TIME);
        sql_want(t, SQL_FREE_TIME);
        if (rows->measure->kind == STEP_GROWTH) {
            put_growth(t, rows);
            return;
        }
        if (t->use.by_count > 0)
            SQL_FAIL(t, rows->measure->column, "a peak is of one session: leave out --by");
        put_peak(t, rows);
        return;
    }
    char step[24];
    snprintf(step, sizeof(step), "step_%u", rows->step);
    put_whose(t, "r");
    fputs(t->use.by_count > 0 ? ", r.sessions, " : ", ", t->out);
    if (rows->measure->kind == STEP_COUNT)
        fputs(groups ? "count(x.session)" : "coalesce(sum(x.blocks), 0)", t->out);
    else
        put_number_of(t, rows, groups);
    fputs(" AS value", t->out);
    put_each(t, step, groups ? "session" : "unit");
}

/* Writes the columns of blocks that the result shows. */
static void put_blocks(struct translation *t, const struct sql_rows *rows)
{
    static const enum sql_column shown[] = {
        SQL_SIZE,        SQL_COUNT, SQL_ADDRESS,    SQL_TYPE,      SQL_FUNCTION,
        SQL_USER,        SQL_FILE,  SQL_LINE,       SQL_MODULE,    SQL_STACK,
        SQL_THREAD_NAME, SQL_KIND,  SQL_ALLOC_TIME, SQL_FREE_TIME, SQL_LIFETIME};
    fputs("\nSELECT x.session, x.id", t->out);
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        sql_want(t, shown[i]);
        fprintf(t->out, ", x.%s%s", sql_column_name(shown[i]),
                shown[i] == SQL_THREAD_NAME ? " AS thread" : "");
    }
    for (size_t i = 0; i < t->use.reading_count; i++)
        fprintf(t->out, ", x.resident_%zu", i + 1);
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
    fprintf(t->out, "\nFROM step_%u x", rows->step);
}

static void put_groups(struct translation *t, const struct sql_rows *rows)
{
    put_whose(t, t->use.by_count > 0 ? "u" : "x");
    sql_put_keys(t, rows, "x", 0);
    sql_put_measures(t);
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
    fprintf(t->out, "\nFROM step_%u x%s", rows->step,
            t->use.by_count > 0 ? " JOIN unit u ON u.unit = x.session" : "");
}

static void put_result(struct translation *t, const struct sql_rows *rows)
{
    const bool by = t->use.by_count > 0;
    const char *collate = by ? "" : t->dialect->collate;
    if (by && rows->kind == KIND_ALLOCATIONS)
        SQL_FAIL(t, 1,
                 "--by sums up: the filter must end in groups or a measure, as join type or count "
                 "make them");
    if (rows->kind == KIND_MEASURE) {
        put_measure(t, rows);
        fprintf(t->out, "\nORDER BY r.%s%s", by ? "unit" : "session", collate);
    } else {
        if (rows->kind == KIND_GROUPS)
            put_groups(t, rows);
        if (rows->kind == KIND_ALLOCATIONS)
            put_blocks(t, rows);
        fprintf(t->out, "\nORDER BY x.session%s, ", collate);
        put_orders(t, rows);
    }
    fprintf(t->out, "%s;\n", t->dialect->end);
}

/* ---- all ---- */

/* Writes the expressions after `block`, and the result. */
static bool translate(struct translation *t, const struct filter_pipeline *pipeline, char **text)
{
    struct sql_rows rows = {.step = 0};
    size_t size = 0;
    t->steps = t->tables = 0;
    *text = NULL;
    t->out = sql_begin_text(t, text, &size);
    if (t->out)
        translate_pipeline(t, pipeline, &rows);
    if (!t->failed)
        put_result(t, &rows);
    sql_end_text(t, t->out);
    return !t->failed;
}

/* Returns true if something is used that was not before. Nothing goes. */
static bool uses_more(const struct sql_use *now, const struct sql_use *before)
{
    return memcmp(now->column, before->column, sizeof(now->column)) != 0 ||
           now->frame_count != before->frame_count || now->mark_count != before->mark_count ||
           now->reading_count != before->reading_count || now->stacks != before->stacks ||
           now->arenas != before->arenas || now->processes != before->processes;
}

static char *write_query(struct translation *t, const struct filter_pipeline *pipeline,
                         const char *filter, enum session_dialect dialect)
{
    static const char *const databases[DIALECT_TOTAL] = {"DuckDB", "PostgreSQL", "ClickHouse"};
    char *body = NULL, *query = NULL;
    size_t size = 0;
    struct translation before;
    t->use.arenas = filter_mentions(pipeline, FIELD_ARENA);
    t->use.processes = filter_mentions(pipeline, FIELD_PROCESS);
    t->use.column[SQL_UNIT] = t->use.by_count > 0;
    /* A step that uses one more column changes those before it. */
    do {
        before = *t;
        free(body);
        if (!translate(t, pipeline, &body)) {
            free(body);
            return NULL;
        }
    } while (uses_more(&t->use, &before.use) ||
             memcmp(before.measures, t->measures, sizeof(t->measures)) != 0);
    FILE *out = sql_begin_text(t, &query, &size);
    if (out) {
        fputs("-- ", out);
        sql_put_comment(out, filter && *filter ? filter : "all");
        fprintf(out, "\n-- for the tables of mprof-export --tables in %s\nWITH%s\n",
                databases[dialect], t->use.recursive ? " RECURSIVE" : "");
        sql_put_block(out, &t->use, t->dialect);
        fputs(body, out);
    }
    sql_end_text(t, out);
    free(body);
    if (!t->failed)
        return query;
    free(query);
    return NULL;
}

char *session_translate(struct session *session, const char *text, enum session_dialect dialect,
                        const char *by, struct session_error *error)
{
    struct filter_names *names = graph_names_new(session);
    if (names)
        names->parameters = true;
    struct filter_graph *graph = names ? filter_parse_named(text, names, error) : NULL;
    struct translation *t = graph ? calloc(1, sizeof(*t)) : NULL;
    char *query = NULL;
    if (t) {
        t->dialect = &sql_dialects[dialect];
        t->error = error;
        for (; by && *by && t->use.by_count < SQL_BY_MOST; by += *by == ',') {
            const int length = (int)strcspn(by, ",");
            t->use.by[t->use.by_count++] = (struct sql_by){by, length};
            by += length;
        }
        query = write_query(t, filter_graph_pipeline(graph), text, dialect);
        if (!query && error)
            filter_place_error(NULL, error);
    } else if (!names || graph) {
        session_fail_memory(error, "the query");
    }
    free(t);
    filter_graph_free(graph);
    graph_names_free(names);
    return query;
}
