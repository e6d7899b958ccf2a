/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ingest/symbols/paths.h"

/* Longest path of the recorded machine. */
#define PLACE_MAX 8192

struct bundle {
    const struct table_sink *sink;
    const char *sysroot;   /* "": none */
    const char *directory; /* of the program */
    uint64_t copied;       /* bytes, before they are compressed */
    char **names;          /* of all files so far: each is added once */
    size_t name_count, name_capacity;
    struct index_map by_name;
    bool good;
};

/* Reads the whole file. The caller frees the result. NULL with `reason` set. */
static uint8_t *read_file(const struct bundle *bundle, const char *path, struct stat *about,
                          char reason[200])
{
    /* A trace can name anything: only regular files are read, and a FIFO must not block. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0 || fstat(descriptor, about) != 0) {
        snprintf(reason, 200, "cannot be read: %s", strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    uint64_t size = (uint64_t)about->st_size;
    uint8_t *bytes = NULL;
    if (!S_ISREG(about->st_mode))
        snprintf(reason, 200, "not a regular file");
    else if (size > BUNDLE_FILE_MAX)
        snprintf(reason, 200, "too large: %" PRIu64 " bytes, at most %" PRIu64, size,
                 BUNDLE_FILE_MAX);
    else if (bundle->copied + size > BUNDLE_MAX)
        snprintf(reason, 200, "the bundle is full: %" PRIu64 " bytes", BUNDLE_MAX);
    else if (!(bytes = malloc(size + 1)))
        snprintf(reason, 200, "out of memory");
    uint64_t done = 0;
    while (bytes && done < size) {
        ssize_t length = read(descriptor, bytes + done, size - done);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0) {
            snprintf(reason, 200, "cannot be read: %s",
                     length < 0 ? strerror(errno) : "it shrinks");
            free(bytes);
            bytes = NULL;
        }
        done += length > 0 ? (uint64_t)length : 0;
    }
    close(descriptor);
    return bytes;
}

/* Writes a file as SQLite archives hold it: compressed if that is shorter. */
static bool put_copy(struct bundle *bundle, const char *name, const uint8_t *bytes,
                     const struct stat *about)
{
    uint64_t size = (uint64_t)about->st_size;
    uLongf packed_size = compressBound(size);
    uint8_t *packed = malloc(packed_size);
    bool shorter = packed && compress2(packed, &packed_size, bytes, size, Z_BEST_SPEED) == Z_OK &&
                   packed_size < size;
    const struct writer_value row[] = {
        value_text(name), value_number(about->st_mode & 0777u ? about->st_mode : 0100644u),
        value_number((uint64_t)about->st_mtime), value_number(size),
        shorter ? value_blob(packed, packed_size) : value_blob(bytes, size)};
    bool good =
        bundle->sink->put(bundle->sink->context, WRITER_SQLAR, row, sizeof(row) / sizeof(*row));
    free(packed);
    return good;
}

static bool is_known(struct bundle *bundle, const char *name)
{
    uint64_t hash = hash_text(name);
    size_t probe = index_map_begin(&bundle->by_name, hash);
    uint32_t index;
    while ((index = index_map_next(&bundle->by_name, hash, &probe)) != INDEX_NONE)
        if (bundle->names && strcmp(bundle->names[index], name) == 0)
            return true;
    char *kept = strdup(name);
    bundle->good = kept &&
                   array_reserve(&bundle->names, &bundle->name_capacity, bundle->name_count + 1,
                                 sizeof(char *)) &&
                   index_map_insert(&bundle->by_name, hash, (uint32_t)bundle->name_count);
    if (bundle->good)
        bundle->names[bundle->name_count++] = kept;
    else
        free(kept);
    return !bundle->good;
}

/*
 * Makes the name in the archive: `place` without its first '/'. "." and ".." are resolved as if no
 * folder were a link, so that no file is unpacked outside the folder for the archive.
 */
static void name_copy(char *name, size_t size, const char *place)
{
    size_t length = 0;
    name[0] = '\0';
    while (*(place += strspn(place, "/")) != '\0') {
        size_t part = strcspn(place, "/");
        if (part == 2 && place[0] == '.' && place[1] == '.') {
            const char *parent = strrchr(name, '/');
            length = parent ? (size_t)(parent - name) : 0;
        } else if (!(part == 1 && place[0] == '.') && length + part + 2 < size) {
            if (length > 0)
                name[length++] = '/';
            memcpy(name + length, place, part);
            length += part;
        }
        name[length] = '\0';
        place += part;
    }
}

/* Adds a file that is wanted. `path` NULL: it cannot be added, for the reason `why`. */
static void put_file(struct bundle *bundle, const char *kind, const char *path, const char *place,
                     const char *why)
{
    char reason[200], name[PLACE_MAX];
    struct stat about = {0};
    name_copy(name, sizeof(name), place);
    if (*name == '\0' || !bundle->good || is_known(bundle, name))
        return;
    snprintf(reason, sizeof(reason), "%s", why);
    uint8_t *bytes = !path ? NULL : read_file(bundle, path, &about, reason);
    if (bytes) {
        snprintf(reason, sizeof(reason), "copied");
        bundle->copied += (uint64_t)about.st_size;
        bundle->good = put_copy(bundle, name, bytes, &about);
        free(bytes);
    }
    const struct writer_value row[] = {value_text(name), value_text(kind),
                                       value_number((uint64_t)about.st_size), value_text(reason)};
    bundle->good = bundle->good && bundle->sink->put(bundle->sink->context, WRITER_BUNDLE, row,
                                                     sizeof(row) / sizeof(*row));
}

/* Gives the place where libdw finds separate debug information below any root. */
static void place_debug(const struct bundle *bundle, const struct symbols_path *file,
                        char place[PLACE_MAX])
{
    const char *path = file->path;
    size_t root = strlen(bundle->sysroot);
    if (strncmp(path, bundle->sysroot, root) == 0 &&
        strncmp(path + root, "/usr/lib/debug/", 15) == 0)
        snprintf(place, PLACE_MAX, "%s", path + root);
    else
        snprintf(place, PLACE_MAX, "/usr/lib/debug/.build-id/%.2s/%s.debug", file->build_id,
                 strlen(file->build_id) > 2 ? file->build_id + 2 : "none");
}

static void put_debug(struct bundle *bundle, const struct symbols_path *file)
{
    char place[PLACE_MAX];
    if (!file->path)
        return;
    place_debug(bundle, file, place);
    put_file(bundle, "debug", file->path, place, "");
}

struct split_units {
    struct bundle *bundle;
    const char *from; /* place of the file that names them */
};

/* Adds a .dwo file. libdw finds it under any root beside the file that names it, but not by an
 * absolute name. */
static void put_split(void *context, const struct symbols_split *split)
{
    const struct split_units *units = context;
    char place[PLACE_MAX];
    const char *slash = strrchr(units->from, '/');
    int folder = !slash || split->name[0] == '/' ? 0 : (int)(slash + 1 - units->from);
    snprintf(place, sizeof(place), "%.*s%s", folder, units->from, split->name);
    put_file(units->bundle, "debug", split->path, place, "");
}

/* Adds the file beside the module in which dwp(1) gathered the .dwo files. */
static void put_package(struct bundle *bundle, const char *path, const char *place)
{
    char package[PLACE_MAX + 8], package_place[PLACE_MAX + 8];
    snprintf(package, sizeof(package), "%s.dwp", path);
    snprintf(package_place, sizeof(package_place), "%s.dwp", place);
    if (access(package, R_OK) == 0)
        put_file(bundle, "debug", package, package_place, "");
}

static void put_module(struct bundle *bundle, struct symbols *symbols,
                       const struct module_row *module)
{
    struct symbols_paths *paths = malloc(sizeof(*paths));
    bool absolute = module->path[0] == '/';
    char place[PLACE_MAX], debug_place[PLACE_MAX];
    struct split_units units = {bundle, place};
    bundle->good = paths != NULL;
    if (!paths)
        return;
    snprintf(place, sizeof(place), "%s%s%s", absolute ? "" : bundle->directory, absolute ? "" : "/",
             module->path);
    if (symbols_paths(symbols, module->id, paths)) {
        put_file(bundle, "module", paths->module.path, place, "");
        put_debug(bundle, &paths->debug);
        put_debug(bundle, &paths->common);
        if (paths->debug.path) {
            place_debug(bundle, &paths->debug, debug_place);
            units.from = debug_place;
        }
        symbols_paths_split(symbols, module->id, put_split, &units);
        put_package(bundle, paths->module.path, place);
    } else {
        put_file(bundle, "module", NULL, place, symbols_status(symbols, module->id));
    }
    free(paths);
}

/* Adds a file of the recorded machine: the one below `sysroot` if it is there. */
static void put_below_root(struct bundle *bundle, const char *kind, const char *place)
{
    char path[PLACE_MAX];
    snprintf(path, sizeof(path), "%s%s", bundle->sysroot, place);
    put_file(bundle, kind, access(path, R_OK) == 0 ? path : place, place, "");
}

bool bundle_put(const struct table_sink *sink, const struct session_facts *facts,
                const char *sysroot)
{
    const struct trace_scan *scan = facts->scan;
    const struct frames *frames = &facts->stacks->frames;
    struct bundle bundle = {.sink = sink,
                            .sysroot = sysroot ? sysroot : "",
                            .directory = scan->process.found ? scan->process.directory : "",
                            .good = true};
    char map[64];
    for (size_t i = 0; bundle.good && i < scan->module_count; i++)
        if (!scan->modules[i].runtime)
            put_module(&bundle, frames->symbols, &scan->modules[i]);
    for (size_t i = 0; bundle.good && i < frames->source_file_count; i++)
        if (frames->source_files[i][0] == '/')
            put_below_root(&bundle, "source", frames->source_files[i]);
    snprintf(map, sizeof(map), "/tmp/perf-%" PRIu64 ".map", scan->process.pid);
    if (bundle.good && scan->process.found && access(map, R_OK) == 0)
        put_below_root(&bundle, "perf map", map);
    for (size_t i = 0; i < bundle.name_count; i++)
        free(bundle.names[i]);
    free(bundle.names);
    index_map_free(&bundle.by_name);
    return bundle.good;
}
