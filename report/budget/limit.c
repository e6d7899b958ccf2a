/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/budget/limit.h"

#include <stdlib.h>
#include <string.h>

#include "report/output/output.h"
#include "session/moment.h"

#define MILLION 1000000
/* More digits after the point are refused. */
enum { DECIMALS_MOST = 9 };

bool limit_is_relative(const char *text)
{
    const size_t length = strlen(text);
    return (*text == '+' || *text == '-') && length > 1 && text[length - 1] == '%';
}

/*
 * Reads a decimal number times `scale`, rounded down, and stores the place after it. False: it is
 * not a number, or too large. Digits that the scale does not keep are cut.
 */
static bool take_decimal(const char *text, uint64_t scale, const char **rest, __int128 *value)
{
    __int128 number = 0, divisor = 1;
    size_t digits = 0, decimals = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++, digits++)
        number = number * 10 + (*at - '0');
    if (digits > 0 && *at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, decimals++) {
            number = number * 10 + (*at - '0');
            divisor *= 10;
        }
    *rest = at;
    if (digits == 0 || digits > 19 || decimals > DECIMALS_MOST || (at > text && at[-1] == '.'))
        return false;
    *value = number * scale / divisor;
    return *value <= UINT64_MAX;
}

struct suffix {
    const char *text;
    uint64_t scale;
};

/* Reads a number with one of the units, which end with an empty scale. */
static bool take_with_unit(const char *text, const struct suffix *units, __int128 *value)
{
    const char *rest;
    if (!take_decimal(text, 1, &rest, value))
        return false;
    for (; units->scale; units++)
        if (strcmp(rest, units->text) == 0)
            return take_decimal(text, units->scale, &rest, value);
    return false;
}

/* Whole numbers, also hexadecimal. */
static bool take_number(const char *text, __int128 *value)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 19)
        return false;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return *end == '\0';
}

static bool take_value(const char *text, const struct session *session, enum session_unit unit,
                       __int128 *value, struct session_error *error)
{
    static const struct suffix sizes[] = {
        {"", 1}, {"K", 1024}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30}, {NULL, 0}};
    uint64_t ns;
    switch (unit) {
    case UNIT_BYTES:
        return take_with_unit(text, sizes, value) ||
               report_fail(error, "expected a size (number, or number with K, M or G) or a "
                                  "percentage with a sign (+5%%)");
    case UNIT_DURATION:
    case UNIT_MOMENT:
        if (!(unit == UNIT_MOMENT ? session_moment : session_duration)(session, text, &ns, error))
            return false;
        *value = ns;
        return true;
    default:
        return take_number(text, value) ||
               report_fail(error, "expected a whole number or a percentage with a sign (+5%%)");
    }
}

bool limit_parse(const char *text, const struct session *session, enum session_unit unit,
                 struct limit *limit, struct session_error *error)
{
    const bool negative = *text == '-';
    const char *rest;
    *limit = (struct limit){.relative = limit_is_relative(text)};
    if (limit->relative) {
        if (!take_decimal(text + 1, MILLION / 100, &rest, &limit->change) || strcmp(rest, "%") != 0)
            return report_fail(error, "expected a percentage with a sign (+5%%)");
        limit->change = negative ? -limit->change : limit->change;
        return true;
    }
    /* Only growth can be below 0. */
    const bool sign = unit != UNIT_MOMENT && (negative || *text == '+');
    if (!take_value(text + sign, session, unit, &limit->value, error))
        return false;
    if (negative && sign)
        limit->value = -limit->value;
    return true;
}

static __int128 signed_value(const struct session_measure *measure)
{
    return measure->negative ? -(__int128)measure->value : (__int128)measure->value;
}

static bool compares(__int128 left, enum budget_relation relation, __int128 right)
{
    switch (relation) {
    case BUDGET_EQUAL:
        return left == right;
    case BUDGET_NOT_EQUAL:
        return left != right;
    case BUDGET_LESS:
        return left < right;
    case BUDGET_LESS_EQUAL:
        return left <= right;
    case BUDGET_MORE:
        return left > right;
    default:
        return left >= right;
    }
}

bool limit_passes(const struct limit *limit, enum budget_relation relation,
                  const struct session_measure *measure, const struct session_measure *base,
                  __int128 *shown)
{
    const __int128 value = signed_value(measure);
    if (!limit->relative) {
        *shown = limit->value;
        return !measure->is_null && compares(value, relation, limit->value);
    }
    const __int128 from = signed_value(base);
    const __int128 scaled = from * MILLION + (from < 0 ? -from : from) * limit->change;
    *shown = scaled / MILLION;
    if (measure->is_null || base->is_null)
        return false;
    return from == 0 ? value == 0 : compares(value * MILLION, relation, scaled);
}
