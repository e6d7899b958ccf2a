/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/redact.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"

struct redact {
    char *root; /* with a slash at its end; NULL: there is none */
    struct table_sink sink;
};

/* The most columns of a row. */
#define COLUMNS_MAX 32

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Returns true if the path is the same on every machine. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/",    "/lib/", "/lib32/", "/lib64/",
                                          "/libx32/", "/bin/", "/sbin/",  "/etc/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        if (begins_with(path, folders[i]))
            return true;
    return false;
}

/* Resolves "." and ".." of an absolute path in place. It does not look at links. */
static void normalize(char *path)
{
    char *to = path;
    for (const char *at = path; *at != '\0';) {
        const size_t length = strcspn(at + 1, "/");
        if (length == 2 && at[1] == '.' && at[2] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (length > 1 || (length == 1 && at[1] != '.')) {
            memmove(to, at, length + 1);
            to += length + 1;
        }
        at += length + 1;
    }
    *to = '\0';
}

/* Returns the part of a path that is kept. The result lies in `path`, which changes. */
static const char *kept(const struct redact *redact, char *path)
{
    if (*path != '/')
        return !strstr(path, "..") ? path : basename(path);
    normalize(path);
    if (is_of_system(path))
        return path;
    if (redact && redact->root && begins_with(path, redact->root))
        return path + strlen(redact->root);
    return basename(path);
}

static bool ends_path(char letter)
{
    return letter == '\0' || strchr("\t\n\"'`<>()[]{},;:|", letter);
}

/* Returns the end of the path at `text`. A blank belongs to the path if the word after it has a
 * slash, but does not begin with one. */
static const char *path_end(const char *text)
{
    const char *end = text;
    while (!ends_path(*end)) {
        if (*end == ' ') {
            const char *next = end + 1;
            while (!ends_path(*next) && *next != ' ' && *next != '/')
                next++;
            if (*next != '/' || next == end + 1)
                break;
        }
        end++;
    }
    return end;
}

static bool begins_path(const char *text, const char *at)
{
    return at[0] == '/' && at[1] != '\0' && at[1] != '=' && !ends_path(at[1]) && at[1] != ' ' &&
           (at == text || strchr(" \t\n\"'`<([{=:,;|@", at[-1]));
}

char *redact_text(const struct redact *redact, const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    for (const char *at = text; copy && *at != '\0';) {
        if (!begins_path(text, at)) {
            *to++ = *at++;
            continue;
        }
        const char *end = path_end(at);
        char *path = strndup(at, (size_t)(end - at));
        if (!path) {
            free(copy);
            return NULL;
        }
        to = stpcpy(to, kept(redact, path));
        free(path);
        at = end;
    }
    if (copy)
        *to = '\0';
    return copy;
}

/* Returns lines of paths, redacted; free() it. NULL if memory is exhausted. */
static char *redacted_lines(const struct redact *redact, const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    for (const char *at = text; copy;) {
        const size_t length = strcspn(at, "\n");
        char *path = strndup(at, length);
        if (!path) {
            free(copy);
            return NULL;
        }
        to = stpcpy(to, *path == '/' ? kept(redact, path) : basename(path));
        free(path);
        if (at[length] == '\0')
            break;
        *to++ = '\n';
        at += length + 1;
    }
    return copy;
}

/* Returns a value's text, redacted; free() it. NULL if memory is exhausted. */
static char *redacted(const struct redact *redact, enum writer_table table,
                      const struct writer_value *value)
{
    if (value->type == VALUE_PRIVATE)
        return strdup("");
    if (value->type == VALUE_PATHS)
        return redacted_lines(redact, value->text);
    if (value->type == VALUE_TEXT)
        return redact_text(redact, value->text);
    /* Source files are relative to their unit's folder, other paths to the working directory. */
    if (*value->text != '/' && table != WRITER_SOURCE_FILE)
        return strdup(basename(value->text));
    char *path = strdup(value->text);
    if (path) {
        const char *part = kept(redact, path);
        memmove(path, part, strlen(part) + 1);
    }
    return path;
}

static bool put(void *context, enum writer_table table, const struct writer_value *values,
                size_t count)
{
    const struct redact *redact = context;
    struct writer_value changed[COLUMNS_MAX];
    char *copies[COLUMNS_MAX] = {NULL};
    bool good = count <= COLUMNS_MAX;
    for (size_t i = 0; good && i < count; i++) {
        changed[i] = values[i];
        const bool is_text = values[i].type >= VALUE_TEXT && values[i].type <= VALUE_PRIVATE;
        if (is_text)
            changed[i].text = copies[i] = redacted(redact, table, &values[i]);
        good = !is_text || copies[i];
    }
    good = good && redact->sink.put(redact->sink.context, table, changed, count);
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        free(copies[i]);
    return good;
}

struct table_sink redact_sink(struct redact *redact, struct table_sink sink)
{
    redact->sink = sink;
    return (struct table_sink){redact, put};
}

/* Source files of the executable's functions, once each; free() each path. */
struct files {
    char **paths;
    size_t count;
};

ARRAY_ORDER(compare_paths, char *const, strcmp(*a, *b))

static bool is_of_executable(const struct session_facts *facts, uint32_t id)
{
    for (size_t i = 0; i < facts->scan->module_count; i++)
        if (facts->scan->modules[i].id == id)
            return strcmp(facts->scan->modules[i].path, facts->scan->process.exe) == 0;
    return false;
}

static bool find_files(struct files *files, const struct session_facts *facts)
{
    const struct frames *frames = &facts->stacks->frames;
    files->paths = calloc(frames->function_count + 1, sizeof(*files->paths));
    if (!files->paths)
        return false;
    for (size_t i = 0; i < frames->function_count; i++) {
        const struct function_row *function = &frames->functions[i];
        if (function->source_file == FRAMES_NONE || !facts->scan->process.found ||
            !is_of_executable(facts, function->module))
            continue;
        char *path = strdup(frames->source_files[function->source_file]);
        if (!path)
            return false;
        if (*path == '/')
            normalize(path);
        if (*path == '/' && !is_of_system(path))
            files->paths[files->count++] = path;
        else
            free(path);
    }
    qsort(files->paths, files->count, sizeof(*files->paths), compare_paths);
    size_t distinct = 0;
    for (size_t i = 0; i < files->count; i++)
        if (distinct == 0 || strcmp(files->paths[distinct - 1], files->paths[i]) != 0)
            files->paths[distinct++] = files->paths[i];
        else
            free(files->paths[i]);
    files->count = distinct;
    return true;
}

/* Returns the length of the folder, with its last slash, that two paths have in common. */
static size_t common_folder(const char *a, const char *b)
{
    size_t folder = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            folder = i + 1;
    return folder;
}

/* Returns true if the folder can be that of a project: not a home, and not directly below "/". */
static bool is_root(const char *path, size_t length)
{
    size_t slashes = 0;
    for (size_t i = 0; i < length; i++)
        slashes += path[i] == '/';
    return slashes > (begins_with(path, "/home/") || begins_with(path, "/Users/") ? 3u : 2u);
}

/* Finds the folder of all files, or else the deepest one that holds half of them. A folder's files
 * are adjacent in order, so it compares the ends of each run of half the files. */
static char *find_root(const struct files *files)
{
    const size_t half = (files->count + 1) / 2;
    size_t best = 0;
    const char *path = NULL;
    if (files->count == 0)
        return NULL;
    size_t length = common_folder(files->paths[0], files->paths[files->count - 1]);
    if (is_root(files->paths[0], length))
        return strndup(files->paths[0], length);
    for (size_t i = 0; i + half <= files->count; i++) {
        length = common_folder(files->paths[i], files->paths[i + half - 1]);
        if (length > best && is_root(files->paths[i], length)) {
            best = length;
            path = files->paths[i];
        }
    }
    return !path ? NULL : strndup(path, best);
}

struct redact *redact_new(const char *root, const struct session_facts *facts)
{
    struct redact *redact = calloc(1, sizeof(*redact));
    struct files files = {0};
    bool good = redact != NULL;
    if (good && root) {
        size_t length = strlen(root);
        while (length > 0 && root[length - 1] == '/')
            length--;
        redact->root = calloc(length + 2, 1);
        good = redact->root != NULL;
        if (good)
            *(char *)mempcpy(redact->root, root, length) = '/';
    } else if (good) {
        good = find_files(&files, facts);
        redact->root = good ? find_root(&files) : NULL;
    }
    for (size_t i = 0; i < files.count; i++)
        free(files.paths[i]);
    free(files.paths);
    if (good)
        return redact;
    redact_free(redact);
    return NULL;
}

void redact_free(struct redact *redact)
{
    if (!redact)
        return;
    FREE_ALL(redact->root, redact);
}
