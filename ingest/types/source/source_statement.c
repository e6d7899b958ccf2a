/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/source_statement.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/cache.h"
#include "ingest/base/output_file.h"
#include "schemas/array.h"

/* A larger file was not written by hand. */
#define FILE_MAX (16 << 20)
/* The most lines of a statement before the given line, and after it. */
#define LINES_BEFORE 4
#define LINES_AFTER 8

/* Returns the last character of a line that is not blank and not in a comment. */
static char last_character(const char *start, const char *end)
{
    char last = '\0';
    for (const char *at = start; at < end; at++) {
        if (at + 1 < end && at[0] == '/' && at[1] == '/')
            break;
        if (at + 1 < end && at[0] == '/' && at[1] == '*') {
            while (at + 2 < end && !(at[1] == '*' && at[2] == '/'))
                at++;
            at += 2;
            continue;
        }
        if (at + 1 < end && at[0] == '*' && at[1] == '/') { /* of a comment that began earlier */
            last = '\0';
            at++;
            continue;
        }
        if (!isspace((unsigned char)*at))
            last = *at;
    }
    return last;
}

/* Returns true if a statement ends here, or if the line belongs to none (blank, preprocessor). */
static bool ends_statement(const char *start, const char *end)
{
    char last = last_character(start, end);
    while (start < end && isspace((unsigned char)*start))
        start++;
    return last == '\0' || last == ';' || last == '{' || last == '}' || last == ':' ||
           *start == '#';
}

static const char *statement_start(const char *text, const char *start)
{
    for (int i = 0; i < LINES_BEFORE && start > text; i++) {
        const char *before = start - 1;
        while (before > text && before[-1] != '\n')
            before--;
        if (ends_statement(before, start - 1))
            break;
        start = before;
    }
    return start;
}

struct copier {
    char *out;
    size_t length;
    int depth; /* of parentheses */
};

static bool put(struct copier *copier, char c)
{
    if (isspace((unsigned char)c)) {
        if (copier->length == 0 || copier->out[copier->length - 1] == ' ')
            return true;
        c = ' ';
    }
    if (copier->length + 1 >= TYPES_STATEMENT_MAX)
        return false;
    copier->out[copier->length++] = c;
    copier->out[copier->length] = '\0';
    return true;
}

/* Returns the position after a comment, string or character at `at`, or `at`. */
static const char *skip_quoted(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return !end ? at + strlen(at) : end + 2;
    }
    if (*at == '"' || *at == '\'') {
        const char *end = at + 1;
        while (*end != '\0' && *end != *at && *end != '\n')
            end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
        return *end == *at ? end + 1 : end;
    }
    return at;
}

/* Returns true if the rest of the line after `at` has a possible call, or new. */
static bool calls_after(const char *at)
{
    while (*at != '\0' && *at != '\n') {
        const char *after = skip_quoted(at);
        if (*at == '(' || strncmp(at, "new ", 4) == 0)
            return true;
        at = after != at ? after : at + 1;
    }
    return false;
}

/* Reads the statement around the line that begins at `wanted`, at its column if that is known. */
static bool statement_at(const char *text, const char *wanted, uint32_t column,
                         char statement[TYPES_STATEMENT_MAX])
{
    struct copier copier = {statement, 0, 0};
    const char *target = wanted;
    int lines = 0;
    statement[0] = '\0';
    if (*wanted == '\0')
        return false;
    for (uint32_t i = 1; i < column && *target != '\0' && *target != '\n'; i++)
        target++;
    for (const char *at = statement_start(text, wanted); *at != '\0';) {
        const char *after = skip_quoted(at);
        if (after != at) {
            at = after;
            continue;
        }
        if (*at == '\n' && at >= wanted && ++lines > LINES_AFTER)
            break;
        copier.depth += *at == '(';
        copier.depth -= *at == ')';
        if (copier.depth <= 0 && at >= wanted && (*at == ';' || *at == '{' || *at == '}') &&
            copier.length > 0) {
            if (at < target) { /* it ends before the column */
                copier.length = 0;
                at++;
                continue;
            }
            put(&copier, *at);
            return column > 0 || lines > 0 || !calls_after(at);
        }
        if (!put(&copier, *at++))
            return false;
    }
    return copier.length > 0;
}

bool types_source_statement_at(const char *text, uint32_t line, uint32_t column,
                               char statement[TYPES_STATEMENT_MAX])
{
    const char *wanted = line == 0 ? NULL : text;
    for (; line > 1 && wanted; line--) {
        wanted = strchr(wanted, '\n');
        wanted = !wanted ? NULL : wanted + 1;
    }
    statement[0] = '\0';
    return wanted && statement_at(text, wanted, column, statement);
}

/* ---- files ------------------------------------------------------------------------------ */

/* A file of this length is kept only until the next such file is asked for. */
#define LONG_FILE (512 << 10)
/* The number of shorter files that are certainly kept. */
#define SHORT_FILES 32

struct source {
    char *path; /* NULL: none was read */
    char *text; /* NULL: it cannot be read */
    size_t length;
    time_t modified;
    size_t *lines; /* where each line begins */
    size_t count, capacity;
};

struct types_sources {
    struct cache_depends *depends;  /* NULL: nobody asks */
    char *root;                     /* put before absolute paths if the file is there, or NULL */
    struct generation_cache shorts; /* of struct source */
    struct source longer;
    uint64_t files_read;
};

static void forget(void *item)
{
    struct source *source = item;
    FREE_ALL(source->path, source->text, source->lines);
    *source = (struct source){0};
}

static bool same_path(const void *item, const void *key)
{
    const struct source *source = item;
    return source->path && strcmp(source->path, key) == 0;
}

struct types_sources *types_sources_new(const char *root)
{
    struct types_sources *sources = calloc(1, sizeof(*sources));
    if (!sources)
        return NULL;
    sources->shorts = (struct generation_cache){
        .item_size = sizeof(struct source), .limit = SHORT_FILES, .drop = forget};
    if (!root || (sources->root = strdup(root)))
        return sources;
    free(sources);
    return NULL;
}

void types_sources_free(struct types_sources *sources)
{
    if (!sources)
        return;
    generation_cache_free(&sources->shorts);
    forget(&sources->longer);
    FREE_ALL(sources->root, sources);
}

void types_sources_note(struct types_sources *sources, struct cache_depends *depends)
{
    sources->depends = depends;
}

uint64_t types_sources_files_read(const struct types_sources *sources)
{
    return sources->files_read;
}

static void find_lines(struct source *source)
{
    for (const char *at = source->text; at;) {
        if (!ARRAY_RESERVE(source->lines, source->count, source->capacity))
            return;
        source->lines[source->count++] = (size_t)(at - source->text);
        at = strchr(at, '\n');
        at = !at ? NULL : at + 1;
    }
}

static int open_source(const struct types_sources *sources, const char *file)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char *below = NULL;
    int descriptor = -1;
    if (sources->root && file[0] == '/' && asprintf(&below, "%s%s", sources->root, file) > 0) {
        cache_depends_add(sources->depends, below);
        descriptor = open(below, flags);
    }
    cache_depends_add(sources->depends, file);
    free(below);
    return descriptor >= 0 ? descriptor : open(file, flags);
}

/* Fills an empty source, without text if unreadable. Returns false if memory is exhausted. */
static bool read_source(struct types_sources *sources, const char *file, struct source *source)
{
    struct stat information;
    sources->files_read++;
    source->path = strdup(file);
    if (!source->path)
        return false;
    int descriptor = open_source(sources, file);
    if (descriptor < 0)
        return true;
    if (fstat(descriptor, &information) == 0 && S_ISREG(information.st_mode) &&
        information.st_size < FILE_MAX) {
        source->length = (size_t)information.st_size;
        source->text = malloc(source->length + 1);
        if (source->text)
            source->text[read_whole(descriptor, source->text, source->length, 0)] = '\0';
        source->modified = information.st_mtime;
        find_lines(source);
    }
    close(descriptor);
    return true;
}

/* Returns the file. NULL if memory is exhausted. Valid until the next call. */
static const struct source *find_source(struct types_sources *sources, const char *file)
{
    uint64_t hash = hash_text(file);
    if (same_path(&sources->longer, file))
        return &sources->longer;
    struct source *known = generation_cache_find(&sources->shorts, hash, same_path, file),
                  added = {0};
    if (known)
        return known;
    bool good = read_source(sources, file, &added);
    if (good && added.length >= LONG_FILE) {
        forget(&sources->longer);
        sources->longer = added;
        return &sources->longer;
    }
    known = good ? generation_cache_add(&sources->shorts, hash, &added) : NULL;
    if (!known)
        forget(&added);
    return known;
}

bool types_source_statement_read(struct types_sources *sources, const char *file, uint32_t line,
                                 uint32_t column, time_t built, char statement[TYPES_STATEMENT_MAX])
{
    const struct source *source = find_source(sources, file);
    return source && source->text && source->modified <= built && line > 0 &&
           line <= source->count &&
           statement_at(source->text, source->text + source->lines[line - 1], column, statement);
}

/* ---- words and parentheses of a statement's text ---------------------------------------- */

bool types_text_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *types_text_find(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !types_text_is_word(at[-1])) && !types_text_is_word(at[length]))
            return at;
    return NULL;
}

const char *types_text_after(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

const char *types_text_skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* ---- statement facts ----------------------------------------------------------------------- */

/* More names than a statement has. */
#define NAMED_MAX 64

struct level {
    bool read;
    char *statement; /* NULL: there is none */
};

struct named_fact {
    enum types_fact_kind kind;
    bool found;
    size_t level, length;
    char *text;
    struct types_type type;
};

struct types_statement_facts {
    struct level *levels; /* one for each of the site's entries; NULL: no statement was read */
    struct named_fact *named;
    size_t named_count, named_capacity;
};

struct types_statement_facts *types_statement_facts_new(void)
{
    return calloc(1, sizeof(struct types_statement_facts));
}

void types_statement_facts_free(struct types_statement_facts *facts, size_t levels)
{
    if (!facts)
        return;
    for (size_t i = 0; facts->levels && i < levels; i++)
        free(facts->levels[i].statement);
    for (size_t i = 0; i < facts->named_count; i++)
        free(facts->named[i].text);
    FREE_ALL(facts->levels, facts->named, facts);
}

const char *types_statement_facts_text(const struct types_site *site,
                                       uint32_t (*column_of)(const struct types_site *site))
{
    struct types_statement_facts *facts = site->statement;
    const struct symbols_frame *frame = &site->frames[site->level];
    char text[TYPES_STATEMENT_MAX];
    if (site->level >= site->entry_count || site->level >= site->frame_count || !frame->file ||
        frame->line == 0)
        return NULL;
    if (!facts->levels)
        facts->levels = calloc(site->entry_count, sizeof(*facts->levels));
    if (!facts->levels)
        return NULL;
    struct level *level = &facts->levels[site->level];
    if (!level->read) {
        level->read = true;
        if (types_source_statement_read(site->sources, frame->file, frame->line, column_of(site),
                                        site->built, text))
            level->statement = strdup(text);
    }
    return level->statement;
}

bool types_statement_facts_find(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool *found,
                                struct types_type *type)
{
    const struct types_statement_facts *facts = site->statement;
    for (size_t i = 0; i < facts->named_count; i++) {
        const struct named_fact *fact = &facts->named[i];
        if (fact->kind != kind || fact->level != site->level || fact->length != length ||
            memcmp(fact->text, text, length) != 0)
            continue;
        *found = fact->found;
        if (fact->found)
            *type = fact->type;
        return true;
    }
    return false;
}

bool types_statement_facts_keep(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool found,
                                const struct types_type *type)
{
    struct types_statement_facts *facts = site->statement;
    if (facts->named_count == NAMED_MAX ||
        !ARRAY_RESERVE(facts->named, facts->named_count, facts->named_capacity))
        return found;
    char *copy = malloc(length + 1);
    if (!copy)
        return found;
    memcpy(copy, text, length);
    copy[length] = '\0';
    facts->named[facts->named_count++] = (struct named_fact){
        .kind = kind, .found = found, .level = site->level, .length = length, .text = copy};
    if (found)
        facts->named[facts->named_count - 1].type = *type;
    return found;
}
