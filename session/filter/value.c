/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses values: numbers with units, times, colours, texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/filter/parser.h"

/* ---- numbers ---- */

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
    for (size_t i = 0; i < count; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* Computes DIGITS[.DIGITS] times `factor`, rounded down. False if it exceeds 64 bits. */
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

/* Spellings that people use for a unit. `factor`: of the number, with the unit `meant`. */
static const struct {
    const char *written, *meant;
    unsigned factor;
} other_units[] = {
    {"b", "", 1},        {"byte", "", 1},   {"bytes", "", 1},    {"k", "K", 1},
    {"kb", "K", 1},      {"kib", "K", 1},   {"m", "M", 1},       {"mb", "M", 1},
    {"mib", "M", 1},     {"g", "G", 1},     {"gb", "G", 1},      {"gib", "G", 1},
    {"nsec", "ns", 1},   {"usec", "us", 1}, {"µs", "us", 1},     {"msec", "ms", 1},
    {"millis", "ms", 1}, {"sec", "s", 1},   {"secs", "s", 1},    {"second", "s", 1},
    {"seconds", "s", 1}, {"min", "s", 60},  {"minute", "s", 60}, {"minutes", "s", 60},
    {"m", "s", 60},      {"h", "s", 3600},  {"hour", "s", 3600}, {"hours", "s", 3600},
    {"percent", "%", 1}, {"ns", "ns", 1},   {"us", "us", 1},     {"ms", "ms", 1},
    {"s", "s", 1},       {"%", "%", 1},
};

/* Finds what a number without a unit of `units` meant: another name, or a unit after a space. */
static bool wrong_unit(struct filter_parser *parser, const struct unit *units, size_t unit_count,
                       size_t digits, const char *expected)
{
    const struct token *token = &parser->token;
    struct suggestion meant = {.word = ""};
    const char *unit = token->text + digits;
    size_t length = token->length - digits;
    if (length == 0 && !token->of_argument) {
        unit += strspn(unit, " \t");
        length = *unit == '%' ? 1 : strcspn(unit, " \t\r\n|&+-=<>!~(),;.\"%");
    }
    const bool times = units == time_units;
    for (size_t i = 0; i < sizeof(other_units) / sizeof(other_units[0]); i++) {
        const char *found = other_units[i].meant;
        if (strlen(other_units[i].written) != length ||
            strncasecmp(other_units[i].written, unit, length) != 0 ||
            (!find_unit(units, unit_count, found) && !(times && strcmp(found, "%") == 0)))
            continue;
        if (other_units[i].factor == 1)
            snprintf(meant.name, sizeof(meant.name), "%.*s%s", (int)digits, token->text, found);
        else if (digits <= 9 && !memchr(token->text, '.', digits))
            snprintf(meant.name, sizeof(meant.name), "%llu%s",
                     strtoull(token->text, NULL, 10) * other_units[i].factor, found);
        break;
    }
    return filter_expected_name(parser, expected, &meant);
}

/* Parses a number with one of `units`, which `expected` names. "0" needs no unit. */
static bool parse_scaled(struct filter_parser *parser, const struct unit *units, size_t unit_count,
                         const char *expected, uint64_t *number)
{
    const struct token *token = &parser->token;
    if (filter_at_parameter(parser))
        return filter_meet_parameter(parser);
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
        return wrong_unit(parser, units, unit_count, digits, expected);
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

bool filter_parse_size(struct filter_parser *parser, uint64_t *number)
{
    return parse_scaled(parser, size_units, 4, "a size (number, or number with K, M or G)", number);
}

/* ---- times ---- */

#define EXPECTED_DURATION "a duration (number with ns, us, ms, s or %)"
#define EXPECTED_TIME "a time (number with ns, us, ms, s or %; start, peak, end or a mark)"

/* A part of the run, in billionths. */
static const struct unit part_units[] = {{"%", 10000000}};

static bool is_part(const struct token *token)
{
    return token->kind == TOKEN_NUMBER && token->text[token->length - 1] == '%';
}

struct time_sum {
    const struct filter_time_term *first;
    const struct filter_time_term **last;
    int moments;   /* added, minus those subtracted */
    bool has_part; /* of the run */
    enum filter_type type;
    bool in_set;
};

static bool parse_time_sum(struct filter_parser *parser, struct time_sum *sum, bool negative);

/* Returns true if the next token is a moment of every session. */
static bool at_fixed_moment(const struct token *token)
{
    return token_is(token, "start") || token_is(token, "peak") || token_is(token, "end");
}

static bool parse_time_word(struct filter_parser *parser, struct filter_value *value)
{
    if (filter_accept(parser, "start")) {
        value->moment = MOMENT_START;
    } else if (filter_accept(parser, "peak")) {
        value->moment = MOMENT_PEAK;
    } else if (filter_accept(parser, "end")) {
        value->moment = MOMENT_END;
    } else {
        value->moment = MOMENT_MARK;
        return filter_parse_text(parser, &value->text, EXPECTED_TIME);
    }
    return true;
}

static bool parse_time_term(struct filter_parser *parser, struct time_sum *sum, bool negative)
{
    const char *expected = sum->type == TYPE_DURATION ? EXPECTED_DURATION : EXPECTED_TIME;
    if (token_is(&parser->token, "(")) {
        bool in_set = sum->in_set;
        if (!filter_enter(parser))
            return false;
        filter_advance(parser);
        sum->in_set = false;
        if (!parse_time_sum(parser, sum, negative))
            return false;
        sum->in_set = in_set;
        parser->depth--;
        return filter_accept(parser, ")") || filter_expected(parser, "+, - or \")\"");
    }
    struct filter_time_term *term = filter_allocate(parser, sizeof(*term));
    if (!term)
        return false;
    term->negative = negative;
    term->value.is_number = true;
    term->value.column = parser->token.column;
    if (filter_at_parameter(parser)) {
        if (!filter_meet_parameter(parser))
            return false;
        filter_take_parameter(parser, &term->value);
    } else if (filter_at_name(parser)) {
        sum->moments += negative ? -1 : 1;
        if (!parse_time_word(parser, &term->value))
            return false;
    } else if (is_part(&parser->token)) {
        sum->has_part = true;
        term->value.moment = MOMENT_PERCENT;
        if (!parse_scaled(parser, part_units, 1, expected, &term->value.number))
            return false;
    } else if (!parse_scaled(parser, time_units, 4, expected, &term->value.number)) {
        return false;
    }
    *sum->last = term;
    sum->last = &term->next;
    return true;
}

/* Returns true if + or - goes on with the time. After `live at T` it may also combine sets. */
static bool time_continues(struct filter_parser *parser, const struct time_sum *sum)
{
    if (!token_is(&parser->token, "+") && !token_is(&parser->token, "-"))
        return false;
    if (!sum->in_set)
        return true;
    struct token next = filter_peek(parser);
    if (next.of_argument || next.kind == TOKEN_PARAMETER) /* a parameter is never a set */
        return true;
    if (!at_fixed_moment(&next))
        return next.kind == TOKEN_NUMBER;
    const char *name = filter_token_text(parser, &next);
    return name && !filter_find_definition(parser, name);
}

static bool parse_time_sum(struct filter_parser *parser, struct time_sum *sum, bool negative)
{
    if (!parse_time_term(parser, sum, negative))
        return false;
    while (time_continues(parser, sum)) {
        bool minus = token_is(&parser->token, "-");
        filter_advance(parser);
        if (!parse_time_term(parser, sum, minus != negative))
            return false;
    }
    return true;
}

/* Stores a sum of numbers as a number, if it is one. */
static void fold_numbers(struct filter_value *value, const struct filter_time_term *terms)
{
    __int128 sum = 0;
    for (const struct filter_time_term *term = terms; term; term = term->next) {
        if (term->value.moment != MOMENT_NUMBER || term->value.parameter)
            return;
        sum += term->negative ? -(__int128)term->value.number : (__int128)term->value.number;
    }
    if (sum < 0 || sum > UINT64_MAX)
        return;
    value->moment = MOMENT_NUMBER;
    value->number = (uint64_t)sum;
}

/* Parses a time or a duration: a sum of terms. A moment minus a moment is a duration. */
static bool parse_time(struct filter_parser *parser, struct filter_value *value,
                       enum filter_type type, bool in_set)
{
    struct time_sum sum = {.type = type, .in_set = in_set};
    sum.last = &sum.first;
    value->column = parser->token.column;
    value->is_number = true;
    /* In place of a duration, one word is not a time: only a difference of two is a duration. */
    if (type == TYPE_DURATION && filter_at_name(parser)) {
        struct token next = filter_peek(parser);
        if (!token_is(&next, "-") && !token_is(&next, "+"))
            return filter_expected(parser, EXPECTED_DURATION);
    }
    if (!parse_time_sum(parser, &sum, false))
        return false;
    if (type == TYPE_DURATION && sum.moments != 0)
        return filter_fail(parser, value->column,
                           "expected a duration: a number, or one time minus another");
    if (sum.moments != 0 && sum.moments != 1)
        return filter_fail(parser, value->column,
                           "expected a time: one of start, peak, end or a mark, plus or minus "
                           "durations");
    /* Parts of the run count from its first moment, unless another moment is named. */
    if (type == TYPE_MOMENT && sum.moments == 0 && sum.has_part) {
        struct filter_time_term *start = filter_allocate(parser, sizeof(*start));
        if (!start)
            return false;
        start->value = (struct filter_value){
            .is_number = true, .moment = MOMENT_START, .column = value->column};
        start->next = sum.first;
        sum.first = start;
    }
    if (!sum.first->next && !sum.first->negative) {
        *value = sum.first->value;
        return true;
    }
    value->moment = MOMENT_SUM;
    value->terms = sum.first;
    fold_numbers(value, sum.first);
    return true;
}

bool filter_parse_moment(struct filter_parser *parser, struct filter_value *value)
{
    return parse_time(parser, value, TYPE_MOMENT, false);
}

bool filter_parse_live_moment(struct filter_parser *parser, struct filter_value *value)
{
    return parse_time(parser, value, TYPE_MOMENT, true);
}

/* ---- colours, texts ---- */

/* The names of colours and their numbers in the 256-colour palette of terminals. */
#define COLOR_NAMES                                                                                \
    "red, green, yellow, blue, magenta, cyan, white, gray, orange, pink, brown, purple"

static const struct {
    const char *name;
    int number;
} colors[] = {
    {"red", 1},    {"green", 2},   {"yellow", 3},  {"blue", 4}, {"magenta", 5},
    {"cyan", 6},   {"white", 7},   {"gray", 8},    {"grey", 8}, {"orange", 208},
    {"pink", 213}, {"brown", 130}, {"purple", 93},
};
#define COLOR_COUNT (sizeof(colors) / sizeof(colors[0]))

/* Returns the number of a colour name of `length` bytes, -1 if there is no such colour. */
static int color_number(const char *name, size_t length)
{
    for (size_t i = 0; i < COLOR_COUNT; i++)
        if (strlen(colors[i].name) == length && memcmp(colors[i].name, name, length) == 0)
            return colors[i].number;
    return -1;
}

bool filter_parse_color(struct filter_parser *parser, struct filter_value *value)
{
    value->column = parser->token.column;
    value->is_number = true;
    if (parser->token.kind == TOKEN_NUMBER || filter_at_parameter(parser)) {
        if (!filter_parse_count(parser, &value->number))
            return false;
        if (value->number > 255)
            return filter_fail(parser, value->column, "expected a colour number from 0 to 255");
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
    struct suggestion names;
    filter_suggest(parser, &names);
    for (size_t i = 0; i < COLOR_COUNT; i++)
        suggest_offer(&names, colors[i].name);
    return filter_expected_name(parser, "a colour (" COLOR_NAMES " or 0 to 255)", &names);
}

static bool parse_boolean(struct filter_parser *parser, struct filter_value *value)
{
    value->is_number = true;
    value->number = token_is(&parser->token, "true");
    if (filter_accept(parser, "true") || filter_accept(parser, "false"))
        return true;
    if (!filter_at_parameter(parser))
        return filter_expected(parser, "true or false");
    return filter_meet_parameter(parser);
}

bool filter_parse_text(struct filter_parser *parser, const char **text, const char *what)
{
    if (filter_at_parameter(parser)) {
        *text = "";
        return filter_meet_parameter(parser);
    }
    if (filter_at_name(parser))
        *text = filter_token_text(parser, &parser->token);
    else
        return filter_expected(parser, what);
    filter_advance(parser);
    return *text != NULL;
}

bool filter_parse_value(struct filter_parser *parser, enum filter_type type,
                        struct filter_value *value)
{
    bool good = false;
    value->column = parser->token.column;
    switch (type) {
    case TYPE_NUMBER:
        value->is_number = true;
        good = filter_parse_count(parser, &value->number);
        break;
    case TYPE_SIZE:
        value->is_number = true;
        good = filter_parse_size(parser, &value->number);
        break;
    case TYPE_DURATION:
    case TYPE_MOMENT:
        return parse_time(parser, value, type, false);
    case TYPE_TEXT_OR_NUMBER:
        if (parser->token.kind == TOKEN_NUMBER) {
            value->is_number = true;
            return filter_parse_count(parser, &value->number);
        }
        good = filter_parse_text(parser, &value->text, "a name or a number");
        break;
    case TYPE_BOOLEAN:
        return parse_boolean(parser, value);
    case TYPE_COLOR:
        return filter_parse_color(parser, value);
    case TYPE_TEXT:
        good = filter_parse_text(parser, &value->text,
                                 "a name (quote it with \" unless it is one word)");
        break;
    }
    if (good)
        filter_take_parameter(parser, value);
    return good;
}
