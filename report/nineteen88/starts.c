/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `main` is the function that the C library's start code calls, whatever its name: in a stripped
 * program it has none. The start code is found by its own name, which a shared C library exports
 * (__libc_start_main), or by its place: the outermost functions without a name of the C library.
 */
#include "report/nineteen88/starts.h"

#include <stdlib.h>
#include <string.h>

#include "session/code_facts.h"

enum {
    /* Start code outward of __libc_start_main: _start, and in other C libraries one more. */
    OUTER_MOST = 4,
    /* Functions without a name that start a thread: clone3 and start_thread of glibc. */
    NAMELESS_MOST = 2,
    /* Functions of a start, also where their names mislead. */
    START_LENGTH_MOST = 16,
};

enum start_kind {
    START_NONE,
    START_PROGRAM,  /* calls main, or what calls it */
    START_CALLER,   /* is called by it, and calls main */
    START_THREAD,   /* begins a thread */
    START_ENTRY,    /* where the kernel enters a program */
    START_NAMELESS, /* in the C library, without a name */
    START_MAIN,
};

struct starts {
    struct model *model;
    uint8_t *kinds;    /* by function */
    uint32_t *modules; /* by function */
    uint32_t *inner;   /* by call: it, or the innermost one outward of it that may be of a start */
    uint32_t *least;   /* by call: the shortest start of a chain that has it */
};

/* ---- kinds ---- */

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static enum start_kind kind_of_name(const char *name)
{
    static const struct {
        const char *name;
        enum start_kind kind;
    } names[] = {{"main", START_MAIN},
                 {"_start", START_ENTRY},
                 {"_start_c", START_ENTRY},
                 {"__libc_start_main", START_PROGRAM},
                 {"__libc_start_main_impl", START_PROGRAM},
                 {"generic_start_main", START_PROGRAM},
                 {"__libc_start_call_main", START_CALLER},
                 {"libc_start_main_stage2", START_CALLER},
                 {"start_thread", START_THREAD},
                 {"__clone", START_THREAD},
                 {"clone", START_THREAD},
                 {"__clone3", START_THREAD},
                 {"clone3", START_THREAD}};
    /* glibc's names of functions for itself: __GI___clone3. */
    static const char own[] = "__GI_";
    if (begins_with(name, own))
        name += strlen(own);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].kind;
    return START_NONE;
}

/* Returns true if a module is the C library, or the part of it that older ones have for threads. */
static bool is_c_library(const char *module)
{
    return begins_with(module, "libc.so") || begins_with(module, "libc-2.") ||
           begins_with(module, "libpthread") || begins_with(module, "ld-musl-");
}

/* Returns true if a function of a module has no name: ingest then names it MODULE+0xDISTANCE. */
static bool is_nameless(const char *name, const char *module)
{
    const size_t length = strlen(module);
    return strncmp(name, module, length) == 0 && begins_with(name + length, "+0x");
}

static bool find_kinds(struct starts *starts, struct session_error *error)
{
    struct model *model = starts->model;
    for (uint32_t i = 1; i <= model->function_count; i++) {
        struct session_function function;
        struct session_module module;
        if (!session_function(model->session, i, &function, error))
            return false;
        starts->modules[i] = function.module;
        if (function.role == SESSION_ROLE_RUNTIME)
            continue; /* whatever the script calls it, it starts nothing */
        starts->kinds[i] = (uint8_t)kind_of_name(function.name);
        if (starts->kinds[i] != START_NONE || function.module == 0)
            continue;
        if (!session_module(model->session, function.module, &module, error))
            return false;
        if (is_c_library(module.name) && is_nameless(function.name, module.name))
            starts->kinds[i] = START_NAMELESS;
    }
    return true;
}

/* ---- chains ---- */

/* Returns the function at a place that is counted from the outer end of a chain. */
static uint32_t outer(const struct starts *starts, const struct chain *chain, size_t place)
{
    const struct model *model = starts->model;
    uint32_t call = starts->inner[chain->call];
    while (model->calls[call].depth > place + 1)
        call = model->calls[call].caller;
    return model->calls[call].function;
}

/* Returns the kind there, START_NONE after the call site and where no start reaches. */
static enum start_kind kind_at(const struct starts *starts, const struct chain *chain, size_t place)
{
    if (place >= chain->depth || place >= START_LENGTH_MOST)
        return START_NONE;
    return (enum start_kind)starts->kinds[outer(starts, chain, place)];
}

/* Returns the number of functions up to main, 0 if nothing of the C library is there. */
static size_t program_start(const struct starts *starts, const struct chain *chain)
{
    size_t place = 0;
    while (place < OUTER_MOST && kind_at(starts, chain, place) != START_PROGRAM)
        place++;
    if (place == OUTER_MOST)
        return 0;
    while (kind_at(starts, chain, place) == START_PROGRAM)
        place++;
    if (kind_at(starts, chain, place) == START_CALLER ||
        (chain->whole && kind_at(starts, chain, place) == START_NAMELESS))
        place++;
    return place;
}

/* Returns the number of functions up to the first one of a thread. */
static size_t thread_start(const struct starts *starts, const struct chain *chain)
{
    size_t place = 0, nameless = 0;
    for (;; place++) {
        const enum start_kind kind = kind_at(starts, chain, place);
        if (kind == START_NAMELESS && chain->whole && nameless < NAMELESS_MOST)
            nameless++;
        else if (kind != START_THREAD)
            return place;
    }
}

/* Returns the number of functions up to one named main of the module that was entered, if start
 * code of a C library that has other names calls it. */
static size_t named_main(const struct starts *starts, const struct chain *chain)
{
    const size_t most = chain->depth < OUTER_MOST + 1 ? chain->depth : OUTER_MOST + 1;
    for (size_t place = 0; place < most; place++)
        if (kind_at(starts, chain, place) == START_MAIN &&
            starts->modules[outer(starts, chain, place)] ==
                starts->modules[outer(starts, chain, 0)])
            return place;
    return kind_at(starts, chain, 0) == START_ENTRY;
}

/* Returns how many of the outermost functions of a chain start programs and threads: never all. */
static size_t start_length(const struct starts *starts, const struct chain *chain)
{
    size_t length = program_start(starts, chain);
    if (length == 0)
        length = thread_start(starts, chain);
    if (length == 0)
        length = named_main(starts, chain);
    return length < chain->depth ? length : chain->depth - 1;
}

/* Returns how many functions of the start are cut: up to the first one that no chain loses. */
static size_t cut_length(const struct starts *starts, const struct chain *chain, size_t length)
{
    size_t cut = 0;
    while (cut < length && starts->model->starts[outer(starts, chain, cut)])
        cut++;
    return cut;
}

/* ---- all ---- */

/* Marks the functions that are start code wherever they occur. */
static void mark(const struct starts *starts)
{
    struct model *model = starts->model;
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        const size_t length = start_length(starts, chain);
        for (size_t place = 0; place < length; place++)
            model->starts[outer(starts, chain, place)] = true;
    }
    memset(starts->least, 0xff, model->call_count * sizeof(*starts->least));
    for (size_t i = 0; i < model->count; i++) {
        const uint32_t length = (uint32_t)start_length(starts, &model->chains[i]);
        uint32_t *least = &starts->least[model->chains[i].call];
        *least = length < *least ? length : *least;
    }
    for (uint32_t i = model->call_count; i-- > 1;) {
        const struct call *call = &model->calls[i];
        if (starts->least[i] < starts->least[call->caller])
            starts->least[call->caller] = starts->least[i];
        if (call->used && call->depth > starts->least[i])
            model->starts[call->function] = false;
    }
    model->starts[0] = false;
}

/* Takes the mark from what lies inward of a function that stays. Returns true if any had it. */
static bool unmark(const struct starts *starts)
{
    struct model *model = starts->model;
    bool changed = false;
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        const size_t length = start_length(starts, chain);
        for (size_t place = cut_length(starts, chain, length); place < length; place++) {
            bool *start = &model->starts[outer(starts, chain, place)];
            changed |= *start;
            *start = false;
        }
    }
    return changed;
}

bool starts_cut(struct model *model, struct session_error *error)
{
    const size_t functions = (size_t)model->function_count + 1;
    struct starts starts = {.model = model,
                            .kinds = calloc(functions, sizeof(*starts.kinds)),
                            .modules = calloc(functions, sizeof(*starts.modules)),
                            .inner = calloc(model->call_count, sizeof(*starts.inner)),
                            .least = calloc(model->call_count, sizeof(*starts.least))};
    model->starts = calloc(functions, sizeof(*model->starts));
    bool good = (starts.kinds && starts.modules && starts.inner && starts.least && model->starts) ||
                report_fail_memory(error, "the functions");
    for (uint32_t i = 1; good && i < model->call_count; i++)
        starts.inner[i] =
            model->calls[i].depth <= START_LENGTH_MOST ? i : starts.inner[model->calls[i].caller];
    good = good && find_kinds(&starts, error);
    if (good) {
        mark(&starts);
        while (unmark(&starts))
            ;
        for (size_t i = 0; i < model->count; i++) {
            struct chain *chain = &model->chains[i];
            chain->depth -= (uint32_t)cut_length(&starts, chain, start_length(&starts, chain));
        }
    }
    free(starts.kinds);
    free(starts.modules);
    free(starts.inner);
    free(starts.least);
    return good;
}
