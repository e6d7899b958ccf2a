/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses steps, and follows the kind of the rows from step to step: allocations, groups of them, or
 * one measure, after which no step comes. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/parser.h"
#include "session/filter/program.h"

/* ---- field ---- */

/* The fields: their types, and which rows have them. */

const struct filter_field_description filter_fields[FIELD_TOTAL] = {
    [FIELD_SIZE] = {"size", TYPE_SIZE, SESSION_COLOR_SIZE},
    [FIELD_COUNT] = {"count", TYPE_NUMBER, -1},
    [FIELD_ADDRESS] = {"address", TYPE_NUMBER, -1},
    [FIELD_TYPE] = {"type", TYPE_TEXT, SESSION_COLOR_TYPE},
    [FIELD_CONFIDENCE] = {"confidence", TYPE_TEXT, -1},
    [FIELD_FUNCTION] = {"function", TYPE_TEXT, SESSION_COLOR_FUNCTION},
    [FIELD_CALLER] = {"caller", TYPE_TEXT, -1},
    [FIELD_STACK] = {"stack", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_FREE_STACK] = {"free_stack", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_FREE_THREAD] = {"free_thread", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_CROSSED] = {"crossed", TYPE_BOOLEAN, -1},
    [FIELD_FILE] = {"file", TYPE_TEXT, -1},
    [FIELD_LINE] = {"line", TYPE_NUMBER, -1},
    [FIELD_MODULE] = {"module", TYPE_TEXT, SESSION_COLOR_MODULE},
    [FIELD_THREAD] = {"thread", TYPE_TEXT_OR_NUMBER, SESSION_COLOR_THREAD},
    [FIELD_PROCESS] = {"process", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_ARENA] = {"arena", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_KIND] = {"kind", TYPE_TEXT, SESSION_COLOR_KIND},
    [FIELD_ALLOC_TIME] = {"alloc_time", TYPE_MOMENT, SESSION_COLOR_AGE},
    [FIELD_FREE_TIME] = {"free_time", TYPE_MOMENT, -1},
    [FIELD_LIFETIME] = {"lifetime", TYPE_DURATION, SESSION_COLOR_LIFETIME},
    [FIELD_FREED] = {"freed", TYPE_BOOLEAN, -1},
    [FIELD_COLLECTED] = {"collected", TYPE_BOOLEAN, -1},
    [FIELD_ID] = {"id", TYPE_NUMBER, -1},
    [FIELD_COLOR] = {"color", TYPE_COLOR, -1},
    [FIELD_USER] = {"user", TYPE_TEXT, SESSION_COLOR_USER},
    [FIELD_OWNER] = {"owner", TYPE_TEXT, SESSION_COLOR_OWNER},
    [FIELD_FRAME] = {"frame", TYPE_TEXT, -1},
    [FIELD_PINS] = {"pins", TYPE_SIZE, -1},
    [FIELD_RESIDENT] = {"resident", TYPE_SIZE, -1},
    [FIELD_REACHABILITY] = {"reachability", TYPE_TEXT, -1},
    [FIELD_RETAINED] = {"retained", TYPE_SIZE, -1},
    [FIELD_REFERENCES] = {"references", TYPE_NUMBER, -1},
    [FIELD_DOMINATOR] = {"dominator", TYPE_NUMBER, -1},
    [FIELD_PATH] = {"path", TYPE_TEXT, -1},
    [FIELD_ALLOCATIONS] = {"allocations", TYPE_NUMBER, -1},
    [FIELD_BYTES] = {"bytes", TYPE_SIZE, -1},
    [FIELD_OBJECTS] = {"objects", TYPE_NUMBER, -1},
    [FIELD_LIVE_BYTES] = {"live_bytes", TYPE_SIZE, -1},
    [FIELD_LIVE_COUNT] = {"live_count", TYPE_NUMBER, -1},
    [FIELD_AT_PEAK_BYTES] = {"at_peak_bytes", TYPE_SIZE, -1},
    [FIELD_PEAK_BYTES] = {"peak_bytes", TYPE_SIZE, -1},
    [FIELD_AVG_SIZE] = {"avg_size", TYPE_SIZE, -1},
    [FIELD_AVG_LIFETIME] = {"avg_lifetime", TYPE_DURATION, -1},
    [FIELD_MIN_SIZE] = {"min_size", TYPE_SIZE, -1},
    [FIELD_MAX_SIZE] = {"max_size", TYPE_SIZE, -1},
    [FIELD_MIN_LIFETIME] = {"min_lifetime", TYPE_DURATION, -1},
    [FIELD_MAX_LIFETIME] = {"max_lifetime", TYPE_DURATION, -1},
    [FIELD_FIRST_TIME] = {"first_time", TYPE_MOMENT, -1},
    [FIELD_LAST_TIME] = {"last_time", TYPE_MOMENT, -1},
    [FIELD_BORN_OVER] = {"born_over", TYPE_DURATION, -1},
    [FIELD_DIED_OVER] = {"died_over", TYPE_DURATION, -1},
    [FIELD_RISES] = {"rises", TYPE_NUMBER, -1},
    [FIELD_CLIMB] = {"climb", TYPE_NUMBER, -1},
    [FIELD_REPLACED] = {"replaced", TYPE_NUMBER, -1},
    [FIELD_TURNOVER] = {"turnover", TYPE_NUMBER, -1},
    [FIELD_WASTED] = {"wasted", TYPE_SIZE, -1},
    [FIELD_SHARE] = {"share", TYPE_NUMBER, -1},
};

/* Returns true if the field is one of the groups' keys. */
static bool is_key(const struct filter_pipeline *rows, const struct filter_field_use *use)
{
    for (size_t i = 0; i < rows->key_count; i++)
        if (rows->keys[i].field == use->field && rows->keys[i].frame == use->frame)
            return true;
    return false;
}

static bool has_field(const struct filter_pipeline *rows, const struct filter_field_use *use)
{
    if (rows->kind == KIND_GROUPS)
        return filter_field_of_groups(use->field) || use->field == FIELD_COLOR || is_key(rows, use);
    if (filter_field_of_moment(use->field))
        return rows->moment != NULL;
    return rows->kind == KIND_ALLOCATIONS && !filter_field_of_groups(use->field) &&
           use->field != FIELD_PATH;
}

/* Returns true if the rows at this place have the field. If not, sets the error at its column. */
static bool filter_check_field(struct filter_parser *parser, const struct filter_field_use *use)
{
    const struct filter_pipeline *rows = parser->rows;
    const char *name = filter_fields[use->field].name;
    if (has_field(rows, use))
        return true;
    if (use->field == FIELD_PATH)
        return filter_fail(parser, use->column, "path is a field of the groups that fold makes");
    if (rows->kind != KIND_GROUPS && filter_field_of_moment(use->field))
        return filter_fail(parser, use->column,
                           "%s needs the time at which the blocks were live: begin with "
                           "\"live at …\"",
                           name);
    if (rows->kind != KIND_GROUPS)
        return filter_fail(parser, use->column, "%s is a field of groups, which only a join makes",
                           name);
    return filter_fail(parser, use->column,
                       "%s is a field of allocations, and these are groups: join %s, too, or use "
                       "a field of groups (allocations, bytes, live_bytes, …)",
                       name, name);
}

/* Parses the name of a field that the rows at this place have. */
static bool filter_parse_field(struct filter_parser *parser, struct filter_field_use *use)
{
    *use =
        (struct filter_field_use){.column = parser->token.column, .moment = parser->rows->moment};
    struct suggestion names;
    filter_suggest(parser, &names);
    for (int i = 0; i < FIELD_TOTAL; i++) {
        use->field = (enum filter_field)i;
        if (token_is(&parser->token, filter_fields[i].name)) {
            filter_advance(parser);
            uint64_t frame = 0;
            int column = parser->token.column;
            if (i == FIELD_FRAME && !filter_parse_count(parser, &frame))
                return false;
            if (frame > UINT32_MAX)
                return filter_fail(parser, column, "no stack has so many frames");
            use->frame = (uint32_t)frame;
            return filter_check_field(parser, use);
        }
        if (has_field(parser->rows, use))
            suggest_offer(&names, filter_fields[i].name);
    }
    bool groups = parser->rows->kind == KIND_GROUPS;
    return filter_expected_name(parser,
                                groups ? "a field of groups (allocations, bytes, live_bytes, …)"
                                       : "a field (size, function, thread, lifetime, …)",
                                &names);
}

/* ---- predicate ---- */

/* Parses predicates: and, or, not, and tests of one field with values of the field's type. */

/* ---- tests ---- */

static bool ordered(enum filter_type type)
{
    return type == TYPE_NUMBER || type == TYPE_SIZE || type == TYPE_MOMENT || type == TYPE_DURATION;
}

static bool parse_regex(struct filter_parser *parser, struct filter_value *value)
{
    value->column = parser->token.column;
    if (!filter_parse_text(parser, &value->text, "a regular expression (quote it with \")"))
        return false;
    regex_t regex;
    if (!filter_regex_compile(&regex, value->text, value->column, parser->error))
        return false;
    regfree(&regex);
    return true;
}

static bool parse_null(struct filter_parser *parser, struct filter_test *test)
{
    test->operator_ = filter_accept(parser, "not") ? OPERATOR_IS_NOT_NULL : OPERATOR_IS_NULL;
    return filter_accept(parser, "null") || filter_expected(parser, "null");
}

static bool parse_has(struct filter_parser *parser, struct filter_test *test, int column)
{
    if (test->field != FIELD_STACK && test->field != FIELD_FREE_STACK)
        return filter_fail(parser, column, "only stack and free_stack can have a function");
    test->operator_ = OPERATOR_HAS;
    test->low.column = parser->token.column;
    if (!filter_parse_text(parser, &test->low.text, "the name of a function"))
        return false;
    filter_take_parameter(parser, &test->low);
    return true;
}

enum { ITEMS_MAX = 100000 };

/* Parses the items of a list, after its parenthesis. */
static bool parse_list(struct filter_parser *parser, struct filter_test *test)
{
    size_t count = 0;
    test->operator_ = OPERATOR_IN_LIST;
    do {
        struct filter_item *item = filter_allocate(parser, sizeof(*item));
        const int column = parser->token.column;
        if (!item || !filter_parse_count(parser, &item->low))
            return false;
        item->high = item->low;
        if (filter_accept(parser, "..") && !filter_parse_count(parser, &item->high))
            return false;
        if (++count > ITEMS_MAX)
            return filter_fail(parser, column, "a list has at most %d items", ITEMS_MAX);
        item->next = test->items;
        test->items = item;
    } while (filter_accept(parser, ","));
    return filter_accept(parser, ")") || filter_expected(parser, "\",\", \"..\" or \")\"");
}

static bool listed(enum filter_field field)
{
    return field == FIELD_ID || field == FIELD_ADDRESS || field == FIELD_SIZE ||
           field == FIELD_COUNT || field == FIELD_STACK || field == FIELD_FREE_STACK;
}

static bool parse_in(struct filter_parser *parser, struct filter_test *test, int column)
{
    enum filter_type type = filter_fields[test->field].type;
    /* A moment or a duration may begin with a parenthesis: (peak - 1ms)..end. */
    if (token_is(&parser->token, "(") && type != TYPE_MOMENT && type != TYPE_DURATION) {
        if (!listed(test->field) || parser->rows->kind != KIND_ALLOCATIONS)
            return filter_fail(parser, column,
                               "only id, address, size, count, stack and free_stack of "
                               "allocations can be in a list");
        filter_advance(parser);
        return parse_list(parser, test);
    }
    if (!ordered(type))
        return filter_fail(parser, column, "%s has no order for \"in\": use == or ~",
                           filter_fields[test->field].name);
    test->operator_ = OPERATOR_IN;
    if (!filter_parse_value(parser, type, &test->low))
        return false;
    if (!filter_accept(parser, ".."))
        return filter_expected(parser, "\"..\"");
    return filter_parse_value(parser, type, &test->high);
}

/* Sets the error of a test that has no operator. */
static bool no_operator(struct filter_parser *parser, enum filter_type type, const char *name)
{
    static const char expected[] = "an operator (== != < <= > >= ~ !~ in is has)";
    const struct token *token = &parser->token;
    struct suggestion whole = {.word = ""};
    if (type != TYPE_BOOLEAN ||
        !(token->kind == TOKEN_END || token_is(token, "|") || token_is(token, "and") ||
          token_is(token, "or") || token_is(token, ")")))
        return filter_expected(parser, expected);
    snprintf(whole.name, sizeof(whole.name), "%s == true", name);
    return filter_expected_name(parser, expected, &whole);
}

static bool parse_comparison(struct filter_parser *parser, struct filter_test *test)
{
    static const struct {
        const char *text;
        enum filter_operator operator_;
    } operators[] = {
        {"==", OPERATOR_EQUAL},      {"!=", OPERATOR_NOT_EQUAL}, {"<", OPERATOR_LESS},
        {"<=", OPERATOR_LESS_EQUAL}, {">", OPERATOR_GREATER},    {">=", OPERATOR_GREATER_EQUAL},
        {"~", OPERATOR_MATCH},       {"!~", OPERATOR_NOT_MATCH},
    };
    enum filter_type type = filter_fields[test->field].type;
    const char *name = filter_fields[test->field].name;
    int column = parser->token.column;
    size_t i = 0;
    while (i < sizeof(operators) / sizeof(operators[0]) &&
           !filter_accept(parser, operators[i].text))
        i++;
    if (i == sizeof(operators) / sizeof(operators[0]))
        return no_operator(parser, type, name);
    /* "<>" is two signs. */
    if (operators[i].operator_ == OPERATOR_LESS && token_is(&parser->token, ">"))
        return filter_fail(parser, column,
                           "expected an operator, found \"<>\": did you mean \"!=\"?");
    test->operator_ = operators[i].operator_;
    bool match = test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
    bool order = !match && test->operator_ > OPERATOR_NOT_EQUAL;
    if (match && type != TYPE_TEXT && type != TYPE_TEXT_OR_NUMBER)
        return filter_fail(parser, column, "%s is not text: use == != < <= > >= or in", name);
    if (order && !ordered(type))
        return filter_fail(parser, column, "%s has no order: use == != ~ or !~", name);
    return match ? parse_regex(parser, &test->low) : filter_parse_value(parser, type, &test->low);
}

static bool parse_test(struct filter_parser *parser, struct filter_test *test)
{
    struct filter_field_use use;
    if (!filter_parse_field(parser, &use))
        return false;
    test->field = use.field;
    test->frame = use.frame;
    test->column = use.column;
    test->moment = parser->rows->moment;
    int column = parser->token.column;
    if (filter_accept(parser, "is"))
        return parse_null(parser, test);
    if (filter_accept(parser, "has"))
        return parse_has(parser, test, column);
    if (filter_accept(parser, "in"))
        return parse_in(parser, test, column);
    return parse_comparison(parser, test);
}

/* ---- and, or, not ---- */

static struct filter_predicate *make_predicate(struct filter_parser *parser,
                                               enum filter_predicate_kind kind,
                                               struct filter_predicate *left,
                                               struct filter_predicate *right)
{
    struct filter_predicate *predicate = filter_allocate(parser, sizeof(*predicate));
    if (predicate) {
        predicate->kind = kind;
        predicate->left = left;
        predicate->right = right;
    }
    return predicate;
}

static struct filter_predicate *filter_parse_predicate(struct filter_parser *parser);

static struct filter_predicate *parse_factor(struct filter_parser *parser)
{
    struct filter_predicate *inner;
    if (filter_at(parser, "not") || filter_at(parser, "(")) {
        if (!filter_enter(parser))
            return NULL;
        bool negated = filter_accept(parser, "not");
        if (negated) {
            inner = parse_factor(parser);
        } else {
            filter_advance(parser);
            inner = filter_parse_predicate(parser);
            if (inner && !filter_accept(parser, ")")) {
                filter_expected(parser, "and, or or \")\"");
                return NULL;
            }
        }
        parser->depth--;
        if (!inner || !negated)
            return inner;
        return make_predicate(parser, PREDICATE_NOT, inner, NULL);
    }
    inner = make_predicate(parser, PREDICATE_TEST, NULL, NULL);
    return inner && parse_test(parser, &inner->test) ? inner : NULL;
}

/* Parses `factor { word factor }` in a loop. The chain nests to the left. */
static struct filter_predicate *
parse_chain(struct filter_parser *parser, const char *word, enum filter_predicate_kind kind,
            struct filter_predicate *(*parse)(struct filter_parser *))
{
    struct filter_predicate *left = parse(parser);
    unsigned depth = parser->depth;
    while (left && filter_at(parser, word)) {
        if (!filter_enter(parser))
            return NULL;
        filter_advance(parser);
        struct filter_predicate *right = parse(parser);
        left = !right ? NULL : make_predicate(parser, kind, left, right);
    }
    parser->depth = depth;
    return left;
}

static struct filter_predicate *parse_and(struct filter_parser *parser)
{
    return parse_chain(parser, "and", PREDICATE_AND, parse_factor);
}

static struct filter_predicate *filter_parse_predicate(struct filter_parser *parser)
{
    return parse_chain(parser, "or", PREDICATE_OR, parse_and);
}

/* Parses the operand of the step `process` into a test of that field. */
static struct filter_predicate *filter_parse_process(struct filter_parser *parser)
{
    struct filter_predicate *predicate = make_predicate(parser, PREDICATE_TEST, NULL, NULL);
    if (!predicate)
        return NULL;
    const struct filter_field_use use = {.field = FIELD_PROCESS, .column = parser->token.column};
    predicate->test.field = FIELD_PROCESS;
    predicate->test.column = use.column;
    predicate->test.operator_ = OPERATOR_EQUAL;
    if (!filter_check_field(parser, &use))
        return NULL;
    return filter_parse_value(parser, TYPE_TEXT_OR_NUMBER, &predicate->test.low) ? predicate : NULL;
}

typedef bool step_parser(struct filter_parser *parser, struct filter_pipeline *pipeline,
                         struct filter_step *step);

static bool parse_where(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    step->predicate = filter_parse_predicate(parser);
    return step->predicate != NULL;
}

static bool parse_process(struct filter_parser *parser, struct filter_pipeline *pipeline,
                          struct filter_step *step)
{
    step->predicate = filter_parse_process(parser);
    return step->predicate != NULL;
}

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
           field != FIELD_FREE_TIME && field != FIELD_LIFETIME &&
           (!filter_field_found(field) || field == FIELD_REACHABILITY);
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
    pipeline->kind = KIND_ALLOCATIONS;
    pipeline->keys = NULL;
    pipeline->key_count = 0;
    return true;
}

/* ---- references ---- */

/* Parses `by (FILTER)`, or `(FILTER)` after `holds`. */
static bool parse_references(struct filter_parser *parser, struct filter_pipeline *pipeline,
                             struct filter_step *step)
{
    if (step->kind != STEP_HOLDS && !filter_accept(parser, "by"))
        return filter_expected(parser, "by");
    const int column = parser->token.column;
    if (!filter_accept(parser, "("))
        return filter_expected(parser, "a filter in parentheses");
    if (!filter_enter(parser) || !(step->pipeline = filter_parse_pipeline(parser)))
        return false;
    parser->depth--;
    step->moment = pipeline->moment;
    if (!filter_accept(parser, ")"))
        return filter_expected(parser, "\"|\" or \")\"");
    if (step->pipeline->kind == KIND_ALLOCATIONS)
        return true;
    return filter_fail(parser, column, "%s needs a filter that gives allocations, and %s",
                       step->kind == STEP_HOLDS  ? "holds"
                       : step->kind == STEP_HELD ? "held by"
                                                 : "retained by",
                       step->pipeline->kind == KIND_GROUPS ? "these are groups: ungroup them first"
                                                           : "this is one number");
}

/* ---- measures ---- */

static bool parse_count(struct filter_parser *parser, struct filter_pipeline *pipeline,
                        struct filter_step *step)
{
    pipeline->kind = KIND_MEASURE;
    return true;
}

/* Returns true if values of the field can be added: bytes, numbers of objects, durations. */
static bool can_add(enum filter_field field)
{
    enum filter_type type = filter_fields[field].type;
    return type == TYPE_SIZE || type == TYPE_DURATION || field == FIELD_COUNT ||
           field == FIELD_REFERENCES || (type == TYPE_NUMBER && filter_field_of_groups(field));
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
    {"held", STEP_HELD, OF_ALLOCATIONS, parse_references},
    {"holds", STEP_HOLDS, OF_ALLOCATIONS, parse_references},
    {"retained", STEP_RETAINED, OF_ALLOCATIONS, parse_references},
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
    for (size_t i = 0; i < STEP_COUNT_ALL; i++)
        if (token_is(&parser->token, steps[i].name))
            return !filter_find_definition(parser, steps[i].name);
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

/* ---- the fields that a graph mentions: some widen its sets ---- */

static bool predicate_mentions(const struct filter_predicate *predicate, enum filter_field field)
{
    if (!predicate)
        return false;
    if (predicate->kind == PREDICATE_TEST)
        return predicate->test.field == field;
    return predicate_mentions(predicate->left, field) ||
           predicate_mentions(predicate->right, field);
}

static bool set_mentions(const struct filter_set *set, enum filter_field field,
                         unsigned *pipelines);

/* Visits at most FILTER_PIPELINES_MAX pipelines: with more the filter does not run. */
static bool pipeline_mentions(const struct filter_pipeline *pipeline, enum filter_field field,
                              unsigned *pipelines)
{
    if (++*pipelines > FILTER_PIPELINES_MAX)
        return true;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        if (predicate_mentions(step->predicate, field) ||
            (step->pipeline && pipeline_mentions(step->pipeline, field, pipelines)))
            return true;
        for (size_t i = 0; i < step->key_count; i++)
            if (step->keys[i].field == field)
                return true;
    }
    return set_mentions(pipeline->set, field, pipelines);
}

static bool set_mentions(const struct filter_set *set, enum filter_field field, unsigned *pipelines)
{
    if (set->kind == SET_ALL || set->kind == SET_LIVE_AT || set->kind == SET_LEAKED ||
        set->kind == SET_OUTLIVED || set->kind == SET_SURVIVED || set->kind == SET_UNREACHABLE ||
        set->kind == SET_POSSIBLY || set->kind == SET_SESSION)
        return false;
    if (set->kind == SET_PIPELINE)
        return pipeline_mentions(set->pipeline, field, pipelines);
    return set_mentions(set->left, field, pipelines) || set_mentions(set->right, field, pipelines);
}

bool filter_mentions(const struct filter_pipeline *pipeline, enum filter_field field)
{
    unsigned pipelines = 0;
    return pipeline_mentions(pipeline, field, &pipelines);
}
