/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/clearing_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "schemas/code/function_name.h"

/* Returns true if a word begins at `at`: it does in "clear", "do_clear", "doClear", "XMLClear" and
 * "CLEAR". The words of the list follow, so that at[1] is a letter. */
static bool word_begins(const char *begin, const char *at)
{
    if (at == begin || !isalpha((unsigned char)at[-1]))
        return true;
    return isupper((unsigned char)*at) &&
           (islower((unsigned char)at[-1]) || islower((unsigned char)at[1]));
}

static bool word_ends(const char *at, const char *end)
{
    if (at == end || !isalpha((unsigned char)*at))
        return true;
    return isupper((unsigned char)*at) && islower((unsigned char)at[-1]);
}

/* Returns the last part of a name: that after the last "::" outside of template arguments. */
static struct function_name last_part(struct function_name name)
{
    struct function_name part = name;
    int depth = 0;
    for (const char *c = name.begin; c < name.end; c++) {
        depth += (*c == '<' || *c == '(' || *c == '{') - (*c == '>' || *c == ')' || *c == '}');
        if (depth == 0 && *c == ':')
            part.begin = c + 1;
    }
    for (const char *c = part.begin; c < part.end; c++)
        if (*c == '<')
            part.end = c;
    return part;
}

bool function_name_clears(const char *name)
{
    static const char *const words[] = {"clear", "empty", "reset"};
    const struct function_name part = last_part(function_name_bare(name));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i]);
        for (const char *c = part.begin; (size_t)(part.end - c) >= length && c < part.end; c++)
            if (strncasecmp(c, words[i], length) == 0 && word_begins(part.begin, c) &&
                word_ends(c + length, part.end))
                return true;
    }
    return false;
}
