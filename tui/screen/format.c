/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/format.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes three significant digits: 1.25, 48.2, 812. */
static int three_digits(char *out, size_t size, double value)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return snprintf(out, size, "%.*f", decimals, value);
}

static const char units[] = "KMGTPE";

/* Divides until the rounded number has at most three digits before the point. */
static double scale(uint64_t bytes, size_t *unit)
{
    double value = (double)bytes / 1024;
    *unit = 0;
    while (value >= 999.5 && *unit + 1 < sizeof(units) - 1) {
        value /= 1024;
        ++*unit;
    }
    return value;
}

char *format_size(char *out, uint64_t bytes)
{
    if (bytes < 1024) {
        snprintf(out, FORMAT_SIZE, "%" PRIu64 " B", bytes);
        return out;
    }
    size_t unit;
    double value = scale(bytes, &unit);
    int length = three_digits(out, FORMAT_SIZE, value);
    snprintf(out + length, (size_t)(FORMAT_SIZE - length), " %ciB", units[unit]);
    return out;
}

char *format_size_short(char *out, uint64_t bytes)
{
    if (bytes < 1000) {
        snprintf(out, FORMAT_SIZE, "%" PRIu64, bytes);
        return out;
    }
    size_t unit;
    double value = scale(bytes, &unit);
    int length = three_digits(out, FORMAT_SIZE, value);
    snprintf(out + length, (size_t)(FORMAT_SIZE - length), "%c", units[unit]);
    return out;
}

char *format_count(char *out, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

char *format_count_short(char *out, uint64_t count)
{
    if (count < 10000)
        return format_count(out, count);
    static const char thousands[] = "kMGTPE";
    double value = (double)count / 1000;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof(thousands) - 1) {
        value /= 1000;
        unit++;
    }
    int length = three_digits(out, FORMAT_SIZE, value);
    snprintf(out + length, (size_t)(FORMAT_SIZE - length), "%c", thousands[unit]);
    return out;
}

char *format_duration(char *out, uint64_t ns)
{
    static const struct {
        uint64_t below, divide;
        const char *name;
    } steps[] = {
        {1000000, 1000, "µs"}, {1000000000, 1000000, "ms"}, {60000000000, 1000000000, "s"}};
    if (ns < 1000) {
        snprintf(out, FORMAT_SIZE, "%" PRIu64 " ns", ns);
        return out;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        double value = (double)ns / (double)steps[i].divide;
        /* A value that would round up to the next unit uses that unit. */
        if (ns >= steps[i].below || (i < 2 && value >= 999.5))
            continue;
        char number[FORMAT_SIZE];
        if (i == 2)
            snprintf(number, sizeof(number), "%.*f", value < 10 ? 3 : 2, value);
        else
            three_digits(number, sizeof(number), value);
        snprintf(out, FORMAT_SIZE, "%.20s %s", number, steps[i].name);
        return out;
    }
    uint64_t seconds = ns / 1000000000;
    if (seconds < 3600)
        snprintf(out, FORMAT_SIZE, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
    else
        snprintf(out, FORMAT_SIZE, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
                 seconds / 60 % 60);
    return out;
}

char *format_instant(char *out, uint64_t ns)
{
    if (ns < 1000)
        return format_duration(out, ns);
    double value = (double)ns / 1e9;
    const char *name = "s";
    if (ns < 999950) {
        value = (double)ns / 1e3;
        name = "µs";
    } else if (ns < 999950000) {
        value = (double)ns / 1e6;
        name = "ms";
    }
    int decimals = value < 10 || ns >= 10000000000 ? 3 : value < 100 ? 2 : 1;
    snprintf(out, FORMAT_SIZE, "%.*f %s", decimals, value, name);
    return out;
}

char *format_moment(char *out, uint64_t ns, uint64_t step_ns)
{
    double unit = 1e9;
    const char *name = "s";
    if (step_ns < 1000 && ns < 10000000) {
        unit = 1e3;
        name = "µs";
    } else if (step_ns < 1000000 && ns < 10000000000) {
        unit = 1e6;
        name = "ms";
    }
    int decimals = 0;
    for (double step = (double)(step_ns ? step_ns : 1) / unit; step < 0.995 && decimals < 9;
         step *= 10)
        decimals++;
    snprintf(out, FORMAT_SIZE, "%.*f %s", decimals, (double)ns / unit, name);
    return out;
}

const char *format_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

char *format_percent(char *out, uint64_t part, uint64_t whole)
{
    out[0] = 0;
    if (whole == 0)
        return out;
    double percent = 100 * (double)part / (double)whole;
    if (part == 0 || percent >= 9.95)
        snprintf(out, FORMAT_SIZE, "%.0f%%", percent);
    else if (percent < 0.05)
        snprintf(out, FORMAT_SIZE, "<0.1%%");
    else
        snprintf(out, FORMAT_SIZE, "%.1f%%", percent);
    return out;
}

char *format_filter_time(char *out, uint64_t ns)
{
    static const struct {
        uint64_t divide;
        const char *name;
    } names[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (ns % names[i].divide != 0)
        i++;
    snprintf(out, FORMAT_SIZE, "%" PRIu64 "%s", ns / names[i].divide, names[i].name);
    return out;
}

bool parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double factor;
    } names[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
    char *end;
    while (isspace((unsigned char)*text))
        text++;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(end, names[i].name) == 0 && value * names[i].factor < 9e18) {
            *ns = (uint64_t)(value * names[i].factor + 0.5);
            return true;
        }
    }
    return false;
}

bool parse_address(const char *text, uint64_t *address)
{
    char *end;
    while (isspace((unsigned char)*text))
        text++;
    if (!isxdigit((unsigned char)*text))
        return false;
    *address = strtoull(text, &end, 16);
    while (isspace((unsigned char)*end))
        end++;
    return *end == 0;
}
