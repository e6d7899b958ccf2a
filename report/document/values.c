/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes values as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/document/formats.h"

/* Writes "12,345", grouped in threes. Returns its length. */
static int group_digits(char *out, uint64_t number)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return (int)(to - out);
}

static void format_time(char *out, size_t size, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (ns >= units[i].ns) {
            snprintf(out, size, "%.3f %s", (double)ns / (double)units[i].ns, units[i].unit);
            return;
        }
    snprintf(out, size, "%" PRIu64 " ns", ns);
}

const char *value_format(const struct document_value *value, char room[64])
{
    char *to = room;
    if (value->is_null)
        return "-";
    if (value->estimated)
        *to++ = '~';
    if (value->negative)
        *to++ = '-';
    const size_t size = 64 - (size_t)(to - room);
    switch (value->kind) {
    case VALUE_DURATION:
    case VALUE_MOMENT:
        format_time(to, size, value->number);
        break;
    case VALUE_SHARE:
        snprintf(to, size, "%.1f%%", 100 * value->share);
        break;
    case VALUE_ADDRESS:
        snprintf(to, size, "0x%" PRIx64, value->number);
        break;
    case VALUE_TRUTH:
        return value->number ? "yes" : "no";
    case VALUE_LINE:
        snprintf(to, size, "%" PRIu64, value->number);
        break;
    default:
        group_digits(to, value->number);
    }
    return room;
}

const char *value_plain(const struct document_value *value, char room[64])
{
    if (value->is_null)
        return "";
    switch (value->kind) {
    case VALUE_SHARE:
        snprintf(room, 64, "%.6f", value->share);
        return room;
    case VALUE_ADDRESS:
        snprintf(room, 64, "0x%" PRIx64, value->number);
        return room;
    case VALUE_TRUTH:
        return value->number ? "true" : "false";
    default:
        snprintf(room, 64, "%s%" PRIu64, value->negative ? "-" : "", value->number);
        return room;
    }
}

const char *column_title(const char *name, const char *title, char room[64])
{
    if (title)
        return title;
    snprintf(room, 64, "%s", name);
    for (char *at = room; (at = strchr(at, '_'));)
        *at = ' ';
    return room;
}

const struct session_frame *value_frames(const struct document_value *value, size_t *count)
{
    struct session_frame *frames = value->document->frames;
    const size_t all =
        session_stack(value->session, value->stack, frames, value->document->frame_capacity);
    const size_t site = session_stack_call_site(value->session, value->stack);
    const size_t first = site < all ? site : all;
    *count = all - first;
    return frames + first;
}
