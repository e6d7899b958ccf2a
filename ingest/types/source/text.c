/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/text.h"

#include <ctype.h>
#include <string.h>

bool types_text_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *types_text_find(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !types_text_is_word(at[-1])) && !types_text_is_word(at[length]))
            return at;
    return NULL;
}

const char *types_text_behind(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

const char *types_text_skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}
