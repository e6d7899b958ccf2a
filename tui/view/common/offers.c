/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/offers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/code/short_name.h"
#include "tui/screen/format.h"
#include "tui/view/common/list.h"

size_t offer_step(struct view_offer *offer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&offer->step, format, arguments) < 0)
        offer->step = NULL;
    va_end(arguments);
    return offer->step != NULL;
}

/* ---- one function ----------------------------------------------------------------------- */

struct function_matchers_data {
    struct {
        uint64_t selections, functions[FUNCTION_PARTS];
    } request;
    char *test[FUNCTION_PARTS]; /* NULL: the name tells the function */
};

static bool run_matchers(struct session *session, struct selection *selection, void *context,
                         struct session_error *error)
{
    struct function_matchers_data *data = context;
    for (int part = 0; part < FUNCTION_PARTS; part++) {
        const uint32_t function = (uint32_t)data->request.functions[part];
        if (function == 0 || session_function_is_alone(session, function))
            continue;
        if (!session_function_stacks(session, function, (enum session_function_part)part,
                                     &data->test[part], error))
            return false;
    }
    return true;
}

static void clear_matchers(void *context)
{
    struct function_matchers_data *data = context;
    for (int part = 0; part < FUNCTION_PARTS; part++)
        free(data->test[part]);
}

void function_matchers_load(struct function_matchers *matchers, struct browse *browse,
                            const uint32_t functions[FUNCTION_PARTS])
{
    static const struct load_kind kind =
        LOAD_KIND(function_matchers_data, run_matchers, clear_matchers);
    struct function_matchers_data wanted = {.request = {.selections = browse->selections}};
    for (int part = 0; part < FUNCTION_PARTS; part++)
        wanted.request.functions[part] = functions[part];
    matchers->data = browse_get(browse, &matchers->load, &kind, &wanted.request);
}

void function_matchers_clear(struct function_matchers *matchers, struct browse *browse)
{
    load_clear(&browse->loader, &matchers->load);
    matchers->data = NULL;
}

/* Offers the stacks that have the function, which its place or its module names. */
static size_t offer_stacks(const struct session *session, uint32_t function, const char *test,
                           const struct function_words *words, struct view_offer *out)
{
    char name[80];
    snprintf(out->label, sizeof(out->label), "%.40s: %.50s (%.30s)", words->one,
             short_name_cut(name, sizeof(name), session_function_name(session, function)),
             list_function_place(session, function));
    return offer_step(out, "where %s%s", words->freed ? "free_" : "", test);
}

size_t function_matchers_offer(const struct function_matchers *matchers,
                               const struct session *session, enum session_function_part part,
                               uint32_t function, const struct function_words *words,
                               struct view_offer *out, size_t capacity)
{
    static const char *const by_name[] = {"stack has", "function ==", "user =="};
    const struct function_matchers_data *data = matchers->data;
    const char *name = session_function_name(session, function);
    const bool known = data && data->request.functions[part] == function;
    size_t count = 0;
    if (function == 0 || capacity < 2)
        return 0;
    /* Its name alone would take more than it. */
    if (!known && !session_function_is_alone(session, function))
        return 0;
    if (known && data->test[part])
        count += offer_stacks(session, function, data->test[part], words, out);
    struct view_offer *offer = &out[count];
    char *quoted = filter_quoted(name);
    snprintf(offer->label, sizeof(offer->label), "%.44s: %.80s",
             session_function_is_alone(session, function) ? words->one : words->each, name);
    count += quoted ? offer_step(offer, "where %s%s %s", words->freed ? "free_" : "", by_name[part],
                                 quoted)
                    : 0;
    free(quoted);
    return count;
}

/* ---- one allocation --------------------------------------------------------------------- */

struct offering {
    struct view_offer *out;
    size_t count, capacity;
};

static void offer_number(struct offering *offering, const char *label, const char *step,
                         uint64_t number)
{
    if (offering->count == offering->capacity)
        return;
    struct view_offer *offer = &offering->out[offering->count];
    snprintf(offer->label, sizeof(offer->label), "%s: %" PRIu64, label, number);
    offering->count += offer_step(offer, "where %s == %" PRIu64, step, number);
}

static void offer_truth(struct offering *offering, const char *label, const char *field)
{
    if (offering->count == offering->capacity)
        return;
    struct view_offer *offer = &offering->out[offering->count];
    snprintf(offer->label, sizeof(offer->label), "%s", label);
    offering->count += offer_step(offer, "where %s == true", field);
}

static void offer_name(struct offering *offering, const char *label, const char *field,
                       const char *name)
{
    if (offering->count == offering->capacity)
        return;
    struct view_offer *offer = &offering->out[offering->count];
    snprintf(offer->label, sizeof(offer->label), "%s: %.100s", label, name);
    offer->step = list_name_step(field, name);
    offering->count += offer->step != NULL;
}

static void offer_functions(struct offering *offering, const struct function_matchers *matchers,
                            const struct session *session, uint32_t site, uint32_t user)
{
    static const struct function_words sites = {"this function", "each function of this name",
                                                false};
    static const struct function_words users = {"my function", "each of mine of this name", false};
    offering->count += function_matchers_offer(matchers, session, SESSION_AT_CALL_SITE, site,
                                               &sites, offering->out + offering->count,
                                               offering->capacity - offering->count);
    offering->count += function_matchers_offer(matchers, session, SESSION_AT_USER, user, &users,
                                               offering->out + offering->count,
                                               offering->capacity - offering->count);
}

void block_matchers_load(struct function_matchers *matchers, struct browse *browse,
                         const struct session_allocation *block, uint32_t user, uint32_t anywhere)
{
    const uint32_t functions[FUNCTION_PARTS] = {[SESSION_ANYWHERE] = anywhere,
                                                [SESSION_AT_CALL_SITE] = block->function,
                                                [SESSION_AT_USER] = user};
    function_matchers_load(matchers, browse, functions);
}

size_t offer_block(const struct function_matchers *matchers, const struct session *session,
                   const struct session_allocation *block, uint32_t user, struct view_offer *out,
                   size_t capacity)
{
    struct offering offering = {.out = out, .capacity = capacity};
    offer_number(&offering, "this allocation", "id", block->id);
    if (block->type != 0)
        offer_name(&offering, "this type", "type", session_type_name(session, block->type));
    offer_functions(&offering, matchers, session, block->function, user);
    if (block->stack != 0)
        offer_number(&offering, "this stack", "stack", block->stack);
    offer_number(&offering, "this size", "size", block->size);
    offer_number(&offering, "this address", "address", block->address);
    offer_number(&offering, "this thread", "thread", block->thread);
    if (block->free_ns != SESSION_LIVE)
        offer_number(&offering, "freed by this thread", "free_thread", block->free_thread);
    if (session_stack_by_collector(session, block->free_stack))
        offer_truth(&offering, "taken by a garbage collector", "collected");
    else if (block->free_stack != 0)
        offer_number(&offering, "freed at this stack", "free_stack", block->free_stack);
    return offering.count;
}

void block_to_memory(struct browse *browse, const struct session_allocation *block)
{
    char time[FORMAT_SIZE];
    browse->allocation = browse->to_memory = block->id;
    if (browse->moment_ns < block->alloc_ns || browse->moment_ns >= block->free_ns) {
        browse->moment_ns = block->alloc_ns;
        browse_say(browse, "memory at %s, when the block was allocated",
                   format_instant(time, block->alloc_ns));
    }
    browse_show(browse, VIEW_MEMORY);
}

void block_to_timeline(struct browse *browse, const struct session_allocation *block)
{
    browse->moment_ns = block->alloc_ns;
    browse_show(browse, VIEW_TIMELINE);
}

/* ---- a line of the source --------------------------------------------------------------- */

size_t offer_source(const char *path, uint32_t line, const char *test, struct view_offer *out,
                    size_t capacity)
{
    char place[40] = "this file", *quoted = filter_quoted(path);
    size_t count = 0;
    if (line != 0)
        snprintf(place, sizeof(place), "line %" PRIu32, line);
    if (test && capacity > 0) {
        snprintf(out->label, sizeof(out->label), "%s, anywhere on the stack", place);
        count = offer_step(out, "where %s", test);
    }
    if (quoted && capacity > count) {
        snprintf(out[count].label, sizeof(out->label), "call sites of %s", place);
        count += line != 0 ? offer_step(&out[count], "where file == %s and line == %" PRIu32,
                                        quoted, line)
                           : offer_step(&out[count], "where file == %s", quoted);
    }
    free(quoted);
    return count;
}

/* ---- an entry of a legend --------------------------------------------------------------- */

/* The fields whose legends have names, and the label of what has none; NULL: all have one. */
static const struct {
    const char *field, *none;
} fields[] = {
    {"function", "no call site"},
    {"user", "no own code"},
    {"type", SESSION_UNKNOWN_TYPE},
    {"module", "no module"},
    {"thread", NULL},
    {"owner", "unknown owner"},
    {"kind", NULL},
};

/* Returns the thread's number in a label, which those of one name have; 0: it is a name. */
static uint32_t thread_number(const struct session *session, const char *label)
{
    const uint32_t thread = label[0] == '#' ? (uint32_t)strtoul(label + 1, NULL, 10) : 0;
    const bool told = strcmp(session_thread_label(session, thread), label) == 0 &&
                      strcmp(session_thread_name(session, thread), label) != 0;
    return told ? thread : 0;
}

/* Writes the test for a label, malloc()ed. NULL: there is none, or no memory. */
static char *make_test(const struct session *session, const char *field, const char *none,
                       const char *label)
{
    char *text = NULL;
    if (none && strcmp(label, none) == 0)
        return list_name_step(field, NULL);
    const uint32_t thread = strcmp(field, "thread") == 0 ? thread_number(session, label) : 0;
    if (thread != 0)
        return asprintf(&text, "where thread == %" PRIu32, thread) < 0 ? NULL : text;
    return list_name_step(field, label);
}

void legend_follow(struct browse *browse, const struct session_legend *legend, const char *field,
                   size_t entry)
{
    if (entry >= legend->count)
        return;
    const uint32_t function = legend->entry[entry].function;
    /* A label has no room for the longest names. */
    const char *label = function != 0 ? session_function_name(browse->session, function)
                                      : legend->entry[entry].label;
    if (entry == SESSION_COLORS - 1) {
        browse_say(browse, "the rest has no name to filter by");
        return;
    }
    if (function != 0 && !session_function_is_alone(browse->session, function)) {
        browse_say(browse, "several functions have this name; w in the functions takes one");
        return;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].field, field) != 0)
            continue;
        char *step =
            make_test(browse->session, field, function != 0 ? NULL : fields[i].none, label);
        if (step)
            browse_narrow(browse, step);
        free(step);
        return;
    }
    browse_say(browse, "no filter is made of this legend; f types one");
}
