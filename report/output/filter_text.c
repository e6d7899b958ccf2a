/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/filter_text.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

bool filter_text_blank(const char *text)
{
    return !text || text[strspn(text, blanks)] == '\0';
}

/* Returns the place after the last of some signs outside strings, or the beginning. */
static const char *after_last(const char *text, const char *signs)
{
    const char *after = text;
    bool quoted = false;
    for (const char *at = text; *at; at++) {
        if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && strchr(signs, *at))
            after = at + 1;
    }
    return after;
}

const char *filter_text_pipeline(const char *text)
{
    return after_last(text, ";");
}

int filter_text_last_step(const char *text)
{
    const char *step = after_last(text, ";|");
    int column = 1;
    step += strspn(step, blanks);
    /* The bytes that continue a character count with it. */
    for (const char *at = text; at < step; at++)
        column += ((unsigned char)*at & 0xC0) != 0x80;
    return column;
}
