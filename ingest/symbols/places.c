/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/places.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/file.h"

/* The folders of the debug files of a whole system. */
struct roots {
    const char *paths[3];
    size_t count;
    char *below; /* that of the sysroot, or NULL */
};

static bool find_roots(const struct symbols_options *options, struct cache_depends *depends,
                       struct roots *roots)
{
    *roots = (struct roots){.paths = {"/usr/lib/debug"}, .count = 1};
    if (options->debug_dir)
        roots->paths[roots->count++] = options->debug_dir;
    if (!options->sysroot)
        return true;
    if (asprintf(&roots->below, "%s/usr/lib/debug", options->sysroot) < 0) {
        roots->below = NULL;
        depends->unknown = true;
        return false;
    }
    roots->paths[roots->count++] = roots->below;
    return true;
}

/* Adds ROOT/.build-id/ab/cdef.debug. */
static void add_build_id(struct cache_depends *depends, const struct roots *roots,
                         const uint8_t *id, size_t length)
{
    char name[160];
    if (length < 2 || length > 64)
        return;
    symbols_hexadecimal(name, sizeof(name), id + 1, length - 1);
    for (size_t i = 0; i < roots->count; i++) {
        cache_depends_add_path(depends, "%s/.build-id/%02x/%s.debug", roots->paths[i], id[0], name);
        cache_depends_add_path(depends, "%s/.build-id/%02x/%s", roots->paths[i], id[0], name);
    }
}

/* Adds the names that a debug file may have in a folder. */
static void add_names(struct cache_depends *depends, const char *folder, const char *base,
                      const char *link)
{
    cache_depends_add_path(depends, "%s/%s", folder, base);
    cache_depends_add_path(depends, "%s/%s.debug", folder, base);
    if (!link)
        return;
    cache_depends_add_path(depends, "%s/%s", folder, link);
    cache_depends_add_path(depends, "%s/%s", folder, basename(link));
    cache_depends_add_path(depends, "%s/.dwz/%s", folder, basename(link));
}

static void add_file(struct cache_depends *depends, const struct roots *roots, const char *path,
                     const char *link)
{
    const char *base = basename(path);
    char *folder = strndup(path, base == path ? 0 : (size_t)(base - path - 1)), *below = NULL;
    if (!folder || asprintf(&below, "%s/.debug", base == path ? "." : folder) < 0) {
        depends->unknown = true;
        free(folder);
        return;
    }
    if (link && link[0] == '/')
        cache_depends_add(depends, link);
    add_names(depends, base == path ? "." : folder, base, link);
    add_names(depends, below, base, link);
    free(below);
    for (size_t i = 0; i < roots->count; i++) {
        add_names(depends, roots->paths[i], base, link);
        /* The file's folder below the root, then without its first parts. */
        for (const char *part = folder; part && *part; part = strchr(part, '/')) {
            part += *part == '/';
            if (*part == '\0' || asprintf(&below, "%s/%s", roots->paths[i], part) < 0)
                break;
            add_names(depends, below, base, link);
            free(below);
        }
    }
    free(folder);
}

static void add_paths(struct cache_depends *depends, const struct roots *roots, const char *path,
                      const char *link)
{
    char *real = realpath(path, NULL);
    add_file(depends, roots, path, link);
    if (real && strcmp(real, path) != 0)
        add_file(depends, roots, real, link);
    free(real);
}

void symbols_places_add(const struct symbols_options *options, struct cache_depends *depends,
                        Dwfl_Module *module, const char *path, const char *link)
{
    struct roots roots;
    const unsigned char *id;
    GElf_Addr address;
    if (!find_roots(options, depends, &roots))
        return;
    const int length = dwfl_module_build_id(module, &id, &address);
    if (length > 0)
        add_build_id(depends, &roots, id, (size_t)length);
    /* The vdso's copy has no folder. */
    if (path && strncmp(path, "/proc/", strlen("/proc/")) != 0)
        add_paths(depends, &roots, path, link);
    free(roots.below);
}

void symbols_places_add_common(const struct symbols_options *options, struct cache_depends *depends,
                               Dwfl_Module *module, Dwarf *dwarf)
{
    struct roots roots;
    const char *link = NULL, *file = NULL, *debug_file = NULL;
    const void *id = NULL;
    if (!find_roots(options, depends, &roots))
        return;
    dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug_file);
    if (debug_file)
        cache_depends_add(depends, debug_file);
    const ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &link, &id);
    if (length > 0) {
        add_build_id(depends, &roots, id, (size_t)length);
        if (file)
            add_paths(depends, &roots, file, link);
        if (debug_file)
            add_paths(depends, &roots, debug_file, link);
    }
    free(roots.below);
}
