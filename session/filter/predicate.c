/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses predicates: and, or, not, and tests of one field with values of the field's type.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/filter/parser.h"
#include "session/filter/regex.h"

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
    [FIELD_ID] = {"id", TYPE_NUMBER, -1},
    [FIELD_COLOR] = {"color", TYPE_COLOR, -1},
};

bool filter_parse_field(struct filter_parser *parser, enum filter_field *field)
{
    static const char *const of_groups[] = {"allocations", "bytes",    "live_bytes",
                                            "peak_bytes",  "avg_size", "avg_lifetime"};
    for (int i = 0; i < FIELD_TOTAL; i++) {
        if (filter_accept(parser, filter_fields[i].name)) {
            *field = (enum filter_field)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(of_groups) / sizeof(of_groups[0]); i++) {
        if (token_is(&parser->token, of_groups[i]))
            return session_fail(parser->error, parser->token.column,
                                "%s is a field of groups, which only a join makes", of_groups[i]);
    }
    return filter_expected(parser, "a field (size, function, thread, lifetime, …)");
}

/* ---- values ---- */

struct unit {
    const char *name;
    uint64_t factor;
};
static const struct unit size_units[] = {
    {"", 1}, {"K", UINT64_C(1) << 10}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30}};
static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static const struct unit *find_unit(const struct unit *units, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    }
    return NULL;
}

/* Computes DIGITS[.DIGITS] times `factor`, exactly, rounded down. Returns false if it exceeds 64
 * bits. */
static bool scale_number(const char *digits, size_t length, uint64_t factor, uint64_t *number)
{
    unsigned __int128 whole = 0;
    unsigned __int128 part = 0;
    unsigned __int128 scale = 1;
    bool fraction = false;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] == '.') {
            if (fraction)
                return false;
            fraction = true;
        } else if (!fraction) {
            whole = whole * 10 + (unsigned)(digits[i] - '0');
            if (whole > UINT64_MAX)
                return false;
        } else if (scale < UINT64_C(1000000000000000)) {
            part = part * 10 + (unsigned)(digits[i] - '0');
            scale *= 10;
        }
    }
    unsigned __int128 value = whole * factor + part * factor / scale;
    *number = (uint64_t)value;
    return value <= UINT64_MAX;
}

static bool parse_hexadecimal(struct filter_parser *parser, uint64_t *number)
{
    const struct token *token = &parser->token;
    uint64_t value = 0;
    if (token->length < 3 || token->length > 18)
        return filter_expected(parser, "a hexadecimal number of at most 16 digits");
    for (size_t i = 2; i < token->length; i++) {
        const char *digits = "0123456789abcdef";
        char c = token->text[i];
        const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        if (!digit)
            return filter_expected(parser, "a hexadecimal number");
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *number = value;
    filter_advance(parser);
    return true;
}

/* Parses a number with one of `units`, which `expected` names. "0" needs no unit. */
static bool parse_scaled(struct filter_parser *parser, const struct unit *units, size_t unit_count,
                         const char *expected, uint64_t *number)
{
    const struct token *token = &parser->token;
    if (token->kind != TOKEN_NUMBER)
        return filter_expected(parser, expected);
    size_t digits = 0;
    while (digits < token->length && ((token->text[digits] >= '0' && token->text[digits] <= '9') ||
                                      token->text[digits] == '.'))
        digits++;
    char name[4] = "";
    if (token->length - digits < sizeof(name))
        memcpy(name, token->text + digits, token->length - digits);
    const struct unit *unit = find_unit(units, unit_count, name);
    bool zero = token->length == 1 && token->text[0] == '0';
    if ((!unit || (token->length > digits && name[0] == '\0')) && !zero)
        return filter_expected(parser, expected);
    if (!scale_number(token->text, digits, unit ? unit->factor : 1, number))
        return filter_expected(parser, "a number below 2^64");
    filter_advance(parser);
    return true;
}

static bool is_hexadecimal(const struct token *token)
{
    return token->kind == TOKEN_NUMBER && token->length > 1 && token->text[0] == '0' &&
           (token->text[1] == 'x' || token->text[1] == 'X');
}

bool filter_parse_count(struct filter_parser *parser, uint64_t *number)
{
    if (is_hexadecimal(&parser->token))
        return parse_hexadecimal(parser, number);
    if (parser->token.kind == TOKEN_NUMBER && memchr(parser->token.text, '.', parser->token.length))
        return filter_expected(parser, "a whole number");
    return parse_scaled(parser, size_units, 1, "a number", number);
}

bool filter_parse_moment(struct filter_parser *parser, struct filter_value *value)
{
    value->column = parser->token.column;
    value->is_number = true;
    if (filter_accept(parser, "start")) {
        value->moment = MOMENT_START;
    } else if (filter_accept(parser, "peak")) {
        value->moment = MOMENT_PEAK;
    } else if (filter_accept(parser, "end")) {
        value->moment = MOMENT_END;
    } else if (parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_STRING) {
        value->moment = MOMENT_MARK;
        value->text = filter_token_text(parser, &parser->token);
        filter_advance(parser);
        return value->text != NULL;
    } else {
        value->moment = MOMENT_NUMBER;
        return parse_scaled(parser, time_units, 4,
                            "a time (number with ns, us, ms or s; start, peak, end or a mark)",
                            &value->number);
    }
    return true;
}

/* The names of colours and their numbers in the 256-colour palette of terminals. */
#define COLOR_NAMES                                                                                \
    "red, green, yellow, blue, magenta, cyan, white, gray, orange, pink, brown, purple"

/* Returns the number of a colour name of `length` bytes, -1 if there is no such colour. */
static int color_number(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int number;
    } colors[] = {
        {"red", 1},    {"green", 2},   {"yellow", 3},  {"blue", 4}, {"magenta", 5},
        {"cyan", 6},   {"white", 7},   {"gray", 8},    {"grey", 8}, {"orange", 208},
        {"pink", 213}, {"brown", 130}, {"purple", 93},
    };
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
        if (strlen(colors[i].name) == length && memcmp(colors[i].name, name, length) == 0)
            return colors[i].number;
    }
    return -1;
}

bool filter_parse_color(struct filter_parser *parser, struct filter_value *value)
{
    value->column = parser->token.column;
    value->is_number = true;
    if (parser->token.kind == TOKEN_NUMBER) {
        if (!filter_parse_count(parser, &value->number))
            return false;
        if (value->number > 255)
            return session_fail(parser->error, value->column,
                                "expected a colour number from 0 to 255");
        return true;
    }
    if (parser->token.kind == TOKEN_WORD) {
        int number = color_number(parser->token.text, parser->token.length);
        if (number >= 0) {
            value->number = (uint64_t)number;
            filter_advance(parser);
            return true;
        }
    }
    return filter_expected(parser, "a colour (" COLOR_NAMES " or 0 to 255)");
}

static bool parse_boolean(struct filter_parser *parser, struct filter_value *value)
{
    value->is_number = true;
    value->number = token_is(&parser->token, "true");
    if (filter_accept(parser, "true") || filter_accept(parser, "false"))
        return true;
    return filter_expected(parser, "true or false");
}

static bool parse_text(struct filter_parser *parser, struct filter_value *value, const char *what)
{
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_STRING)
        return filter_expected(parser, what);
    value->text = filter_token_text(parser, &parser->token);
    filter_advance(parser);
    return value->text != NULL;
}

static bool parse_value(struct filter_parser *parser, enum filter_type type,
                        struct filter_value *value)
{
    value->column = parser->token.column;
    switch (type) {
    case TYPE_NUMBER:
        value->is_number = true;
        return filter_parse_count(parser, &value->number);
    case TYPE_SIZE:
        value->is_number = true;
        return parse_scaled(parser, size_units, 4, "a size (number, or number with K, M or G)",
                            &value->number);
    case TYPE_DURATION:
        value->is_number = true;
        return parse_scaled(parser, time_units, 4, "a duration (number with ns, us, ms or s)",
                            &value->number);
    case TYPE_MOMENT:
        return filter_parse_moment(parser, value);
    case TYPE_TEXT_OR_NUMBER:
        if (parser->token.kind == TOKEN_NUMBER) {
            value->is_number = true;
            return filter_parse_count(parser, &value->number);
        }
        return parse_text(parser, value, "a name or a number");
    case TYPE_BOOLEAN:
        return parse_boolean(parser, value);
    case TYPE_COLOR:
        return filter_parse_color(parser, value);
    case TYPE_TEXT:
        break;
    }
    return parse_text(parser, value, "a name (quote it with \" unless it is one word)");
}

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
    if (!parse_text(parser, value, "a regular expression (quote it with \")"))
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
        return session_fail(parser->error, column, "only stack and free_stack can have a function");
    test->operator_ = OPERATOR_HAS;
    test->low.column = parser->token.column;
    return parse_text(parser, &test->low, "the name of a function");
}

static bool parse_in(struct filter_parser *parser, struct filter_test *test, int column)
{
    enum filter_type type = filter_fields[test->field].type;
    if (!ordered(type))
        return session_fail(parser->error, column, "%s has no order for \"in\": use == or ~",
                            filter_fields[test->field].name);
    test->operator_ = OPERATOR_IN;
    if (!parse_value(parser, type, &test->low))
        return false;
    if (!filter_accept(parser, ".."))
        return filter_expected(parser, "\"..\"");
    return parse_value(parser, type, &test->high);
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
        return filter_expected(parser, "an operator (== != < <= > >= ~ !~ in is has)");
    test->operator_ = operators[i].operator_;
    bool match = test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
    bool order = !match && test->operator_ > OPERATOR_NOT_EQUAL;
    if (match && !named(type))
        return session_fail(parser->error, column, "%s is not text: use == != < <= > >= or in",
                            name);
    if (order && !ordered(type))
        return session_fail(parser->error, column, "%s has no order: use == != ~ or !~", name);
    return match ? parse_regex(parser, &test->low) : parse_value(parser, type, &test->low);
}

static bool parse_test(struct filter_parser *parser, struct filter_test *test)
{
    if (!filter_parse_field(parser, &test->field))
        return false;
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
    if (token_is(&parser->token, "not") || token_is(&parser->token, "(")) {
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
    while (left && token_is(&parser->token, word)) {
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
    predicate->test.field = FIELD_PROCESS;
    predicate->test.operator_ = OPERATOR_EQUAL;
    return parse_value(parser, TYPE_TEXT_OR_NUMBER, &predicate->test.low) ? predicate : NULL;
}
