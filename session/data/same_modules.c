/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs the modules of two sessions by build-id and name: session/same_modules.h. */
#include "session/same_modules.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/code_facts.h"
#include "session/data/error.h"

enum { THREAD_NAME_MOST = 15 }; /* bytes of a thread's name that the kernel keeps */

struct same_modules {
    size_t count;
    struct same_module list[];
};

struct modules {
    const struct session_module *list;
    size_t count;
};

/* Returns the end of the version that begins at `at`: digits with dots between them, after '-', '_'
 * or '.' and maybe a 'v', or with a dot at least. `at` itself: none begins there. */
static const char *version_end(const char *at)
{
    const char *digits = at;
    const bool apart = *digits == '-' || *digits == '_' || *digits == '.';
    if (apart)
        digits += digits[1] == 'v' ? 2 : 1;
    const char *end = digits;
    bool dotted = false;
    while (isdigit((unsigned char)*end) ||
           (end > digits && *end == '.' && isdigit((unsigned char)end[1]))) {
        dotted |= *end == '.';
        end++;
    }
    return end > digits && (apart || dotted) ? end : at;
}

/* Returns true if two names are equal but for their versions. Something must be left of them. */
static bool alike(const char *left, const char *right)
{
    const char *a = left, *b = right;
    for (;;) {
        const char *a_end = a > left ? version_end(a) : a;
        const char *b_end = b > right ? version_end(b) : b;
        if (a_end != a || b_end != b) {
            a = a_end;
            b = b_end;
        } else if (*a != *b || *a == '\0') {
            return *a == *b && a > left;
        } else {
            a++;
            b++;
        }
    }
}

static const struct session_module *find_name(const struct modules *modules, const char *name)
{
    for (size_t i = 0; i < modules->count; i++)
        if (strcmp(modules->list[i].name, name) == 0)
            return &modules->list[i];
    return NULL;
}

static const struct session_module *find_build(const struct modules *modules, const char *build)
{
    for (size_t i = 0; *build && i < modules->count; i++)
        if (strcmp(modules->list[i].build_id, build) == 0)
            return &modules->list[i];
    return NULL;
}

/* Returns the only module with a name like this one, and which the other session does not have by
 * its name. NULL: there is none, or several. */
static const struct session_module *find_alike(const struct modules *modules,
                                               const struct modules *others, const char *name)
{
    const struct session_module *found = NULL;
    for (size_t i = 0; i < modules->count; i++) {
        const struct session_module *module = &modules->list[i];
        if (!alike(module->name, name) || find_name(others, module->name))
            continue;
        if (found && strcmp(found->name, module->name) != 0)
            return NULL;
        found = module;
    }
    return found;
}

/* Finds what a module of `from` is called in `to`. Returns false if that is its own name. */
static bool find_other(const struct session_module *module, const struct modules *from,
                       const struct modules *to, struct same_module *other)
{
    const struct session_module *named = find_name(to, module->name);
    const struct session_module *built = find_build(to, module->build_id);
    *other = (struct same_module){.from = module->name, .by_build = built != NULL};
    if (named && (!built || strcmp(named->build_id, module->build_id) == 0))
        return false;
    if (!built && find_alike(from, to, module->name))
        built = find_alike(to, from, module->name);
    other->to = built ? built->name : NULL;
    return built && strcmp(built->name, module->name) != 0;
}

struct same_modules *same_modules_find(struct session *from, struct session *to,
                                       struct session_error *error)
{
    struct modules here, there;
    if (!session_modules(from, &here.list, &here.count, error) ||
        !session_modules(to, &there.list, &there.count, error))
        return NULL;
    struct same_modules *same = malloc(sizeof(*same) + here.count * sizeof(*same->list));
    if (!same) {
        session_fail_memory(error, "the modules");
        return NULL;
    }
    same->count = 0;
    for (size_t i = 0; i < here.count; i++) {
        const struct session_module *module = &here.list[i];
        if (find_name(&here, module->name) == module && /* its first mapping */
            find_other(module, &here, &there, &same->list[same->count]))
            same->count++;
    }
    return same;
}

void same_modules_free(struct same_modules *same)
{
    free(same);
}

size_t same_modules_list(const struct same_modules *same, const struct same_module **list)
{
    *list = same->list;
    return same->count;
}

const char *same_module_text(const struct same_module *module, char *out, size_t size)
{
    snprintf(out, size, "%.80s is compared as %.80s, by its %s", module->from, module->to,
             module->by_build ? "build-id" : "name without the version");
    return out;
}

/* Returns the length of the part of `name` that is the module's name, 0: it has none. */
static size_t part_of(const struct same_module *module, const char *field, const char *name)
{
    const size_t length = strlen(module->from);
    const size_t kept = length < THREAD_NAME_MOST ? length : THREAD_NAME_MOST;
    if (strcmp(field, "module") == 0 || strcmp(field, "process") == 0)
        return strcmp(name, module->from) == 0 ? length : 0;
    if (strcmp(field, "thread") == 0 || strcmp(field, "free_thread") == 0)
        return strlen(name) == kept && strncmp(name, module->from, kept) == 0 ? kept : 0;
    /* Another build has other code at this place. */
    return module->by_build && strncmp(name, module->from, length) == 0 &&
                   strncmp(name + length, "+0x", 3) == 0
               ? length
               : 0;
}

char *same_modules_name(const struct same_modules *same, const char *field, const char *name)
{
    for (size_t i = 0; i < same->count; i++) {
        const struct same_module *module = &same->list[i];
        const size_t part = part_of(module, field, name);
        const int most = strstr(field, "thread") ? THREAD_NAME_MOST : INT_MAX;
        char *text = NULL;
        if (part > 0)
            return asprintf(&text, "%.*s%s", most, module->to, name + part) < 0 ? NULL : text;
    }
    return strdup(name);
}
