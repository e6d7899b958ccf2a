/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/own_variables.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "capture/os/os.h"

struct own_variables own_variables;

/* The kernel's array, and the one without the variables. */
static char **array_before, **array_after;

const char *own_variables_value(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 ? entry + length : NULL;
}

static bool part_is(const char *part, size_t length, const char *name)
{
    static const char *const names[] = {OWN_LIBRARY, OWN_SIZED_LIBRARY, "libmprof_operators.so",
                                        "libmprof_python.so", "libmprof_ecl.so"};
    for (size_t i = 0; !name && i < sizeof(names) / sizeof(*names); i++)
        if (part_is(part, length, names[i]))
            return true;
    const size_t size = name ? strlen(name) : 0;
    return name && length >= size && strncmp(part + length - size, name, size) == 0 &&
           (length == size || part[length - size - 1] == '/');
}

const char *own_variables_next(const char **list, const char *name, bool is, size_t *length)
{
    for (const char *part; (part = *list);) {
        *length = strcspn(part, ": ");
        *list = part[*length] ? part + *length + 1 : NULL;
        if (part_is(part, *length, name) == is)
            return part;
    }
    return NULL;
}

bool own_variables_has(const char *list, const char *name)
{
    size_t length;
    return own_variables_next(&list, name, true, &length);
}

bool own_variables_select(const char *list, const char *name, bool is, char *to)
{
    const char *part;
    bool any = false;
    char separator = 0;
    for (size_t length; (part = own_variables_next(&list, name, is, &length)); any = true) {
        const char behind = part[length];
        if (separator)
            *to++ = separator;
        memmove(to, part, length);
        to += length;
        separator = behind;
    }
    *to = 0;
    return any;
}

/* Returns true if the program must not see the entry as it is. */
static bool is_own(const char *entry)
{
    const char *list = own_variables_value(entry, OWN_PRELOAD);
    return list ? own_variables_has(list, NULL)
                : own_variables_value(entry, OWN_OUTPUT) || own_variables_value(entry, OWN_OPTIONS);
}

static char *copy(char **room, const char *text)
{
    char *to = *room;
    const size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    *room += size;
    return to;
}

/* Keeps an entry of the recorder in `*room`. Returns what the program sees of it, or NULL. */
static char *keep(const char *entry, char **room)
{
    const size_t name = sizeof(OWN_PRELOAD) - 1;
    const char *list = own_variables_value(entry, OWN_PRELOAD);
    if (!list) {
        const char **place =
            own_variables_value(entry, OWN_OUTPUT) ? &own_variables.output : &own_variables.options;
        char *kept = copy(room, entry);
        *place = *place ? *place : kept; /* getenv() finds the first */
        return NULL;
    }
    char *own = copy(room, entry), *rest = copy(room, entry);
    own_variables_select(list, NULL, true, own + name);
    own_variables.preload = own_variables.preload ? own_variables.preload : own;
    return own_variables_select(list, NULL, false, rest + name) ? rest : NULL;
}

void own_variables_take(void)
{
    char **entries = environ;
    size_t count = 0, bytes = 0;
    if (!entries || getauxval(AT_SECURE))
        return;
    if (array_after) {
        environ = entries == array_before ? array_after : entries;
        return;
    }
    for (; entries[count]; count++)
        bytes += is_own(entries[count]) ? 2 * (strlen(entries[count]) + 1) : 0;
    /* The program may write over the entries later: it gets a copy of the pointers alone. */
    char **after = bytes ? os_map((count + 1) * sizeof(*after) + bytes) : NULL;
    if (!after)
        return;
    char *room = (char *)(after + count + 1);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        char *seen = is_own(entries[i]) ? keep(entries[i], &room) : entries[i];
        if (seen)
            after[used++] = seen;
    }
    array_before = entries;
    array_after = after;
    environ = after;
}

const char *own_variables_output(void)
{
    return own_variables.output ? own_variables.output + sizeof(OWN_OUTPUT) - 1
                                : secure_getenv("MPROF_OUTPUT");
}

const char *own_variables_options(void)
{
    return own_variables.options ? own_variables.options + sizeof(OWN_OPTIONS) - 1
                                 : secure_getenv("MPROF_OPTIONS");
}
