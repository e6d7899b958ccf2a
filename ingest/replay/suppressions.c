/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/suppressions.h"
#include "ingest/replay/stacks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"
#include "schemas/printable.h"

struct suppressor {
    const struct suppressions *suppressions;
    const struct stacks *stacks;
    /* By row: the place of the first pattern that matches it, or the number of patterns for none.
     */
    size_t *functions, *source_files, *modules; /* modules by their place in the scan */
};

/* The place of a line in a suppression file, for messages. */
struct place {
    const char *path;
    size_t line;
};

static bool fail_line(const struct place *place, const char *what, const char *text,
                      struct ingest_status *status)
{
    return ingest_fail(status, INGEST_BAD_INPUT, "%s:%zu: %s: '%.255s'; a line is leak:PATTERN",
                       place->path, place->line, what, text);
}

static void note_kind(FILE *notes, const struct place *place, const char *kind, size_t length)
{
    char path[512];
    printable_copy(path, sizeof(path), place->path);
    fprintf(notes, "mprof-ingest: %s:%zu: '%.*s:' names no leaks: ignored\n", path, place->line,
            (int)length, kind);
}

/* Takes a line without blanks at either end. The name of a kind has letters, digits, - and _. */
static bool take_line(struct suppressions *suppressions, const char *line,
                      const struct place *place, FILE *notes, struct ingest_status *status)
{
    size_t kind = 0;
    if (*line == '\0' || *line == '#')
        return true;
    while (isalnum((unsigned char)line[kind]) || line[kind] == '_' || line[kind] == '-')
        kind++;
    if (kind == 0 || line[kind] != ':')
        return fail_line(place, "no suppression", line, status);
    if (line[kind + 1] == '\0')
        return fail_line(place, "the pattern is missing", line, status);
    if (kind != 4 || strncmp(line, "leak", 4) != 0) {
        note_kind(notes, place, line, kind);
        return true;
    }
    return suppressions_add(suppressions, line + kind + 1) ||
           ingest_fail_memory(status, "the suppressions");
}

static bool read_lines(struct suppressions *suppressions, FILE *file, const char *path, FILE *notes,
                       struct ingest_status *status)
{
    struct place place = {path, 0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = suppressions_read_line(&line, &room, file)) >= 0) {
        place.line++;
        if (memchr(line, '\0', (size_t)length))
            good = fail_line(&place, "a zero byte in the line", line, status);
        else if (length > SUPPRESSIONS_LINE_MOST)
            good = fail_line(&place, "the line is longer than 64 KiB", line, status);
        else
            good = take_line(suppressions, suppressions_trim(line, (size_t)length), &place, notes,
                             status);
    }
    free(line);
    return good;
}

static bool fail_file(const char *path, struct ingest_status *status)
{
    return ingest_fail(status, INGEST_BAD_INPUT, "%s: the suppressions cannot be read: %s", path,
                       strerror(errno));
}

struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status)
{
    struct suppressions *suppressions = suppressions_new();
    if (!suppressions) {
        ingest_fail_memory(status, "the suppressions");
        return NULL;
    }
    FILE *file = fopen(path, "re");
    bool good = file || fail_file(path, status);
    good = good && read_lines(suppressions, file, path, notes, status) &&
           (!ferror(file) || fail_file(path, status));
    if (file)
        fclose(file);
    if (good)
        return suppressions;
    suppressions_free(suppressions);
    return NULL;
}

struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks)
{
    const struct frames *frames = &stacks->frames;
    const struct trace_scan *scan = stacks->scan;
    struct suppressor *suppressor = calloc(1, sizeof(*suppressor));
    if (!suppressor)
        return NULL;
    *suppressor = (struct suppressor){
        suppressions,
        stacks,
        calloc(frames->function_count + 1, sizeof(size_t)),
        calloc(frames->source_file_count + 1, sizeof(size_t)),
        calloc(scan->module_count + 1, sizeof(size_t)),
    };
    if (!suppressor->functions || !suppressor->source_files || !suppressor->modules) {
        suppressor_free(suppressor);
        return NULL;
    }
    for (size_t i = 0; i < frames->function_count; i++)
        suppressor->functions[i] =
            suppressions_first_match(suppressions, frames->functions[i].name);
    for (size_t i = 0; i < frames->source_file_count; i++)
        suppressor->source_files[i] =
            suppressions_first_match(suppressions, frames->source_files[i]);
    for (size_t i = 0; i < scan->module_count; i++)
        suppressor->modules[i] = suppressions_first_match(suppressions, scan->modules[i].path);
    return suppressor;
}

void suppressor_free(struct suppressor *suppressor)
{
    if (!suppressor)
        return;
    FREE_ALL(suppressor->functions, suppressor->source_files, suppressor->modules, suppressor);
}

const char *suppressor_of(const struct suppressor *suppressor, size_t stack)
{
    const struct suppressions *suppressions = suppressor->suppressions;
    const struct stacks *stacks = suppressor->stacks;
    const size_t none = suppressions_count(suppressions);
    struct stack_walk walk = stacks_walk(&stacks->rows[stack]);
    uint32_t frame;
    while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *row = &stacks->frames.rows[frame];
        const size_t function = suppressor->functions[row->function];
        const size_t file =
            row->source_file == FRAMES_NONE ? none : suppressor->source_files[row->source_file];
        const struct module_row *module =
            row->module != 0 ? trace_scan_module(stacks->scan, row->module) : NULL;
        size_t found = module ? suppressor->modules[module - stacks->scan->modules] : none;
        if (found == none)
            found = function < file ? function : file;
        if (found != none)
            return suppressions_pattern(suppressions, found);
    }
    return NULL;
}

/* ---- program suppressions ------------------------------------------------------------------ */

#define LINE_MAX_SHOWN 60

bool program_suppressions_add(struct program_suppressions *program,
                              const struct trace_extension *extension)
{
    const struct trace_text *piece = &extension->name;
    if (!program->found) {
        program->found = true;
        program->outcome = extension->reason;
        program->total = extension->size;
    }
    if (program->broken || extension->offset != program->length ||
        extension->reason != program->outcome || extension->size != program->total ||
        program->length + piece->length > TRACE_SUPPRESSIONS_MAX ||
        program->length + piece->length > program->total) {
        program->broken = true;
        return true;
    }
    if (!array_reserve(&program->text, &program->capacity, program->length + piece->length + 1, 1))
        return false;
    memcpy(program->text + program->length, piece->bytes, piece->length);
    program->length += piece->length;
    return true;
}

void program_suppressions_free(struct program_suppressions *program)
{
    free(program->text);
    *program = (struct program_suppressions){0};
}

/* Returns why some or all of the text is missing, or NULL if none is. */
static const char *why_lost(const struct program_suppressions *program)
{
    if (!program->found)
        return "the trace has none of the program's: record it with mprof-run --suppressions";
    switch (program->outcome) {
    case TRACE_SUPPRESSIONS_TEXT:
        break;
    case TRACE_SUPPRESSIONS_NONE:
        return NULL;
    case TRACE_SUPPRESSIONS_CRASHED:
        return "the program's __lsan_default_suppressions ended the process that called it";
    case TRACE_SUPPRESSIONS_LATE:
        return "the program's __lsan_default_suppressions did not return within two seconds";
    case TRACE_SUPPRESSIONS_NOT_ASKED:
        return "could not start a process to call the program's __lsan_default_suppressions";
    default:
        return "the outcome of the program's __lsan_default_suppressions is unknown";
    }
    if (program->total > TRACE_SUPPRESSIONS_MAX)
        return "the program's text is too long: only the whole lines of its first 65,536 bytes "
               "are used";
    return program->broken || program->length != program->total
               ? "pieces of the program's text are missing from the trace"
               : NULL;
}

/* Returns the bytes in whole lines. The last line of a text that was cut may be incomplete. */
static size_t whole_lines(const struct program_suppressions *program)
{
    size_t length = program->length;
    if (program->length == program->total && !program->broken)
        return length;
    while (length > 0 && program->text[length - 1] != '\n')
        length--;
    return length;
}

static bool add_lines(struct suppressions *joined, const struct program_suppressions *program,
                      struct problems *problems)
{
    const size_t length = whole_lines(program);
    size_t number = 0;
    for (size_t at = 0, size; at < length; at += size + 1) {
        const char *line = program->text + at, *end = memchr(line, '\n', length - at);
        bool is_suppression;
        size = end ? (size_t)(end - line) : length - at;
        number++;
        if (!suppressions_add_line(joined, line, size, &is_suppression))
            return false;
        if (!is_suppression && problems)
            problems_add(problems, PROBLEM_SUPPRESSIONS,
                         "line %zu of the program's names no leaks: '%.*s'", number,
                         size < LINE_MAX_SHOWN ? (int)size : LINE_MAX_SHOWN, line);
    }
    return true;
}

struct suppressions *program_suppressions_join(const struct program_suppressions *program,
                                               const struct suppressions *file,
                                               struct problems *problems)
{
    const char *lost = why_lost(program);
    struct suppressions *joined = suppressions_copy(file);
    if (!joined)
        return NULL;
    if (lost && problems)
        problems_add(problems, PROBLEM_SUPPRESSIONS, "%s", lost);
    if (program->outcome == TRACE_SUPPRESSIONS_TEXT && !add_lines(joined, program, problems)) {
        suppressions_free(joined);
        return NULL;
    }
    return joined;
}

/* ---- runtime blocks ------------------------------------------------------------------------ */

/* The most frames of a stack that are looked at, from the innermost. */
#define FRAMES_MAX 24

/* The part of the runtime to which a function belongs, by its name or its module. */
enum says {
    SAYS_NOTHING,
    SAYS_POOL,   /* it makes the emergency pool */
    SAYS_STDIO,  /* it makes a stream's buffer */
    SAYS_LOADER, /* it is the dynamic linker's */
    SAYS_LOCALE, /* it and the libc functions that it calls allocate data of the locale */
    SAYS_START,  /* it calls the initialization of a module */
    SAYS_LIBRARY /* it is in libstdc++, and no more is known */
};

struct runtime_blocks {
    const struct stacks *stacks;
    uint8_t *says; /* of each function */
};

static const struct {
    const char *name;
    enum says says;
    bool libc; /* holds only in the C library, because the name is not reserved */
} known[] = {
    {"_GLOBAL__sub_I_eh_alloc.cc", SAYS_POOL, false},
    {"(anonymous namespace)::pool::pool()", SAYS_POOL, false},
    {"_IO_file_doallocate", SAYS_STDIO, false},
    {"__GI__IO_file_doallocate", SAYS_STDIO, false},
    {"_IO_wfile_doallocate", SAYS_STDIO, false},
    {"_IO_doallocbuf", SAYS_STDIO, false},
    {"_IO_wdoallocbuf", SAYS_STDIO, false},
    {"_dl_new_object", SAYS_LOADER, false},
    {"_dl_allocate_tls", SAYS_LOADER, false},
    {"allocate_dtv", SAYS_LOADER, true},
    {"_nl_find_locale", SAYS_LOCALE, false},
    {"_nl_load_locale", SAYS_LOCALE, false},
    {"_nl_expand_alias", SAYS_LOCALE, false},
    {"_nl_find_domain", SAYS_LOCALE, false},
    {"_nl_load_domain", SAYS_LOCALE, false},
    {"setlocale", SAYS_LOCALE, true},
    {"bindtextdomain", SAYS_LOCALE, true},
    {"textdomain", SAYS_LOCALE, true},
    {"call_init", SAYS_START, true},
    {"__libc_csu_init", SAYS_START, false},
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the last component of the path of a function's module, or "" if it is not known. */
static const char *module_name(const struct stacks *stacks, const struct function_row *function)
{
    const struct module_row *module =
        function->module ? trace_scan_module(stacks->scan, function->module) : NULL;
    return !module ? "" : basename(module->path);
}

static enum says look(const struct stacks *stacks, const struct function_row *function)
{
    const char *module = module_name(stacks, function);
    const bool loader =
        (begins(module, "ld-") || begins(module, "ld.") || begins(module, "ld64.")) &&
        strstr(module, ".so");
    const bool libc = begins(module, "libc.") || begins(module, "libc-");
    if (loader)
        return strcmp(function->name, "call_init") == 0 || strcmp(function->name, "_dl_init") == 0
                   ? SAYS_START
                   : SAYS_LOADER;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if ((libc || !known[i].libc) && strcmp(known[i].name, function->name) == 0)
            return known[i].says;
    return begins(module, "libstdc++.so") ? SAYS_LIBRARY : SAYS_NOTHING;
}

struct runtime_blocks *runtime_blocks_new(const struct stacks *stacks)
{
    const struct frames *frames = &stacks->frames;
    struct runtime_blocks *blocks = calloc(1, sizeof(*blocks));
    if (!blocks)
        return NULL;
    blocks->stacks = stacks;
    blocks->says = calloc(frames->function_count + 1, sizeof(*blocks->says));
    if (!blocks->says) {
        free(blocks);
        return NULL;
    }
    for (size_t i = 0; i < frames->function_count; i++)
        blocks->says[i] = (uint8_t)look(stacks, &frames->functions[i]);
    return blocks;
}

void runtime_blocks_free(struct runtime_blocks *blocks)
{
    if (blocks)
        free(blocks->says);
    free(blocks);
}

static const char *const words[] = {
    [SAYS_POOL] = "C++ exceptions",
    [SAYS_STDIO] = "stdio",
    [SAYS_LOADER] = "loader",
    [SAYS_LOCALE] = "locale",
};

/* Looks from the innermost frame outward, as long as the frames are in one module. So a function of
 * the program that the runtime calls does not count as runtime. If the loader called the
 * initialization of libstdc++, and that allocated once, the block is the pool: the initialization
 * allocates nothing else. So the pool is recognized even if the library has no names. Without debug
 * information the loader has none either. It calls nothing else of libstdc++ that allocates. */
const char *runtime_blocks_of(const struct runtime_blocks *blocks, size_t stack,
                              uint64_t allocations)
{
    const struct stacks *stacks = blocks->stacks;
    const struct stack_row *row = &stacks->rows[stack];
    struct stack_walk walk = stacks_walk(row);
    bool library = true;
    uint32_t frame, module = 0;
    for (size_t i = 0; i < FRAMES_MAX && (frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE;
         i++) {
        const struct frame_row *at = &stacks->frames.rows[frame];
        const enum says says = (enum says)blocks->says[at->function];
        if (stacks->frames.functions[at->function].role == ROLE_ALLOCATOR)
            continue;
        if (says == SAYS_START || (says == SAYS_LOADER && module != 0 && library))
            return module != 0 && library && allocations == 1 ? words[SAYS_POOL] : NULL;
        if (module != 0 && module != at->module)
            return NULL;
        if (says != SAYS_NOTHING && says != SAYS_LIBRARY)
            return words[says];
        module = at->module;
        library = library && says == SAYS_LIBRARY;
    }
    return NULL;
}
