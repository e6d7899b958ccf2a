/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/function_name.h"

#include <stddef.h>
#include <string.h>

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
    /* A return type ends at the last space outside <>, but "operator new" contains a space
     * itself. */
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
