/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/operator_new.h"

#include <string.h>

/* Returns true if `rest`, the text after "operator new", ends the operator's name. */
static bool ends_operator(const char *rest)
{
    return *rest == '(' || *rest == '[' || *rest == '\0';
}

static const char operator_new[] = "operator new";

bool types_is_operator_new(const char *function)
{
    const size_t length = sizeof(operator_new) - 1;
    return strncmp(function, operator_new, length) == 0 && ends_operator(function + length);
}

/* Returns the position after "Class::operator new", or NULL if the function is not such an
 * operator. */
static const char *after_class_operator(const char *function)
{
    int depth = 0;
    for (const char *at = function; *at != '\0' && !(depth == 0 && *at == '('); at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth != 0 || strncmp(at, "::operator new", 2 + sizeof(operator_new) - 1) != 0)
            continue;
        at += 2 + sizeof(operator_new) - 1;
        return at > function && ends_operator(at) ? at : NULL;
    }
    return NULL;
}

bool types_is_class_operator_new(const char *function)
{
    return after_class_operator(function) != NULL;
}

bool types_is_operator_new_array(const char *function)
{
    const char *rest = types_is_operator_new(function) ? function + sizeof(operator_new) - 1
                                                       : after_class_operator(function);
    return rest && *rest == '[';
}
