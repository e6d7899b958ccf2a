/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/overview/debug_package.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the list of a package names a file whose last component is `module`. */
static bool list_has(FILE *list, const char *module)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    for (ssize_t length; !found && (length = getline(&line, &size, list)) >= 0;) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        const char *slash = strrchr(line, '/');
        found = slash && strcmp(slash + 1, module) == 0;
    }
    free(line);
    return found;
}

static bool has_file(const char *folder, const char *package, const char *module)
{
    static const char *const architectures[] = {"", ":amd64", ":arm64"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof(architectures) / sizeof(architectures[0]); i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s%s.list", folder, package, architectures[i]);
        FILE *list = fopen(path, "re");
        if (!list)
            continue;
        found = list_has(list, module);
        fclose(list);
    }
    return found;
}

/* Writes the name by Debian's rule: "libfoo2", or "libfoo2-1" if the library's name ends in a
 * digit. Returns false if the module is not a shared library with a version. */
static bool package_of(const char *module, char *out, size_t size)
{
    const char *dot = strstr(module, ".so.");
    if (!dot || dot == module || strchr(module, '/') || !isdigit((unsigned char)dot[4]))
        return false;
    const char *between = isdigit((unsigned char)dot[-1]) ? "-" : "";
    const int digits = (int)strspn(dot + 4, "0123456789");
    const int length =
        snprintf(out, size, "%.*s%s%.*s", (int)(dot - module), module, between, digits, dot + 4);
    for (char *letter = out; *letter; letter++)
        *letter = *letter == '_' ? '-' : (char)tolower((unsigned char)*letter);
    return length > 0 && (size_t)length < size;
}

bool debug_package(const char *module, const char *folder, char out[DEBUG_PACKAGE_SIZE])
{
    static const char *const variants[] = {"", "t64", "v5"}; /* of packages that were built again */
    char name[DEBUG_PACKAGE_SIZE / 2], package[DEBUG_PACKAGE_SIZE - 10];
    /* The C library has a package for all its debug information. */
    if (has_file(folder, "libc6", module)) {
        snprintf(out, DEBUG_PACKAGE_SIZE, "libc6-dbg");
        return true;
    }
    if (!package_of(module, name, sizeof(name)))
        return false;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        snprintf(package, sizeof(package), "%s%s", name, variants[i]);
        if (!has_file(folder, package, module))
            continue;
        snprintf(out, DEBUG_PACKAGE_SIZE, "%s-dbgsym", package);
        return true;
    }
    return false;
}
