/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates the fields and the predicates of a filter: the columns that they need of a block, and
 * the conditions on these. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/sql_columns.h"

/* The most expressions: each pipeline of a filter has several. */
enum { STEPS_MOST = 1000 };

/* ---- errors ---- */

void sql_fail_memory(struct translation *t)
{
    if (!t->failed)
        t->failed = !session_fail_memory(t->error, "the query");
}

FILE *sql_begin_text(struct translation *t, char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);
    if (!out)
        sql_fail_memory(t);
    return out;
}

void sql_end_text(struct translation *t, FILE *out)
{
    if (out && fclose(out) != 0)
        sql_fail_memory(t);
}

/* ---- names ---- */

void sql_want(struct translation *t, enum sql_column column)
{
    if (column < SQL_COLUMNS)
        t->use.column[column] = true;
}

/* Stores the frame of a field among those that are used. */
static void want_frame(struct translation *t, enum filter_field field, uint32_t outward, int column,
                       struct sql_frame *frame)
{
    struct sql_use *use = &t->use;
    *frame = (struct sql_frame){field == FIELD_CALLER, field == FIELD_CALLER ? 1 : outward};
    for (size_t i = 0; i < use->frame_count; i++)
        if (use->frames[i].caller == frame->caller && use->frames[i].outward == frame->outward)
            return;
    if (use->frame_count == SQL_FRAMES_MOST)
        SQL_FAIL(t, column, "a query has at most %d frames", SQL_FRAMES_MOST);
    else
        use->frames[use->frame_count++] = *frame;
}

/* Returns the number of the readings nearest to a moment. */
static size_t want_reading(struct translation *t, const struct filter_field_use *use)
{
    struct sql_use *const to = &t->use;
    size_t reading = 1;
    while (reading <= to->reading_count && to->readings[reading - 1] != use->moment)
        reading++;
    if (reading > SQL_READINGS_MOST)
        SQL_FAIL(t, use->column, "a query has at most %d times with resident", SQL_READINGS_MOST);
    else if (reading > to->reading_count)
        to->readings[to->reading_count++] = use->moment;
    return reading;
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

bool sql_is_of_session(enum filter_field field)
{
    return field == FIELD_PEAK_BYTES || (field >= FIELD_FIRST_TIME && field <= FIELD_TURNOVER);
}

const char *sql_scope(const struct translation *t, const struct sql_rows *rows)
{
    return t->use.by_count > 0 && rows->kind != KIND_GROUPS ? "unit" : "session";
}

void sql_put_field(struct translation *t, FILE *out, const struct filter_field_use *use, bool key)
{
    enum sql_column name;
    struct sql_frame frame;
    const enum sql_column column = sql_column_of(use->field, &name);
    if (missing(use->field)) {
        SQL_FAIL(t, use->column, "%s has no translation: the exported tables do not have %s",
                 filter_fields[use->field].name, missing(use->field));
    } else if (filter_field_of_groups(use->field)) {
        if (t->use.by_count > 0 && sql_is_of_session(use->field))
            SQL_FAIL(t, use->column, "%s is of one session: leave out --by",
                     filter_fields[use->field].name);
        t->measures[use->field] = true;
        fputs(filter_fields[use->field].name, out);
    } else if (use->field == FIELD_FRAME || use->field == FIELD_CALLER) {
        want_frame(t, use->field, use->frame, use->column, &frame);
        sql_put_frame_name(out, &frame);
    } else if (use->field == FIELD_PATH) {
        fputs("path", out);
    } else if (use->field == FIELD_RESIDENT) {
        fprintf(out, "resident_%zu", want_reading(t, use));
    } else if (column == SQL_NONE) {
        SQL_FAIL(t, use->column, "%s has no translation", filter_fields[use->field].name);
    } else {
        sql_want(t, column);
        sql_want(t, name);
        fputs(key && column == SQL_COLOR ? "color_key" : sql_column_name(column), out);
    }
}

char *sql_field_text(struct translation *t, const struct filter_field_use *use, bool key)
{
    char *column = NULL;
    size_t size = 0;
    FILE *out = sql_begin_text(t, &column, &size);
    if (out)
        sql_put_field(t, out, use, key);
    sql_end_text(t, out);
    return column;
}

const char *sql_null_of(enum filter_field field)
{
    enum sql_column name;
    if (field == FIELD_FRAME || field == FIELD_CALLER || field == FIELD_PATH)
        return "''";
    if (field == FIELD_RESIDENT)
        return "-1";
    const enum sql_column column = sql_column_of(field, &name);
    return column < SQL_COLUMNS ? sql_column_null(column) : NULL;
}

enum sql_column sql_name_of(enum filter_field field)
{
    enum sql_column name;
    sql_column_of(field, &name);
    return name;
}

/* ---- expressions ---- */

void sql_begin_part(struct translation *t, const char *comment, int column, const char *suffix)
{
    if (++t->steps > STEPS_MOST)
        SQL_FAIL(t, column, "the filter has more than %d steps", STEPS_MOST);
    fputs(",\n-- ", t->out);
    sql_put_comment(t->out, comment);
    fprintf(t->out, "\nstep_%u%s AS (\n  ", t->steps, suffix);
}

void sql_begin(struct translation *t, const char *comment, int column)
{
    sql_begin_part(t, comment, column, "");
}

void sql_put_sum(struct translation *t, const char *of)
{
    sql_put_form(t->out, t->dialect->sum, of, "");
}

void sql_put_time(struct translation *t, FILE *out, const struct filter_value *value, bool *of_run)
{
    if (!t->failed)
        t->failed = !sql_put_moment(out, &t->use, t->dialect, value, of_run, t->error);
}

/* ---- predicates ---- */

/* A predicate while it is written. */
struct condition {
    struct translation *t;
    FILE *out, *joins;
    const struct sql_rows *rows;
    bool negated; /* within a `not`: null must be false */
    bool of_run;  /* it needs `r` */
};

static const char *operator_text(enum filter_operator operator_)
{
    static const char *const texts[OPERATOR_HAS + 1] = {
        [OPERATOR_EQUAL] = "=",       [OPERATOR_NOT_EQUAL] = "<>", [OPERATOR_LESS] = "<",
        [OPERATOR_LESS_EQUAL] = "<=", [OPERATOR_GREATER] = ">",    [OPERATOR_GREATER_EQUAL] = ">=",
        [OPERATOR_IN] = "BETWEEN"};
    return texts[operator_];
}

static void put_number(struct condition *c, const struct filter_test *test,
                       const struct filter_value *value)
{
    const enum filter_type type = filter_fields[test->field].type;
    if (type == TYPE_MOMENT || type == TYPE_DURATION || value->parameter)
        sql_put_time(c->t, c->out, value, &c->of_run);
    else
        fprintf(c->out, "%" PRIu64, value->number);
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
static void put_match(struct translation *t, FILE *out, const char *of,
                      const struct filter_test *test)
{
    char *text = NULL;
    size_t size = 0;
    FILE *regex = sql_begin_text(t, &text, &size);
    if (!t->failed)
        t->failed = !sql_put_regex(regex, t->dialect, test->low.text, test->low.column, t->error);
    sql_end_text(t, regex);
    if (!t->failed)
        sql_put_form(out, t->dialect->matches, of, text);
    free(text);
}

/* Writes a test of functions of a stack: joins an expression with the stacks that have them. */
static void put_stack(struct condition *c, const struct filter_test *test, const char *column)
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
        put_match(t, t->out, "name", test);
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
}

/* Writes a comparison of a text, or of the number beside it. */
static void put_text_test(struct condition *c, const struct filter_test *test, const char *column)
{
    const struct sql_dialect *dialect = c->t->dialect;
    char named[96];
    const enum sql_column name = sql_name_of(test->field);
    snprintf(named, sizeof(named), "x.%s", name != SQL_NONE ? sql_column_name(name) : column);
    if (test->low.is_number) {
        if (test->field == FIELD_PROCESS) {
            if (c->rows->kind == KIND_GROUPS)
                SQL_FAIL(c->t, test->column,
                         "groups have no process ids: test process before the join");
            sql_want(c->t, SQL_PID);
            column = sql_column_name(SQL_PID);
        }
        fprintf(c->out, "x.%s %s %" PRIu64, column, operator_text(test->operator_),
                test->low.number);
        return;
    }
    if (test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH) {
        fputs(test->operator_ == OPERATOR_NOT_MATCH ? "NOT (" : "(", c->out);
        put_match(c->t, c->out, named, test);
        fputc(')', c->out);
        return;
    }
    if (test->field == FIELD_FILE && !strchr(test->low.text, '/'))
        sql_put_form(c->out, dialect->last_part, named, "");
    else
        fputs(named, c->out);
    fprintf(c->out, " %s ", operator_text(test->operator_));
    sql_put_text_value(c->out, dialect, &test->low);
}

static void put_values(struct condition *c, const struct filter_test *test, const char *column)
{
    const enum filter_type type = filter_fields[test->field].type;
    const bool stack = test->field == FIELD_STACK || test->field == FIELD_FREE_STACK;
    const bool match = test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        fprintf(c->out, "x.%s IS %sNULL", column,
                test->operator_ == OPERATOR_IS_NULL ? "" : "NOT ");
    } else if (test->low.parameter &&
               (test->field == FIELD_CONFIDENCE || test->field == FIELD_FILE)) {
        SQL_FAIL(c->t, test->low.column, "%s cannot be compared with a parameter of the query",
                 filter_fields[test->field].name);
    } else if (test->operator_ == OPERATOR_IN_LIST) {
        put_list(c->out, column, test->items);
    } else if (stack && !test->low.is_number && !match && test->operator_ != OPERATOR_HAS) {
        SQL_FAIL(c->t, test->low.column,
                 "a stack has no name: compare its number, or use \"has\" or ~");
    } else if (stack && !test->low.is_number) {
        put_stack(c, test, column);
    } else if (test->field == FIELD_CONFIDENCE && !match &&
               strcmp(test->low.text, "candidate") == 0) {
        if (c->rows->kind == KIND_GROUPS)
            SQL_FAIL(c->t, test->column,
                     "groups have no candidates: test confidence before the join");
        sql_want(c->t, SQL_CANDIDATE);
        fputs(test->operator_ == OPERATOR_EQUAL ? "x.candidate" : "NOT x.candidate", c->out);
    } else if (test->field == FIELD_CONFIDENCE && match) {
        SQL_FAIL(c->t, test->column, "confidence has a translation for == and != alone");
    } else if (type == TYPE_TEXT || type == TYPE_TEXT_OR_NUMBER) {
        put_text_test(c, test, column);
    } else if (type == TYPE_BOOLEAN) {
        const bool yes = (test->low.number != 0) == (test->operator_ == OPERATOR_EQUAL);
        fprintf(c->out, "%sx.%s", yes ? "" : "NOT ", column);
    } else {
        fprintf(c->out, "x.%s %s ", column, operator_text(test->operator_));
        put_number(c, test, &test->low);
        if (test->operator_ == OPERATOR_IN) {
            fputs(" AND ", c->out);
            put_number(c, test, &test->high);
        }
    }
}

static void put_test(struct condition *c, const struct filter_test *test)
{
    const struct filter_field_use use = {test->field, test->frame, test->column, test->moment};
    char *column = sql_field_text(c->t, &use, false);
    /* Null compares as false, which matters if `not` turns it around. */
    const bool whole = c->negated && test->operator_ != OPERATOR_IS_NULL &&
                       test->operator_ != OPERATOR_IS_NOT_NULL &&
                       (sql_null_of(test->field) || filter_field_of_groups(test->field));
    fputs(whole ? "coalesce(" : "", c->out);
    if (!c->t->failed)
        put_values(c, test, column);
    fputs(whole ? ", false)" : "", c->out);
    free(column);
}

static void put_predicate(struct condition *c, const struct filter_predicate *predicate)
{
    const bool outer = c->negated;
    if (predicate->kind == PREDICATE_TEST) {
        put_test(c, &predicate->test);
        return;
    }
    c->negated |= predicate->kind == PREDICATE_NOT;
    fputs(predicate->kind == PREDICATE_NOT ? "NOT (" : "(", c->out);
    put_predicate(c, predicate->left);
    c->negated = outer;
    if (predicate->kind != PREDICATE_NOT) {
        fputs(predicate->kind == PREDICATE_AND ? " AND " : " OR ", c->out);
        put_predicate(c, predicate->right);
    }
    fputc(')', c->out);
}

void sql_write_condition(struct translation *t, const struct sql_rows *rows,
                         const struct filter_step *step, struct sql_condition *written)
{
    size_t condition_size = 0, joins_size = 0;
    *written = (struct sql_condition){.condition = NULL};
    struct condition c = {.t = t,
                          .out = sql_begin_text(t, &written->condition, &condition_size),
                          .joins = sql_begin_text(t, &written->joins, &joins_size),
                          .rows = rows};
    if (c.out && c.joins)
        put_predicate(&c, step->predicate);
    if (c.of_run && t->use.by_count > 0 && rows->kind == KIND_GROUPS)
        SQL_FAIL(t, step->column, "a time of the run is of one session: leave out --by");
    if (c.of_run)
        fputs("\n  JOIN run r ON r.session = x.session", c.joins);
    sql_end_text(t, c.out);
    sql_end_text(t, c.joins);
}

void sql_condition_free(struct sql_condition *written)
{
    FREE_ALL(written->condition, written->joins);
}
