/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/cache/depends.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file that changed less than so many seconds ago may change again without a sign: its times move
 * in steps. */
#define YOUNG 2

/* The identity of a file, or the error if there is none. All numbers, so that equal files have
 * equal bytes. */
struct identity {
    int64_t error, readable;
    uint64_t device, inode, mode, owner, size;
    int64_t changed[4];
};

struct cache_depend {
    char *path;
    struct identity identity;
};

static struct identity identify(const char *path)
{
    struct stat about;
    struct identity identity = {0};
    if (stat(path, &about) != 0) {
        identity.error = errno;
        return identity;
    }
    identity.readable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
    identity.device = about.st_dev;
    identity.inode = about.st_ino;
    identity.mode = about.st_mode;
    identity.owner = about.st_uid;
    identity.size = (uint64_t)about.st_size;
    identity.changed[0] = about.st_mtim.tv_sec;
    identity.changed[1] = about.st_mtim.tv_nsec;
    identity.changed[2] = about.st_ctim.tv_sec;
    identity.changed[3] = about.st_ctim.tv_nsec;
    return identity;
}

static bool same_identity(const struct identity *a, const struct identity *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_young(const struct identity *identity)
{
    struct timespec now;
    return identity->error == 0 &&
           (clock_gettime(CLOCK_REALTIME, &now) != 0 || identity->changed[0] > now.tv_sec - YOUNG ||
            identity->changed[2] > now.tv_sec - YOUNG);
}

static const struct cache_depend *find(const struct cache_depends *depends, const char *path,
                                       uint64_t hash)
{
    size_t probe = index_map_begin(&depends->by_path, hash);
    uint32_t index;
    while ((index = index_map_next(&depends->by_path, hash, &probe)) != INDEX_NONE)
        if (strcmp(depends->rows[index].path, path) == 0)
            return &depends->rows[index];
    return NULL;
}

static void add(struct cache_depends *depends, const char *path, uint64_t hash,
                const struct identity *identity)
{
    char *copy = strdup(path);
    if (!copy ||
        !array_reserve(&depends->rows, &depends->capacity, depends->count + 1,
                       sizeof(*depends->rows)) ||
        !index_map_insert(&depends->by_path, hash, (uint32_t)depends->count)) {
        free(copy);
        depends->unknown = true;
        return;
    }
    depends->rows[depends->count++] = (struct cache_depend){copy, *identity};
}

void cache_depends_add(struct cache_depends *depends, const char *path)
{
    const uint64_t hash = hash_text(path);
    const struct cache_depend *known = depends ? find(depends, path, hash) : NULL;
    if (!depends)
        return;
    const struct identity identity = known ? known->identity : identify(path);
    const mode_t mode = (mode_t)identity.mode;
    depends->special |= identity.error == 0 && !S_ISREG(mode) && !S_ISDIR(mode);
    if (known)
        return;
    depends->unknown = depends->unknown || is_young(&identity);
    add(depends, path, hash, &identity);
}

void cache_depends_add_path(struct cache_depends *depends, const char *format, ...)
{
    char *path = NULL;
    va_list values;
    if (!depends)
        return;
    va_start(values, format);
    const int length = vasprintf(&path, format, values);
    va_end(values);
    if (length < 0) {
        depends->unknown = true;
        return;
    }
    cache_depends_add(depends, path);
    free(path);
}

void cache_depends_free(struct cache_depends *depends)
{
    for (size_t i = 0; i < depends->count; i++)
        free(depends->rows[i].path);
    free(depends->rows);
    index_map_free(&depends->by_path);
    *depends = (struct cache_depends){0};
}

bool cache_depends_hold(const struct cache_depends *depends)
{
    for (size_t i = 0; i < depends->count; i++) {
        const struct identity now = identify(depends->rows[i].path);
        if (!same_identity(&now, &depends->rows[i].identity))
            return false;
    }
    return true;
}

void cache_depends_write(const struct cache_depends *depends, struct coding *coding)
{
    coding_put_number(coding, depends->count);
    for (size_t i = 0; i < depends->count; i++) {
        coding_put_text(coding, depends->rows[i].path);
        coding_put(coding, &depends->rows[i].identity, sizeof(struct identity));
    }
}

bool cache_depends_read(struct cache_depends *depends, struct decoding *decoding)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count; i++) {
        struct identity identity;
        const char *path = decoding_text(decoding);
        const uint8_t *bytes = decoding_take(decoding, sizeof(identity));
        if (!path || !bytes)
            return false;
        memcpy(&identity, bytes, sizeof(identity));
        const uint64_t hash = hash_text(path);
        const struct cache_depend *known = find(depends, path, hash);
        if (known && !same_identity(&known->identity, &identity))
            return false;
        if (!known)
            add(depends, path, hash, &identity);
    }
    return !decoding->failed && !depends->unknown;
}
