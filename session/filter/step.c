/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses steps, and follows the kind of the rows from step to step: allocations, groups of them, or
 * one measure, after which no step comes. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/filter/parser.h"
#include "session/filter/program.h"
#include "session/groups.h"

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

/* Parses a number without a unit. */
static bool filter_parse_count(struct filter_parser *parser, uint64_t *number)
{
    if (is_hexadecimal(&parser->token))
        return parse_hexadecimal(parser, number);
    if (parser->token.kind == TOKEN_NUMBER && memchr(parser->token.text, '.', parser->token.length))
        return filter_expected(parser, "a whole number");
    return parse_scaled(parser, size_units, 1, "a number", number);
}

static bool filter_parse_size(struct filter_parser *parser, uint64_t *number)
{
    return parse_scaled(parser, size_units, 4, "a size (number, or number with K, M or G)", number);
}

/* ---- times ---- */

#define EXPECTED_DURATION "a duration (number with ns, us, ms, s or %)"
#define EXPECTED_TIME "a time (number with ns, us, ms, s or %; start, peak, end or a mark)"

/* A part of the run, in billionths. */
static const struct unit part_units[] = {{"%", 10000000}};

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
    } else if (parser->token.kind == TOKEN_NUMBER &&
               parser->token.text[parser->token.length - 1] == '%') {
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

static bool filter_parse_moment(struct filter_parser *parser, struct filter_value *value)
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

static bool filter_parse_color(struct filter_parser *parser, struct filter_value *value)
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
    struct filter_field_use *keys =
        filter_allocate(parser, SESSION_GROUP_KEYS_MOST * sizeof(*keys));
    if (!keys)
        return false;
    size_t count = 0;
    do {
        if (count == SESSION_GROUP_KEYS_MOST)
            return filter_fail(parser, parser->token.column, "more than %d fields to join",
                               SESSION_GROUP_KEYS_MOST);
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
