/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/columns.h"

#include <inttypes.h>
#include <string.h>

#include "report/output/names.h"

void line_put(struct line *line, const char *text)
{
    fputs(text, line->out);
    if (*text)
        line->touches = text[strlen(text) - 1] != ' ';
}

void line_name(struct line *line, const char *name)
{
    if (name_put_text(line->out, name) > 0)
        line->touches = true;
}

void line_end(struct line *line)
{
    fputc('\n', line->out);
    line->touches = false;
}

void line_right(struct line *line, int width, const char *text)
{
    if ((int)strlen(text) >= width && line->touches)
        fputc(' ', line->out);
    fprintf(line->out, "%*s", width, text);
    line->touches = width > 0 && *text;
}

void line_left(struct line *line, int width, const char *text)
{
    if (*text && line->touches)
        fputc(' ', line->out);
    fprintf(line->out, "%-*s", width, text);
    line->touches = *text && (int)strlen(text) >= width;
}

void line_number(struct line *line, int width, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%s%" PRIu64, line->estimated ? "~" : "", number);
    line_right(line, width, text);
}

/* Writes the percentage, truncated: "", ".", "7" or "**". */
static void percentage(char text[12], uint64_t part, uint64_t whole)
{
    text[0] = '\0';
    if (part == 0 || whole == 0)
        return;
    const unsigned percent = part >= whole ? 100 : (unsigned)((__uint128_t)100 * part / whole);
    if (percent > 0 && percent < 100)
        snprintf(text, 12, "%u", percent);
    else
        snprintf(text, 12, "%s", percent == 0 ? "." : "**");
}

void line_decimal(char text[16], uint64_t part, uint64_t whole)
{
    unsigned tenths = part >= whole ? 1000 : 0;
    if (part < whole)
        tenths = (unsigned)((__uint128_t)1000 * part / whole);
    else if (whole == 0)
        tenths = 0;
    snprintf(text, 16, "%u.%u", tenths / 10, tenths % 10);
}

void line_share(struct line *line, int width, uint64_t part, uint64_t whole)
{
    char number[12], text[16] = "";
    percentage(number, part, whole);
    if (number[0])
        snprintf(text, sizeof(text), "(%s)", number);
    line_left(line, width, text);
}

void line_breakdown(struct line *line, const uint64_t parts[SIZE_CLASSES], uint64_t whole)
{
    char text[12];
    for (int i = 0; i < SIZE_CLASSES; i++) {
        percentage(text, parts[i], whole);
        fprintf(line->out, " %2s", text);
    }
    line->touches = true;
}
