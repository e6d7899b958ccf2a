/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/function_name.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Returns the position after the sign at `at`. An operator or arrow whose signs look like brackets
 * (operator<<, ->) is one step. */
static const char *next(const char *at)
{
    if (at[0] == '-' && at[1] == '>')
        return at + 2;
    if (strncmp(at, "operator", 8) != 0)
        return at + 1;
    at += 8;
    return *at == '(' ? at + 2 : at + strspn(at, "<>=-");
}

/* Returns the start of the parameter list: the last '(' outside <> and other parentheses. */
static const char *parameters(const char *name)
{
    int angles = 0, parentheses = 0;
    const char *found = NULL;
    for (const char *at = name; *at != '\0'; at = next(at))
        if (*at == '<')
            angles++;
        else if (*at == '>')
            angles--;
        else if (*at == '(' && angles == 0 && parentheses++ == 0)
            found = at;
        else if (*at == ')' && angles == 0)
            parentheses--;
    return found;
}

struct function_name function_name_bare(const char *name)
{
    struct function_name bare = {name, parameters(name)};
    if (!bare.end || bare.end == name)
        bare.end = name + strlen(name);
    /* A return type ends at the last space outside <>, but "operator new" has one. */
    int angles = 0;
    for (const char *at = name; at < bare.end; at = next(at)) {
        if (strncmp(at, "operator", 8) == 0)
            break;
        if (*at == '<' || *at == '(')
            angles++;
        else if (*at == '>' || *at == ')')
            angles--;
        else if (*at == ' ' && angles == 0)
            bare.begin = at + 1;
    }
    return bare;
}

bool function_name_matches(const char *pattern, struct function_name name)
{
    const char *at = name.begin, *star = NULL, *resume = NULL;
    while (at < name.end) {
        if (*pattern == '*') {
            star = pattern++;
            resume = at;
        } else if (*pattern == *at) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star + 1;
            at = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* ---- clearing names ------------------------------------------------------------------------ */

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
