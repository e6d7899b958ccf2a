/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses steps, and follows the kind of the rows from step to step: allocations, groups of them, or
 * one measure, after which no step comes.
 */
#include <stdio.h>
#include <string.h>

#include "session/filter/parser.h"

typedef bool step_parser(struct filter_parser *parser, struct filter_pipeline *pipeline,
                         struct filter_step *step);

static bool parse_where(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    (void)pipeline;
    step->predicate = filter_parse_predicate(parser);
    return step->predicate != NULL;
}

static bool parse_process(struct filter_parser *parser, struct filter_pipeline *pipeline,
                          struct filter_step *step)
{
    (void)pipeline;
    step->predicate = filter_parse_process(parser);
    return step->predicate != NULL;
}

/* Parses the field that a step works on. */
static bool parse_field(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    struct filter_field_use use;
    if (!filter_parse_field(parser, &use))
        return false;
    step->field = use.field;
    step->frame = use.frame;
    step->field_column = use.column;
    step->moment = pipeline->moment;
    return true;
}

static bool parse_color_by(struct filter_parser *parser, struct filter_pipeline *pipeline,
                           struct filter_step *step)
{
    step->kind = STEP_COLOR_BY;
    if (!parse_field(parser, pipeline, step))
        return false;
    if (filter_fields[step->field].color_by < 0)
        return filter_fail(parser, step->field_column,
                           "cannot colour by %s: use function, thread, size, alloc_time, type, "
                           "module, lifetime or kind",
                           filter_fields[step->field].name);
    return true;
}

static bool parse_color(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    if (filter_accept(parser, "by"))
        return parse_color_by(parser, pipeline, step);
    if (!filter_parse_color(parser, &step->color))
        return false;
    if (!filter_accept(parser, "where"))
        return true;
    step->predicate = filter_parse_predicate(parser);
    return step->predicate != NULL;
}

static bool parse_sort(struct filter_parser *parser, struct filter_pipeline *pipeline,
                       struct filter_step *step)
{
    if (!parse_field(parser, pipeline, step))
        return false;
    if (filter_accept(parser, "desc"))
        step->descending = true;
    else
        filter_accept(parser, "asc");
    return true;
}

static bool parse_top(struct filter_parser *parser, struct filter_pipeline *pipeline,
                      struct filter_step *step)
{
    (void)pipeline;
    return filter_parse_count(parser, &step->limit);
}

/* ---- groups ---- */

static void become_groups(struct filter_pipeline *pipeline, const struct filter_field_use *keys,
                          size_t count)
{
    pipeline->kind = KIND_GROUPS;
    pipeline->keys = keys;
    pipeline->key_count = count;
}

/* Returns true if a join by the field makes groups of several allocations. */
static bool has_few_values(enum filter_field field)
{
    return field != FIELD_ADDRESS && field != FIELD_ID && field != FIELD_ALLOC_TIME &&
           field != FIELD_FREE_TIME && field != FIELD_LIFETIME && field != FIELD_PINS;
}

static bool parse_join(struct filter_parser *parser, struct filter_pipeline *pipeline,
                       struct filter_step *step)
{
    struct filter_field_use *keys = filter_allocate(parser, FILTER_KEYS_MAX * sizeof(*keys));
    if (!keys)
        return false;
    size_t count = 0;
    do {
        if (count == FILTER_KEYS_MAX)
            return filter_fail(parser, parser->token.column, "more than %d fields to join",
                               FILTER_KEYS_MAX);
        struct filter_field_use *key = &keys[count];
        if (!filter_parse_field(parser, key))
            return false;
        if (key->field == FIELD_CROSSED)
            return filter_fail(parser, key->column,
                               "crossed cannot be joined: join thread, free_thread");
        if (!has_few_values(key->field))
            return filter_fail(parser, key->column, "%s has too many values to join by",
                               filter_fields[key->field].name);
        for (size_t i = 0; i < count; i++) {
            if (keys[i].field == key->field && keys[i].frame == key->frame)
                return filter_fail(parser, key->column, "%s is joined already",
                                   filter_fields[key->field].name);
        }
        count++;
    } while (filter_accept(parser, ","));
    step->keys = keys;
    step->key_count = count;
    step->moment = pipeline->moment;
    become_groups(pipeline, keys, count);
    return true;
}

static bool parse_fold(struct filter_parser *parser, struct filter_pipeline *pipeline,
                       struct filter_step *step)
{
    struct filter_field_use *key = filter_allocate(parser, sizeof(*key));
    if (!key || !filter_parse_size(parser, &step->limit))
        return false;
    *key = (struct filter_field_use){.field = FIELD_PATH, .column = step->column};
    step->keys = key;
    step->key_count = 1;
    become_groups(pipeline, key, 1);
    return true;
}

static bool parse_ungroup(struct filter_parser *parser, struct filter_pipeline *pipeline,
                          struct filter_step *step)
{
    (void)parser;
    (void)step;
    pipeline->kind = KIND_ALLOCATIONS;
    pipeline->keys = NULL;
    pipeline->key_count = 0;
    return true;
}

/* ---- measures ---- */

static bool parse_count(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    (void)parser;
    (void)step;
    pipeline->kind = KIND_MEASURE;
    return true;
}

/* Returns true if values of the field can be added: bytes, numbers of objects, durations. */
static bool can_add(enum filter_field field)
{
    enum filter_type type = filter_fields[field].type;
    return type == TYPE_SIZE || type == TYPE_DURATION || field == FIELD_COUNT ||
           (type == TYPE_NUMBER && filter_field_of_groups(field));
}

static bool has_order(enum filter_field field)
{
    enum filter_type type = filter_fields[field].type;
    return type == TYPE_SIZE || type == TYPE_DURATION || type == TYPE_NUMBER || type == TYPE_MOMENT;
}

static bool parse_sum(struct filter_parser *parser, struct filter_pipeline *pipeline,
                      struct filter_step *step)
{
    if (!parse_field(parser, pipeline, step))
        return false;
    bool adds = step->kind == STEP_SUM || step->kind == STEP_AVG;
    if (adds ? !can_add(step->field) : !has_order(step->field))
        return filter_fail(parser, step->field_column, "%s cannot be %s: use size, %s or lifetime",
                           filter_fields[step->field].name, adds ? "added" : "put in order of size",
                           adds ? "count" : "alloc_time");
    pipeline->kind = KIND_MEASURE;
    return true;
}

static bool parse_growth(struct filter_parser *parser, struct filter_pipeline *pipeline,
                         struct filter_step *step)
{
    pipeline->kind = KIND_MEASURE;
    if (!filter_parse_moment(parser, &step->from))
        return false;
    if (!filter_accept(parser, ".."))
        return filter_expected(parser, "\"..\"");
    return filter_parse_moment(parser, &step->to);
}

/* ---- write ---- */

static bool parse_write(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    int column = parser->token.column;
    bool known = !filter_at_parameter(parser);
    if (!filter_parse_text(parser, &step->file, "the name of a file (quote it with \")"))
        return false;
    step->stored = parser->scope->stored != NULL;
    const char *suffix = strrchr(step->file, '.');
    bool session = suffix && strcmp(suffix, ".db") == 0;
    bool rows = suffix && (strcmp(suffix, ".csv") == 0 || strcmp(suffix, ".json") == 0);
    if (known && !session && !rows) {
        struct suggestion like;
        char text[SUGGEST_TEXT];
        suggest_start(&like, suffix ? suffix : "", suffix ? strlen(suffix) : 0);
        suggest_offer(&like, ".csv");
        suggest_offer(&like, ".json");
        suggest_offer(&like, ".db");
        return filter_fail(parser, column,
                           "expected the name of a file that ends in .csv, .json or .db%s",
                           suggest_text(&like, text));
    }
    if (session && pipeline->kind == KIND_GROUPS)
        return filter_fail(parser, column,
                           "a session has allocations, and these are groups: ungroup them, or "
                           "write a .csv or .json file");
    return true;
}

/* ---- all steps ---- */

enum { OF_ALLOCATIONS = 1 << KIND_ALLOCATIONS, OF_GROUPS = 1 << KIND_GROUPS };
#define OF_ROWS (OF_ALLOCATIONS | OF_GROUPS)

static const struct {
    const char *name;
    enum filter_step_kind kind;
    unsigned of; /* the kinds of rows that it works on */
    step_parser *parse;
} steps[] = {
    {"where", STEP_WHERE, OF_ROWS, parse_where},
    {"process", STEP_WHERE, OF_ROWS, parse_process},
    {"color", STEP_COLOR, OF_ROWS, parse_color},
    {"sort", STEP_SORT, OF_ROWS, parse_sort},
    {"top", STEP_TOP, OF_ROWS, parse_top},
    {"join", STEP_JOIN, OF_ALLOCATIONS, parse_join},
    {"fold", STEP_FOLD, OF_ALLOCATIONS, parse_fold},
    {"ungroup", STEP_UNGROUP, OF_GROUPS, parse_ungroup},
    {"count", STEP_COUNT, OF_ROWS, parse_count},
    {"sum", STEP_SUM, OF_ROWS, parse_sum},
    {"avg", STEP_AVG, OF_ROWS, parse_sum},
    {"min", STEP_MIN, OF_ROWS, parse_sum},
    {"max", STEP_MAX, OF_ROWS, parse_sum},
    {"peak", STEP_PEAK, OF_ALLOCATIONS, parse_count},
    {"growth", STEP_GROWTH, OF_ALLOCATIONS, parse_growth},
    {"write", STEP_WRITE, OF_ROWS, parse_write},
};
#define STEP_COUNT_ALL (sizeof(steps) / sizeof(steps[0]))

bool filter_at_step(const struct filter_parser *parser)
{
    for (size_t i = 0; i < STEP_COUNT_ALL; i++) {
        if (token_is(&parser->token, steps[i].name))
            return !filter_find_definition(parser, steps[i].name);
    }
    return false;
}

/* Sets the error for a step that the rows before it do not have. */
static bool wrong_rows(struct filter_parser *parser, const struct filter_pipeline *pipeline,
                       const char *name)
{
    int column = parser->token.column;
    if (pipeline->kind == KIND_MEASURE)
        return filter_fail(parser, column,
                           "the step before %s gives one number: no step can follow it", name);
    if (pipeline->kind == KIND_ALLOCATIONS)
        return filter_fail(parser, column,
                           "%s works on groups, and these are allocations: join a field first",
                           name);
    return filter_fail(parser, column,
                       "%s works on allocations, and these are groups: ungroup them first", name);
}

static bool ends_with_where(const struct filter_pipeline *pipeline)
{
    const struct filter_step *step = pipeline->steps;
    while (step && step->next)
        step = step->next;
    return step && step->kind == STEP_WHERE;
}

bool filter_parse_step(struct filter_parser *parser, struct filter_pipeline *pipeline,
                       struct filter_step *step)
{
    struct suggestion names;
    filter_suggest(parser, &names);
    step->column = parser->token.column;
    for (size_t i = 0; i < STEP_COUNT_ALL; i++) {
        suggest_offer(&names, steps[i].name);
        if (!token_is(&parser->token, steps[i].name))
            continue;
        if ((steps[i].of & 1u << pipeline->kind) == 0)
            return wrong_rows(parser, pipeline, steps[i].name);
        filter_advance(parser);
        step->kind = steps[i].kind;
        return steps[i].parse(parser, pipeline, step);
    }
    if (token_is(&parser->token, "|") && ends_with_where(pipeline)) /* "||" */
        snprintf(names.name, sizeof(names.name), "or");
    return filter_expected_name(
        parser, "a step (where, color, sort, top, join, ungroup, count, sum, …)", &names);
}
