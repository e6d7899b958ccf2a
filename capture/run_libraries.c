#include "capture/run_libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/program_image.h"

/* More are a matter for the loader. */
#define LIBRARIES_MAX 256u
#define CACHE_MAX (UINT32_C(16) << 20)

/* glibc's sysdeps/generic/dl-cache.h: offsets are from the beginning of the file. */
struct cache_header {
    char magic[20];
    uint32_t count, strings_size;
    uint32_t unused[5];
};
struct cache_entry {
    uint32_t flags, name, path, version;
    uint64_t hardware;
};
static const char cache_magic[20] = "glibc-ld.so.cache1.1";
/* Kinds of entries that the loader of 64-bit programs takes. */
#define CACHE_ELF 0x1u
#define CACHE_ELF_X86_64 0x303u

struct libraries {
    const char *path; /* of the cache */
    char *cache;      /* with a 0 behind it; NULL: nothing has been looked up yet */
    uint32_t size, count;
    const char *names[LIBRARIES_MAX]; /* found so far, in the cache */
    size_t names_count;
};

/* What glibc's own libraries need is glibc's. */
static bool is_of_libc(const char *name)
{
    static const char *const libraries[] = {
        "libc.so.6",  "libm.so.6",    "libdl.so.2",     "libpthread.so.0",
        "librt.so.1", "libutil.so.1", "libresolv.so.2", "ld-linux-x86-64.so.2"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(name, libraries[i]) == 0)
            return true;
    return false;
}

/* By the name or the path. */
static bool is_of_cxx(const char *name)
{
    const char *slash = strrchr(name, '/');
    if (slash)
        name = slash + 1;
    return strncmp(name, "libstdc++.", strlen("libstdc++.")) == 0 ||
           strncmp(name, "libc++.", strlen("libc++.")) == 0;
}

/* Whether the loader is told from outside to load other libraries, or from other places. */
static bool loader_is_led_elsewhere(void)
{
    static const char *const variables[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return true;
    return access("/etc/ld.so.preload", F_OK) == 0 || errno != ENOENT;
}

static bool cache_read(struct libraries *libraries)
{
    struct cache_header header;
    const int descriptor = open(libraries->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size >= (off_t)sizeof header && size < (off_t)CACHE_MAX)
        libraries->cache = malloc((size_t)size + 1);
    const bool whole =
        libraries->cache && pread(descriptor, libraries->cache, (size_t)size, 0) == size;
    close(descriptor);
    if (!whole)
        return false;
    libraries->cache[size] = 0;
    libraries->size = (uint32_t)size;
    memcpy(&header, libraries->cache, sizeof header);
    libraries->count = header.count;
    return memcmp(header.magic, cache_magic, sizeof cache_magic) == 0 &&
           header.count <= (libraries->size - sizeof header) / sizeof(struct cache_entry);
}

static struct cache_entry cache_entry_of(const struct libraries *libraries, uint32_t index)
{
    struct cache_entry entry;
    memcpy(&entry, libraries->cache + sizeof(struct cache_header) + index * sizeof entry,
           sizeof entry);
    return entry;
}

static bool libraries_add(void *context, const char *name);

static bool libraries_look_into(struct libraries *libraries, const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const bool seen = program_image_libraries(descriptor, libraries_add, libraries);
    close(descriptor);
    return seen;
}

/* One that a file is linked with, and what it is linked with in its turn. False: it is of C++, or
 * uncertain. */
static bool libraries_add(void *context, const char *name)
{
    struct libraries *libraries = context;
    bool found = false;
    if (is_of_cxx(name))
        return false;
    for (size_t i = 0; i < libraries->names_count; i++)
        if (strcmp(libraries->names[i], name) == 0)
            return true;
    if (is_of_libc(name))
        return true;
    if (!libraries->cache && !cache_read(libraries))
        return false;
    for (uint32_t i = 0; i < libraries->count; i++) {
        const struct cache_entry entry = cache_entry_of(libraries, i);
        if ((entry.flags != CACHE_ELF && entry.flags != CACHE_ELF_X86_64) ||
            entry.name >= libraries->size || entry.path >= libraries->size ||
            strcmp(libraries->cache + entry.name, name) != 0)
            continue;
        if (!found) {
            if (libraries->names_count == LIBRARIES_MAX)
                return false;
            libraries->names[libraries->names_count++] = libraries->cache + entry.name;
            found = true;
        }
        const char *path = libraries->cache + entry.path;
        if (is_of_cxx(path) || !libraries_look_into(libraries, path))
            return false;
    }
    return found;
}

bool run_libraries_are_without_cxx(int descriptor, const char *cache)
{
    struct libraries libraries = {.path = cache};
    if (loader_is_led_elsewhere())
        return false;
    const bool without = program_image_libraries(descriptor, libraries_add, &libraries);
    free(libraries.cache);
    return without;
}
