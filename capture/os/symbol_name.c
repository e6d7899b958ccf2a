/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/symbol_name.h"

#include <stddef.h>
#include <string.h>

#define SEPARATOR "::"

/* Returns the text after `beginning`, or NULL if `text` does not begin so. */
static const char *after(const char *text, const char *beginning, size_t length)
{
    return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

/* Returns the text after one <source-name>, a length and the name, or NULL if that differs. */
static const char *after_part(const char *symbol, const char *part, size_t length)
{
    size_t number = 0;
    const char *digits = symbol;
    for (; *digits >= '0' && *digits <= '9' && number < 10000; digits++)
        number = number * 10 + (size_t)(*digits - '0');
    return digits > symbol && number == length ? after(digits, part, length) : NULL;
}

/*
 * Compares a name with a symbol mangled by the Itanium C++ ABI ("5.1.2 General Structure"). A
 * symbol is _Z, then each part of the name. A function of a namespace or class has N with its
 * qualifiers before the parts and E after them. St is std. The parameters follow.
 */
static bool name_is_mangled(const char *wanted, const char *symbol)
{
    const bool nested = strstr(wanted, SEPARATOR) != NULL;
    const char *at = after(symbol, "_Z", 2);
    if (!at)
        return false;
    const bool bracket = *at == 'N';
    at += bracket;
    if (bracket)
        at += strspn(at, "VKRO");
    else if (!nested)
        at += *at == 'L';
    for (const char *part = wanted; at;) {
        const char *end = strstr(part, SEPARATOR);
        const size_t length = end ? (size_t)(end - part) : strlen(part);
        if (part == wanted && end && length == 3 && memcmp(part, "std", 3) == 0)
            at = after(at, "St", 2);
        else
            at = after_part(at, part, length);
        if (!end)
            return at && (!bracket || *at == 'E');
        part = end + strlen(SEPARATOR);
    }
    return false;
}

bool symbol_name_is(const char *wanted, const char *symbol)
{
    const char *rest = after(symbol, wanted, strlen(wanted));
    return (rest && (*rest == 0 || *rest == '.' || *rest == '@')) ||
           name_is_mangled(wanted, symbol);
}
