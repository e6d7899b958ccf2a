/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page/page.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "page_css.h"
#include "page_html.h"
#include "page_js.h"
#include "report/budget/history.h"
#include "report/output/json.h"
#include "report/output/names.h"
#include "report/page/page_tree.h"
#include "schemas/array.h"
#include "schemas/code/short_name.h"
#include "session/code_facts.h"
#include "session/findings.h"
#include "session/leaks.h"
#include "session/spread.h"
#include "session/stacks.h"
#include "session/types.h"
#include "session/user_code.h"

enum {
    SLOTS = 240,            /* of the timeline */
    SAMPLES_MOST = 400,     /* of the resident set */
    RUNS_MOST = 100,        /* of a history, the last ones */
    MARKS_MOST = 100,       /* the first ones */
    NODES_MOST = 6000,      /* of the tree, if the page does not become too large */
    NODES_LEAST = 500,      /* the tree is not cut further */
    TYPES_MOST = 60,        /* by their largest share of any sum */
    LEAKS_MOST = 40,        /* groups */
    FRAMES_MOST = 40,       /* of a leak */
    NAME_MOST = 400,        /* bytes of a whole name */
    TEXT_MOST = 160,        /* bytes of a line of source */
    PAGE_MOST = 1 << 20,    /* bytes */
    BESIDE_MOST = 64 * 1024 /* bytes of the page beside its data */
};

struct side {
    struct session *session;
    struct graph_result *result;
    struct selection *selection;
    struct session_leaks leaks;
    bool has_leaks;
};

struct page {
    const struct report_request *request;
    const struct history *history;
    struct side own, base; /* base: without a session if there is none */
    struct text_ids *names;
    bool *used;         /* by name: the page has it */
    uint32_t *number;   /* by name: its number on the page */
    uint32_t *function; /* by name: a function that has it, of the session or else of the base */
    bool *own_code;     /* by name */
    bool *of_base;      /* by name: `function` is of the base */
    struct page_tree *tree;
    struct session_type_sums *types;
    size_t type_count;
    struct session_error *error;
};

/* ---- sides ------------------------------------------------------------------------------ */

static bool open_side(struct page *page, struct side *side, struct session *session)
{
    side->session = session;
    side->result = request_run(page->request, session, NULL, NULL, page->error);
    side->selection = side->result ? graph_result_selection(side->result) : NULL;
    if (!side->selection)
        return false;
    side->has_leaks =
        session_load_stacks(session, page->error) &&
        selection_leaks(side->selection, page->request->suppressions, &side->leaks, page->error);
    return side->has_leaks;
}

static void close_side(struct side *side)
{
    if (side->has_leaks)
        session_leaks_free(&side->leaks);
    graph_result_free(side->result);
}

/* ---- names ------------------------------------------------------------------------------ */

/* Notes the functions of a side. Only the names that are used are written. */
static bool note_functions(struct page *page, struct session *session, bool base)
{
    bool *own = NULL;
    size_t count = 0;
    if (!session_own_functions(session, &own, &count, page->error))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t name;
        bool is_new;
        if (!text_ids_find(page->names, session_function_name(session, i), &name, &is_new))
            continue; /* what is not known of it stays so */
        if (base && page->function[name])
            continue;
        page->own_code[name] |= own[i];
        if (!page->function[name] || own[i]) {
            page->function[name] = i;
            page->of_base[name] = base;
        }
    }
    free(own);
    return true;
}

/* Collects all names that can be on the page, and what is known of them. */
static bool collect_names(struct page *page)
{
    const size_t most = text_ids_count(page->names) + session_function_count(page->own.session) +
                        (page->base.session ? session_function_count(page->base.session) : 0) + 2;
    page->used = calloc(most, sizeof(*page->used));
    page->number = calloc(most, sizeof(*page->number));
    page->function = calloc(most, sizeof(*page->function));
    page->own_code = calloc(most, sizeof(*page->own_code));
    page->of_base = calloc(most, sizeof(*page->of_base));
    if (!page->used || !page->number || !page->function || !page->own_code || !page->of_base)
        return report_fail_memory(page->error, "the names");
    return note_functions(page, page->own.session, false) &&
           (!page->base.session || note_functions(page, page->base.session, true));
}

/* Writes a whole name. A very long one loses its middle. */
static void put_whole(struct json *json, const char *name)
{
    char *cut = NULL;
    const size_t length = strlen(name), half = NAME_MOST / 2;
    if (length > NAME_MOST &&
        asprintf(&cut, "%.*s \u2026 %s", (int)half, name, name + length - half) < 0)
        cut = NULL;
    json_text(json, cut ? cut : name);
    free(cut);
}

/* Numbers the used names in their order and writes them: short form, whole form or 0 if it is the
 * same, 1 for own code, and where the function begins. */
static bool put_names(const struct page *page, struct json *json)
{
    const size_t count = text_ids_count(page->names);
    const char **whole = calloc(count + 1, sizeof(*whole));
    struct short_names shorter = {NULL, 0};
    size_t used = 0;
    for (size_t i = 0; whole && i < count; i++)
        if (page->used[i])
            whole[used++] = text_ids_text(page->names, (uint32_t)i);
    const bool good = whole && short_names_make(&shorter, whole, used);
    json_put(json, "names: [");
    for (size_t i = 0, at = 0; good && i < count; i++) {
        if (!page->used[i])
            continue;
        const struct session *session = page->of_base[i] ? page->base.session : page->own.session;
        const char *place =
            page->function[i] ? session_function_place(session, page->function[i]) : "";
        json_put(json, "[");
        put_whole(json, shorter.texts[at]);
        if (strcmp(shorter.texts[at], whole[at]) == 0)
            json_number(json, 0);
        else
            put_whole(json, whole[at]);
        json_number(json, page->own_code[i]);
        if (*place)
            json_text(json, place);
        json_put(json, "]");
        at++;
    }
    json_put(json, "]");
    short_names_free(&shorter);
    free(whole);
    return good || report_fail_memory(page->error, "the names");
}

static void number_names(const struct page *page)
{
    uint32_t next = 0;
    for (size_t i = 0; i < text_ids_count(page->names); i++)
        if (page->used[i])
            page->number[i] = next++;
}

/* ---- facts ------------------------------------------------------------------------------ */

static uint64_t sum_short_lived(const struct side *side)
{
    uint64_t *by_stack = NULL, sum = 0;
    struct session_error ignored;
    if (!selection_short_lived(side->selection, &by_stack, &ignored))
        return 0;
    for (uint32_t i = 0; i <= session_stack_largest(side->session); i++)
        sum += by_stack[i];
    free(by_stack);
    return sum;
}

static void put_facts(const struct side *side, struct json *json)
{
    const struct selection *selection = side->selection;
    json_put(json,
             "facts: {allocations: %lu, bytes: %lu, peak_bytes: %lu, peak_ns: %lu, live_bytes: "
             "%lu, live_count: %lu, leaked_bytes: %lu, leaked_count: %lu, short_lived: %lu}",
             selection_allocations(selection), selection_bytes(selection),
             selection_peak_bytes(selection), selection_peak_ns(selection),
             selection_live_bytes(selection), selection_live_count(selection),
             side->leaks.leaked.bytes, side->leaks.leaked.blocks, sum_short_lived(side));
}

/* Writes "2026-11-28 12:47 UTC" of "2026-11-28T12:47:26.681Z". */
static void put_start(const struct session *session, struct json *json)
{
    const char *start = session_meta(session, "start_time");
    char text[40] = "";
    if (start && strlen(start) >= 16 && start[10] == 'T')
        snprintf(text, sizeof(text), "%.10s %.5s UTC", start, start + 11);
    json_put(json, "recorded: %s", text);
}

static void put_program(const struct session *session, struct json *json)
{
    const char *program = session_meta(session, "program"), *argv = session_meta(session, "argv");
    const struct session_process *processes;
    json_put(json, "program: %s", program && *program ? program : "(unknown program)");
    json_put(json, "argv: %s", argv ? argv : "");
    put_start(session, json);
    json_put(json, "ending: %s, processes: %lu, threads: %lu, from: %lu, to: %lu, leaks_known: %i",
             session_meta(session, "ending"), session_processes(session, &processes),
             (uint64_t)session_meta_number(session, "threads"), session_start_ns(session),
             session_duration_ns(session),
             !session_stopped(session) && !session_recording(session));
}

/* ---- doubts ----------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put_doubt(struct json *json, const char *format,
                                                            ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    json_text(json, text);
}

/* Doubts about modules: the value of a key of meta has a line for each. */
static void put_modules(const struct session *session, const char *key, const char *format,
                        struct json *json)
{
    const char *lines = session_meta(session, key);
    char names[320], text[400];
    size_t others = 0;
    if (!lines || !*lines)
        return;
    for (const char *at = lines; (at = strchr(at, '\n')); at++)
        others += at[1] != '\0';
    snprintf(names, sizeof(names), "%.*s", (int)strcspn(lines, "\n"), lines);
    snprintf(text, sizeof(text), others > 0 ? "%.290s and %zu more" : "%.290s", names, others);
    put_doubt(json, format, text);
}

static void put_losses(const struct session *session, struct json *json)
{
    static const struct {
        const char *key, *text;
    } losses[] = {
        {"dropped_events", "%lld events were dropped while recording: sums can be too small."},
        {"damaged_bytes", "%lld bytes of the trace were damaged and left out."},
        {"orphaned_stacks", "%lld stacks were lost: their blocks have none."},
        {"overlaps", "%lld times an address was live twice: events are missing or out of order."},
        {"ambiguous_pairs", "%lld pairs of events could be read two ways."},
        {"unmatched_frees", "%lld frees are of blocks that were never seen allocated."},
        {"double_frees", "%lld blocks were freed twice."},
        {"failed_allocations", "%lld allocations failed."},
    };
    for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
        const long long number = session_meta_number(session, losses[i].key);
        char text[160];
        if (number <= 0)
            continue;
        snprintf(text, sizeof(text), losses[i].text, number);
        json_text(json, text);
    }
}

static void put_incomplete(const struct session *session, struct json *json)
{
    const uint32_t largest = session_stack_largest(session);
    uint64_t incomplete = 0;
    for (uint32_t i = 1; i <= largest; i++) {
        const char *state = session_stack_state(session, i);
        incomplete += strcmp(state, "complete") != 0 && strcmp(state, "none") != 0 &&
                      !session_stack_by_collector(session, i);
    }
    if (incomplete > 0)
        put_doubt(json, "%llu of %u stacks are incomplete: their outermost frames are missing.",
                  (unsigned long long)incomplete, (unsigned)largest);
}

static void put_doubts(const struct page *page, struct json *json)
{
    const struct session *session = page->own.session;
    const char *ending = session_meta(session, "ending"), *part = session_meta(session, "part_of"),
               *graph = session_meta(session, "part_graph"),
               *imported = session_meta(session, "imported");
    const long long interval = session_meta_number(session, "sample_interval");
    uint64_t bytes = 0, unknown = 0;
    json_put(json, "doubts: [");
    if (session_sampled(session))
        put_doubt(json,
                  "Recorded by sampling, one point in %lld bytes on average: sums with ~ are "
                  "estimates for the whole program, and rare blocks can be missing.",
                  interval);
    if (part && *part)
        put_doubt(json, "Only a part of %.200s: %.400s", part, graph ? graph : "?");
    if (imported && *imported)
        put_doubt(json, "Imported from %.600s", imported);
    if (session_stopped(session))
        put_doubt(json,
                  "The recording stopped before the program ended: nobody knows what leaked.");
    else if (ending && strncmp(ending, "killed", strlen("killed")) == 0)
        put_doubt(json, "The recording has no end: the program was killed or still runs.");
    put_losses(session, json);
    put_modules(session, "unrecorded_programs", "Not recorded: %s", json);
    put_modules(session, "unseen_modules", "Allocations of these modules were not recorded: %s",
                json);
    put_modules(session, "late_modules", "Recorded only after they were loaded: %s", json);
    put_incomplete(session, json);
    for (size_t i = 0; i < page->type_count; i++) {
        bytes += page->types[i].bytes;
        unknown += page->types[i].type == SESSION_TYPE_UNKNOWN ? page->types[i].bytes : 0;
    }
    if (unknown > 0 && unknown >= bytes / 100)
        put_doubt(json, "The type of %.0f %% of the allocated bytes is not known.",
                  100.0 * (double)unknown / (double)bytes);
    if (session_meta_number(session, "redacted") > 0)
        put_doubt(json, "Made for others: arguments, the host and paths above the sources are "
                        "left out.");
    json_put(json, "]");
}

/* ---- timeline --------------------------------------------------------------------------- */

static void put_numbers(struct json *json, const char *name, const uint64_t *first, size_t step)
{
    json_put(json, "%s: [", name);
    for (size_t i = 0; i < SLOTS; i++)
        json_number(json, *(const uint64_t *)(const void *)((const char *)first + i * step));
    json_put(json, "]");
}

static bool put_timeline(const struct page *page, const struct side *side, bool layers,
                         struct json *json)
{
    struct session_slot *slots = calloc(SLOTS, sizeof(*slots));
    struct session_legend *legend = calloc(1, sizeof(*legend));
    const enum session_color_by by = layers ? SESSION_COLOR_USER : SESSION_COLOR_NONE;
    bool good = slots && legend;
    if (!good)
        report_fail_memory(page->error, "the timeline");
    good = good &&
           selection_timeline(side->selection, session_start_ns(side->session),
                              session_duration_ns(side->session), SLOTS, by, slots, page->error);
    json_put(json, "timeline: {");
    if (good) {
        put_numbers(json, "live", &slots->live_bytes, sizeof(*slots));
        put_numbers(json, "peak", &slots->peak_bytes, sizeof(*slots));
        put_numbers(json, "allocated", &slots->allocated_bytes, sizeof(*slots));
        json_put(json, "layers: [");
        if (layers)
            selection_legend(side->selection, by, legend);
        for (size_t i = 0; i < legend->count; i++) {
            char name[SHORT_NAME_SIZE];
            json_put(json, "{name: %s", short_name(name, sizeof(name), legend->entry[i].label));
            put_numbers(json, "bytes", &slots->color_bytes[i], sizeof(*slots));
            json_put(json, "}");
        }
        json_put(json, "]");
    }
    json_put(json, "}");
    FREE_ALL(slots, legend);
    return good;
}

/* Writes the samples of the resident set, of several neighbours the largest one. */
static uint64_t put_resident(const struct session *session, struct json *json)
{
    const struct session_rss *samples;
    const size_t count = session_rss(session, &samples);
    const size_t each = (count + SAMPLES_MOST - 1) / SAMPLES_MOST;
    uint64_t most = 0;
    json_put(json, "rss: [");
    for (size_t from = 0; from < count; from += each) {
        size_t largest = from;
        for (size_t i = from; i < count && i < from + each; i++)
            if (samples[i].bytes > samples[largest].bytes)
                largest = i;
        json_put(json, "[%lu, %lu]", samples[largest].ns, samples[largest].bytes);
        most = samples[largest].bytes > most ? samples[largest].bytes : most;
    }
    json_put(json, "]");
    return most;
}

static size_t put_marks(const struct session *session, struct json *json)
{
    const struct session_mark *marks;
    const size_t count = session_marks(session, &marks);
    json_put(json, "marks: [");
    for (size_t i = 0; i < count && i < MARKS_MOST; i++) {
        json_put(json, "[%lu, %s]", marks[i].ns, *marks[i].name ? marks[i].name : marks[i].kind);
    }
    json_put(json, "]");
    return count > MARKS_MOST ? count - MARKS_MOST : 0;
}

/* ---- findings --------------------------------------------------------------------------- */

static void put_finding(const struct ranked_finding *finding, uint64_t peak, struct json *json)
{
    char name[SHORT_NAME_SIZE];
    json_put(json, "{word: %s, bytes: %lu, count: %lu, severity: %lu, user: %s",
             ranked_word(finding), finding->bytes, finding->count,
             (uint64_t)ranked_severity(finding, peak),
             short_name(name, sizeof(name), finding->user));
    json_put(json, "type: %s}", short_name(name, sizeof(name), finding->type));
}

static void put_findings(const struct page *page, struct json *json)
{
    struct ranked_finding *findings = calloc(RANKED_MOST, sizeof(*findings));
    char *filter = request_limits(page->request);
    const uint64_t peak = selection_peak_bytes(page->own.selection);
    struct session_error error = {.message = ""};
    size_t count = 0;
    if (findings && filter &&
        !findings_find(page->own.session, filter, peak, findings, &count, &error))
        count = 0;
    json_put(json, "findings: [");
    for (size_t i = 0; i < count; i++)
        put_finding(&findings[i], peak, json);
    json_put(json, "], findings_unknown: %s",
             !filter            ? "The findings of this filter cannot be told apart from others."
             : error.message[0] ? error.message
                                : NULL);
    FREE_ALL(filter, findings);
}

/* ---- types ------------------------------------------------------------------------------ */

static double type_share(const struct session_type_sums *type, const struct session_type_sums *sum)
{
    const uint64_t parts[] = {type->at_peak_bytes, type->live_bytes, type->bytes,
                              type->allocations},
                   wholes[] = {sum->at_peak_bytes, sum->live_bytes, sum->bytes, sum->allocations};
    double most = 0;
    for (size_t i = 0; i < 4; i++)
        if (wholes[i] > 0 && (double)parts[i] / (double)wholes[i] > most)
            most = (double)parts[i] / (double)wholes[i];
    return most;
}

static int by_type_share(const void *left, const void *right, void *sum)
{
    const double a = type_share(left, sum), b = type_share(right, sum);
    return a < b ? 1 : a > b ? -1 : 0;
}

static void put_type(const struct session *session, const struct session_type_sums *type,
                     struct json *json)
{
    char name[SHORT_NAME_SIZE];
    const char *whole = session_type_name(session, type->type);
    short_name(name, sizeof(name), whole);
    json_put(json, "{name:");
    put_whole(json, name);
    if (strcmp(name, whole) != 0) {
        json_put(json, "whole:");
        put_whole(json, whole);
    }
    json_put(json, "peak: %lu, live: %lu, bytes: %lu, count: %lu, confidence: %s}",
             type->at_peak_bytes, type->live_bytes, type->bytes, type->allocations,
             type->type == SESSION_TYPE_UNKNOWN ? "unknown"
             : type->exact_bytes == type->bytes ? "exact"
             : type->exact_bytes > 0            ? "partly exact"
                                                : "inferred");
}

/* Writes the types of a side, of a base all that may be compared. */
static bool put_types(struct page *page, const struct side *side, size_t most, struct json *json)
{
    struct session_type_sums *types = NULL, sum = {.type = 0};
    size_t count = 0;
    if (!selection_types(side->selection, &types, &count, page->error))
        return false;
    for (size_t i = 0; i < count; i++) {
        sum.at_peak_bytes += types[i].at_peak_bytes;
        sum.live_bytes += types[i].live_bytes;
        sum.bytes += types[i].bytes;
        sum.allocations += types[i].allocations;
    }
    if (count > 0)
        qsort_r(types, count, sizeof(*types), by_type_share, &sum);
    json_put(json, "types: [");
    for (size_t i = 0; i < count && i < most; i++)
        put_type(side->session, &types[i], json);
    json_put(json, "], types_left: %lu", count > most ? count - most : 0);
    free(types);
    return true;
}

/* ---- leaks ------------------------------------------------------------------------------ */

/* Stores a line of a source file that is not younger than the recording. Returns false if there is
 * none. Only an absolute path can be the file that was compiled. */
static bool read_line(const struct session *session, const char *path, uint32_t line,
                      char text[TEXT_MOST])
{
    const char *start = session_meta(session, "start_time");
    struct tm when = {.tm_year = 0};
    struct stat about;
    char *buffer = NULL;
    size_t size = 0;
    ssize_t length = -1;
    if (*path != '/' || line == 0 || !start || !strptime(start, "%Y-%m-%dT%H:%M:%S", &when))
        return false;
    /* Without O_NONBLOCK a pipe of this name would hold the program. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < 8 << 20 &&
        about.st_mtime <= timegm(&when))
        for (uint32_t i = 0; i < line; i++)
            length = getline(&buffer, &size, file);
    fclose(file);
    const char *from = length > 0 ? buffer + strspn(buffer, " \t") : "";
    snprintf(text, TEXT_MOST, "%.*s", (int)strcspn(from, "\r\n"), from);
    free(buffer);
    return *text != '\0';
}

static bool is_own(const struct page *page, uint32_t function)
{
    uint32_t name;
    bool is_new;
    return text_ids_find(page->names, session_function_name(page->own.session, function), &name,
                         &is_new) &&
           !is_new && page->own_code[name];
}

/* A frame: the name's number, file:line, 1 for own code, and the line's text. */
static void put_frame(const struct page *page, const struct session_frame *frame, bool text,
                      struct json *json)
{
    const char *file = strrchr(frame->file, '/');
    char place[300] = "", line[TEXT_MOST];
    uint32_t name = 0;
    bool is_new;
    if (*frame->file)
        snprintf(place, sizeof(place), frame->line > 0 ? "%.280s:%u" : "%.280s",
                 file ? file + 1 : frame->file, (unsigned)frame->line);
    if (!text_ids_find(page->names, session_function_name(page->own.session, frame->function),
                       &name, &is_new))
        return;
    json_put(json, "[%u, %s, %u", page->number[name], place, page->own_code[name]);
    if (text && page->own_code[name] &&
        read_line(page->own.session, frame->file, frame->line, line))
        json_text(json, line);
    json_put(json, "]");
}

/* Visits the frames of a leak that are on the page. */
static size_t leak_frames(const struct page *page, const struct session_leak *leak,
                          struct session_frame **frames, size_t *more)
{
    const size_t all = session_stack(page->own.session, leak->stack, NULL, 0);
    const size_t site = session_stack_call_site(page->own.session, leak->stack);
    *frames = calloc(all + 1, sizeof(**frames));
    *more = 0;
    if (!*frames || all == 0)
        return 0;
    session_stack(page->own.session, leak->stack, *frames, all);
    const size_t first = site < all ? site : 0, count = all - first;
    memmove(*frames, *frames + first, count * sizeof(**frames));
    *more = count > FRAMES_MOST ? count - FRAMES_MOST : 0;
    return count - *more;
}

/* Returns true if a group is shown: what the runtime keeps and what is suppressed is only summed.
 */
static bool is_shown(const struct session_leak *leak)
{
    return leak->kind == SESSION_LEAK_LATER || leak->kind == SESSION_LEAK_START_UP;
}

ARRAY_ORDER(by_bytes, struct session_leak,
            ORDER(is_shown(b), is_shown(a)) ?: ORDER(b->bytes, a->bytes))

static void mark_leaks(const struct page *page)
{
    const struct session_leaks *leaks = &page->own.leaks;
    for (size_t i = 0; i < leaks->count && i < LEAKS_MOST && is_shown(&leaks->leaks[i]); i++) {
        struct session_frame *frames;
        size_t more;
        const size_t count = leak_frames(page, &leaks->leaks[i], &frames, &more);
        for (size_t j = 0; j < count; j++) {
            uint32_t name;
            bool is_new;
            if (text_ids_find(page->names,
                              session_function_name(page->own.session, frames[j].function), &name,
                              &is_new) &&
                !is_new)
                page->used[name] = true;
        }
        free(frames);
    }
}

static void put_leak(const struct page *page, const struct session_leak *leak, struct json *json)
{
    char name[SHORT_NAME_SIZE];
    struct session_frame *frames;
    size_t more, texts = 0;
    const size_t count = leak_frames(page, leak, &frames, &more);
    json_put(json, "{bytes: %lu, blocks: %lu, stacks: %lu, start: %i, type: %s, born: [",
             leak->bytes, leak->blocks, leak->stack_count, leak->kind == SESSION_LEAK_START_UP,
             leak->type
                 ? short_name(name, sizeof(name), session_type_name(page->own.session, leak->type))
                 : NULL);
    for (size_t i = 0; i < SESSION_LEAK_TENTHS; i++)
        json_number(json, leak->born[i]);
    json_put(json, "], frames: [");
    for (size_t i = 0; i < count; i++) {
        /* The lines of the innermost own frames tell most. */
        const bool text = texts < 4 && is_own(page, frames[i].function);
        texts += text;
        put_frame(page, &frames[i], text, json);
    }
    json_put(json, "], more: %lu}", more);
    free(frames);
}

static void put_leaks(const struct page *page, struct json *json)
{
    const struct session_leaks *leaks = &page->own.leaks;
    uint64_t kept = 0, left = 0, left_bytes = 0;
    json_put(json, "leaks: [");
    for (size_t i = 0; i < leaks->count; i++) {
        const struct session_leak *leak = &leaks->leaks[i];
        if (!is_shown(leak))
            kept += leak->bytes;
        else if (i < LEAKS_MOST)
            put_leak(page, leak, json);
        else {
            left++;
            left_bytes += leak->bytes;
        }
    }
    json_put(json, "], kept_bytes: %lu, leaks_left: %lu, leaks_left_bytes: %lu", kept, left,
             left_bytes);
}

/* ---- sizes and lifetimes ---------------------------------------------------------------- */

static void put_bin(struct json *json, uint64_t from, uint64_t to, uint64_t bytes, uint64_t count)
{
    json_put(json, "[%lu, %lu, %lu, %lu]", from, to, bytes, count);
}

/* Writes the sizes by powers of two: above one up to the next. */
static bool put_sizes(const struct page *page, struct json *json)
{
    struct session_size_sums *rows = NULL;
    size_t count = 0;
    if (!selection_sizes(page->own.selection, &rows, &count, page->error))
        return false;
    json_put(json, "sizes: [");
    for (size_t i = 0; i < count;) {
        uint64_t from = 0, to = 0, bytes = 0, blocks = 0;
        if (rows[i].size > 0)
            for (from = 1, to = 1; rows[i].size > to;
                 to = to > UINT64_MAX / 2 ? UINT64_MAX : 2 * to)
                from = to + 1;
        for (; i < count && rows[i].size <= to; i++) {
            bytes += rows[i].bytes;
            blocks += rows[i].allocations;
        }
        put_bin(json, from, to, bytes, blocks);
    }
    json_put(json, "]");
    free(rows);
    return true;
}

static bool put_lifetimes(const struct page *page, struct json *json)
{
    struct session_lifetimes *lifetimes = calloc(1, sizeof(*lifetimes));
    const bool good = lifetimes ? selection_lifetimes(page->own.selection, lifetimes, page->error)
                                : report_fail_memory(page->error, "the lifetimes");
    json_put(json, "lifetimes: [");
    for (size_t i = 0; good && i < lifetimes->count; i++)
        put_bin(json, lifetimes->bins[i].from, lifetimes->bins[i].to, lifetimes->bins[i].bytes,
                lifetimes->bins[i].allocations);
    json_put(json, "]");
    free(lifetimes);
    return good;
}

/* ---- many runs -------------------------------------------------------------------------- */

static void put_points(const struct history *history, const struct history_value *of,
                       struct json *json)
{
    const size_t first = history->count > RUNS_MOST ? history->count - RUNS_MOST : 0;
    json_put(json, "points: [");
    for (size_t i = first; i < history->count; i++) {
        const struct history_value *value = history_find(&history->runs[i], of->name, of->unit);
        if (!value)
            continue;
        json_put(json, "[%s, %s, %ld]", history->runs[i].time, history->runs[i].label,
                 value->value);
    }
    json_put(json, "]");
}

static void put_trend(const struct history *history, struct json *json)
{
    json_put(json, "trend: [");
    for (size_t run = 0; history && run < history->count; run++)
        for (size_t i = 0; i < history->runs[run].count; i++) {
            const struct history_value *value = &history->runs[run].values[i];
            if (value->is_null || !history_is_first(history, run, i))
                continue;
            json_put(json, "{name: %s, unit: %s", value->name, value->unit);
            put_points(history, value, json);
            json_put(json, "}");
        }
    json_put(json, "]");
}

/* ---- the data --------------------------------------------------------------------------- */

static bool put_base(struct page *page, struct json *json)
{
    const struct side *base = &page->base;
    if (!base->session) {
        json_put(json, "base: null");
        return true;
    }
    json_put(json, "base: {");
    put_program(base->session, json);
    put_facts(base, json);
    const bool good = put_timeline(page, base, false, json) &&
                      put_types(page, base, (size_t)TYPES_MOST * 10, json);
    json_put(json, "}");
    return good;
}

static void put_left(size_t nodes, double share, size_t marks, struct json *json)
{
    json_put(json, "left: [");
    if (nodes > 0)
        put_doubt(
            json,
            "Left out: %zu calls of the flame graph, each with at most %.3g %% of any measure; "
            "their sums are in the boxes \"(smaller)\".",
            nodes, 100 * share);
    if (marks > 0)
        put_doubt(json, "Left out: %zu later marks.", marks);
    json_put(json, "]");
}

/* Writes the data with at most so many nodes of the tree. */
static bool put_data(struct page *page, size_t nodes, struct json *json)
{
    double share;
    const size_t left = page_tree_cut(page->tree, nodes, &share);
    memset(page->used, 0, text_ids_count(page->names) * sizeof(*page->used));
    page_tree_mark(page->tree, page->used);
    mark_leaks(page);
    number_names(page);
    json_put(json, "{schema: 1, version: %s", MPROF_VERSION);
    put_program(page->own.session, json);
    json_put(json, "filter: %s, at: %s, sampled: %i",
             filter_text_blank(page->request->filter) ? NULL : page->request->filter,
             page->request->at,
             session_sampled(page->own.session) ||
                 (page->base.session && session_sampled(page->base.session)));
    put_facts(&page->own, json);
    put_doubts(page, json);
    bool good = put_timeline(page, &page->own, true, json);
    put_resident(page->own.session, json);
    put_left(left, share, put_marks(page->own.session, json), json);
    put_findings(page, json);
    good = good && put_names(page, json);
    page_tree_put(page->tree, page->number, json);
    good = good && put_types(page, &page->own, TYPES_MOST, json);
    put_leaks(page, json);
    put_trend(page->history, json);
    good = good && put_sizes(page, json) && put_lifetimes(page, json) && put_base(page, json);
    json_put(json, "}");
    return good;
}

/* Returns the data as new memory, NULL with the error set. */
static char *make_data(struct page *page, size_t nodes, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    struct json *json = out ? json_begin(out, false) : NULL;
    const bool good = json && put_data(page, nodes, json);
    const bool whole = json_end(json), closed = out && fclose(out) == 0;
    if (good && whole && closed)
        return text;
    if (page->error->message[0] == '\0')
        report_fail_memory(page->error, "the page");
    free(text);
    return NULL;
}

/* ---- the file --------------------------------------------------------------------------- */

/* Writes JSON as the text of a script element: no tag can begin in it. */
static void put_script_data(const char *text, size_t size, FILE *out)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[i], out);
}

static void put_file(const struct page *page, const char *data, size_t size, FILE *out)
{
    const char *program = session_meta(page->own.session, "program");
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    name_put_xml(out, program ? program : "?");
    fputs("</title>\n<style>\n", out);
    fputs(page_css, out);
    fputs("</style>\n</head>\n<body>\n", out);
    fputs(page_html, out);
    fputs("<script type=\"application/json\" id=\"data\">", out);
    put_script_data(data, size, out);
    fputs("</script>\n<script>\n", out);
    fputs(page_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
}

static bool prepare(struct page *page)
{
    const struct report_request *request = page->request;
    page->names = text_ids_new();
    if (!page->names)
        return report_fail_memory(page->error, "the names");
    if (!open_side(page, &page->own, request->session) ||
        (request->base && !open_side(page, &page->base, request->base)))
        return false;
    struct session_leaks *leaks = &page->own.leaks;
    if (leaks->count > 0)
        qsort(leaks->leaks, leaks->count, sizeof(*leaks->leaks), by_bytes);
    page->tree =
        page_tree_new(request->session, page->own.selection, request->base,
                      request->base ? page->base.selection : NULL, page->names, page->error);
    return page->tree && collect_names(page) &&
           selection_types(page->own.selection, &page->types, &page->type_count, page->error);
}

bool page_write(const struct report_request *request, const struct history *history, FILE *out,
                struct session_error *error)
{
    struct page page = {.request = request, .history = history, .error = error};
    char *data = NULL;
    size_t size = 0;
    if (prepare(&page))
        for (size_t nodes = NODES_MOST; nodes >= NODES_LEAST; nodes /= 2) {
            free(data);
            data = make_data(&page, nodes, &size);
            if (!data || size < PAGE_MOST - BESIDE_MOST)
                break;
        }
    if (data)
        put_file(&page, data, size, out);
    const bool good = data != NULL;
    FREE_ALL(data, page.types);
    page_tree_free(page.tree);
    FREE_ALL(page.used, page.number, page.function, page.own_code, page.of_base);
    text_ids_free(page.names);
    close_side(&page.own);
    close_side(&page.base);
    return good;
}
