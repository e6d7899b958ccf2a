/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/cache/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/whole.h"

#define MAGIC UINT64_C(0x31656863616370d9)

struct header {
    uint64_t magic;
    struct cache_key key;
    uint64_t size, sum; /* of what follows */
};

enum { NAME_SIZE = 64 };
static const char entry_end[] = ".names";
static const char new_begin[] = "new.";

static int open_folder(const char *path)
{
    struct stat about;
    mkdir(path, 0700);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
        (about.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return folder;
    if (folder >= 0)
        close(folder);
    return -1;
}

struct cache_key cache_key_of(const void *bytes, size_t size)
{
    return (struct cache_key){{hash_bytes(MAGIC, bytes, size), hash_bytes(~MAGIC, bytes, size)}};
}

/* A program that runs with another user's environment makes nothing in that user's folders. */
static bool is_own(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_uid == geteuid();
}

int cache_folder_open(const char *path)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *above = NULL, *below = NULL;
    int folder = -1;
    if (path)
        return open_folder(path);
    /* The XDG specification has relative paths ignored. */
    const bool given = base && base[0] == '/';
    if (!given && (!home || home[0] != '/'))
        return -1;
    if (asprintf(&above, "%s%s", given ? base : home, given ? "" : "/.cache") < 0)
        return -1;
    if (given || is_own(home))
        mkdir(above, 0700);
    if (is_own(above) && asprintf(&below, "%s/mprof", above) >= 0) {
        folder = open_folder(below);
        free(below);
    }
    free(above);
    return folder;
}

static void name_entry(char name[NAME_SIZE], const struct cache_key *key)
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 "%s", key->words[0], key->words[1],
             entry_end);
}

static bool read_all(int descriptor, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        const ssize_t count = read(descriptor, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static uint8_t *read_entry(int descriptor, const struct cache_key *key, size_t *size)
{
    struct header header;
    struct stat about;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        !read_all(descriptor, &header, sizeof(header)))
        return NULL;
    if (header.magic != MAGIC || header.key.words[0] != key->words[0] ||
        header.key.words[1] != key->words[1] || header.size > CACHE_ENTRY_MAX ||
        about.st_size != (off_t)(sizeof(header) + header.size))
        return NULL;
    uint8_t *bytes = malloc(header.size + 1);
    if (bytes && read_all(descriptor, bytes, header.size) &&
        hash_bytes(MAGIC, bytes, header.size) == header.sum) {
        *size = header.size;
        return bytes;
    }
    free(bytes);
    return NULL;
}

uint8_t *cache_folder_read(int folder, const struct cache_key *key, size_t *size)
{
    char name[NAME_SIZE];
    name_entry(name, key);
    const int descriptor =
        openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return NULL;
    uint8_t *bytes = read_entry(descriptor, key, size);
    if (bytes)
        futimens(descriptor, NULL); /* used now */
    close(descriptor);
    return bytes;
}

struct file {
    char name[NAME_SIZE];
    struct timespec used;
    uint64_t size;
};

static int compare_use(const void *left, const void *right)
{
    const struct file *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static bool is_entry(const char *name)
{
    return strlen(name) == 32 + sizeof(entry_end) - 1 && strspn(name, "0123456789abcdef") >= 32 &&
           strcmp(name + 32, entry_end) == 0;
}

/* Returns true if a process left the file that was killed while it wrote. */
static bool is_left_over(const char *name, const struct stat *about)
{
    struct timespec now;
    return strncmp(name, new_begin, sizeof(new_begin) - 1) == 0 &&
           clock_gettime(CLOCK_REALTIME, &now) == 0 && about->st_mtime < now.tv_sec - 3600;
}

/* Removes the entries that were used longest ago, until the others take `limit` bytes at most. */
static void trim(int folder, uint64_t limit)
{
    struct file *files = NULL;
    size_t count = 0, capacity = 0;
    uint64_t sum = 0;
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing && copy >= 0)
        close(copy);
    const struct dirent *item;
    while (listing && (item = readdir(listing))) {
        struct stat about;
        if (strlen(item->d_name) >= NAME_SIZE ||
            fstatat(folder, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (is_left_over(item->d_name, &about))
            unlinkat(folder, item->d_name, 0);
        if (!is_entry(item->d_name) || !array_reserve(&files, &capacity, count + 1, sizeof(*files)))
            continue;
        struct file *file = &files[count++];
        memcpy(file->name, item->d_name, strlen(item->d_name) + 1);
        file->used = about.st_mtim;
        file->size = (uint64_t)about.st_size;
        sum += file->size;
    }
    if (listing)
        closedir(listing);
    if (count > 1)
        qsort(files, count, sizeof(*files), compare_use);
    for (size_t i = 0; i < count && sum > limit; i++)
        if (unlinkat(folder, files[i].name, 0) == 0)
            sum -= files[i].size;
    free(files);
}

void cache_folder_write(int folder, const struct cache_key *key, const void *bytes, size_t size,
                        uint64_t limit)
{
    char name[NAME_SIZE], part[NAME_SIZE];
    uint64_t random = 0;
    const struct header header = {MAGIC, *key, size, hash_bytes(MAGIC, bytes, size)};
    if (size > CACHE_ENTRY_MAX || size + sizeof(header) > limit ||
        getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        return;
    name_entry(name, key);
    snprintf(part, sizeof(part), "%s%d.%016" PRIx64, new_begin, (int)getpid(), random);
    const int descriptor =
        openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return;
    bool good = write_whole(descriptor, &header, sizeof(header)) == 0 &&
                write_whole(descriptor, bytes, size) == 0;
    good = close(descriptor) == 0 && good;
    if (!good || renameat(folder, part, folder, name) != 0)
        unlinkat(folder, part, 0);
    trim(folder, limit);
}
