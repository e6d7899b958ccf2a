/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_types [--share PERCENT] [--quiet] LOG: infers the type of each allocation in a log
 * (allocation_logger.c) and compares it with the stated one. Prints a line for each, "ok", "none"
 * or "WRONG", and the figures. If one object has no answer, it must be among the candidates. Exit
 * status 1 if an answer is wrong or fewer than PERCENT of the sites are typed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/types.h"

#define MODULES_MAX 256
#define FRAMES_MAX 64
#define CANDIDATES_MAX 64

struct modules {
    char *paths[MODULES_MAX];
    uint32_t count;
};

static uint32_t module_of(struct modules *modules, struct symbols *symbols, const char *path)
{
    for (uint32_t i = 0; i < modules->count; i++)
        if (strcmp(modules->paths[i], path) == 0)
            return i + 1;
    if (modules->count == MODULES_MAX)
        return 0;
    modules->paths[modules->count++] = strdup(path);
    symbols_module(symbols, modules->count, path, NULL, 0);
    return modules->count;
}

static size_t read_frames(char *text, struct modules *modules, struct symbols *symbols,
                          struct types_frame *frames)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *frame = strtok_r(text, "|", &rest); frame && count < FRAMES_MAX;
         frame = strtok_r(NULL, "|", &rest)) {
        char *space = strrchr(frame, ' ');
        if (!space)
            continue;
        *space = '\0';
        frames[count++] =
            (struct types_frame){module_of(modules, symbols, frame), strtoull(space + 1, NULL, 16)};
    }
    return count;
}

struct figures {
    unsigned sites, typed, wrong;
};

static const char *const rules[] = {
    [TYPES_RULE_NONE] = "-",
    [TYPES_RULE_ALLOCATOR] = "allocator",
    [TYPES_RULE_LIBRARY] = "library",
    [TYPES_RULE_CONSTRUCTOR] = "constructor",
    [TYPES_RULE_RECEIVER] = "receiver",
    [TYPES_RULE_RETURN] = "return",
    [TYPES_RULE_ARGUMENT] = "argument",
    [TYPES_RULE_SOURCE] = "source",
    [TYPES_RULE_THROWN] = "thrown",
    [TYPES_RULE_STATED] = "stated",
};

/* True if one object of unknown type is a candidate, given that a type of the block's size was
 * stated. */
static bool is_candidate(struct types *types, const struct types_frame *frames, size_t frame_count,
                         uint64_t size, const char *type)
{
    const char *names[CANDIDATES_MAX];
    size_t count = types_candidates(types, frames, frame_count, size, names, CANDIDATES_MAX);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], type) == 0)
            return true;
    return false;
}

/*
 * The stated type "?" means that it cannot be known, so only no answer is right. "?T" means that T
 * or no answer is right.
 */
static void compare(const char *type, uint64_t count, uint64_t size,
                    const struct types_answer *answer, bool quiet, struct figures *figures)
{
    bool typed = answer->name && answer->confidence >= TYPES_INFERRED;
    bool unknowable = *type == '?';
    bool right = typed && strcmp(answer->name, type + unknowable) == 0 && answer->count == count;
    figures->sites += !unknowable;
    figures->typed += right && !unknowable;
    figures->wrong += typed && !right;
    if (quiet && (right || !typed))
        return;
    printf("%-5s %s x %" PRIu64 " (%" PRIu64 " bytes)",
           right   ? "ok"
           : typed ? "WRONG"
                   : "none",
           type, count, size);
    if (typed)
        printf(": %s x %" PRIu64 ", %s by %s", answer->name, answer->count,
               answer->confidence == TYPES_EXACT ? "exact" : "inferred", rules[answer->rule]);
    if (answer->element)
        printf(", holds %s", answer->element);
    printf("\n");
}

static bool check_log(FILE *log, bool quiet, struct figures *figures)
{
    struct symbols_options options = {.debug_dir = NULL};
    struct symbols *symbols = symbols_new(&options);
    struct types *types = !symbols ? NULL : types_new(symbols);
    struct modules modules = {{NULL}, 0};
    char *line = NULL;
    size_t capacity = 0;
    while (types && getline(&line, &capacity, log) > 0) {
        struct types_frame frames[FRAMES_MAX];
        struct types_answer answer;
        char *rest = NULL;
        line[strcspn(line, "\n")] = '\0';
        const char *type = strtok_r(line, "|", &rest);
        const char *count = strtok_r(NULL, "|", &rest), *size = strtok_r(NULL, "|", &rest);
        const char *kind = strtok_r(NULL, "|", &rest);
        if (!kind)
            continue;
        size_t frame_count = read_frames(rest, &modules, symbols, frames);
        uint64_t bytes = strtoull(size, NULL, 10);
        types_infer(types, frames, frame_count, bytes, (uint8_t)strtoul(kind, NULL, 10), &answer);
        if (!answer.name && *type != '?' && strcmp(count, "1") == 0 &&
            !is_candidate(types, frames, frame_count, bytes, type)) {
            printf("WRONG no candidate %s of %" PRIu64 " bytes\n", type, bytes);
            figures->wrong++;
        }
        compare(type, strtoull(count, NULL, 10), bytes, &answer, quiet, figures);
    }
    free(line);
    for (uint32_t i = 0; i < modules.count; i++)
        free(modules.paths[i]);
    types_free(types);
    symbols_free(symbols);
    return types != NULL;
}

int main(int argc, char **argv)
{
    unsigned long share = 0;
    bool quiet = false;
    int at = 1;
    for (; at + 1 < argc; at++) {
        if (strcmp(argv[at], "--quiet") == 0)
            quiet = true;
        else if (strcmp(argv[at], "--share") == 0)
            share = strtoul(argv[++at], NULL, 10);
        else
            break;
    }
    FILE *log = at + 1 == argc ? fopen(argv[at], "r") : NULL;
    if (!log) {
        fprintf(stderr, "usage: check_types [--share PERCENT] [--quiet] LOG\n");
        return 2;
    }
    struct figures figures = {0, 0, 0};
    bool done = check_log(log, quiet, &figures);
    fclose(log);
    printf("%u sites, %u typed (%u %%), %u wrong\n", figures.sites, figures.typed,
           figures.sites == 0 ? 0 : figures.typed * 100 / figures.sites, figures.wrong);
    return !done || figures.sites == 0 || figures.wrong > 0 ||
           figures.typed * 100 < share * figures.sites;
}
