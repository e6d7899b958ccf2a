/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "ingest/base/output_file.h"
#include "schemas/array.h"
#include "schemas/trace_coding.h"

/* ---- folder -------------------------------------------------------------------------------- */

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

/* Makes the key of these bytes, the same in every process. */
static struct cache_key cache_key_of(const void *bytes, size_t size)
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

static uint8_t *read_sound(int descriptor, const struct cache_key *key, size_t *size)
{
    struct header header;
    struct stat about;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        read_whole(descriptor, &header, sizeof(header), 0) != sizeof(header))
        return NULL;
    if (header.magic != MAGIC || header.key.words[0] != key->words[0] ||
        header.key.words[1] != key->words[1] || header.size > CACHE_ENTRY_MAX ||
        about.st_size != (off_t)(sizeof(header) + header.size))
        return NULL;
    uint8_t *bytes = malloc(header.size + 1);
    if (bytes && read_whole(descriptor, bytes, header.size, sizeof(header)) == header.size &&
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
    uint8_t *bytes = read_sound(descriptor, key, size);
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

ARRAY_ORDER(compare_use, struct file,
            ORDER(a->used.tv_sec, b->used.tv_sec) ?: ORDER(a->used.tv_nsec, b->used.tv_nsec))

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
        if (!is_entry(item->d_name) || !ARRAY_RESERVE(files, count, capacity))
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

/* ---- coding -------------------------------------------------------------------------------- */

/* Most questions and answers take less. */
#define CAPACITY_LEAST 128u

void coding_put(struct coding *coding, const void *bytes, size_t size)
{
    if (size == 0 || coding->failed)
        return;
    const size_t needed = coding->size + size;
    if (!array_grow(&coding->bytes, &coding->capacity,
                    needed < CAPACITY_LEAST ? CAPACITY_LEAST : needed, 1)) {
        coding->failed = true;
        return;
    }
    memcpy(coding->bytes + coding->size, bytes, size);
    coding->size += size;
}

void coding_put_number(struct coding *coding, uint64_t number)
{
    uint8_t bytes[10];
    coding_put(coding, bytes, (size_t)(trace_put_varint(bytes, number) - bytes));
}

void coding_put_text(struct coding *coding, const char *text)
{
    const size_t size = !text ? 0 : strlen(text) + 1;
    coding_put_number(coding, size);
    coding_put(coding, text, size);
}

void coding_free(struct coding *coding)
{
    free(coding->bytes);
    *coding = (struct coding){0};
}

/* Returns the next `size` bytes. NULL: there are fewer. */
static const uint8_t *decoding_take(struct decoding *decoding, size_t size)
{
    const uint8_t *bytes = decoding->at;
    if (decoding->failed || size > (size_t)(decoding->end - decoding->at)) {
        decoding->failed = true;
        return NULL;
    }
    decoding->at += size;
    return bytes;
}

uint64_t decoding_number(struct decoding *decoding)
{
    uint64_t number = 0;
    if (decoding->failed || !trace_get_varint(&decoding->at, decoding->end, &number))
        decoding->failed = true;
    return number;
}

const char *decoding_text(struct decoding *decoding)
{
    const uint64_t size = decoding_number(decoding);
    if (decoding->failed || size == 0)
        return NULL;
    const uint8_t *bytes = decoding_take(decoding, size);
    if (!bytes || memchr(bytes, '\0', size) != bytes + size - 1) {
        decoding->failed = true;
        return NULL;
    }
    return (const char *)bytes;
}

/* ---- depends ------------------------------------------------------------------------------- */

/* A file changed less than these seconds ago may change unseen: its times move in steps. */
#define YOUNG 2

/* A file's identity, or the error. All numbers, so that equal files have equal bytes. */
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

static const struct cache_depend *find_file(const struct cache_depends *depends, const char *path,
                                            uint64_t hash)
{
    size_t probe = index_map_begin(&depends->by_path, hash);
    uint32_t index;
    while (depends->rows && (index = index_map_next(&depends->by_path, hash, &probe)) != INDEX_NONE)
        if (strcmp(depends->rows[index].path, path) == 0)
            return &depends->rows[index];
    return NULL;
}

static void add_file(struct cache_depends *depends, const char *path, uint64_t hash,
                     const struct identity *identity)
{
    char *copy = strdup(path);
    if (!copy || !ARRAY_RESERVE(depends->rows, depends->count, depends->capacity) ||
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
    const struct cache_depend *known = depends ? find_file(depends, path, hash) : NULL;
    if (!depends)
        return;
    const struct identity identity = known ? known->identity : identify(path);
    const mode_t mode = (mode_t)identity.mode;
    depends->special |= identity.error == 0 && !S_ISREG(mode) && !S_ISDIR(mode);
    if (known)
        return;
    depends->unknown = depends->unknown || is_young(&identity);
    add_file(depends, path, hash, &identity);
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

/* Returns true if all files are still as they were when they were added. */
static bool cache_depends_hold(const struct cache_depends *depends)
{
    for (size_t i = 0; i < depends->count; i++) {
        const struct identity now = identify(depends->rows[i].path);
        if (!same_identity(&now, &depends->rows[i].identity))
            return false;
    }
    return true;
}

/* Adds a file as it was. Returns false if it is there already and was another one. */
static bool add_known(struct cache_depends *depends, const char *path,
                      const struct identity *identity)
{
    const uint64_t hash = hash_text(path);
    const struct cache_depend *known = find_file(depends, path, hash);
    if (known)
        return same_identity(&known->identity, identity);
    add_file(depends, path, hash, identity);
    return true;
}

/* Adds the files of a list. Returns false as add_known() does. */
static bool join(struct cache_depends *depends, const struct cache_depends *read)
{
    for (size_t i = 0; i < read->count; i++)
        if (!add_known(depends, read->rows[i].path, &read->rows[i].identity))
            return false;
    return !depends->unknown;
}

/* Appends the list to an entry. */
static void cache_depends_write(const struct cache_depends *depends, struct coding *coding)
{
    coding_put_number(coding, depends->count);
    for (size_t i = 0; i < depends->count; i++) {
        coding_put_text(coding, depends->rows[i].path);
        coding_put(coding, &depends->rows[i].identity, sizeof(struct identity));
    }
}

/* Adds the files of an entry as they were when it was written. Returns false if it is damaged. */
static bool cache_depends_read(struct cache_depends *depends, struct decoding *decoding)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count; i++) {
        struct identity identity;
        const char *path = decoding_text(decoding);
        const uint8_t *bytes = decoding_take(decoding, sizeof(identity));
        if (!path || !bytes)
            return false;
        memcpy(&identity, bytes, sizeof(identity));
        if (!add_known(depends, path, &identity))
            return false;
    }
    return !decoding->failed && !depends->unknown;
}

/* ---- cache --------------------------------------------------------------------------------- */

/* Changes whenever the bytes of an entry or of a question do. */
#define FORMAT 2

/* An entry that is larger than SIZE_MOST, and than SIZE_TIMES what this call used of it, keeps only
 * that. Otherwise programs that never do the same twice would make it grow with each call. */
#define SIZE_MOST ((size_t)2 << 20)
#define SIZE_TIMES 4

#define NO_PAIR UINT32_MAX

struct pair {
    bool used; /* by this call */
    bool read; /* places are in the entry that was read, otherwise in `bytes` */
    size_t question, question_size, answer, answer_size; /* places and sizes */
};

struct cache {
    int folder;
    struct coding key; /* complete at the first question */
    bool begun;        /* the first question was asked */
    bool stopped, changed;
    struct cache_depends depends; /* of the answers that were read */
    uint8_t *entry;               /* what was read; NULL: nothing */
    struct coding bytes;
    struct pair *pairs;
    size_t count, capacity;
    struct index_map by_question;
    uint32_t modules; /* that have numbers */
};

static const uint8_t *place(const struct cache *cache, const struct pair *pair, size_t at)
{
    return (pair->read ? cache->entry : cache->bytes.bytes) + at;
}

static bool add_pair(struct cache *cache, const struct pair *pair)
{
    const uint8_t *question = place(cache, pair, pair->question);
    if (cache->count >= NO_PAIR - 1 ||
        !ARRAY_RESERVE(cache->pairs, cache->count, cache->capacity) ||
        !index_map_insert(&cache->by_question,
                          hash_bytes(hash_seed(), question, pair->question_size),
                          (uint32_t)cache->count))
        return false;
    cache->modules += question[0] == CACHE_MODULE;
    cache->pairs[cache->count++] = *pair;
    return true;
}

/* ---- entries ---------------------------------------------------------------------------- */

static bool read_pairs(struct cache *cache, struct decoding *decoding)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count && !decoding->failed; i++) {
        struct pair pair = {.read = true};
        pair.question_size = decoding_number(decoding);
        const uint8_t *question = decoding_take(decoding, pair.question_size);
        pair.answer_size = decoding_number(decoding);
        const uint8_t *answer = decoding_take(decoding, pair.answer_size);
        if (!question || !answer || pair.question_size == 0 || question[0] >= CACHE_KINDS)
            return false;
        pair.question = (size_t)(question - cache->entry);
        pair.answer = (size_t)(answer - cache->entry);
        if (!add_pair(cache, &pair))
            return false;
    }
    return !decoding->failed && decoding->at == decoding->end;
}

static bool read_entry(struct cache *cache, size_t size)
{
    struct decoding decoding = {cache->entry, cache->entry + size, false};
    const uint64_t key_size = decoding_number(&decoding);
    const uint8_t *key = decoding_take(&decoding, key_size);
    return key && key_size == cache->key.size && memcmp(key, cache->key.bytes, key_size) == 0 &&
           cache_depends_read(&cache->depends, &decoding) && read_pairs(cache, &decoding) &&
           cache_depends_hold(&cache->depends);
}

static void forget_entry(struct cache *cache)
{
    cache_depends_free(&cache->depends);
    FREE_ALL(cache->pairs, cache->entry);
    index_map_free(&cache->by_question);
    cache->pairs = NULL;
    cache->entry = NULL;
    cache->count = cache->capacity = cache->modules = 0;
}

void cache_stop(struct cache *cache)
{
    if (!cache || cache->stopped)
        return;
    forget_entry(cache);
    coding_free(&cache->bytes);
    cache->stopped = true;
}

static void begin(struct cache *cache)
{
    size_t size;
    cache->begun = true;
    if (cache->key.failed) {
        cache->stopped = true;
        return;
    }
    const struct cache_key key = cache_key_of(cache->key.bytes, cache->key.size);
    cache->entry = cache_folder_read(cache->folder, &key, &size);
    if (cache->entry && !read_entry(cache, size))
        forget_entry(cache);
}

/* Returns true if a pair stays in an entry that is `grown`. Modules keep their numbers. */
static bool stays(const struct cache *cache, const struct pair *pair, bool grown)
{
    return !grown || pair->used || *place(cache, pair, pair->question) == CACHE_MODULE;
}

static void write_entry(const struct cache *cache, const struct cache_depends *depends, bool grown,
                        struct coding *entry)
{
    size_t size = cache->key.size;
    uint32_t count = 0;
    for (size_t i = 0; i < cache->count; i++)
        if (stays(cache, &cache->pairs[i], grown)) {
            count++;
            size +=
                cache->pairs[i].question_size + cache->pairs[i].answer_size + 2 * sizeof(uint32_t);
        }
    array_grow(&entry->bytes, &entry->capacity, size, 1); /* is right for most */
    coding_put_number(entry, cache->key.size);
    coding_put(entry, cache->key.bytes, cache->key.size);
    cache_depends_write(depends, entry);
    coding_put_number(entry, count);
    for (size_t i = 0; i < cache->count; i++) {
        const struct pair *pair = &cache->pairs[i];
        if (!stays(cache, pair, grown))
            continue;
        coding_put_number(entry, pair->question_size);
        coding_put(entry, place(cache, pair, pair->question), pair->question_size);
        coding_put_number(entry, pair->answer_size);
        coding_put(entry, place(cache, pair, pair->answer), pair->answer_size);
    }
}

/* Returns true if an entry with all pairs would be too large. */
static bool is_grown(const struct cache *cache)
{
    size_t all = 0, last = 0;
    for (size_t i = 0; i < cache->count; i++) {
        const struct pair *pair = &cache->pairs[i];
        const size_t size = pair->question_size + pair->answer_size;
        all += size;
        last += pair->used ? size : 0;
    }
    return all > SIZE_MOST && (all / SIZE_TIMES > last || all > CACHE_ENTRY_MAX / 2);
}

void cache_save(struct cache *cache, struct cache_depends *depends)
{
    struct coding entry = {0};
    if (!cache || cache->stopped || !cache->changed || depends->unknown ||
        !join(depends, &cache->depends) || !cache_depends_hold(depends))
        return;
    write_entry(cache, depends, is_grown(cache), &entry);
    const struct cache_key key = cache_key_of(cache->key.bytes, cache->key.size);
    if (!entry.failed)
        cache_folder_write(cache->folder, &key, entry.bytes, entry.size, CACHE_FOLDER_LIMIT);
    coding_free(&entry);
    cache->changed = false;
}

/* ---- questions -------------------------------------------------------------------------- */

struct cache *cache_new(int folder)
{
    struct cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->folder = folder;
    coding_put_number(&cache->key, FORMAT);
    return cache;
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    cache_stop(cache);
    coding_free(&cache->key);
    free(cache);
}

static int add_library(struct dl_phdr_info *library, size_t size, void *context)
{
    if (library->dlpi_name && library->dlpi_name[0] == '/')
        cache_depends_add(context, library->dlpi_name);
    return 0;
}

bool cache_machine(struct coding *fact)
{
    struct cache_depends programs = {0};
    struct utsname kernel;
    memset(&kernel, 0, sizeof(kernel));
    cache_depends_add(&programs, "/proc/self/exe");
    dl_iterate_phdr(add_library, &programs);
    const bool good = uname(&kernel) == 0 && access("/proc/self/exe", F_OK) == 0;
    coding_put_text(fact, MPROF_VERSION);
    cache_depends_write(&programs, fact);
    coding_put(fact, &kernel, sizeof(kernel));
    coding_put_number(fact, geteuid());
    coding_put_number(fact, getegid());
    cache_depends_free(&programs);
    return good && !fact->failed;
}

bool cache_is_on(const struct cache *cache)
{
    return cache && !cache->stopped;
}

void cache_tell(struct cache *cache, const struct coding *fact)
{
    if (!cache_is_on(cache) || cache->begun)
        return;
    coding_put_number(&cache->key, fact->size);
    coding_put(&cache->key, fact->bytes, fact->size);
    cache->key.failed = cache->key.failed || fact->failed;
}

static uint32_t find(const struct cache *cache, const struct coding *question)
{
    const uint64_t hash = hash_bytes(hash_seed(), question->bytes, question->size);
    INDEX_MAP_EACH(&cache->by_question, hash, index) {
        const struct pair *pair = &cache->pairs[index];
        if (pair->question_size == question->size &&
            memcmp(place(cache, pair, pair->question), question->bytes, question->size) == 0)
            return index;
    }
    return NO_PAIR;
}

static void add(struct cache *cache, const struct coding *question, const struct coding *answer)
{
    struct pair pair = {.used = true, .question = cache->bytes.size};
    if (!cache_is_on(cache) || question->failed)
        return;
    pair.question_size = question->size;
    coding_put(&cache->bytes, question->bytes, question->size);
    pair.answer = cache->bytes.size;
    pair.answer_size = answer->size;
    coding_put(&cache->bytes, answer->bytes, answer->size);
    cache->changed = true;
    if (answer->failed || cache->bytes.failed || cache->bytes.size > CACHE_ENTRY_MAX ||
        !add_pair(cache, &pair))
        cache_stop(cache);
}

void cache_question_begin(struct cache_question *question, struct cache *cache,
                          enum cache_kind kind)
{
    *question = (struct cache_question){.cache = cache, .known = {.failed = true}};
    coding_put_number(&question->asked, kind);
}

bool cache_question_ask(struct cache_question *question)
{
    struct cache *cache = question->cache;
    if (!cache_is_on(cache) || question->asked.failed)
        return false;
    if (!cache->begun)
        begin(cache);
    const uint32_t index = find(cache, &question->asked);
    if (index == NO_PAIR)
        return false;
    struct pair *pair = &cache->pairs[index];
    const uint8_t *at = place(cache, pair, pair->answer);
    pair->used = true;
    question->known = (struct decoding){at, at + pair->answer_size, false};
    return question->is_known = true;
}

void cache_question_end(struct cache_question *question)
{
    if (!question->is_known)
        add(question->cache, &question->asked, &question->found);
    coding_free(&question->asked);
    coding_free(&question->found);
}

uint32_t cache_module(struct cache *cache, const char *path, const uint8_t *build_id,
                      size_t build_id_length)
{
    struct cache_question question;
    if (!cache_is_on(cache))
        return 0;
    cache_question_begin(&question, cache, CACHE_MODULE);
    coding_put_text(&question.asked, path);
    coding_put(&question.asked, build_id, build_id_length);
    cache_question_ask(&question);
    uint32_t number = (uint32_t)decoding_number(&question.known);
    const bool good = cache_question_accept(&question, number > 0);
    if (!question.is_known) {
        number = cache->modules + 1;
        coding_put_number(&question.found, number);
    }
    const bool damaged = question.is_known && !good;
    cache_question_end(&question);
    if (damaged)
        cache_stop(cache);
    return cache_is_on(cache) ? number : 0;
}
