/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses predicates: and, or, not, and tests of one field with values of the field's type.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/parser.h"
#include "session/filter/regex.h"

/* ---- tests ---- */

static bool ordered(enum filter_type type)
{
    return type == TYPE_NUMBER || type == TYPE_SIZE || type == TYPE_MOMENT || type == TYPE_DURATION;
}

static bool named(enum filter_type type)
{
    return type == TYPE_TEXT || type == TYPE_TEXT_OR_NUMBER;
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
    return filter_parse_text(parser, &test->low.text, "the name of a function");
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
    if (match && !named(type))
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

struct filter_predicate *filter_parse_predicate(struct filter_parser *parser)
{
    return parse_chain(parser, "or", PREDICATE_OR, parse_and);
}

struct filter_predicate *filter_parse_process(struct filter_parser *parser)
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
