/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates the steps that make groups of blocks, and take them apart: the keys and measures of
 * groups, and the columns of either kind of rows. */
#include <inttypes.h>
#include <string.h>

#include "session/filter/sql_columns.h"

/* ---- the columns of rows ---- */

void sql_put_keys(struct translation *t, const struct sql_rows *rows, const char *table,
                  unsigned forms)
{
    for (size_t i = 0; i < rows->key_count; i++) {
        const struct filter_field_use *key = &rows->keys[i];
        const enum sql_column name = sql_name_of(key->field);
        fprintf(t->out, ", %s.", table);
        sql_put_field(t, t->out, key, (forms & KEYS_OF_BLOCKS) == 0);
        if ((forms & KEYS_NAMED) != 0) {
            fputs(" AS ", t->out);
            sql_put_field(t, t->out, key, true);
        }
        if (name == SQL_NONE || (forms & KEYS_ALONE) != 0)
            continue;
        const char *const column = sql_column_name(name);
        if ((forms & KEYS_GROUPED) != 0)
            fprintf(t->out, ", max(%s.%s) AS %s", table, column, column);
        else
            fprintf(t->out, ", %s.%s AS %s", table, column, column);
    }
}

/* The measures of groups that cost little, and are always there. */
static bool is_plain(enum filter_field field)
{
    return field <= FIELD_DIED_OVER && field != FIELD_PEAK_BYTES;
}

void sql_put_measures(const struct translation *t)
{
    for (int field = FIELD_ALLOCATIONS; field < FIELD_TOTAL; field++)
        if ((is_plain((enum filter_field)field) || t->measures[field]) &&
            !(t->use.by_count > 0 && sql_is_of_session((enum filter_field)field)))
            fprintf(t->out, ", x.%s", filter_fields[field].name);
    if (t->use.by_count > 0)
        fputs(", x.sessions", t->out);
}

void sql_put_row_columns(struct translation *t, const struct sql_rows *rows)
{
    fputs("x.session AS session", t->out);
    if (rows->kind != KIND_GROUPS) {
        fputs(", x.id", t->out);
        sql_put_columns(t->out, &t->use, "x");
        return;
    }
    sql_put_keys(t, rows, "x", 0);
    sql_put_measures(t);
}

void sql_put_all(struct translation *t, const struct sql_rows *rows, bool joined)
{
    if (!joined) {
        fputs("SELECT x.*", t->out);
        return;
    }
    fputs("SELECT ", t->out);
    sql_put_row_columns(t, rows);
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
}

/* ---- groups ---- */

/* Writes that two rows have equal keys: null equals null. `scope` is the session of the left one.
 */
static void put_same_keys(struct translation *t, const struct sql_rows *rows, const char *left,
                          const char *right, const char *scope)
{
    fprintf(t->out, "%s.%s = %s.session", left, scope, right);
    for (size_t i = 0; i < rows->key_count; i++) {
        const char *null = sql_null_of(rows->keys[i].field);
        const char *const sides[] = {left, right};
        for (size_t side = 0; side < 2; side++) {
            fprintf(t->out, "%s%s%s.", side == 0 ? "\n    AND " : " = ", null ? "coalesce(" : "",
                    sides[side]);
            sql_put_field(t, t->out, &rows->keys[i], true);
            if (null)
                fprintf(t->out, ", %s)", null);
        }
        for (size_t side = 0; null && side < 2; side++) {
            fprintf(t->out, "%s%s.", side == 0 ? " AND (" : " = (", sides[side]);
            sql_put_field(t, t->out, &rows->keys[i], true);
            fputs(" IS NULL)", t->out);
        }
    }
}

/* A condition on a block that was live at a moment. */
#define LIVE_AT(moment)                                                                            \
    "x.alloc_time <= " moment " AND (x.free_time IS NULL OR x.free_time > " moment ")"

void sql_put_sum_if(struct translation *t, const char *condition, const char *of)
{
    char text[512];
    snprintf(text, sizeof(text), "CASE WHEN %s THEN %s ELSE 0 END", condition, of);
    sql_put_sum(t, text);
}

/* Writes how often the live bytes rise between the middles of the tenths of the run. */
static void put_rises(struct translation *t)
{
    for (int i = 1; i < 10; i++) {
        fputs(i > 1 ? "\n      + CASE WHEN " : "CASE WHEN ", t->out);
        for (int k = i; k >= i - 1; k--) {
            char product[48], point[96], live[300];
            snprintf(product, sizeof(product), "r.end_ns * %d", 2 * k + 1);
            sql_fill(point, sizeof(point), t->dialect->divide, product, "20");
            snprintf(live, sizeof(live),
                     "x.alloc_time <= %s AND (x.free_time IS NULL OR x.free_time > %s)", point,
                     point);
            sql_put_sum_if(t, live, "x.bytes");
            fputs(k == i ? " > " : " THEN 1 ELSE 0 END", t->out);
        }
    }
    fputs(" AS rises", t->out);
}

static void put_sums(struct translation *t, const struct sql_rows *groups, unsigned blocks)
{
    const char *scope = sql_scope(t, &(struct sql_rows){.kind = KIND_ALLOCATIONS});
    static const enum sql_column used[] = {SQL_SIZE,     SQL_COUNT,  SQL_ALLOC_TIME, SQL_FREE_TIME,
                                           SQL_LIFETIME, SQL_BLOCKS, SQL_BYTES};
    static const char ended[] = "coalesce(x.free_time, greatest(r.end_ns, x.alloc_time))";
    const struct {
        const char *of, *as;
    } sums[] = {
        {"x.blocks", "allocations"},
        {"x.bytes", "bytes"},
        {"x.\"count\" * x.blocks", "objects"},
        {"CASE WHEN x.free_time IS NULL THEN x.bytes ELSE 0 END", "live_bytes"},
        {"CASE WHEN x.free_time IS NULL THEN x.blocks ELSE 0 END", "live_count"},
    };
    char lifetimes[128];
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
        sql_want(t, used[i]);
    fprintf(t->out, "SELECT x.%s AS session", scope);
    sql_put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_GROUPED);
    if (t->use.by_count > 0)
        fputs(",\n    count(DISTINCT x.session) AS sessions", t->out);
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
        fputs(",\n    ", t->out);
        sql_put_sum(t, sums[i].of);
        fprintf(t->out, " AS %s", sums[i].as);
    }
    fputs(",\n    CASE WHEN max(r.machines) = 1 THEN ", t->out);
    sql_put_sum_if(t, LIVE_AT("r.peak_ns"), "x.bytes");
    fputs(" END AS at_peak_bytes,\n    ", t->out);
    sql_put_form(t->out, t->dialect->divide, "sum(x.bytes)", "sum(x.blocks)");
    fputs(" AS avg_size,\n    ", t->out);
    snprintf(lifetimes, sizeof(lifetimes), "sum(CAST(x.lifetime AS %s) * x.blocks)",
             t->dialect->wide);
    sql_put_form(t->out, t->dialect->divide, lifetimes, "sum(x.blocks)");
    fprintf(t->out,
            " AS avg_lifetime,\n    min(x.size) AS min_size, max(x.size) AS max_size,\n"
            "    min(x.lifetime) AS min_lifetime, max(x.lifetime) AS max_lifetime,\n"
            "    min(x.alloc_time) AS first_time, max(x.alloc_time) AS last_time,\n"
            "    max(x.alloc_time) - min(x.alloc_time) AS born_over,\n    max(%s)\n      - min(%s) "
            "AS died_over",
            ended, ended);
    if (t->measures[FIELD_RISES]) {
        fputs(",\n    ", t->out);
        put_rises(t);
    }
    if (t->measures[FIELD_WASTED]) {
        sql_want(t, SQL_PADDING);
        fputs(",\n    ", t->out);
        sql_put_sum(t, "x.padding * x.\"count\" * x.blocks");
        fputs(" AS wasted", t->out);
    }
    fprintf(t->out, "\n  FROM step_%u x JOIN run r ON r.session = x.session\n  GROUP BY x.%s",
            blocks, scope);
    sql_put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_ALONE);
}

/* Writes the largest live bytes of each group: a running sum over its events. */
static void put_peaks(struct translation *t, const struct sql_rows *groups, unsigned blocks)
{
    fprintf(t->out,
            ",\n-- The largest live bytes of each group.\nstep_%u_peaks AS (\n  SELECT "
            "x.session AS session",
            t->steps);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputs(", max(x.live) AS peak_bytes\n  FROM (SELECT x.session AS session", t->out);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputs(",\n      sum(x.change) OVER (PARTITION BY x.session", t->out);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputs(" ORDER BY x.moment\n        ROWS UNBOUNDED PRECEDING) AS live\n    FROM (", t->out);
    for (int born = 1; born >= 0; born--) {
        fputs("SELECT x.session AS session", t->out);
        sql_put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_ALONE);
        fprintf(t->out,
                born ? ", 2 * x.alloc_time + 1 AS moment, x.bytes AS change FROM step_%u x\n"
                       "      UNION ALL "
                     : ", 2 * x.free_time, -x.bytes FROM step_%u x WHERE x.free_time IS NOT NULL",
                blocks);
    }
    fputs(") x) x\n  GROUP BY x.session", t->out);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputc(')', t->out);
}

/* Writes the blocks that climb from the one before in their group, and the bytes of that one. */
static void put_climbs(struct translation *t, const struct sql_rows *groups, unsigned blocks)
{
    static const struct {
        const char *column, *as;
        int before;
    } lags[] = {
        {"id", "last_id", 1},          {"size", "last_size", 1}, {"alloc_time", "last_alloc", 1},
        {"free_time", "last_free", 1}, {"id", "id_before", 2},   {"free_time", "free_before", 2}};
    sql_want(t, SQL_REALLOC_OF);
    fprintf(t->out,
            ",\n-- Blocks that climb from the one before.\nstep_%u_climbs AS (\n  SELECT "
            "x.session AS session",
            t->steps);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputs(",\n    ", t->out);
    sql_put_form(t->out, t->dialect->divide, "100 * count(x.climbed_from)", "count(*)");
    fputs(" AS climb,\n    CASE WHEN sum(x.size) = 0 THEN 0 ELSE ", t->out);
    sql_put_form(t->out, t->dialect->divide, "100 * coalesce(sum(x.climbed_from), 0)",
                 "CASE WHEN sum(x.size) = 0 THEN 1 ELSE sum(x.size) END");
    fputs(" END AS replaced\n  FROM (SELECT x.session AS session", t->out);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputs(", x.size AS size,\n      CASE WHEN x.size > x.last_size AND x.last_free IS NOT NULL AND "
          "(x.realloc_of = x.last_id\n        OR (x.last_alloc <= x.alloc_time AND x.alloc_time <= "
          "x.last_free\n          AND (x.id_before IS NULL OR x.free_before <= x.alloc_time)))\n"
          "        THEN x.last_size END AS climbed_from\n    FROM (SELECT x.session AS session",
          t->out);
    sql_put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_ALONE);
    fputs(", x.size AS size, x.alloc_time AS alloc_time, x.realloc_of AS realloc_of", t->out);
    for (size_t i = 0; i < sizeof(lags) / sizeof(*lags); i++) {
        char column[32];
        snprintf(column, sizeof(column), "x.%s", lags[i].column);
        fputs(",\n        lag(", t->out);
        sql_put_form(t->out, t->dialect->nullable, column, "");
        fprintf(t->out, ", %d) OVER w AS %s", lags[i].before, lags[i].as);
    }
    fprintf(t->out, "\n      FROM step_%u x\n      WINDOW w AS (PARTITION BY x.session", blocks);
    sql_put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_ALONE);
    fputs(", ", t->out);
    sql_put_form(t->out, t->dialect->divide, "x.id - 1", "65536");
    fputs(" ORDER BY x.id)) x) x\n  GROUP BY x.session", t->out);
    sql_put_keys(t, groups, "x", KEYS_ALONE);
    fputc(')', t->out);
}

/* Writes the measures that need more than the sums. */
static void put_more_measures(struct translation *t, const struct sql_rows *groups)
{
    const bool peaks = t->measures[FIELD_PEAK_BYTES] || t->measures[FIELD_TURNOVER];
    const bool climbs = t->measures[FIELD_CLIMB] || t->measures[FIELD_REPLACED];
    fputs("SELECT s.session AS session", t->out);
    sql_put_keys(t, groups, "s", KEYS_NAMED);
    for (int field = FIELD_ALLOCATIONS; field < FIELD_TOTAL; field++)
        if (is_plain((enum filter_field)field) ||
            (t->measures[field] && (field == FIELD_RISES || field == FIELD_WASTED)))
            fprintf(t->out, ", s.%s", filter_fields[field].name);
    if (t->use.by_count > 0)
        fputs(", s.sessions", t->out);
    if (t->measures[FIELD_PEAK_BYTES])
        fputs(", CASE WHEN r.machines = 1 THEN p.peak_bytes END AS peak_bytes", t->out);
    if (t->measures[FIELD_CLIMB])
        fputs(", c.climb AS climb", t->out);
    if (t->measures[FIELD_REPLACED])
        fputs(", c.replaced AS replaced", t->out);
    if (t->measures[FIELD_TURNOVER]) {
        fputs(",\n    CASE WHEN r.machines > 1 THEN NULL WHEN p.peak_bytes = 0 THEN 0 ELSE ",
              t->out);
        sql_put_form(t->out, t->dialect->divide, "s.bytes",
                     "CASE WHEN p.peak_bytes = 0 THEN 1 ELSE p.peak_bytes END");
        fputs(" END AS turnover", t->out);
    }
    if (t->measures[FIELD_SHARE]) {
        fputs(",\n    ", t->out);
        sql_put_form(t->out, t->dialect->divide, "100 * s.allocations",
                     "sum(s.allocations) OVER (PARTITION BY s.session)");
        fputs(" AS share", t->out);
    }
    fprintf(t->out, "\n  FROM step_%u_sums s", t->steps);
    if (peaks) {
        fprintf(t->out, "\n  JOIN run r ON r.session = s.session\n  JOIN step_%u_peaks p ON ",
                t->steps);
        put_same_keys(t, groups, "s", "p", "session");
    }
    if (climbs) {
        fprintf(t->out, "\n  JOIN step_%u_climbs c ON ", t->steps);
        put_same_keys(t, groups, "s", "c", "session");
    }
}

/* Writes the stacks with their bytes and the functions of their paths. */
static void put_paths(struct translation *t, unsigned blocks, bool by)
{
    fprintf(t->out,
            "SELECT f.session AS session, f.stack_id AS stack_id, %s AS unit, f.bytes AS bytes,\n"
            "    p.path AS path, ",
            by ? "f.unit" : "0");
    sql_put_form(t->out, t->dialect->length, "p.path", "");
    fprintf(t->out,
            " AS place\n  FROM (SELECT x.session AS session, coalesce(x.stack, 0) AS stack_id%s, ",
            by ? ", x.unit AS unit" : "");
    sql_put_sum(t, "x.bytes");
    fprintf(t->out,
            " AS bytes\n    FROM step_%u x GROUP BY x.session, coalesce(x.stack, 0)%s) f\n"
            "  LEFT JOIN (SELECT w.session AS session, w.stack_id AS stack_id, %s AS path\n",
            blocks, by ? ", x.unit" : "", t->dialect->path);
    fputs("    FROM frames_of_stack w\n    LEFT JOIN call_site c ON c.session = w.session AND "
          "c.stack_id = w.stack_id\n    WHERE w.depth >= coalesce(c.depth, 0) GROUP BY w.session, "
          "w.stack_id) p\n    ON p.session = f.session AND p.stack_id = f.stack_id)",
          t->out);
}

/* Writes the blocks with their paths. Each stack begins at the node of all its functions. From the
 * deepest level on, the stacks at one node stay there together if they hold enough, or move to the
 * node above. */
static void put_fold(struct translation *t, const struct filter_step *step, struct sql_rows *rows)
{
    const struct sql_rows blocks = {.kind = KIND_ALLOCATIONS};
    const bool by = t->use.by_count > 0;
    char path[96] = "";
    sql_want(t, SQL_STACK);
    sql_want(t, SQL_BYTES);
    t->use.sites = t->use.recursive = true;
    if (!sql_fill(path, sizeof(path), t->dialect->slice, "f.path", "f.place"))
        sql_fail_memory(t);
    sql_begin(t, step->text, step->column);
    put_paths(t, rows->step, by);
    fprintf(
        t->out,
        ",\nstep_%u_fold AS (\n  SELECT f.session AS session, f.stack_id AS stack_id, f.unit AS "
        "unit, f.bytes AS bytes,\n    f.path AS path, f.place AS place, m.level AS level, 0 AS "
        "kept\n  FROM step_%u f CROSS JOIN (SELECT max(place) AS level FROM step_%u) m\n",
        t->steps, t->steps, t->steps);
    fprintf(t->out,
            "  UNION ALL\n  SELECT f.session, f.stack_id, f.unit, f.bytes, f.path,\n    CASE WHEN "
            "f.place = f.level AND f.kept = 0 AND f.held < %" PRIu64 " AND f.place > 0\n      THEN "
            "f.place - 1 ELSE f.place END,\n    f.level - 1,\n    CASE WHEN f.kept = 1 OR (f.place "
            "= f.level AND (f.held >= %" PRIu64 " OR f.place = 0)) THEN 1 ELSE 0 END\n",
            step->limit, step->limit);
    fputs(
        "  FROM (SELECT e.session AS session, e.stack_id AS stack_id, e.unit AS unit, e.bytes AS "
        "bytes,\n      e.path AS path, e.place AS place, e.level AS level, e.kept AS kept,\n      ",
        t->out);
    sql_put_sum_if(t, "e.place = e.level AND e.kept = 0", "e.bytes");
    fprintf(t->out, " OVER (PARTITION BY e.%s, ", sql_scope(t, &blocks));
    sql_put_form(t->out, t->dialect->slice, "e.path", "e.level");
    fprintf(t->out, ") AS held\n    FROM step_%u_fold e WHERE e.level >= 0) f)", t->steps);
    const unsigned fold = t->steps;
    sql_begin(t, "The blocks with their paths.", step->column);
    fputs("SELECT ", t->out);
    sql_put_row_columns(t, &blocks);
    if (t->use.column[SQL_COLOR])
        fputs(", x.color AS color", t->out);
    fputs(",\n    nullif(", t->out);
    sql_put_form(t->out, t->dialect->joined, path, "");
    fprintf(t->out,
            ", '') AS path\n  FROM step_%u x JOIN step_%u_fold f ON f.session = x.session AND "
            "f.stack_id = coalesce(x.stack, 0)\n  WHERE f.level = -1)",
            rows->step, fold);
    rows->step = t->steps;
}

void sql_translate_join(struct translation *t, const struct filter_step *step,
                        struct sql_rows *rows)
{
    if (step->kind == STEP_FOLD)
        put_fold(t, step, rows);
    const unsigned blocks = rows->step;
    const bool peaks = t->measures[FIELD_PEAK_BYTES] || t->measures[FIELD_TURNOVER];
    const bool climbs = t->measures[FIELD_CLIMB] || t->measures[FIELD_REPLACED];
    const bool colors = t->use.column[SQL_COLOR];
    const bool more = peaks || climbs || t->measures[FIELD_SHARE];
    bool by_color = false;
    *rows = (struct sql_rows){
        .kind = KIND_GROUPS, .members = blocks, .keys = step->keys, .key_count = step->key_count};
    for (size_t i = 0; i < step->key_count; i++) {
        const enum filter_field field = step->keys[i].field;
        by_color |= field == FIELD_COLOR;
        if (t->use.by_count > 0 && (sql_name_of(field) != SQL_NONE || field == FIELD_STACK ||
                                    field == FIELD_FREE_STACK || field == FIELD_ID))
            SQL_FAIL(t, step->keys[i].column, "%s is a number of one session: leave out --by",
                     filter_fields[field].name);
    }
    sql_begin_part(t, step->text, step->column, more || colors ? "_sums" : "");
    rows->step = t->steps;
    put_sums(t, rows, blocks);
    fputc(')', t->out);
    if (peaks)
        put_peaks(t, rows, blocks);
    if (climbs)
        put_climbs(t, rows, blocks);
    if (!more && !colors)
        return;
    fprintf(t->out, ",\nstep_%u AS (\n  ", t->steps);
    if (!more || colors)
        fputs("SELECT s.*", t->out);
    else
        put_more_measures(t, rows);
    if (colors) {
        fprintf(t->out, ", %s AS color\n  FROM ", by_color ? "s.color_key" : t->dialect->no_color);
        if (more) {
            fputc('(', t->out);
            put_more_measures(t, rows);
            fputs(") s", t->out);
        } else {
            fprintf(t->out, "step_%u_sums s", t->steps);
        }
    }
    fputc(')', t->out);
}

void sql_translate_ungroup(struct translation *t, const struct filter_step *step,
                           struct sql_rows *rows)
{
    struct sql_rows blocks = {.step = rows->members, .kind = KIND_ALLOCATIONS};
    sql_begin(t, step->text, step->column);
    fputs("SELECT ", t->out);
    sql_put_row_columns(t, &blocks);
    if (t->use.column[SQL_COLOR])
        fputs(", coalesce(g.color, x.color) AS color", t->out);
    /* The keys of the blocks have the names of groups. */
    fprintf(t->out, "\n  FROM (SELECT x.*");
    for (size_t i = 0; i < rows->key_count; i++)
        if (rows->keys[i].field == FIELD_COLOR)
            fputs(", x.color AS color_key", t->out);
    fprintf(t->out, " FROM step_%u x) x\n  JOIN step_%u g ON ", rows->members, rows->step);
    put_same_keys(t, rows, "x", "g", sql_scope(t, &blocks));
    fputc(')', t->out);
    blocks.step = t->steps;
    *rows = blocks;
}
