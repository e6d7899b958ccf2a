/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/perf_map.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/symbols/intervals.h"

struct code {
    const char *name;
    uint64_t start;
};

struct symbols_perf_map {
    struct code *codes;
    size_t count, capacity;
    struct symbols_intervals addresses; /* the values are indices into `codes` */
};

/* Anyone may put a file into /tmp. So this opens only a regular file, not a link, that this user or
 * root owns. */
static FILE *open_trusted(const char *path, uint64_t since_ns)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    struct stat information;
    if (descriptor < 0)
        return NULL;
    FILE *file = NULL;
    if (fstat(descriptor, &information) == 0 && S_ISREG(information.st_mode) &&
        (information.st_uid == geteuid() || information.st_uid == 0) &&
        information.st_mtim.tv_sec >= (time_t)(since_ns / 1000000000U))
        file = fdopen(descriptor, "r");
    if (!file)
        close(descriptor);
    return file;
}

static bool read_number(char **text, uint64_t *number)
{
    char *end;
    if (!isxdigit((unsigned char)**text))
        return false;
    *number = strtoull(*text, &end, 16);
    if (*end != ' ' && *end != '\t')
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    *text = end;
    return true;
}

/* Returns false if memory is exhausted. */
static bool add_line(struct symbols_perf_map *map, char *line, struct symbols_strings *strings)
{
    uint64_t start, size;
    line[strcspn(line, "\r\n")] = '\0';
    if (!read_number(&line, &start) || !read_number(&line, &size) || *line == '\0' ||
        start + size <= start)
        return true;
    if (map->count == map->capacity) {
        size_t capacity = map->capacity == 0 ? 256 : map->capacity * 2;
        if (capacity >= SYMBOLS_NOWHERE)
            return false;
        struct code *grown = realloc(map->codes, capacity * sizeof(*grown));
        if (!grown)
            return false;
        map->codes = grown;
        map->capacity = capacity;
    }
    if (!symbols_intervals_add(&map->addresses, start, start + size, (uint32_t)map->count))
        return false;
    map->codes[map->count++] = (struct code){symbols_strings_keep(strings, line), start};
    return true;
}

static bool read_lines(struct symbols_perf_map *map, FILE *file, struct symbols_strings *strings)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, file) > 0)
        good = add_line(map, line, strings);
    free(line);
    return good && symbols_intervals_settle(&map->addresses);
}

struct symbols_perf_map *symbols_perf_map_open(const char *path, uint64_t since_ns,
                                               struct symbols_strings *strings)
{
    FILE *file = open_trusted(path, since_ns);
    if (!file)
        return NULL;
    struct symbols_perf_map *map = calloc(1, sizeof(*map));
    if (map && !read_lines(map, file, strings)) {
        symbols_perf_map_free(map);
        map = NULL;
    }
    fclose(file);
    return map;
}

void symbols_perf_map_free(struct symbols_perf_map *map)
{
    if (!map)
        return;
    free(map->codes);
    symbols_intervals_free(&map->addresses);
    free(map);
}

const char *symbols_perf_map_find(const struct symbols_perf_map *map, uint64_t pc, uint64_t *start)
{
    uint32_t code = symbols_intervals_find(&map->addresses, pc);
    if (code == SYMBOLS_NOWHERE)
        return NULL;
    *start = map->codes[code].start;
    return map->codes[code].name;
}
