/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/overview/findings.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/code/short_name.h"
#include "session/code_facts.h"
#include "session/graphs.h"
#include "session/leaks.h"
#include "session/residency.h"
#include "session/stacks.h"
#include "session/user_code.h"
#include "tui/screen/format.h"
#include "tui/view/common/moments.h"

/* Returns true if the list of a package names a file whose last component is `module`. */
static bool list_has(FILE *list, const char *module)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    for (ssize_t length; !found && (length = getline(&line, &size, list)) >= 0;) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        const char *slash = strrchr(line, '/');
        found = slash && strcmp(slash + 1, module) == 0;
    }
    free(line);
    return found;
}

static bool has_file(const char *folder, const char *package, const char *module)
{
    static const char *const architectures[] = {"", ":amd64", ":arm64"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof(architectures) / sizeof(architectures[0]); i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s%s.list", folder, package, architectures[i]);
        FILE *list = fopen(path, "re");
        if (!list)
            continue;
        found = list_has(list, module);
        fclose(list);
    }
    return found;
}

/* Writes the name by Debian's rule: "libfoo2", or "libfoo2-1" if the library's name ends in a
 * digit. Returns false if the module is not a shared library with a version. */
static bool package_of(const char *module, char *out, size_t size)
{
    const char *dot = strstr(module, ".so.");
    if (!dot || dot == module || strchr(module, '/') || !isdigit((unsigned char)dot[4]))
        return false;
    const char *between = isdigit((unsigned char)dot[-1]) ? "-" : "";
    const int digits = (int)strspn(dot + 4, "0123456789");
    const int length =
        snprintf(out, size, "%.*s%s%.*s", (int)(dot - module), module, between, digits, dot + 4);
    for (char *letter = out; *letter; letter++)
        *letter = *letter == '_' ? '-' : (char)tolower((unsigned char)*letter);
    return length > 0 && (size_t)length < size;
}

bool debug_package(const char *module, const char *folder, char out[DEBUG_PACKAGE_SIZE])
{
    static const char *const variants[] = {"", "t64", "v5"}; /* of packages that were built again */
    char name[DEBUG_PACKAGE_SIZE / 2], package[DEBUG_PACKAGE_SIZE - 10];
    /* The C library has a package for all its debug information. */
    if (has_file(folder, "libc6", module)) {
        snprintf(out, DEBUG_PACKAGE_SIZE, "libc6-dbg");
        return true;
    }
    if (!package_of(module, name, sizeof(name)))
        return false;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        snprintf(package, sizeof(package), "%s%s", name, variants[i]);
        if (!has_file(folder, package, module))
            continue;
        snprintf(out, DEBUG_PACKAGE_SIZE, "%s-dbgsym", package);
        return true;
    }
    return false;
}

bool ranked_holes(const struct session_use *use, uint64_t ns, struct ranked_finding *finding)
{
    if (use->hole_count == 0 || !worst_holes_prevail(use))
        return false;
    *finding = (struct ranked_finding){.kind = RANKED_HOLES,
                                       .bytes = use->hole_bytes,
                                       .count = use->hole_count,
                                       .first_ns = ns,
                                       .last_ns = ns};
    return true;
}

/* Writes `field == "name"`, or that the field has no value. */
static void write_test(const char *field, const char *name, char *out, size_t size)
{
    char quoted[2 * RANKED_NAME + 3];
    if (*name)
        snprintf(out, size, "%s == %s", field, filter_quote(quoted, sizeof(quoted), name));
    else
        snprintf(out, size, "%s is null", field);
}

bool ranked_filter(const struct ranked_finding *finding, const char *filter, char *out, size_t size)
{
    char user[2 * RANKED_NAME + 20], type[2 * RANKED_NAME + 20], more[6 * RANKED_NAME + 160];
    char made_by[2 * RANKED_NAME + 20] = "";
    /* A name that was cut would select nothing. */
    if (finding->kind == RANKED_HOLES || strlen(finding->user) + 1 == RANKED_NAME ||
        strlen(finding->type) + 1 == RANKED_NAME)
        return false;
    write_test("user", finding->user, user, sizeof(user));
    write_test("type", finding->type, type, sizeof(type));
    if (ranked_has_kind(finding))
        write_test("kind", finding->made_by, made_by, sizeof(made_by));
    snprintf(more, sizeof(more), " | where %s and %s%s%s", user, type, made_by[0] ? " and " : "",
             made_by);
    return ranked_text(finding->kind, filter, more, out, size);
}

struct collection {
    struct session *session;
    struct selection *selection;
    bool filtered;     /* by the user, who knows what was selected: it is not a finding */
    const char *about; /* before numbers that are estimates */
    const struct session_function_row *rows;
    size_t row_count;
    struct finding *findings;
    size_t capacity, count;
    struct finding *last; /* NULL: there was no room for it */
};

static void add(struct collection *to, enum finding_gravity gravity, const char *filter,
                enum view_number view, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void add(struct collection *to, enum finding_gravity gravity, const char *filter,
                enum view_number view, const char *format, ...)
{
    to->last = to->count < to->capacity ? &to->findings[to->count++] : NULL;
    if (!to->last)
        return;
    struct finding *finding = to->last;
    finding->gravity = gravity;
    finding->view = view;
    snprintf(finding->filter, sizeof(finding->filter), "%s", filter);
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(finding->text, sizeof(finding->text), format, arguments);
    va_end(arguments);
}

/* Tells which rows the finding counts that was just added. */
static void counts(struct collection *to, const char *sql)
{
    if (to->last)
        to->last->sql = sql;
}

/* Tells which problems the newest finding counts. The session keeps the first of each kind. */
static void counts_problems(struct collection *to, const char *kind, const char *sql, uint64_t all)
{
    struct session_error error;
    uint64_t kept;
    counts(to, sql);
    if (to->last && session_problems_kept(to->session, kind, &kept, &error) && kept < all)
        to->last->kept = kept;
}

static uint64_t number(const struct collection *to, const char *key)
{
    int64_t value = session_meta_number(to->session, key);
    return value > 0 ? (uint64_t)value : 0;
}

static const char *were(uint64_t count)
{
    return count == 1 ? "was" : "were";
}

/* Adds a finding about modules, as "/a.so and 2 others". Each line of the value of `key` is one. */
static void add_modules(struct collection *to, const char *key, const char *format)
{
    const char *lines = session_meta(to->session, key);
    char names[160];
    unsigned others = 0;
    if (!lines || !*lines)
        return;
    const int length = (int)strcspn(lines, "\n");
    for (const char *c = lines; (c = strchr(c, '\n')); c++)
        others++;
    snprintf(names, sizeof(names),
             others > 1 ? "%.*s and %u others"
             : others   ? "%.*s and %u other"
                        : "%.*s",
             length < 120 ? length : 120, lines, others);
    add(to, FINDING_BAD, "", VIEW_SAME, format, names);
}

/* Adds the losses of recording and trace: they limit the meaning of everything else. */
static void add_losses(struct collection *to)
{
    char a[FORMAT_SIZE];
    uint64_t dropped = number(to, "dropped_events"), damaged = number(to, "damaged_bytes");
    uint64_t overlaps = number(to, "overlaps"), ambiguous = number(to, "ambiguous_pairs");
    if (dropped > 0)
        add(to, FINDING_BAD, "", VIEW_SAME, "%s event%s %s dropped while recording",
            format_count(a, dropped), format_plural(dropped), were(dropped));
    const char *whole = session_meta(to->session, "part_of");
    const char *graph = session_meta(to->session, "part_graph");
    if (whole && *whole)
        add(to, FINDING_BAD, "", VIEW_SAME, "only a part of %.60s: %s", whole, graph ? graph : "?");
    char *labels = session_labels(to->session);
    if (labels)
        add(to, FINDING_GOOD, "", VIEW_SAME, "labels: %.300s", labels);
    free(labels);
    const char *imported = session_meta(to->session, "imported");
    if (imported && *imported)
        add(to, FINDING_BAD, "", VIEW_SAME, "imported from %s", imported);
    add_modules(to, "unrecorded_programs", "not recorded: %s");
    add_modules(to, "unseen_modules", "allocations of %s were not recorded");
    add_modules(to, "late_modules", "%s was recorded only after it was loaded");
    if (damaged > 0) {
        add(to, FINDING_BAD, "", VIEW_SAME, "%s of the trace were damaged and left out",
            format_size(a, damaged));
        counts(to, "SELECT * FROM problem WHERE kind = 'damage'");
    }
    if (overlaps > 0) {
        add(to, FINDING_BAD, "", VIEW_SAME,
            "%s time%s an address was live twice: events are missing or out of order",
            format_count(a, overlaps), format_plural(overlaps));
        counts_problems(to, "overlap", "SELECT * FROM problem WHERE kind = 'overlap'", overlaps);
    }
    if (ambiguous > 0)
        add(to, FINDING_BAD, "", VIEW_SAME, "%s pair%s of events could be read two ways",
            format_count(a, ambiguous), format_plural(ambiguous));
    if (number(to, "lost_suppressions") > 0)
        add(to, FINDING_BAD, "", VIEW_SAME,
            number(to, "lost_suppressions") == 1
                ? "%s text or line of the program's own suppressions is missing or damaged"
                : "%s texts or lines of the program's own suppressions are missing or damaged",
            format_count(a, number(to, "lost_suppressions")));
    if (number(to, "machines") > 1)
        add(to, FINDING_BAD, "", VIEW_SAME,
            "processes of %s machines: clocks aligned by real time, the peak is that of one",
            format_count(a, number(to, "machines")));
    if (number(to, "skipped_allocations") > 0)
        add(to, FINDING_BAD, "", VIEW_SAME,
            "%s freed allocation%s counted without details: mprof-ingest could not keep up; "
            "the finished session has all",
            format_count(a, number(to, "skipped_allocations")),
            number(to, "skipped_allocations") == 1 ? " is" : "s are");
    if (number(to, "sampled") > 0)
        add(to, FINDING_BAD, "", VIEW_SAME,
            "recorded by sampling: numbers with ~ are estimates, from %s recorded allocations",
            format_count(a, session_allocation_count(to->session)));
}

static bool is_incomplete(const struct session *session, uint32_t stack)
{
    const char *state = session_stack_state(session, stack);
    return strcmp(state, "complete") != 0 && strcmp(state, "none") != 0 &&
           !session_stack_by_collector(session, stack);
}

static void add_stacks(struct collection *to)
{
    const struct session *session = to->session;
    const uint64_t stacks = number(to, "stacks");
    const uint32_t largest = session_stack_largest(session);
    const struct session_stacks_options options = {.without_short = true};
    struct session_stack_sums *rows = NULL;
    struct session_error error;
    size_t count = 0;
    uint64_t incomplete = 0, all = 0, within = 0;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    for (uint32_t id = 1; id <= largest; id++)
        incomplete += is_incomplete(session, id);
    if (incomplete > 0 && selection_stacks(to->selection, &options, &rows, &count, &error)) {
        for (size_t i = 0; i < count; i++) {
            all += rows[i].allocations;
            within += is_incomplete(session, rows[i].stack) ? rows[i].allocations : 0;
        }
        free(rows);
        add(to,
            within * 20 > all    ? FINDING_BAD
            : within * 100 > all ? FINDING_ODD
                                 : FINDING_NOTE,
            "", VIEW_SAME, "%s of %s stack%s %s incomplete, with %s of the allocations",
            format_count(a, incomplete), format_count(b, stacks), format_plural(stacks),
            incomplete == 1 ? "is" : "are", format_percent(c, within, all));
        counts(to, "SELECT id AS stack_id, state, depth, allocations, bytes FROM stack WHERE state "
                   "NOT IN ('complete', 'none', 'collector') ORDER BY bytes DESC");
    }
}

/* Returns true if some stack goes through a module. */
static bool is_used(const struct collection *to, const char *module)
{
    for (size_t i = 0; i < to->row_count; i++)
        if (strcmp(session_function_module(to->session, to->rows[i].function), module) == 0)
            return true;
    return false;
}

/* Returns true if the functions of a module have no files and lines. */
static bool is_bare(const struct session_module *module)
{
    return strcmp(module->symbols, "dwarf") != 0 && strcmp(module->symbols, "runtime") != 0;
}

/* Returns true if an earlier one has the same name, as in each of several processes. */
static bool is_repeated(const struct session_module *modules, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_bare(&modules[i]) && strcmp(modules[i].name, modules[at].name) == 0)
            return true;
    return false;
}

/* Puts the package with a module's debug information behind the others, once. There is no list if
 * the first module has no package: others would not help it. */
static void put_package(const char *module, char *packages, size_t size)
{
    char package[DEBUG_PACKAGE_SIZE];
    const size_t length = strlen(packages);
    if (debug_package(module, DEBUG_PACKAGE_FOLDER, package) && !strstr(packages, package) &&
        length + strlen(package) + 2 < size)
        snprintf(packages + length, size - length, " %s", package);
}

/* Names the modules whose functions have no files and lines, and says what helps. */
static void add_unsymbolized(struct collection *to)
{
    const struct session_module *modules = NULL;
    struct session_error error;
    size_t count = 0, found = 0, first = SIZE_MAX;
    char others[40] = "", packages[140] = "";
    const char *program = session_meta(to->session, "executable");
    if (!session_modules(to->session, &modules, &count, &error))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!is_bare(&modules[i]) || !is_used(to, modules[i].name) || is_repeated(modules, i))
            continue;
        found++;
        if (first == SIZE_MAX || (program && strcmp(modules[i].path, program) == 0))
            first = i;
    }
    if (found == 0)
        return;
    put_package(modules[first].name, packages, sizeof(packages));
    for (size_t i = 0; packages[0] && i < count; i++)
        if (is_bare(&modules[i]) && is_used(to, modules[i].name))
            put_package(modules[i].name, packages, sizeof(packages));
    if (found > 1)
        snprintf(others, sizeof(others), " and %zu other%s", found - 1, found > 2 ? "s" : "");
    const char *unreadable = strstr(modules[first].symbols, "debug information cannot be read");
    if (unreadable)
        add(to, FINDING_ODD, "", VIEW_SAME, "%.50s: %.300s", modules[first].name, unreadable);
    else
        add(to, FINDING_ODD, "", VIEW_SAME,
            packages[0] ? "no debug information for %.50s%s: install%s, then ingest again"
            : strstr(modules[first].name, ".so")
                ? "no debug information for %.50s%s: install its debug package or set "
                  "DEBUGINFOD_URLS, then ingest again%s"
                : "no debug information for %.50s%s: build it with -g, or give --debug-dir to "
                  "mprof-ingest%s",
            modules[first].name, others, packages);
    counts(to, "SELECT name, group_concat(DISTINCT symbols) AS symbols, "
               "group_concat(DISTINCT path) AS paths FROM module WHERE symbols NOT IN ('dwarf', "
               "'runtime') AND id IN (SELECT module_id FROM frame) GROUP BY name");
}

/* Leads to the arena that gave out the most, if that is more than the heap did: without a filter
 * only the heap is shown. */
static void add_arena(struct collection *to)
{
    const struct session_arena *arenas = NULL, *most = NULL;
    struct session_error error;
    size_t count = 0;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], filter[sizeof(to->findings->filter)];
    if (to->filtered || !session_arenas(to->session, &arenas, &count, &error))
        return;
    for (size_t i = 0; i < count; i++)
        if (arenas[i].bytes > number(to, "bytes_allocated") &&
            (!most || arenas[i].bytes > most->bytes))
            most = &arenas[i];
    if (!most || strpbrk(most->name, "\"\\") || strlen(most->name) + 20 > sizeof(filter))
        return;
    snprintf(filter, sizeof(filter), "where arena == \"%s\"", most->name);
    add(to, FINDING_BAD, filter, VIEW_SAME,
        "%s%s in %s%s block%s are of %.40s, not of this heap: Enter", to->about,
        format_size(a, most->bytes), to->about, format_count(b, most->allocations),
        format_plural(most->allocations), most->name);
}

/* Says which graphs behind the ranked findings are the user's own, in place of those that ship. */
static void add_own_graphs(struct collection *to)
{
    char names[200] = "";
    size_t length = 0;
    for (size_t kind = 0; kind < RANKED_KINDS; kind++) {
        struct session_graph graph;
        struct session_error error;
        if (!session_graph_find(to->session, ranked_graph(kind), &graph, &error))
            continue;
        if (graph.place != SESSION_PLACE_SHIPPED && length < sizeof(names))
            length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
                                       length > 0 ? ", " : "", graph.name);
        session_graph_clear(&graph);
    }
    if (length > 0)
        add(to, FINDING_ODD, "", VIEW_GRAPHS,
            "findings by graphs of your own, not those that ship: %s", names);
}

static void add_misuse(struct collection *to)
{
    char a[FORMAT_SIZE];
    uint64_t twice = number(to, "double_frees"), unknown = number(to, "unmatched_frees");
    if (twice > 0) {
        add(to, FINDING_ODD, "", VIEW_SAME, "%s block%s %s freed twice", format_count(a, twice),
            format_plural(twice), were(twice));
        counts_problems(to, "double free", "SELECT * FROM problem WHERE kind = 'double free'",
                        twice);
    }
    if (unknown > 0) {
        add(to, FINDING_ODD, "", VIEW_SAME, "%s free%s of blocks that were never seen allocated",
            format_count(a, unknown), format_plural(unknown));
        counts_problems(to, "unmatched free", "SELECT * FROM problem WHERE kind = 'unmatched free'",
                        unknown);
    }
}

static void add_mismatches(struct collection *to)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    const uint64_t wrong_sizes = number(to, "wrong_sizes");
    if (wrong_sizes > 0) {
        add(to, FINDING_ODD, "", VIEW_SAME, "%s block%s %s deleted with a wrong size",
            format_count(a, wrong_sizes), format_plural(wrong_sizes), were(wrong_sizes));
        counts(to, "SELECT * FROM v_wrong_size");
    }
    struct session_mismatch worst;
    struct session_error error;
    uint64_t all = number(to, "mismatched_frees");
    if (!session_worst_mismatch(to->session, &worst, &error) || !worst.allocations)
        return;
    add(to, FINDING_ODD, "", VIEW_SAME, "%s mismatched free%s, most (%s) %s of what %s gave %.80s",
        format_count(a, all), format_plural(all), format_percent(b, worst.allocations, all),
        worst.freed_by, worst.kind, worst.function);
    counts(to, "SELECT * FROM v_mismatch ORDER BY allocations DESC");
}

/* Stores what of the live blocks the runtime, suppressions and collectors keep. The functions know
 * only what is kept by stack. Returns false if it cannot be read. */
static bool read_kept(const struct collection *to, uint64_t *bytes, uint64_t *count)
{
    struct session_error error;
    struct session_leaks leaks;
    bool collected;
    *bytes = *count = 0;
    for (size_t i = 0; to->rows && i < to->row_count; i++) {
        *bytes += to->rows[i].kept_bytes;
        *count += to->rows[i].kept_count;
    }
    if (!session_has_collected(to->session, &collected, &error))
        return false;
    if (!collected)
        return true;
    if (!selection_leaks(to->selection, NULL, &leaks, &error))
        return false;
    *bytes = selection_live_bytes(to->selection) - leaks.leaked.bytes;
    *count = selection_live_count(to->selection) - leaks.leaked.blocks;
    session_leaks_free(&leaks);
    return true;
}

/* The sums of a remark by function of the user's own code, innermost on the stack. */
struct by_user {
    uint64_t *sums; /* by function */
    size_t count;
};

enum { FRAMES_MOST = 512 };

static void add_stack(const struct collection *to, struct by_user *by, uint32_t stack,
                      uint64_t value)
{
    struct session_frame frames[FRAMES_MOST];
    const size_t user = value > 0 ? session_stack_user(to->session, stack) : SESSION_NO_FRAME;
    if (user >= FRAMES_MOST || session_stack(to->session, stack, frames, user + 1) <= user ||
        frames[user].function >= by->count)
        return;
    by->sums[frames[user].function] += value;
}

/* Makes room for the sums. Returns false without memory for it, or if the selection is so large
 * that nobody waits for the pass over it. */
static bool open_by_user(const struct collection *to, struct by_user *by)
{
    bool *own;
    struct session_error error;
    *by = (struct by_user){.sums = NULL};
    if (selection_allocations(to->selection) > BROWSE_PASS_MOST ||
        !session_own_functions(to->session, &own, &by->count, &error))
        return false;
    free(own);
    by->sums = calloc(by->count + 1, sizeof(*by->sums));
    return by->sums;
}

/* Writes ", most (67%) by EvalString::AddText", if it is less than half ", 27% by …"; "" if no
 * function of the user has any. Frees the sums. */
static void write_most_by(const struct collection *to, struct by_user *by, uint64_t all, char *out,
                          size_t size)
{
    char percent[FORMAT_SIZE], name[84];
    size_t most = 0;
    for (size_t i = 1; by->sums && i < by->count; i++)
        if (by->sums[i] > by->sums[most])
            most = i;
    *out = 0;
    if (most > 0)
        snprintf(
            out, size, by->sums[most] > all / 2 ? ", most (%s) by %s" : ", %s by %s",
            format_percent(percent, by->sums[most], all),
            short_name_cut(name, sizeof(name), session_function_name(to->session, (uint32_t)most)));
    free(by->sums);
}

/* Sums up the leaks or, while the program runs, the live blocks. */
static struct by_user leaks_by_user(const struct collection *to, bool recording)
{
    const struct session_stacks_options options = {.without_short = true};
    struct session_stack_sums *rows = NULL;
    struct session_leaks leaks;
    struct session_error error;
    struct by_user by;
    size_t count;
    if (!open_by_user(to, &by))
        return by;
    if (recording && selection_stacks(to->selection, &options, &rows, &count, &error)) {
        for (size_t i = 0; i < count; i++)
            add_stack(to, &by, rows[i].stack, rows[i].live_bytes);
    } else if (!recording && selection_leaks(to->selection, NULL, &leaks, &error)) {
        for (size_t i = 0; i < leaks.count; i++)
            if (leaks.leaks[i].kind <= SESSION_LEAKS_LAST)
                add_stack(to, &by, leaks.leaks[i].stack, leaks.leaks[i].bytes);
        session_leaks_free(&leaks);
    }
    free(rows);
    return by;
}

static void add_leaks(struct collection *to)
{
    const struct selection *selection = to->selection;
    uint64_t bytes = selection_live_bytes(selection), count = selection_live_count(selection);
    const char *about = to->about;
    uint64_t kept_bytes = 0, kept = 0;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], most[128];
    /* If the program still ran at the end, nobody knows which blocks it will not free. */
    const bool stopped = session_stopped(to->session);
    const bool recording = session_recording(to->session) || stopped;
    if (to->filtered && (count == 0 || count == selection_allocations(selection)))
        return;
    if (!recording && !read_kept(to, &kept_bytes, &kept)) {
        add(to, FINDING_BAD, "", VIEW_SAME, "what leaked is not known: it cannot be read");
        return;
    }
    bytes -= kept_bytes < bytes ? kept_bytes : bytes;
    count -= kept < count ? kept : count;
    if (count == 0 && kept > 0) {
        add(to, FINDING_GOOD, "", VIEW_SAME,
            number(to, "suppressions") > 0
                ? "nothing leaked: suppressions and the runtime account for %s in %s block%s"
                : "nothing leaked: the runtime alone keeps %s in %s block%s",
            format_size(a, kept_bytes), format_count(b, kept), format_plural(kept));
        return;
    }
    if (count == 0) {
        add(to, FINDING_GOOD, "", VIEW_SAME,
            stopped     ? "nothing was live when the recording stopped"
            : recording ? "nothing is live now"
                        : "nothing leaked: everything was freed");
        return;
    }
    struct by_user by = leaks_by_user(to, recording);
    write_most_by(to, &by, bytes, most, sizeof(most));
    add(to, FINDING_ODD, "where freed == false", VIEW_FUNCTIONS, "%s%s %s in %s%s block%s%s", about,
        format_size(a, bytes),
        stopped     ? "live when the recording stopped"
        : recording ? "live now"
                    : "leaked",
        about, format_count(b, count), format_plural(count), most);
    if (to->last)
        to->last->leaked = !recording;
}

static void add_short_lived(struct collection *to)
{
    const struct session_stacks_options options = {.split = 0};
    const uint64_t all = selection_allocations(to->selection);
    struct session_stack_sums *stacks = NULL;
    struct session_error error;
    struct by_user by;
    size_t stack_count;
    uint64_t count = 0;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], most[128];
    for (size_t i = 0; i < to->row_count; i++)
        count += to->rows[i].short_lived;
    if (to->filtered && (count == 0 || count == all))
        return;
    if (count == 0 || count * 10 < all || count < 1000) {
        add(to, FINDING_GOOD, "", VIEW_SAME, "no storm of short-lived allocations");
        return;
    }
    if (open_by_user(to, &by) &&
        selection_stacks(to->selection, &options, &stacks, &stack_count, &error))
        for (size_t i = 0; i < stack_count; i++)
            add_stack(to, &by, stacks[i].stack, stacks[i].short_count);
    free(stacks);
    write_most_by(to, &by, count, most, sizeof(most));
    add(to, FINDING_ODD, "where lifetime < 1ms and freed == true", VIEW_FUNCTIONS,
        "%s of all allocations (%s%s) lived under 1 ms%s", format_percent(a, count, all), to->about,
        format_count(b, count), most);
}

/* Returns what a group has of live bytes that were never touched, or of the holes that it pins. */
static uint64_t out_of_reach(const struct session_residency_group *group, bool pinned)
{
    return pinned ? group->pinned : group->untouched;
}

/* Writes the name of the group that has most of it: " parse_expr", after `before`. "" if none has.
 */
static void write_most(const struct collection *to, const struct session_residency *moment,
                       enum session_residency_by by, bool pinned, const char *before, char *out,
                       size_t size)
{
    struct session_residency_group *rows, total;
    struct session_error error;
    size_t count, most = 0;
    char name[60];
    *out = 0;
    if (!session_residency_groups(to->session, moment, by, &rows, &count, &total, &error))
        return;
    for (size_t i = 1; i < count; i++)
        if (out_of_reach(&rows[i], pinned) > out_of_reach(&rows[most], pinned))
            most = i;
    if (count > 0 && rows[most].id != 0 && out_of_reach(&rows[most], pinned) > 0)
        snprintf(out, size, "%s %s", before,
                 by == SESSION_RESIDENCY_TYPE
                     ? session_type_name(to->session, rows[most].id)
                     : short_name_cut(name, sizeof(name),
                                      session_function_name(to->session, rows[most].id)));
    free(rows);
}

/* A smaller resident set is that of a program's files and stacks. */
#define SMALL_RSS (UINT64_C(16) << 20)
/* Less than that is the end of some blocks. */
#define SMALL_UNTOUCHED (UINT64_C(1) << 20)

/* Says why live bytes and the resident set differ by more than a tenth, when that is largest. */
static void add_resident(struct collection *to)
{
    const struct session_residency *moments;
    struct session_error error;
    size_t count;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], at[FORMAT_SIZE], who[96] = "", what[96];
    if (to->filtered || !session_residencies(to->session, &moments, &count, &error) || count == 0)
        return;
    const struct session_residency *moment = &moments[session_residency_largest(moments, count)];
    const uint64_t *bytes = moment->bytes, untouched = bytes[RESIDENCY_LIVE_UNTOUCHED];
    const uint64_t live =
        bytes[RESIDENCY_LIVE_RESIDENT] + untouched + bytes[RESIDENCY_LIVE_SWAPPED];
    enum session_residency_class most = RESIDENCY_HEADERS;
    if (untouched >= SMALL_UNTOUCHED && untouched > live / 10 && untouched > moment->present / 10) {
        write_most(to, moment, SESSION_RESIDENCY_USER, false, ": mostly", who, sizeof(who));
        write_most(to, moment, SESSION_RESIDENCY_TYPE, false, who[0] ? "," : ": mostly", what,
                   sizeof(what));
        add(to, FINDING_ODD, "", VIEW_RSS, "%s of %s live were never touched%s%s",
            format_size(a, untouched), format_size(b, live), who, what);
    }
    if (moment->present < SMALL_RSS ||
        moment->present - bytes[RESIDENCY_LIVE_RESIDENT] <= moment->present / 10)
        return;
    for (int part = RESIDENCY_HEADERS; part < RESIDENCY_IN_RSS; part++)
        if (bytes[part] > bytes[most])
            most = (enum session_residency_class)part;
    who[0] = 0;
    if (most == RESIDENCY_HOLES)
        write_most(to, moment, SESSION_RESIDENCY_USER, true, ", pinned by", who, sizeof(who));
    add(to, FINDING_ODD, "", VIEW_RSS, "RSS %s at %s, of it live %s; %s in %s%s",
        format_size(a, moment->present), format_instant(at, moment->ns),
        format_size(b, bytes[RESIDENCY_LIVE_RESIDENT]), format_size(c, bytes[most]),
        session_residency_class_title(most), who);
    if (to->last)
        to->last->ns = moment->ns;
}

size_t findings_collect(struct session *session, struct selection *selection, bool filtered,
                        const struct session_function_row *rows, size_t row_count,
                        const struct session_error *unread, struct finding *findings,
                        size_t capacity)
{
    struct collection to = {.session = session,
                            .selection = selection,
                            .filtered = filtered,
                            .about = session_sampled(session) ? "~" : "",
                            .rows = rows,
                            .row_count = row_count,
                            .findings = findings,
                            .capacity = capacity};
    add_losses(&to);
    const size_t losses = to.count;
    add_arena(&to);
    if (unread) {
        add(&to, FINDING_BAD, "", VIEW_SAME, "nothing is known of leaks and lifetimes: %s",
            unread->message);
    } else {
        add_leaks(&to);
        add_short_lived(&to);
    }
    add_resident(&to);
    add_own_graphs(&to);
    add_misuse(&to);
    add_mismatches(&to);
    add_stacks(&to);
    add_unsymbolized(&to);
    if (losses == 0)
        add(&to, FINDING_GOOD, "", VIEW_SAME, "no event dropped, no byte of the trace damaged");
    /* Stable sort by gravity, by insertion: there are only a few. */
    for (size_t i = 1; i < to.count; i++) {
        struct finding moved = findings[i];
        size_t at = i;
        for (; at > 0 && findings[at - 1].gravity < moved.gravity; at--)
            findings[at] = findings[at - 1];
        findings[at] = moved;
    }
    return to.count;
}
