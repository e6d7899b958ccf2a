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

#include "session/filter/graphs.h"
#include "session/filter/sql_columns.h"
#include "session/store/error.h"

const char *session_dialect_name(enum session_dialect dialect)
{
    static const char *const names[DIALECT_TOTAL] = {"duckdb", "postgresql", "clickhouse"};
    return names[dialect];
}

struct translation {
    FILE *out; /* the expressions after `block` */
    const struct sql_dialect *dialect;
    struct session_error *error;
    struct sql_use use;
    bool measures[FIELD_TOTAL]; /* of groups, that the filter names */
    unsigned steps, tables;     /* so far */
};

struct rows {
    unsigned step; /* the number of the expression */
    enum filter_kind kind;
    unsigned members; /* of groups: the expression with their blocks */
    const struct filter_field_use *keys;
    size_t key_count;
    const struct filter_step *sort;    /* NULL: the first order */
    const struct filter_step *measure; /* of a MEASURE */
};

/* The most expressions: each pipeline of a filter has several. */
enum { STEPS_MOST = 1000 };

static bool translate_set(struct translation *t, const struct filter_set *set, struct rows *rows);

/* ---- names ---- */

static void want(struct translation *t, enum sql_column column)
{
    if (column < SQL_COLUMNS)
        t->use.column[column] = true;
}

/* Stores the frame of a field among those that are used. Returns false with the error set. */
static bool want_frame(struct translation *t, enum filter_field field, uint32_t outward, int column,
                       struct sql_frame *frame)
{
    struct sql_use *use = &t->use;
    *frame = (struct sql_frame){field == FIELD_CALLER, field == FIELD_CALLER ? 1 : outward};
    for (size_t i = 0; i < use->frame_count; i++)
        if (use->frames[i].caller == frame->caller && use->frames[i].outward == frame->outward)
            return true;
    if (use->frame_count == SQL_FRAMES_MOST)
        return session_fail(t->error, column, "a query has at most %d frames", SQL_FRAMES_MOST);
    use->frames[use->frame_count++] = *frame;
    return true;
}

/* Stores the number of the readings nearest to a moment. Returns false with the error set. */
static bool want_reading(struct translation *t, const struct filter_field_use *use, size_t *reading)
{
    struct sql_use *const to = &t->use;
    for (*reading = 1; *reading <= to->reading_count; ++*reading)
        if (to->readings[*reading - 1] == use->moment)
            return true;
    if (to->reading_count == SQL_READINGS_MOST)
        return session_fail(t->error, use->column, "a query has at most %d times with resident",
                            SQL_READINGS_MOST);
    to->readings[to->reading_count++] = use->moment;
    return true;
}

/* Why the exported tables do not have a field. NULL: they have it. */
static const char *missing(enum filter_field field)
{
    switch (field) {
    case FIELD_PINS:
        return "the gaps beside a block";
    case FIELD_REACHABILITY:
    case FIELD_RETAINED:
    case FIELD_REFERENCES:
    case FIELD_DOMINATOR:
        return "the snapshot of references that counts for a block";
    default:
        return NULL;
    }
}

/* Returns true if a field of groups has a meaning within one session alone: --by has none. */
static bool is_of_session(enum filter_field field)
{
    return field == FIELD_PEAK_BYTES || (field >= FIELD_FIRST_TIME && field <= FIELD_TURNOVER);
}

/* Returns the column of the rows that belong together: of a session, with --by of a group of
 * sessions. The rows of groups have it in place of the session. */
static const char *scope_of(const struct translation *t, const struct rows *rows)
{
    return t->use.by_count > 0 && rows->kind != KIND_GROUPS ? "unit" : "session";
}

static struct filter_field_use field_of(const struct filter_step *step)
{
    return (struct filter_field_use){step->field, step->frame, step->field_column, step->moment};
}

/* Writes the column of a field. `key`: the one that was joined, not the colour of the group. */
static bool put_field(struct translation *t, FILE *out, const struct filter_field_use *use,
                      bool key)
{
    enum sql_column name;
    struct sql_frame frame;
    size_t reading;
    if (missing(use->field))
        return session_fail(t->error, use->column,
                            "%s has no translation: the exported tables do not have %s",
                            filter_fields[use->field].name, missing(use->field));
    if (filter_field_of_groups(use->field)) {
        if (t->use.by_count > 0 && is_of_session(use->field))
            return session_fail(t->error, use->column, "%s is of one session: leave out --by",
                                filter_fields[use->field].name);
        t->measures[use->field] = true;
        fputs(filter_fields[use->field].name, out);
        return true;
    }
    if (use->field == FIELD_FRAME || use->field == FIELD_CALLER) {
        if (!want_frame(t, use->field, use->frame, use->column, &frame))
            return false;
        sql_put_frame_name(out, &frame);
        return true;
    }
    if (use->field == FIELD_PATH) {
        fputs("path", out);
        return true;
    }
    if (use->field == FIELD_RESIDENT) {
        if (!want_reading(t, use, &reading))
            return false;
        fprintf(out, "resident_%zu", reading);
        return true;
    }
    const enum sql_column column = sql_column_of(use->field, &name);
    if (column == SQL_NONE)
        return session_fail(t->error, use->column, "%s has no translation",
                            filter_fields[use->field].name);
    want(t, column);
    want(t, name);
    fputs(key && column == SQL_COLOR ? "color_key" : sql_column_name(column), out);
    return true;
}

/* Returns what stands for null in a field, NULL if it is never null. */
static const char *null_of(enum filter_field field)
{
    enum sql_column name;
    if (field == FIELD_FRAME || field == FIELD_CALLER || field == FIELD_PATH)
        return "''";
    if (field == FIELD_RESIDENT)
        return "-1";
    const enum sql_column column = sql_column_of(field, &name);
    return column < SQL_COLUMNS ? sql_column_null(column) : NULL;
}

static enum sql_column name_of(enum filter_field field)
{
    enum sql_column name;
    sql_column_of(field, &name);
    return name;
}

/* ---- expressions ---- */

/* Begins the next expression, with a comment; a part of it has a suffix. */
static bool begin(struct translation *t, const char *comment, int column)
{
    if (++t->steps > STEPS_MOST)
        return session_fail(t->error, column, "the filter has more than %d steps", STEPS_MOST);
    fputs(",\n-- ", t->out);
    sql_put_comment(t->out, comment);
    fprintf(t->out, "\nstep_%u AS (\n  ", t->steps);
    return true;
}

static void put_form(struct translation *t, const char *form, const char *first, const char *second)
{
    sql_put_form(t->out, form, first, second);
}

/* Writes `sum` of an expression. */
static void put_sum(struct translation *t, const char *of)
{
    put_form(t, t->dialect->sum, of, "");
}

/* ---- predicates ---- */

/* A predicate while it is written. */
struct condition {
    struct translation *t;
    FILE *out, *joins;
    const struct rows *rows;
    bool negated; /* within a `not`: null must be false */
    bool of_run;  /* it needs `r` */
};

static const char *operator_text(enum filter_operator operator_)
{
    static const char *const texts[] = {
        [OPERATOR_EQUAL] = "=",       [OPERATOR_NOT_EQUAL] = "<>", [OPERATOR_LESS] = "<",
        [OPERATOR_LESS_EQUAL] = "<=", [OPERATOR_GREATER] = ">",    [OPERATOR_GREATER_EQUAL] = ">=",
    };
    return texts[operator_];
}

static bool put_number(struct condition *c, const struct filter_test *test,
                       const struct filter_value *value)
{
    const enum filter_type type = filter_fields[test->field].type;
    if (type == TYPE_MOMENT || type == TYPE_DURATION || value->parameter)
        return sql_put_moment(c->out, &c->t->use, c->t->dialect, value, &c->of_run, c->t->error);
    fprintf(c->out, "%" PRIu64, value->number);
    return true;
}

static void put_list(FILE *out, const char *column, const struct filter_item *items)
{
    const char *sign = "(";
    for (const struct filter_item *item = items; item; item = item->next) {
        fprintf(out, "%sx.%s BETWEEN %" PRIu64 " AND %" PRIu64, sign, column, item->low,
                item->high);
        sign = " OR ";
    }
    fputc(')', out);
}

/* Writes that a text matches the expression of a test. */
static bool put_match(struct translation *t, FILE *out, const char *of,
                      const struct filter_test *test)
{
    char *text = NULL;
    size_t size = 0;
    FILE *regex = open_memstream(&text, &size);
    bool good = regex || session_fail_memory(t->error, "the query");
    good = good && sql_put_regex(regex, t->dialect, test->low.text, test->low.column, t->error);
    if (regex && fclose(regex) != 0)
        good = session_fail_memory(t->error, "the query");
    if (good)
        sql_put_form(out, t->dialect->matches, of, text);
    free(text);
    return good;
}

/* Writes a test of functions of a stack: joins an expression with the stacks that have them. */
static bool put_stack(struct condition *c, const struct filter_test *test, const char *column)
{
    struct translation *t = c->t;
    const unsigned table = ++t->tables;
    t->use.stacks = true;
    fprintf(t->out,
            ",\n-- The stacks with such a function.\nstacks_%u AS (\n  SELECT DISTINCT session, "
            "stack_id FROM frames_of_stack WHERE ",
            table);
    if (test->operator_ == OPERATOR_HAS) {
        fputs("name = ", t->out);
        sql_put_text_value(t->out, t->dialect, &test->low);
    } else {
        if (!put_match(t, t->out, "name", test))
            return false;
    }
    fputc(')', t->out);
    fprintf(c->joins,
            "\n  LEFT JOIN stacks_%u ON stacks_%u.session = x.session AND stacks_%u.stack_id = "
            "x.%s",
            table, table, table, column);
    if (test->operator_ == OPERATOR_NOT_MATCH)
        fprintf(c->out, "x.%s IS NOT NULL AND stacks_%u.stack_id IS NULL", column, table);
    else
        fprintf(c->out, "stacks_%u.stack_id IS NOT NULL", table);
    return true;
}

/* Writes a comparison of a text, or of the number beside it. */
static bool put_text_test(struct condition *c, const struct filter_test *test, const char *column)
{
    const struct sql_dialect *dialect = c->t->dialect;
    char named[96];
    const enum sql_column name = name_of(test->field);
    snprintf(named, sizeof(named), "x.%s", name != SQL_NONE ? sql_column_name(name) : column);
    if (test->low.is_number) {
        if (test->field == FIELD_PROCESS) {
            if (c->rows->kind == KIND_GROUPS)
                return session_fail(c->t->error, test->column,
                                    "groups have no process ids: test process before the join");
            want(c->t, SQL_PID);
            column = sql_column_name(SQL_PID);
        }
        fprintf(c->out, "x.%s %s %" PRIu64, column, operator_text(test->operator_),
                test->low.number);
        return true;
    }
    if (test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH) {
        fputs(test->operator_ == OPERATOR_NOT_MATCH ? "NOT (" : "(", c->out);
        if (!put_match(c->t, c->out, named, test))
            return false;
        fputc(')', c->out);
        return true;
    }
    if (test->field == FIELD_FILE && !strchr(test->low.text, '/'))
        sql_put_form(c->out, dialect->last_part, named, "");
    else
        fputs(named, c->out);
    fprintf(c->out, " %s ", operator_text(test->operator_));
    sql_put_text_value(c->out, dialect, &test->low);
    return true;
}

/* Writes a test of confidence that fits the word `candidate`. */
static bool put_candidate(struct condition *c, const struct filter_test *test)
{
    if (c->rows->kind == KIND_GROUPS)
        return session_fail(c->t->error, test->column,
                            "groups have no candidates: test confidence before the join");
    want(c->t, SQL_CANDIDATE);
    fputs(test->operator_ == OPERATOR_EQUAL ? "x.candidate" : "NOT x.candidate", c->out);
    return true;
}

static bool put_values(struct condition *c, const struct filter_test *test, const char *column)
{
    const enum filter_type type = filter_fields[test->field].type;
    const bool stack = test->field == FIELD_STACK || test->field == FIELD_FREE_STACK;
    const bool match = test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        fprintf(c->out, "x.%s IS %sNULL", column,
                test->operator_ == OPERATOR_IS_NULL ? "" : "NOT ");
        return true;
    }
    if (test->low.parameter && (test->field == FIELD_CONFIDENCE || test->field == FIELD_FILE))
        return session_fail(c->t->error, test->low.column,
                            "%s cannot be compared with a parameter of the query",
                            filter_fields[test->field].name);
    if (test->operator_ == OPERATOR_IN_LIST) {
        put_list(c->out, column, test->items);
        return true;
    }
    if (stack && !test->low.is_number && !match && test->operator_ != OPERATOR_HAS)
        return session_fail(c->t->error, test->low.column,
                            "a stack has no name: compare its number, or use \"has\" or ~");
    if (stack && !test->low.is_number)
        return put_stack(c, test, column);
    if (test->field == FIELD_CONFIDENCE && !match && strcmp(test->low.text, "candidate") == 0)
        return put_candidate(c, test);
    if (test->field == FIELD_CONFIDENCE && match)
        return session_fail(c->t->error, test->column,
                            "confidence has a translation for == and != alone");
    if (type == TYPE_TEXT || type == TYPE_TEXT_OR_NUMBER)
        return put_text_test(c, test, column);
    if (type == TYPE_BOOLEAN) {
        const bool yes = (test->low.number != 0) == (test->operator_ == OPERATOR_EQUAL);
        fprintf(c->out, "%sx.%s", yes ? "" : "NOT ", column);
        return true;
    }
    fprintf(c->out, "x.%s %s ", column,
            test->operator_ == OPERATOR_IN ? "BETWEEN" : operator_text(test->operator_));
    if (!put_number(c, test, &test->low))
        return false;
    if (test->operator_ != OPERATOR_IN)
        return true;
    fputs(" AND ", c->out);
    return put_number(c, test, &test->high);
}

static bool put_test(struct condition *c, const struct filter_test *test)
{
    const struct filter_field_use use = {test->field, test->frame, test->column, test->moment};
    char *column = NULL;
    size_t size = 0;
    FILE *named = open_memstream(&column, &size);
    bool good = named || session_fail_memory(c->t->error, "the query");
    good = good && put_field(c->t, named, &use, false);
    if (named && fclose(named) != 0)
        good = session_fail_memory(c->t->error, "the query");
    /* Null compares as false, which matters if `not` turns it around. */
    const bool whole = c->negated && test->operator_ != OPERATOR_IS_NULL &&
                       test->operator_ != OPERATOR_IS_NOT_NULL &&
                       (null_of(test->field) || filter_field_of_groups(test->field));
    if (good && whole)
        fputs("coalesce(", c->out);
    good = good && put_values(c, test, column);
    if (good && whole)
        fputs(", false)", c->out);
    free(column);
    return good;
}

static bool put_predicate(struct condition *c, const struct filter_predicate *predicate)
{
    if (predicate->kind == PREDICATE_TEST)
        return put_test(c, &predicate->test);
    const bool outer = c->negated;
    if (predicate->kind == PREDICATE_NOT) {
        c->negated = true;
        fputs("NOT (", c->out);
        const bool good = put_predicate(c, predicate->left);
        fputc(')', c->out);
        c->negated = outer;
        return good;
    }
    fputc('(', c->out);
    if (!put_predicate(c, predicate->left))
        return false;
    fputs(predicate->kind == PREDICATE_AND ? " AND " : " OR ", c->out);
    if (!put_predicate(c, predicate->right))
        return false;
    fputc(')', c->out);
    return true;
}

/* A condition that was written. */
struct written {
    char *condition, *joins;
};

/* Writes a predicate, and the joins that it needs. The caller frees both texts. */
static bool write_condition(struct translation *t, const struct rows *rows,
                            const struct filter_step *step, struct written *written)
{
    size_t condition_size = 0, joins_size = 0;
    *written = (struct written){.condition = NULL};
    struct condition c = {.t = t,
                          .out = open_memstream(&written->condition, &condition_size),
                          .joins = open_memstream(&written->joins, &joins_size),
                          .rows = rows};
    bool good = (c.out && c.joins) || session_fail_memory(t->error, "the query");
    good = good && put_predicate(&c, step->predicate);
    if (good && c.of_run && t->use.by_count > 0 && rows->kind == KIND_GROUPS)
        good = session_fail(t->error, step->column,
                            "a time of the run is of one session: leave out --by");
    if (good && c.of_run)
        fputs("\n  JOIN run r ON r.session = x.session", c.joins);
    if (c.out && fclose(c.out) != 0)
        good = session_fail_memory(t->error, "the query");
    if (c.joins && fclose(c.joins) != 0)
        good = session_fail_memory(t->error, "the query");
    return good;
}

static void written_free(struct written *written)
{
    free(written->condition);
    free(written->joins);
}

/* ---- the columns of rows ---- */

/* The forms of keys. */
enum {
    KEYS_OF_BLOCKS = 1, /* the colour is that of the block */
    KEYS_NAMED = 2,     /* each AS its name in the rows of groups */
    KEYS_ALONE = 4,     /* without the names beside ids */
    KEYS_GROUPED = 8,   /* these names are those of any block */
};

/* Writes the keys of groups, each after a comma, and the names beside ids. */
static bool put_keys(struct translation *t, const struct rows *rows, const char *table,
                     unsigned forms)
{
    for (size_t i = 0; i < rows->key_count; i++) {
        const struct filter_field_use *key = &rows->keys[i];
        const enum sql_column name = name_of(key->field);
        fprintf(t->out, ", %s.", table);
        if (!put_field(t, t->out, key, (forms & KEYS_OF_BLOCKS) == 0))
            return false;
        if ((forms & KEYS_NAMED) != 0) {
            fputs(" AS ", t->out);
            if (!put_field(t, t->out, key, true))
                return false;
        }
        if (name == SQL_NONE || (forms & KEYS_ALONE) != 0)
            continue;
        const char *const column = sql_column_name(name);
        if ((forms & KEYS_GROUPED) != 0)
            fprintf(t->out, ", max(%s.%s) AS %s", table, column, column);
        else
            fprintf(t->out, ", %s.%s AS %s", table, column, column);
    }
    return true;
}

/* The measures of groups that cost little, and are always there. */
static bool is_plain(enum filter_field field)
{
    return field <= FIELD_DIED_OVER && field != FIELD_PEAK_BYTES;
}

static void put_measures(const struct translation *t, FILE *out, const char *table)
{
    for (int field = FIELD_ALLOCATIONS; field < FIELD_TOTAL; field++)
        if ((is_plain((enum filter_field)field) || t->measures[field]) &&
            !(t->use.by_count > 0 && is_of_session((enum filter_field)field)))
            fprintf(out, ", %s.%s", table, filter_fields[field].name);
    if (t->use.by_count > 0)
        fprintf(out, ", %s.sessions", table);
}

/* Writes all columns of rows but the colour. */
static bool put_columns(struct translation *t, const struct rows *rows)
{
    fputs("x.session AS session", t->out);
    if (rows->kind != KIND_GROUPS) {
        fputs(", x.id", t->out);
        sql_put_columns(t->out, &t->use, "x");
        return true;
    }
    if (!put_keys(t, rows, "x", 0))
        return false;
    put_measures(t, t->out, "x");
    return true;
}

/* Writes all columns of rows. ClickHouse gives those of a star other names if tables are joined. */
static bool put_all(struct translation *t, const struct rows *rows, bool joined)
{
    if (!joined) {
        fputs("SELECT x.*", t->out);
        return true;
    }
    fputs("SELECT ", t->out);
    if (!put_columns(t, rows))
        return false;
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
    return true;
}

/* ---- where, colour, sort, top ---- */

static bool translate_where(struct translation *t, const struct filter_step *step,
                            struct rows *rows)
{
    struct written written;
    const bool good = write_condition(t, rows, step, &written) &&
                      begin(t, step->text, step->column) &&
                      put_all(t, rows, written.joins[0] != '\0');
    if (good)
        fprintf(t->out, "\n  FROM step_%u x%s\n  WHERE %s)", rows->step, written.joins,
                written.condition);
    written_free(&written);
    rows->step = t->steps;
    return good;
}

static bool translate_color(struct translation *t, const struct filter_step *step,
                            struct rows *rows)
{
    struct written written = {.condition = NULL};
    want(t, SQL_COLOR);
    bool good = (!step->predicate || write_condition(t, rows, step, &written)) &&
                begin(t, step->text, step->column);
    if (good) {
        fputs("SELECT ", t->out);
        good = put_columns(t, rows);
        if (step->predicate)
            fprintf(t->out, ",\n    CASE WHEN %s THEN %" PRIu64 " ELSE x.color END AS color",
                    written.condition, step->color.number);
        else
            fprintf(t->out, ", CAST(%" PRIu64 " AS %s) AS color", step->color.number,
                    t->dialect->color);
        fprintf(t->out, "\n  FROM step_%u x%s)", rows->step, written.joins ? written.joins : "");
    }
    written_free(&written);
    rows->step = t->steps;
    return good;
}

/* Writes the order by one field: null last, equal names by their ids. */
static bool put_order(struct translation *t, const struct rows *rows,
                      const struct filter_field_use *use, bool descending)
{
    const char *down = descending ? " DESC" : "";
    const enum sql_column name = name_of(use->field);
    const enum filter_type type = filter_fields[use->field].type;
    const bool text = (type == TYPE_TEXT || type == TYPE_TEXT_OR_NUMBER) &&
                      use->field != FIELD_STACK && use->field != FIELD_FREE_STACK;
    if (null_of(use->field)) {
        fputs("x.", t->out);
        if (!put_field(t, t->out, use, rows->kind == KIND_GROUPS))
            return false;
        fputs(" IS NULL, ", t->out);
    }
    if (name != SQL_NONE)
        fprintf(t->out, "x.%s%s%s", sql_column_name(name), t->dialect->collate, down);
    if (name != SQL_NONE && rows->kind != KIND_GROUPS)
        return true;
    fputs(name != SQL_NONE ? ", x." : "x.", t->out);
    if (!put_field(t, t->out, use, rows->kind == KIND_GROUPS))
        return false;
    fprintf(t->out, "%s%s", text && name == SQL_NONE ? t->dialect->collate : "", down);
    return true;
}

static bool put_orders(struct translation *t, const struct rows *rows)
{
    const struct filter_field_use by_bytes = {.field = FIELD_BYTES};
    if (rows->sort) {
        const struct filter_field_use use = field_of(rows->sort);
        if (!put_order(t, rows, &use, rows->sort->descending))
            return false;
    } else if (rows->kind == KIND_GROUPS && !put_order(t, rows, &by_bytes, true)) {
        return false;
    }
    if (rows->kind != KIND_GROUPS) {
        fputs(rows->sort ? ", x.id" : "x.id", t->out);
        return true;
    }
    for (size_t i = 0; i < rows->key_count; i++) {
        fputs(", ", t->out);
        if (!put_order(t, rows, &rows->keys[i], false))
            return false;
    }
    return true;
}

static bool translate_top(struct translation *t, const struct filter_step *step, struct rows *rows)
{
    if (!begin(t, step->text, step->column) || !put_all(t, rows, true))
        return false;
    fprintf(t->out, "\n  FROM (SELECT x.*, row_number() OVER (PARTITION BY x.%s ORDER BY ",
            scope_of(t, rows));
    if (!put_orders(t, rows))
        return false;
    /* DuckDB 1.5 fails on some such queries if it sees the first rows of a window: not so here. */
    fprintf(t->out, ") AS place\n    FROM step_%u x) x\n  WHERE x.place BETWEEN 1 AND %" PRIu64 ")",
            rows->step, step->limit);
    rows->step = t->steps;
    return true;
}

/* ---- groups ---- */

/* Writes that two rows have equal keys: null equals null. `scope` is the session of the left one.
 */
static bool put_same_keys(struct translation *t, const struct rows *rows, const char *left,
                          const char *right, const char *scope)
{
    fprintf(t->out, "%s.%s = %s.session", left, scope, right);
    for (size_t i = 0; i < rows->key_count; i++) {
        const char *null = null_of(rows->keys[i].field);
        const char *const sides[] = {left, right};
        for (size_t side = 0; side < 2; side++) {
            fprintf(t->out, "%s%s%s.", side == 0 ? "\n    AND " : " = ", null ? "coalesce(" : "",
                    sides[side]);
            if (!put_field(t, t->out, &rows->keys[i], true))
                return false;
            if (null)
                fprintf(t->out, ", %s)", null);
        }
        for (size_t side = 0; null && side < 2; side++) {
            fprintf(t->out, "%s%s.", side == 0 ? " AND (" : " = (", sides[side]);
            if (!put_field(t, t->out, &rows->keys[i], true))
                return false;
            fputs(" IS NULL)", t->out);
        }
    }
    return true;
}

/* A condition on a block that was live at a moment. */
#define LIVE_AT(moment)                                                                            \
    "x.alloc_time <= " moment " AND (x.free_time IS NULL OR x.free_time > " moment ")"

static void put_sum_if(struct translation *t, const char *condition, const char *of)
{
    char text[512];
    snprintf(text, sizeof(text), "CASE WHEN %s THEN %s ELSE 0 END", condition, of);
    put_sum(t, text);
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
            put_sum_if(t, live, "x.bytes");
            fputs(k == i ? " > " : " THEN 1 ELSE 0 END", t->out);
        }
    }
    fputs(" AS rises", t->out);
}

static bool put_sums(struct translation *t, const struct rows *groups, unsigned blocks)
{
    const char *scope = scope_of(t, &(struct rows){.kind = KIND_ALLOCATIONS});
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
        want(t, used[i]);
    fprintf(t->out, "SELECT x.%s AS session", scope);
    if (!put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_GROUPED))
        return false;
    if (t->use.by_count > 0)
        fputs(",\n    count(DISTINCT x.session) AS sessions", t->out);
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
        fputs(",\n    ", t->out);
        put_sum(t, sums[i].of);
        fprintf(t->out, " AS %s", sums[i].as);
    }
    fputs(",\n    CASE WHEN max(r.machines) = 1 THEN ", t->out);
    put_sum_if(t, LIVE_AT("r.peak_ns"), "x.bytes");
    fputs(" END AS at_peak_bytes,\n    ", t->out);
    put_form(t, t->dialect->divide, "sum(x.bytes)", "sum(x.blocks)");
    fputs(" AS avg_size,\n    ", t->out);
    snprintf(lifetimes, sizeof(lifetimes), "sum(CAST(x.lifetime AS %s) * x.blocks)",
             t->dialect->wide);
    put_form(t, t->dialect->divide, lifetimes, "sum(x.blocks)");
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
        want(t, SQL_PADDING);
        fputs(",\n    ", t->out);
        put_sum(t, "x.padding * x.\"count\" * x.blocks");
        fputs(" AS wasted", t->out);
    }
    fprintf(t->out, "\n  FROM step_%u x JOIN run r ON r.session = x.session\n  GROUP BY x.%s",
            blocks, scope);
    return put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_ALONE);
}

/* Writes the largest live bytes of each group: a running sum over its events. */
static bool put_peaks(struct translation *t, const struct rows *groups, unsigned blocks)
{
    fprintf(t->out,
            ",\n-- The largest live bytes of each group.\nstep_%u_peaks AS (\n  SELECT "
            "x.session AS session",
            t->steps);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputs(", max(x.live) AS peak_bytes\n  FROM (SELECT x.session AS session", t->out);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputs(",\n      sum(x.change) OVER (PARTITION BY x.session", t->out);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputs(" ORDER BY x.moment\n        ROWS UNBOUNDED PRECEDING) AS live\n    FROM (", t->out);
    for (int born = 1; born >= 0; born--) {
        fputs("SELECT x.session AS session", t->out);
        if (!put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_ALONE))
            return false;
        fprintf(t->out,
                born ? ", 2 * x.alloc_time + 1 AS moment, x.bytes AS change FROM step_%u x\n"
                       "      UNION ALL "
                     : ", 2 * x.free_time, -x.bytes FROM step_%u x WHERE x.free_time IS NOT NULL",
                blocks);
    }
    fputs(") x) x\n  GROUP BY x.session", t->out);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputc(')', t->out);
    return true;
}

/* Writes the blocks that climb from the one before in their group, and the bytes of that one. */
static bool put_climbs(struct translation *t, const struct rows *groups, unsigned blocks)
{
    static const struct {
        const char *column, *as;
        int before;
    } lags[] = {
        {"id", "last_id", 1},          {"size", "last_size", 1}, {"alloc_time", "last_alloc", 1},
        {"free_time", "last_free", 1}, {"id", "id_before", 2},   {"free_time", "free_before", 2}};
    want(t, SQL_REALLOC_OF);
    fprintf(t->out,
            ",\n-- Blocks that climb from the one before.\nstep_%u_climbs AS (\n  SELECT "
            "x.session AS session",
            t->steps);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputs(",\n    ", t->out);
    put_form(t, t->dialect->divide, "100 * count(x.climbed_from)", "count(*)");
    fputs(" AS climb,\n    CASE WHEN sum(x.size) = 0 THEN 0 ELSE ", t->out);
    put_form(t, t->dialect->divide, "100 * coalesce(sum(x.climbed_from), 0)",
             "CASE WHEN sum(x.size) = 0 THEN 1 ELSE sum(x.size) END");
    fputs(" END AS replaced\n  FROM (SELECT x.session AS session", t->out);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputs(", x.size AS size,\n      CASE WHEN x.size > x.last_size AND x.last_free IS NOT NULL AND "
          "(x.realloc_of = x.last_id\n        OR (x.last_alloc <= x.alloc_time AND x.alloc_time <= "
          "x.last_free\n          AND (x.id_before IS NULL OR x.free_before <= x.alloc_time)))\n"
          "        THEN x.last_size END AS climbed_from\n    FROM (SELECT x.session AS session",
          t->out);
    if (!put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_NAMED | KEYS_ALONE))
        return false;
    fputs(", x.size AS size, x.alloc_time AS alloc_time, x.realloc_of AS realloc_of", t->out);
    for (size_t i = 0; i < sizeof(lags) / sizeof(*lags); i++) {
        char column[32];
        snprintf(column, sizeof(column), "x.%s", lags[i].column);
        fputs(",\n        lag(", t->out);
        put_form(t, t->dialect->nullable, column, "");
        fprintf(t->out, ", %d) OVER w AS %s", lags[i].before, lags[i].as);
    }
    fprintf(t->out, "\n      FROM step_%u x\n      WINDOW w AS (PARTITION BY x.session", blocks);
    if (!put_keys(t, groups, "x", KEYS_OF_BLOCKS | KEYS_ALONE))
        return false;
    fputs(", ", t->out);
    put_form(t, t->dialect->divide, "x.id - 1", "65536");
    fputs(" ORDER BY x.id)) x) x\n  GROUP BY x.session", t->out);
    if (!put_keys(t, groups, "x", KEYS_ALONE))
        return false;
    fputc(')', t->out);
    return true;
}

/* Writes the measures that need more than the sums. */
static bool put_more_measures(struct translation *t, const struct rows *groups)
{
    const bool peaks = t->measures[FIELD_PEAK_BYTES] || t->measures[FIELD_TURNOVER];
    const bool climbs = t->measures[FIELD_CLIMB] || t->measures[FIELD_REPLACED];
    fputs("SELECT s.session AS session", t->out);
    if (!put_keys(t, groups, "s", KEYS_NAMED))
        return false;
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
        put_form(t, t->dialect->divide, "s.bytes",
                 "CASE WHEN p.peak_bytes = 0 THEN 1 ELSE p.peak_bytes END");
        fputs(" END AS turnover", t->out);
    }
    if (t->measures[FIELD_SHARE]) {
        fputs(",\n    ", t->out);
        put_form(t, t->dialect->divide, "100 * s.allocations",
                 "sum(s.allocations) OVER (PARTITION BY s.session)");
        fputs(" AS share", t->out);
    }
    fprintf(t->out, "\n  FROM step_%u_sums s", t->steps);
    if (peaks) {
        fprintf(t->out, "\n  JOIN run r ON r.session = s.session\n  JOIN step_%u_peaks p ON ",
                t->steps);
        if (!put_same_keys(t, groups, "s", "p", "session"))
            return false;
    }
    if (climbs) {
        fprintf(t->out, "\n  JOIN step_%u_climbs c ON ", t->steps);
        if (!put_same_keys(t, groups, "s", "c", "session"))
            return false;
    }
    return true;
}

/* Writes the stacks with their bytes and the functions of their paths. */
static void put_paths(struct translation *t, unsigned blocks, bool by)
{
    fprintf(t->out,
            "SELECT f.session AS session, f.stack_id AS stack_id, %s AS unit, f.bytes AS bytes,\n"
            "    p.path AS path, ",
            by ? "f.unit" : "0");
    put_form(t, t->dialect->length, "p.path", "");
    fprintf(t->out,
            " AS place\n  FROM (SELECT x.session AS session, coalesce(x.stack, 0) AS stack_id%s, ",
            by ? ", x.unit AS unit" : "");
    put_sum(t, "x.bytes");
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
static bool put_fold(struct translation *t, const struct filter_step *step, struct rows *rows)
{
    const struct rows blocks = {.kind = KIND_ALLOCATIONS};
    const bool by = t->use.by_count > 0;
    char path[96] = "";
    want(t, SQL_STACK);
    want(t, SQL_BYTES);
    t->use.sites = t->use.recursive = true;
    if (!sql_fill(path, sizeof(path), t->dialect->slice, "f.path", "f.place"))
        return session_fail_memory(t->error, "the query");
    if (!begin(t, step->text, step->column))
        return false;
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
    put_sum_if(t, "e.place = e.level AND e.kept = 0", "e.bytes");
    fprintf(t->out, " OVER (PARTITION BY e.%s, ", scope_of(t, &blocks));
    put_form(t, t->dialect->slice, "e.path", "e.level");
    fprintf(t->out, ") AS held\n    FROM step_%u_fold e WHERE e.level >= 0) f)", t->steps);
    const unsigned fold = t->steps;
    if (!begin(t, "The blocks with their paths.", step->column))
        return false;
    fputs("SELECT ", t->out);
    if (!put_columns(t, &blocks))
        return false;
    if (t->use.column[SQL_COLOR])
        fputs(", x.color AS color", t->out);
    fputs(",\n    nullif(", t->out);
    put_form(t, t->dialect->joined, path, "");
    fprintf(t->out,
            ", '') AS path\n  FROM step_%u x JOIN step_%u_fold f ON f.session = x.session AND "
            "f.stack_id = coalesce(x.stack, 0)\n  WHERE f.level = -1)",
            rows->step, fold);
    rows->step = t->steps;
    return true;
}

static bool translate_join(struct translation *t, const struct filter_step *step, struct rows *rows)
{
    if (step->kind == STEP_FOLD && !put_fold(t, step, rows))
        return false;
    const unsigned blocks = rows->step;
    const bool peaks = t->measures[FIELD_PEAK_BYTES] || t->measures[FIELD_TURNOVER];
    const bool climbs = t->measures[FIELD_CLIMB] || t->measures[FIELD_REPLACED];
    const bool colors = t->use.column[SQL_COLOR];
    const bool more = peaks || climbs || t->measures[FIELD_SHARE];
    bool by_color = false;
    *rows = (struct rows){
        .kind = KIND_GROUPS, .members = blocks, .keys = step->keys, .key_count = step->key_count};
    for (size_t i = 0; i < step->key_count; i++) {
        const enum filter_field field = step->keys[i].field;
        by_color |= field == FIELD_COLOR;
        if (t->use.by_count > 0 && (name_of(field) != SQL_NONE || field == FIELD_STACK ||
                                    field == FIELD_FREE_STACK || field == FIELD_ID))
            return session_fail(t->error, step->keys[i].column,
                                "%s is a number of one session: leave out --by",
                                filter_fields[field].name);
    }
    if (++t->steps > STEPS_MOST)
        return session_fail(t->error, step->column, "the filter has more than %d steps",
                            STEPS_MOST);
    rows->step = t->steps;
    fputs(",\n-- ", t->out);
    sql_put_comment(t->out, step->text);
    fprintf(t->out, "\nstep_%u%s AS (\n  ", t->steps, more || colors ? "_sums" : "");
    if (!put_sums(t, rows, blocks))
        return false;
    fputc(')', t->out);
    if ((peaks && !put_peaks(t, rows, blocks)) || (climbs && !put_climbs(t, rows, blocks)))
        return false;
    if (!more && !colors)
        return true;
    fprintf(t->out, ",\nstep_%u AS (\n  ", t->steps);
    if (!more || colors)
        fputs("SELECT s.*", t->out);
    else if (!put_more_measures(t, rows))
        return false;
    if (colors) {
        fprintf(t->out, ", %s AS color\n  FROM ", by_color ? "s.color_key" : t->dialect->no_color);
        if (more) {
            fputc('(', t->out);
            if (!put_more_measures(t, rows))
                return false;
            fputs(") s", t->out);
        } else {
            fprintf(t->out, "step_%u_sums s", t->steps);
        }
    }
    fputc(')', t->out);
    return true;
}

static bool translate_ungroup(struct translation *t, const struct filter_step *step,
                              struct rows *rows)
{
    struct rows blocks = {.step = rows->members, .kind = KIND_ALLOCATIONS};
    if (!begin(t, step->text, step->column))
        return false;
    fputs("SELECT ", t->out);
    if (!put_columns(t, &blocks))
        return false;
    if (t->use.column[SQL_COLOR])
        fputs(", coalesce(g.color, x.color) AS color", t->out);
    /* The keys of the blocks have the names of groups. */
    fprintf(t->out, "\n  FROM (SELECT x.*");
    for (size_t i = 0; i < rows->key_count; i++)
        if (rows->keys[i].field == FIELD_COLOR)
            fputs(", x.color AS color_key", t->out);
    fprintf(t->out, " FROM step_%u x) x\n  JOIN step_%u g ON ", rows->members, rows->step);
    if (!put_same_keys(t, rows, "x", "g", scope_of(t, &blocks)))
        return false;
    fputc(')', t->out);
    blocks.step = t->steps;
    *rows = blocks;
    return true;
}

/* ---- pipelines ---- */

static bool translate_step(struct translation *t, const struct filter_step *step, struct rows *rows)
{
    switch (step->kind) {
    case STEP_WHERE:
        return translate_where(t, step, rows);
    case STEP_COLOR:
        return translate_color(t, step, rows);
    case STEP_COLOR_BY:
        return true;
    case STEP_SORT: {
        rows->sort = step;
        /* Notes the column that it uses. */
        const struct filter_field_use use = field_of(step);
        char nothing[64];
        FILE *out = fmemopen(nothing, sizeof(nothing), "w");
        const bool good =
            out ? put_field(t, out, &use, false) : session_fail_memory(t->error, "the query");
        if (out)
            fclose(out);
        return good;
    }
    case STEP_TOP:
        return translate_top(t, step, rows);
    case STEP_JOIN:
    case STEP_FOLD:
        return translate_join(t, step, rows);
    case STEP_UNGROUP:
        return translate_ungroup(t, step, rows);
    case STEP_WRITE:
        return session_fail(t->error, step->column,
                            "write has no translation: a query makes no files");
    case STEP_HELD:
    case STEP_HOLDS:
    case STEP_RETAINED:
        return session_fail(t->error, step->column,
                            "%.*s has no translation: a query does not follow the references "
                            "between blocks",
                            (int)strcspn(step->text, " "), step->text);
    default:
        rows->measure = step;
        return true;
    }
}

static bool translate_pipeline(struct translation *t, const struct filter_pipeline *pipeline,
                               struct rows *rows)
{
    if (!translate_set(t, pipeline->set, rows))
        return false;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next)
        if (!translate_step(t, step, rows))
            return false;
    if (rows->measure)
        rows->kind = KIND_MEASURE;
    return true;
}

/* Translates a saved filter, whose errors are at the place of its use. */
static bool translate_use(struct translation *t, const struct filter_set *set, struct rows *rows)
{
    struct session_error inner = {.column = 0};
    struct session_error *outer = t->error;
    if (!set->stored || !outer)
        return translate_pipeline(t, set->pipeline, rows);
    t->error = &inner;
    const bool good = translate_pipeline(t, set->pipeline, rows);
    t->error = outer;
    if (!good) {
        if (inner.column != 0)
            filter_place_error(set->stored, &inner);
        *outer = inner;
    }
    return good;
}

/* ---- sets ---- */

/* Writes + - and &, which compare blocks by their ids. */
static bool translate_pair(struct translation *t, const struct filter_set *set, struct rows *rows)
{
    static const struct {
        const char *sign, *join, *where;
    } pairs[] = {
        [SET_PLUS] = {"+", "LEFT JOIN", ""},
        [SET_MINUS] = {"-", "LEFT JOIN", "\n  WHERE y.id IS NULL"},
        [SET_BOTH] = {"&", "JOIN", ""},
    };
    const bool color = t->use.column[SQL_COLOR];
    struct rows other = {.kind = KIND_ALLOCATIONS};
    char comment[64];
    if (!translate_set(t, set->left, rows) || !translate_set(t, set->right, &other))
        return false;
    snprintf(comment, sizeof(comment), "step_%u %s step_%u", rows->step, pairs[set->kind].sign,
             other.step);
    if (!begin(t, comment, set->column))
        return false;
    struct rows both = {.kind = KIND_ALLOCATIONS};
    fputs("SELECT ", t->out);
    if (!put_columns(t, &both))
        return false;
    if (color)
        fputs(set->kind == SET_MINUS ? ", x.color" : ", coalesce(x.color, y.color) AS color",
              t->out);
    fprintf(t->out, "\n  FROM step_%u x %s step_%u y ON y.session = x.session AND y.id = x.id%s",
            rows->step, pairs[set->kind].join, other.step, pairs[set->kind].where);
    if (set->kind == SET_PLUS) {
        fputs("\n  UNION ALL\n  SELECT ", t->out);
        if (!put_columns(t, &both))
            return false;
        fprintf(t->out,
                "%s\n  FROM step_%u x LEFT JOIN step_%u y ON y.session = x.session AND y.id = "
                "x.id\n  WHERE y.id IS NULL",
                color ? ", x.color" : "", other.step, rows->step);
    }
    fputc(')', t->out);
    both.step = t->steps;
    *rows = both;
    return true;
}

/* Writes the blocks that were live at a moment. */
static bool translate_live(struct translation *t, const struct filter_set *set)
{
    const bool end = set->moment.moment == MOMENT_END;
    char *comment = NULL, *moment = NULL;
    size_t comment_size = 0, moment_size = 0;
    FILE *out = open_memstream(&comment, &comment_size);
    FILE *time = open_memstream(&moment, &moment_size);
    bool of_run = false;
    bool good = (out && time) || session_fail_memory(t->error, "the query");
    if (good && set->kind == SET_LIVE_AT) {
        fputs("live at ", out);
        sql_put_moment_text(out, &set->moment);
    } else if (good) {
        fputs(set->kind == SET_LEAKED ? "leaked" : "survived", out);
    }
    good = good && sql_put_moment(time, &t->use, t->dialect, &set->moment, &of_run, t->error);
    if (out)
        fclose(out);
    if (time)
        fclose(time);
    good = good && comment && moment && begin(t, comment, set->column);
    want(t, SQL_FREE_TIME);
    if (!end)
        want(t, SQL_ALLOC_TIME);
    good = good && put_all(t, &(struct rows){.kind = KIND_ALLOCATIONS}, of_run && !end);
    if (good && end)
        fputs(" FROM block x WHERE x.free_time IS NULL", t->out);
    else if (good)
        fprintf(t->out,
                " FROM block x%s\n  WHERE x.alloc_time <= %s AND (x.free_time IS NULL OR "
                "x.free_time > %s)",
                of_run ? " JOIN run r ON r.session = x.session" : "", moment, moment);
    free(comment);
    free(moment);
    return good;
}

/* Writes the blocks that were live after a clear: schemas/filter-language.md, "Outlived". */
static bool translate_outlived(struct translation *t, const struct filter_set *set)
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
        return session_fail_memory(t->error, "the query");
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
        want(t, used[i]);
    if (!begin(t, "The parts of the run in which a clear freed blocks of a stack.", set->column))
        return false;
    fprintf(t->out,
            "SELECT DISTINCT x.session AS session, x.stack AS stack, least(1023, %s) AS part\n"
            "  FROM block x JOIN run r ON r.session = x.session\n"
            "  JOIN clearing_stack c ON c.session = x.session AND c.stack_id = x.free_stack)",
            part[FREED]);
    if (!begin(t, "outlived", set->column) ||
        !put_all(t, &(struct rows){.kind = KIND_ALLOCATIONS}, true))
        return false;
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
    return true;
}

static bool translate_set(struct translation *t, const struct filter_set *set, struct rows *rows)
{
    *rows = (struct rows){.kind = KIND_ALLOCATIONS};
    switch (set->kind) {
    case SET_ALL:
        if (!begin(t, "all", set->column))
            return false;
        fputs("SELECT x.* FROM block x)", t->out);
        break;
    case SET_LIVE_AT:
    case SET_LEAKED:
    case SET_SURVIVED:
        if (!translate_live(t, set))
            return false;
        if (set->kind == SET_LEAKED) {
            want(t, SQL_RUNTIME);
            fputs(" AND NOT x.of_runtime", t->out);
        }
        if (set->kind != SET_LIVE_AT && t->use.arenas) {
            want(t, set->kind == SET_LEAKED ? SQL_COLLECTING : SQL_SURVIVES);
            fputs(set->kind == SET_LEAKED ? " AND NOT x.of_collector" : " AND x.survives", t->out);
        }
        fputc(')', t->out);
        break;
    case SET_PIPELINE:
        return translate_use(t, set, rows);
    case SET_OUTLIVED:
        if (!translate_outlived(t, set))
            return false;
        break;
    case SET_SESSION:
        return session_fail(t->error, set->column,
                            "session has no translation: the query gives each session in the "
                            "database its own answer");
    case SET_UNREACHABLE:
    case SET_POSSIBLY:
        return session_fail(t->error, set->column,
                            "%s has no translation: a query does not find the snapshot of "
                            "references that counts",
                            set->kind == SET_POSSIBLY ? "possibly" : "unreachable");
    case SET_PLUS:
    case SET_MINUS:
    case SET_BOTH:
        return translate_pair(t, set, rows);
    }
    rows->step = t->steps;
    return true;
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
static void put_peak(struct translation *t, const struct rows *rows)
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
    put_form(t, t->dialect->divide, "p.moment", "2");
    fputs(" ELSE 0 END AS \"time\"\nFROM run r LEFT JOIN peak p ON p.session = r.session", t->out);
}

/* Writes a condition that a block was live at a moment. */
static bool put_live(struct translation *t, FILE *out, const struct filter_value *moment)
{
    bool of_run = false;
    if (moment->moment == MOMENT_END) {
        fputs("x.free_time IS NULL", out);
        return true;
    }
    fputs("(x.alloc_time <= ", out);
    if (!sql_put_moment(out, &t->use, t->dialect, moment, &of_run, t->error))
        return false;
    fputs(" AND (x.free_time IS NULL OR x.free_time > ", out);
    if (!sql_put_moment(out, &t->use, t->dialect, moment, &of_run, t->error))
        return false;
    fputs("))", out);
    return true;
}

static bool put_growth(struct translation *t, const struct rows *rows)
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
        scope_of(t, rows));
    if (!put_live(t, t->out, &rows->measure->from))
        return false;
    fputs(" AS at_from,\n    ", t->out);
    if (!put_live(t, t->out, &rows->measure->to))
        return false;
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
        put_sum_if(t, condition, parts[i].of);
        fprintf(t->out, ", 0) AS %s", parts[i].name);
    }
    put_each(t, "moments", "session");
    fputc(')', t->out);
    put_whose(t, "r");
    fprintf(t->out, "%s, r.born - r.died AS value", by ? ", r.sessions" : "");
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        fprintf(t->out, ", r.%s", parts[i].name);
    fputs("\nFROM parts r", t->out);
    return true;
}

/* Writes the number of a field, of its rows. */
static bool put_number_of(struct translation *t, const struct rows *rows, bool groups)
{
    const struct filter_step *step = rows->measure;
    const struct filter_field_use use = field_of(step);
    char *column = NULL, value[160];
    size_t size = 0;
    FILE *out = open_memstream(&column, &size);
    bool good = out || session_fail_memory(t->error, "the query");
    if (good)
        fputs("x.", out);
    good = good && put_field(t, out, &use, groups);
    if (out && fclose(out) != 0)
        good = session_fail_memory(t->error, "the query");
    if (!good) {
        free(column);
        return false;
    }
    const bool bytes = !groups && step->field == FIELD_SIZE;
    if (bytes)
        want(t, SQL_BYTES);
    if (groups)
        snprintf(value, sizeof(value), "%s", column);
    else if (bytes)
        snprintf(value, sizeof(value), "x.bytes");
    else
        snprintf(value, sizeof(value), "CAST(%s AS %s) * x.blocks", column, t->dialect->wide);
    switch (step->kind) {
    case STEP_SUM:
        fputs("coalesce(", t->out);
        put_sum(t, value);
        fputs(", 0)", t->out);
        break;
    case STEP_AVG: {
        /* The mean of the rows that are not null. */
        char sum[200], rows_of[256];
        snprintf(sum, sizeof(sum), "sum(%s)", value);
        snprintf(rows_of, sizeof(rows_of), "nullif(sum(CASE WHEN %s IS NOT NULL THEN %s END), 0)",
                 column, groups ? "1" : "x.blocks");
        put_form(t, t->dialect->divide, sum, rows_of);
        break;
    }
    default:
        fprintf(t->out, "%s(%s)", step->kind == STEP_MIN ? "min" : "max", column);
        break;
    }
    free(column);
    return true;
}

static bool put_measure(struct translation *t, const struct rows *rows)
{
    const bool groups = rows->key_count > 0;
    want(t, SQL_BLOCKS);
    if (rows->measure->kind == STEP_PEAK || rows->measure->kind == STEP_GROWTH) {
        want(t, SQL_BYTES);
        want(t, SQL_ALLOC_TIME);
        want(t, SQL_FREE_TIME);
        if (rows->measure->kind == STEP_GROWTH)
            return put_growth(t, rows);
        if (t->use.by_count > 0)
            return session_fail(t->error, rows->measure->column,
                                "a peak is of one session: leave out --by");
        put_peak(t, rows);
        return true;
    }
    char step[24];
    snprintf(step, sizeof(step), "step_%u", rows->step);
    put_whose(t, "r");
    fputs(t->use.by_count > 0 ? ", r.sessions, " : ", ", t->out);
    if (rows->measure->kind == STEP_COUNT)
        fputs(groups ? "count(x.session)" : "coalesce(sum(x.blocks), 0)", t->out);
    else if (!put_number_of(t, rows, groups))
        return false;
    fputs(" AS value", t->out);
    put_each(t, step, groups ? "session" : "unit");
    return true;
}

/* Writes the columns of blocks that the result shows. */
static void put_blocks(struct translation *t, const struct rows *rows)
{
    static const enum sql_column shown[] = {
        SQL_SIZE,        SQL_COUNT, SQL_ADDRESS,    SQL_TYPE,      SQL_FUNCTION,
        SQL_USER,        SQL_FILE,  SQL_LINE,       SQL_MODULE,    SQL_STACK,
        SQL_THREAD_NAME, SQL_KIND,  SQL_ALLOC_TIME, SQL_FREE_TIME, SQL_LIFETIME};
    fputs("\nSELECT x.session, x.id", t->out);
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        want(t, shown[i]);
        fprintf(t->out, ", x.%s%s", sql_column_name(shown[i]),
                shown[i] == SQL_THREAD_NAME ? " AS thread" : "");
    }
    for (size_t i = 0; i < t->use.reading_count; i++)
        fprintf(t->out, ", x.resident_%zu", i + 1);
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
    fprintf(t->out, "\nFROM step_%u x", rows->step);
}

static bool put_groups(struct translation *t, const struct rows *rows)
{
    put_whose(t, t->use.by_count > 0 ? "u" : "x");
    if (!put_keys(t, rows, "x", 0))
        return false;
    put_measures(t, t->out, "x");
    if (t->use.column[SQL_COLOR])
        fputs(", x.color", t->out);
    fprintf(t->out, "\nFROM step_%u x%s", rows->step,
            t->use.by_count > 0 ? " JOIN unit u ON u.unit = x.session" : "");
    return true;
}

static bool put_result(struct translation *t, const struct rows *rows)
{
    const bool by = t->use.by_count > 0;
    const char *collate = by ? "" : t->dialect->collate;
    if (by && rows->kind == KIND_ALLOCATIONS)
        return session_fail(t->error, 1,
                            "--by sums up: the filter must end in groups or a measure, as join "
                            "type or count make them");
    if (rows->kind == KIND_MEASURE) {
        if (!put_measure(t, rows))
            return false;
        fprintf(t->out, "\nORDER BY r.%s%s", by ? "unit" : "session", collate);
    } else {
        if (rows->kind == KIND_GROUPS && !put_groups(t, rows))
            return false;
        if (rows->kind == KIND_ALLOCATIONS)
            put_blocks(t, rows);
        fprintf(t->out, "\nORDER BY x.session%s, ", collate);
        if (!put_orders(t, rows))
            return false;
    }
    fprintf(t->out, "%s;\n", t->dialect->end);
    return true;
}

/* ---- all ---- */

/* Writes the expressions after `block`, and the result. */
static bool translate(struct translation *t, const struct filter_pipeline *pipeline, char **text)
{
    struct rows rows;
    size_t size = 0;
    t->steps = t->tables = 0;
    *text = NULL;
    t->out = open_memstream(text, &size);
    if (!t->out)
        return session_fail_memory(t->error, "the query");
    bool good = translate_pipeline(t, pipeline, &rows) && put_result(t, &rows);
    if (fclose(t->out) != 0)
        good = session_fail_memory(t->error, "the query");
    return good;
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
    FILE *out = open_memstream(&query, &size);
    bool good = out || session_fail_memory(t->error, "the query");
    if (good) {
        fputs("-- ", out);
        sql_put_comment(out, filter && *filter ? filter : "all");
        fprintf(out, "\n-- for the tables of mprof-export --tables in %s\nWITH%s\n",
                databases[dialect], t->use.recursive ? " RECURSIVE" : "");
        sql_put_block(out, &t->use, t->dialect);
        fputs(body, out);
        good = fclose(out) == 0 || session_fail_memory(t->error, "the query");
    }
    free(body);
    if (good)
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
