/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/names.h"
#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/leaks.h"
#include "session/stacks.h"
#include "session/user_code.h"

/* ---- where functions start -------------------------------------------------------------- */

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

/* Cuts the outer end of each chain up to `main`, or to the first function of a thread, and sets
 * model->starts. A function is cut out of all chains or of none, so the sums of a function over the
 * chains are its sums over all stacks. Returns false with `error` set. */
static bool starts_cut(struct model *model, struct session_error *error)
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
    FREE_ALL(starts.kinds, starts.modules, starts.inner, starts.least);
    return good;
}

/* ---- scripts ---------------------------------------------------------------------------- */

enum place { PLACE_LEFT_OUT, PLACE_STAYS, PLACE_RUNTIME };

/* Stores the places of all functions by id, and whether any is of a runtime: if not, the places are
 * not for use. */
static bool find_places(struct model *model, uint8_t *places, bool *any,
                        struct session_error *error)
{
    bool *own = NULL;
    size_t count;
    *any = false;
    for (uint32_t i = 1; i <= model->function_count; i++) {
        struct session_function function;
        if (!session_function(model->session, i, &function, error))
            return false;
        places[i] = function.role == SESSION_ROLE_RUNTIME ? PLACE_RUNTIME : PLACE_LEFT_OUT;
        *any |= places[i] == PLACE_RUNTIME;
    }
    if (!*any)
        return true;
    if (!session_own_functions(model->session, &own, &count, error))
        return false;
    for (size_t i = 1; i < count && i <= model->function_count; i++)
        if (own[i] && places[i] != PLACE_RUNTIME)
            places[i] = PLACE_STAYS;
    free(own);
    return true;
}

/* The calls as a chain with functions of a runtime has them, by the calls of all. */
struct script {
    bool any;      /* a function of a runtime is here or outward */
    uint32_t call; /* the innermost one that stays; 0: none */
};

/* Finds the innermost calls that stay. Those whose callers all stay are the same. */
static bool cut(struct model *model, const uint8_t *places, struct script *scripts)
{
    const uint32_t count = model->call_count;
    for (uint32_t i = 1; i < count; i++) {
        const struct call call = model->calls[i];
        const struct script *outer = &scripts[call.caller];
        scripts[i].any = outer->any || places[call.function] == PLACE_RUNTIME;
        scripts[i].call = outer->call == call.caller ? i : 0;
        if (places[call.function] == PLACE_LEFT_OUT)
            scripts[i].call = outer->call;
        else if (scripts[i].call == 0 && !model_add_call(model, outer->call, call.function,
                                                         call.frame, call.within, &scripts[i].call))
            return false;
    }
    for (size_t i = 0; i < model->count; i++)
        if (scripts[model->chains[i].call].any)
            model->chains[i].call = scripts[model->chains[i].call].call;
    return true;
}

/* Leaves the native functions of interpreters and libraries out of each chain that has functions of
 * a runtime. These and the user's own native code stay. Call it before starts_cut(). Returns false
 * with `error` set. */
static bool scripts_cut(struct model *model, struct session_error *error)
{
    uint8_t *places = calloc((size_t)model->function_count + 1, sizeof(*places));
    bool any = false;
    bool good = (places || report_fail_memory(error, "the functions")) &&
                find_places(model, places, &any, error);
    struct script *scripts = good && any ? calloc(model->call_count, sizeof(*scripts)) : NULL;
    if (good && any)
        good = (scripts && cut(model, places, scripts)) || report_fail_memory(error, "the stacks");
    FREE_ALL(scripts, places);
    return good;
}

/* The sentences of the classes of size. */
static const char *const classes[SIZE_CLASSES] = {"| where size <= 32", "| where size in 33..256",
                                                  "| where size in 257..2048",
                                                  "| where size > 2048"};

void class_sums_add(struct class_sums *to, const struct class_sums *sums)
{
    to->allocations += sums->allocations;
    to->bytes += sums->bytes;
    to->kept_count += sums->kept_count;
    to->kept_bytes += sums->kept_bytes;
}

const char *model_name(const struct model *model, uint32_t function)
{
    return session_function_name(model->session, function);
}

/* ---- sums ------------------------------------------------------------------------------- */

/* Adds what the rows of one class kept. Their stacks have chains already. */
static void add_kept(struct model *model, int class, const struct session_stack_sums *rows,
                     size_t count, const size_t *places)
{
    for (size_t i = 0; i < count; i++) {
        const struct class_sums sums = {.kept_count = rows[i].allocations,
                                        .kept_bytes = rows[i].bytes};
        const size_t place = places[rows[i].stack];
        if (place == 0)
            continue;
        class_sums_add(&model->chains[place - 1].sums[class], &sums);
        class_sums_add(&model->chains[place - 1].all, &sums);
        class_sums_add(&model->all, &sums);
    }
}

/* Adds the rows of one class. `places` has the chain of each stack, from 1; 0: none yet. */
static bool add_rows(struct model *model, int class, const struct session_stack_sums *rows,
                     size_t count, size_t *places, struct session_error *error)
{
    struct chain *chains = realloc(model->chains, (model->count + count + 1) * sizeof(*chains));
    if (!chains)
        return report_fail_memory(error, "the stacks");
    model->chains = chains;
    for (size_t i = 0; i < count; i++) {
        const struct class_sums sums = {rows[i].allocations, rows[i].bytes,
                                        model->collected ? 0 : rows[i].live_count,
                                        model->collected ? 0 : rows[i].live_bytes};
        size_t *place = &places[rows[i].stack];
        if (*place == 0) {
            chains[model->count++] = (struct chain){.stack = rows[i].stack};
            *place = model->count;
        }
        chains[*place - 1].sums[class] = sums;
        class_sums_add(&chains[*place - 1].all, &sums);
        class_sums_add(&model->all, &sums);
    }
    return true;
}

/* Reads the sums of a class's stacks; `set` narrows them, NULL: all. The caller frees `*rows`. */
static bool read_sums(const struct model *model, int class, const char *set,
                      struct session_stack_sums **rows, size_t *count, struct session_error *error)
{
    static const struct session_stacks_options options = {.without_short = true};
    struct graph_result *result =
        request_run(model->request, model->session, set, classes[class], error);
    bool good =
        result && selection_stacks(graph_result_selection(result), &options, rows, count, error);
    graph_result_free(result);
    return good;
}

static bool read_class(struct model *model, int class, size_t *places, struct session_error *error)
{
    struct session_stack_sums *rows = NULL, *kept = NULL;
    size_t count = 0, kept_count = 0;
    bool good = read_sums(model, class, NULL, &rows, &count, error) &&
                add_rows(model, class, rows, count, places, error);
    if (good && model->collected) {
        good = read_sums(model, class, "survived", &kept, &kept_count, error);
        if (good)
            add_kept(model, class, kept, kept_count, places);
    }
    FREE_ALL(rows, kept);
    return good;
}

/* Finds out if what is live lies in an arena that a collector cleans. In a rotated trace it may
 * have taken blocks before the trace only. */
static bool find_collected_before(struct model *model, struct session_error *error)
{
    struct graph_result *live = request_run(model->request, model->session, "live", NULL, error);
    struct session_leaks leaks;
    const bool good = live && selection_leaks(graph_result_selection(live), NULL, &leaks, error);
    for (size_t i = 0; good && i < leaks.count; i++)
        if (leaks.leaks[i].kind == SESSION_LEAK_RUNTIME &&
            strcmp(leaks.leaks[i].why, "garbage collector") == 0)
            model->collected = true;
    if (good)
        session_leaks_free(&leaks);
    graph_result_free(live);
    return good;
}

/* Finds out if a garbage collector cleans arenas of the selection. */
static bool find_collected(struct model *model, struct session_error *error)
{
    struct session_measure taken;
    bool any;
    if (!session_has_collected(model->session, &any, error))
        return false;
    if (!any)
        return true;
    if (!request_measure(model->request, model->session, NULL, "| where collected == true | count",
                         &taken, error))
        return false;
    model->collected = taken.value > 0;
    return model->collected || find_collected_before(model, error);
}

/* ---- chains ----------------------------------------------------------------------------- */

bool model_add_call(struct model *model, uint32_t caller, uint32_t function, uint32_t frame,
                    uint32_t within, uint32_t *call)
{
    if (model->call_count == UINT32_MAX ||
        !ARRAY_GROW(model->calls, model->call_count, model->call_capacity))
        return false;
    *call = model->call_count++;
    model->calls[*call] = (struct call){.caller = caller,
                                        .function = function,
                                        .frame = frame,
                                        .within = within,
                                        .depth = caller == 0 ? 1 : model->calls[caller].depth + 1};
    return true;
}

bool model_has(const struct model *model, uint32_t call)
{
    return model->calls[call].used && !model->starts[model->calls[call].function];
}

uint32_t model_caller(const struct model *model, uint32_t call)
{
    const uint32_t caller = model->calls[call].caller;
    return caller != 0 && model_has(model, caller) ? caller : 0;
}

/* Makes a call of each node outward of the sites. `call_of` has 0 for the others, by node. */
static bool read_calls(struct model *model, const uint32_t *sites, uint32_t *call_of,
                       struct session_error *error)
{
    const uint32_t nodes = session_stack_nodes(model->session);
    uint32_t none;
    for (size_t i = 0; i < model->count; i++)
        call_of[sites[model->chains[i].stack]] = 1;
    for (uint32_t node = 1; node <= nodes; node++)
        if (call_of[node] != 0)
            call_of[session_stack_node(model->session, node).caller] = 1;
    /* The first one stands for no caller, the second one for stacks without frames. */
    if (!model_add_call(model, 0, 0, 0, 0, &none) ||
        !model_add_call(model, 0, 0, 0, 0, &call_of[0]))
        return report_fail_memory(error, "the stacks");
    for (uint32_t node = nodes; node > 0; node--) {
        const struct session_stack_node at = session_stack_node(model->session, node);
        const uint32_t caller = at.caller == 0 ? 0 : call_of[at.caller];
        struct session_code_frame frame;
        if (call_of[node] == 0)
            continue;
        if (!session_code_frame(model->session, at.frame, &frame, error))
            return false;
        const uint32_t function = frame.function <= model->function_count ? frame.function : 0;
        const uint32_t within = !frame.inlined ? function : model->calls[caller].within;
        if (!model_add_call(model, caller, function, at.frame, within, &call_of[node]))
            return report_fail_memory(error, "the stacks");
    }
    return true;
}

static void mark_used(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        struct chain *chain = &model->chains[i];
        chain->depth = model->calls[chain->call].depth;
        chain->whole = strcmp(session_stack_state(model->session, chain->stack), "complete") == 0;
        model->calls[chain->call].used = true;
    }
    for (uint32_t call = model->call_count; call-- > 1;)
        if (model->calls[call].used && model->calls[call].caller != 0)
            model->calls[model->calls[call].caller].used = true;
}

static bool read_chains(struct model *model, struct session_error *error)
{
    uint32_t *sites = NULL;
    uint32_t *call_of = calloc((size_t)session_stack_nodes(model->session) + 1, sizeof(*call_of));
    bool good = call_of || report_fail_memory(error, "the stacks");
    good = good && session_stack_sites(model->session, &sites, error) &&
           read_calls(model, sites, call_of, error);
    for (size_t i = 0; good && i < model->count; i++)
        model->chains[i].call = call_of[sites[model->chains[i].stack]];
    FREE_ALL(sites, call_of);
    if (!good || !scripts_cut(model, error))
        return false;
    mark_used(model);
    return starts_cut(model, error);
}

bool model_read(struct model *model, const struct report_request *request,
                struct session_error *error)
{
    *model = (struct model){.session = request->session,
                            .request = request,
                            .estimated = session_sampled(request->session),
                            .function_count = session_function_count(request->session)};
    if (!session_load_stacks(model->session, error) || !find_collected(model, error))
        return false;
    size_t *places = calloc((size_t)session_stack_largest(model->session) + 1, sizeof(*places));
    if (!places)
        return report_fail_memory(error, "the stacks");
    bool good = true;
    for (int i = 0; good && i < SIZE_CLASSES; i++)
        good = read_class(model, i, places, error);
    free(places);
    return good && read_chains(model, error);
}

void model_free(struct model *model)
{
    FREE_ALL(model->chains, model->calls, model->starts);
}

void line_put(struct line *line, const char *text)
{
    fputs(text, line->out);
    if (*text)
        line->touches = text[strlen(text) - 1] != ' ';
}

void line_name(struct line *line, const char *name)
{
    if (name_put_text(line->out, name) > 0)
        line->touches = true;
}

void line_end(struct line *line)
{
    fputc('\n', line->out);
    line->touches = false;
}

void line_right(struct line *line, int width, const char *text)
{
    if ((int)strlen(text) >= width && line->touches)
        fputc(' ', line->out);
    fprintf(line->out, "%*s", width, text);
    line->touches = width > 0 && *text;
}

void line_left(struct line *line, int width, const char *text)
{
    if (*text && line->touches)
        fputc(' ', line->out);
    fprintf(line->out, "%-*s", width, text);
    line->touches = *text && (int)strlen(text) >= width;
}

void line_number(struct line *line, int width, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%s%" PRIu64, line->estimated ? "~" : "", number);
    line_right(line, width, text);
}

/* Writes the percentage, truncated: "", ".", "7" or "**". */
static void percentage(char text[12], uint64_t part, uint64_t whole)
{
    text[0] = '\0';
    if (part == 0 || whole == 0)
        return;
    const unsigned percent = part >= whole ? 100 : (unsigned)((__uint128_t)100 * part / whole);
    if (percent > 0 && percent < 100)
        snprintf(text, 12, "%u", percent);
    else
        snprintf(text, 12, "%s", percent == 0 ? "." : "**");
}

void line_decimal(char text[16], uint64_t part, uint64_t whole)
{
    unsigned tenths = part >= whole ? 1000 : 0;
    if (part < whole)
        tenths = (unsigned)((__uint128_t)1000 * part / whole);
    else if (whole == 0)
        tenths = 0;
    snprintf(text, 16, "%u.%u", tenths / 10, tenths % 10);
}

void line_share(struct line *line, int width, uint64_t part, uint64_t whole)
{
    char number[12], text[16] = "";
    percentage(number, part, whole);
    if (number[0])
        snprintf(text, sizeof(text), "(%s)", number);
    line_left(line, width, text);
}

void line_breakdown(struct line *line, const uint64_t parts[SIZE_CLASSES], uint64_t whole)
{
    char text[12];
    for (int i = 0; i < SIZE_CLASSES; i++) {
        percentage(text, parts[i], whole);
        fprintf(line->out, " %2s", text);
    }
    line->touches = true;
}
