/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass sums up the never freed blocks by stack and type. Then each call site gets the number of
 * its path: the functions from there outwards, each once, at its innermost place. The paths of
 * nodes beside each other are nearly the same, and long: they differ by one function, which comes
 * to the front. So a path is known by its pairs of neighbours, of which at most four change from a
 * node to the next one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "schemas/array.h"
#include "schemas/code/suppressions.h"
#include "session/filter/references.h"
#include "session/leaks.h"
#include "session/session.h"
#include "session/store/error.h"
#include "session/store/processes.h"
#include "session/store/session_state.h"
#include "session/table/code_map.h"
#include "session/table/group_set.h"
#include "session/table/selection_state.h"
#include "session/table/sums.h"
#include "session/types.h"

/* ---- suppressed stacks ------------------------------------------------------------------ */

/* Finds the stacks of a session that suppressions name (schemas/code/suppressions.h), as
 * mprof-ingest does for the stacks of a trace. */

struct suppressed {
    const struct session *session;
    const struct suppressions *suppressions;
    /* By id: the place of the first pattern that matches, or the number of patterns for none. */
    size_t *functions, *files, *modules;
    uint32_t *of_node; /* by node: the same of its innermost frame for which there is one */
};

static size_t *places(size_t count, size_t none)
{
    size_t *all = malloc((count + 1) * sizeof(*all));
    for (size_t i = 0; all && i <= count; i++)
        all[i] = none;
    return all;
}

static bool read_module(void *context, const struct database_row *row, struct session_error *error)
{
    struct suppressed *suppressed = context;
    const int64_t id = database_number(row, 0);
    const char *path = database_text(row, 1);
    if (path && id > 0 && id < suppressed->session->names.module.count)
        suppressed->modules[id] = suppressions_first_match(suppressed->suppressions, path);
    return true;
}

static bool find_nodes(struct suppressed *suppressed, struct session_error *error)
{
    const struct stacks *stacks = &suppressed->session->stacks;
    const size_t none = suppressions_count(suppressed->suppressions);
    uint32_t *of_node = suppressed->of_node = malloc(stacks->all.count * sizeof(*of_node));
    if (!of_node)
        return session_fail_memory(error, "the suppressions");
    of_node[0] = (uint32_t)none;
    for (uint32_t node = stacks->all.count; node-- > 1;) {
        const struct stack_frame *frame = &stacks->frame_table[stacks_frame(stacks, node)];
        const size_t function = suppressed->functions[frame->function];
        const size_t file = suppressed->files[frame->file];
        size_t found = suppressed->modules[frame->module];
        if (found == none)
            found = function < file ? function : file;
        of_node[node] = found != none ? (uint32_t)found : of_node[stacks_caller(stacks, node)];
    }
    return true;
}

static void suppressed_free(struct suppressed *suppressed)
{
    if (!suppressed)
        return;
    FREE_ALL(suppressed->functions, suppressed->files, suppressed->modules, suppressed->of_node,
             suppressed);
}

/* Looks at all names once. The frames of all stacks are loaded (stacks_frames()). Both arguments
 * must outlive the result. NULL with `error` set. Free it by suppressed_free(). */
static struct suppressed *suppressed_new(struct session *session,
                                         const struct suppressions *suppressions,
                                         struct session_error *error)
{
    const struct names *names = &session->names;
    const size_t none = suppressions_count(suppressions);
    struct suppressed *suppressed = calloc(1, sizeof(*suppressed));
    if (suppressed)
        *suppressed = (struct suppressed){session,
                                          suppressions,
                                          places(names->function_count, none),
                                          places(names->file.count, none),
                                          places(names->module.count, none),
                                          NULL};
    if (!suppressed || !suppressed->functions || !suppressed->files || !suppressed->modules) {
        suppressed_free(suppressed);
        session_fail_memory(error, "the suppressions");
        return NULL;
    }
    for (uint32_t i = 1; i < names->function_count; i++)
        suppressed->functions[i] = suppressions_first_match(suppressions, names->function[i].name);
    for (uint32_t i = 1; i < names->file.count; i++)
        suppressed->files[i] = suppressions_first_match(suppressions, names->file.name[i]);
    if (stacks_frames(&session->stacks, error) &&
        database_each(session->database, "SELECT id, path FROM module", read_module, suppressed,
                      error) &&
        find_nodes(suppressed, error))
        return suppressed;
    suppressed_free(suppressed);
    return NULL;
}

/* Returns the pattern that LeakSanitizer would choose for the stack, NULL if none matches. */
static const char *suppressed_by(const struct suppressed *suppressed, uint32_t stack)
{
    const size_t found = suppressed->of_node[stacks_node(&suppressed->session->stacks, stack)];
    return found == suppressions_count(suppressed->suppressions)
               ? NULL
               : suppressions_pattern(suppressed->suppressions, found);
}

/* The reasons of the stacks that are not leaks. */
struct reasons {
    uint32_t *of_stack; /* place in the lists + 1, 0: none */
    enum session_leak_kind *kinds;
    size_t *texts; /* offset in `text` */
    size_t count, capacity;
    char *text;
    size_t length, room;
};

struct grouping {
    struct session *session;
    struct sums sums;        /* by stack and type, then by stack */
    struct code_map paths;   /* the sums of the paths' pairs of neighbours */
    uint32_t *sites;         /* by stack: its node from which the path begins */
    uint32_t *path_of;       /* by node: the number of the path, 0: no path begins there */
    struct code_map parts;   /* stack and type, if several types of a name are one */
    uint64_t *last_ns;       /* of each part */
    struct code_map groups;  /* path and type; reason and STARTS */
    uint32_t *group_of_code; /* of each sum */
    struct reasons reasons;
    struct collected_arenas collected;
    uint8_t *reachability; /* references_by_row(), or NULL: there is no snapshot */
    uint32_t by_collector; /* place of that reason + 1 */
    struct session_leaks *leaks;
};

/* In the code of a sum, beside the type: its blocks lie in arenas that a collector cleans. */
#define OF_COLLECTOR (UINT64_C(1) << 32)

/* In the codes of sums and groups: the reach of the blocks is in the bits above. */
enum { REACH_SHIFT = 33 };

/* In the code of a group, beside the reason: all was allocated in the first tenth of the run. */
#define STARTS (UINT64_C(1) << 32)

void session_leaks_free(struct session_leaks *leaks)
{
    FREE_ALL(leaks->leaks, leaks->stacks, leaks->texts);
    *leaks = (struct session_leaks){.count = 0};
}

/* ---- the pass --------------------------------------------------------------------------- */

static enum session_leak_reach reach_of(const struct grouping *grouping, uint64_t row)
{
    static const enum session_leak_reach reaches[REACHABILITY_WORDS + 1] = {
        SESSION_LEAK_REACH_UNKNOWN,
        [REACHABILITY_UNKNOWN + 1] = SESSION_LEAK_REACH_UNKNOWN,
        [REACHABILITY_REACHABLE + 1] = SESSION_LEAK_REACHABLE,
        [REACHABILITY_POSSIBLY + 1] = SESSION_LEAK_POSSIBLY,
        [REACHABILITY_UNREACHABLE + 1] = SESSION_LEAK_UNREACHABLE,
        [REACHABILITY_ROOT + 1] = SESSION_LEAK_REACHABLE,
    };
    return reaches[grouping->reachability ? grouping->reachability[row] : 0];
}

static void by_stack_and_type(const void *context, const struct sums_rows *rows, struct code *codes)
{
    const struct collected_arenas *collected = &((const struct grouping *)context)->collected;
    for (size_t i = 0; i < rows->count; i++) {
        codes[i] = (struct code){rows->value[COLUMN_STACK][i], rows->value[COLUMN_TYPE][i]};
        if (collected->count > 0 && !collected->other[rows->value[COLUMN_ARENA][i]])
            codes[i].high |= OF_COLLECTOR;
        codes[i].high |= (uint64_t)reach_of(context, rows->first + rows->row[i]) << REACH_SHIFT;
    }
}

/* ---- reasons ---------------------------------------------------------------------------- */

static bool grow_reasons(struct reasons *reasons)
{
    if (reasons->count < reasons->capacity)
        return true;
    const size_t capacity = reasons->capacity ? 2 * reasons->capacity : 16;
    enum session_leak_kind *kinds = realloc(reasons->kinds, capacity * sizeof(*kinds));
    if (kinds)
        reasons->kinds = kinds;
    size_t *texts = kinds ? realloc(reasons->texts, capacity * sizeof(*texts)) : NULL;
    if (!texts)
        return false;
    reasons->texts = texts;
    reasons->capacity = capacity;
    return true;
}

static bool add_text(struct reasons *reasons, const char *text)
{
    const size_t length = strlen(text) + 1;
    if (reasons->length + length > reasons->room) {
        const size_t room = 2 * (reasons->room + length);
        char *more = realloc(reasons->text, room);
        if (!more)
            return false;
        reasons->text = more;
        reasons->room = room;
    }
    memcpy(reasons->text + reasons->length, text, length);
    reasons->length += length;
    return true;
}

/* Stores in `place` the place + 1 of a reason, which is stored if it is new. They are few: one for
 * each kind of runtime and each pattern. */
static bool add_reason(struct reasons *reasons, uint32_t *place, enum session_leak_kind kind,
                       const char *text, struct session_error *error)
{
    size_t i = 0;
    while (i < reasons->count &&
           (reasons->kinds[i] != kind || strcmp(reasons->text + reasons->texts[i], text) != 0))
        i++;
    if (i == reasons->count) {
        if (!grow_reasons(reasons))
            return session_fail_memory(error, "the leaks");
        reasons->kinds[i] = kind;
        reasons->texts[i] = reasons->length;
        if (!add_text(reasons, text))
            return session_fail_memory(error, "the leaks");
        reasons->count++;
    }
    *place = (uint32_t)i + 1;
    return true;
}

static bool read_reason(void *context, const struct database_row *row, struct session_error *error)
{
    struct grouping *grouping = context;
    const int64_t stack = database_number(row, 0);
    const char *kind = database_text(row, 1), *pattern = database_text(row, 2);
    if (stack < 0 || stack >= grouping->session->stacks.count || !kind)
        return true;
    const bool suppressed = strcmp(kind, "suppressed") == 0;
    return add_reason(&grouping->reasons, &grouping->reasons.of_stack[stack],
                      suppressed ? SESSION_LEAK_SUPPRESSED : SESSION_LEAK_RUNTIME,
                      suppressed ? pattern ? pattern : "" : kind, error);
}

/* Looks up the stacks of the sums in the caller's suppressions. */
static bool suppress(struct grouping *grouping, const struct suppressions *suppressions,
                     struct session_error *error)
{
    struct reasons *reasons = &grouping->reasons;
    if (!suppressions || suppressions_count(suppressions) == 0)
        return true;
    struct suppressed *suppressed = suppressed_new(grouping->session, suppressions, error);
    bool good = suppressed != NULL;
    for (size_t i = 0; good && i < grouping->sums.codes.count; i++) {
        const uint32_t stack = (uint32_t)grouping->sums.codes.codes[i].low;
        const char *pattern =
            reasons->of_stack[stack] == 0 ? suppressed_by(suppressed, stack) : NULL;
        good = !pattern || add_reason(reasons, &reasons->of_stack[stack],
                                      SESSION_LEAK_SUPPRESSED_HERE, pattern, error);
    }
    suppressed_free(suppressed);
    return good;
}

static bool find_reasons(struct grouping *grouping, const struct suppressions *suppressions,
                         struct session_error *error)
{
    struct session *session = grouping->session;
    grouping->reasons.of_stack = calloc(session->stacks.count, sizeof(*grouping->reasons.of_stack));
    if (!grouping->reasons.of_stack)
        return session_fail_memory(error, "the leaks");
    return database_each(session->database,
                         "SELECT stack_id, kind, pattern FROM runtime_stack ORDER BY stack_id",
                         read_reason, grouping, error) &&
           (grouping->collected.count == 0 ||
            add_reason(&grouping->reasons, &grouping->by_collector, SESSION_LEAK_RUNTIME,
                       "garbage collector", error)) &&
           suppress(grouping, suppressions, error);
}

/* ---- paths ------------------------------------------------------------------------------ */

/* A path, as a ring of functions from the outermost one inwards, with the number of functions as
 * its beginning and end. */
struct path {
    uint32_t *outer, *inner; /* by function: its neighbours; outer is NOT_IN_PATH for most */
    uint32_t end;
    uint64_t seed;    /* so nobody can make two paths of one sum */
    struct code sum;  /* of the pairs of neighbours */
    uint32_t *before; /* by node that is open: where its function was: its outer neighbour */
};

enum { NOT_IN_PATH = UINT32_MAX, AT_FRONT = UINT32_MAX - 1 };

/* Adds a pair of neighbours to the sum, or takes it out. */
static void toggle(struct path *path, uint32_t outer, uint32_t inner)
{
    const uint64_t pair = code_mix((uint64_t)outer << 32 | inner);
    path->sum.low ^= code_mix(pair + path->seed);
    path->sum.high ^= code_mix(pair ^ code_mix(path->seed));
}

static void put_in(struct path *path, uint32_t function, uint32_t outer)
{
    const uint32_t inner = path->inner[outer];
    toggle(path, outer, inner);
    toggle(path, outer, function);
    toggle(path, function, inner);
    path->outer[function] = outer;
    path->inner[function] = inner;
    path->inner[outer] = path->outer[inner] = function;
}

static void take_out(struct path *path, uint32_t function)
{
    const uint32_t outer = path->outer[function], inner = path->inner[function];
    toggle(path, outer, function);
    toggle(path, function, inner);
    toggle(path, outer, inner);
    path->inner[outer] = inner;
    path->outer[inner] = outer;
    path->outer[function] = NOT_IN_PATH;
}

/* Brings the function of a node to the front of the path of its caller. */
static void enter(struct path *path, uint32_t node, uint32_t function)
{
    const uint32_t front = path->outer[path->end];
    path->before[node] = function == front ? AT_FRONT : path->outer[function];
    if (function == front)
        return;
    if (path->outer[function] != NOT_IN_PATH)
        take_out(path, function);
    put_in(path, function, front);
}

static void leave(struct path *path, uint32_t node, uint32_t function)
{
    if (path->before[node] == AT_FRONT)
        return;
    take_out(path, function);
    if (path->before[node] != NOT_IN_PATH)
        put_in(path, function, path->before[node]);
}

static bool path_open(struct path *path, uint32_t functions, uint32_t nodes)
{
    const size_t size = (size_t)functions + 1;
    *path = (struct path){malloc(size * sizeof(uint32_t)), malloc(size * sizeof(uint32_t)),
                          .end = functions, .before = malloc(nodes * sizeof(uint32_t))};
    if (getrandom(&path->seed, sizeof(path->seed), GRND_NONBLOCK) < 0)
        path->seed = (uintptr_t)path->before;
    if (!path->outer || !path->inner || !path->before)
        return false;
    memset(path->outer, 0xff, size * sizeof(uint32_t));
    path->outer[functions] = path->inner[functions] = functions;
    return true;
}

/* In `path_of`, before the number is known. */
enum { PATH_ASKED = UINT32_MAX, PATH_PASSED = UINT32_MAX - 1 };

/* Numbers the paths that are asked for. Nodes inwards of a node are lower. */
static bool number_paths(struct grouping *grouping, struct path *path, struct session_error *error)
{
    const struct stacks *stacks = &grouping->session->stacks;
    uint32_t *path_of = grouping->path_of;
    for (uint32_t node = 1; node < stacks->all.count; node++)
        if (path_of[node] != 0 && path_of[stacks_caller(stacks, node)] == 0)
            path_of[stacks_caller(stacks, node)] = PATH_PASSED;
    for (uint32_t node = stacks->all.count, open = 0; node-- > 1;) {
        if (node % 4096 == 0 && !scan_go_on(grouping->session, error))
            return false;
        if (path_of[node] == 0)
            continue;
        for (; open != stacks_caller(stacks, node); open = stacks_caller(stacks, open))
            leave(path, open, stacks_function(stacks, open));
        enter(path, node, stacks_function(stacks, node));
        open = node;
        if (path_of[node] != PATH_ASKED)
            continue;
        if (!code_map_add(&grouping->paths, path->sum, PATH_PASSED - 1, &path_of[node]))
            return session_fail_memory(error, "the leaks");
        path_of[node]++;
    }
    return true;
}

static bool find_paths(struct grouping *grouping, struct session_error *error)
{
    struct session *session = grouping->session;
    struct path path;
    grouping->sites = stacks_sites(&session->stacks, session->stacks.call_site, error);
    if (!grouping->sites)
        return false;
    grouping->path_of = calloc(session->stacks.all.count, sizeof(*grouping->path_of));
    bool good = path_open(&path, session->names.function_count, session->stacks.all.count) &&
                grouping->path_of;
    if (!good)
        session_fail_memory(error, "the leaks");
    for (size_t i = 0; good && i < grouping->sums.codes.count; i++) {
        const uint32_t site = grouping->sites[(uint32_t)grouping->sums.codes.codes[i].low];
        grouping->path_of[site] = site == 0 ? 0 : PATH_ASKED;
    }
    good = good && number_paths(grouping, &path, error);
    FREE_ALL(path.outer, path.inner, path.before);
    return good;
}

static struct code part_of(const struct grouping *grouping, uint32_t number)
{
    const struct code code = grouping->sums.codes.codes[number];
    return (struct code){code.low, grouping->session->names.type_first[(uint32_t)code.high]};
}

/* Finds when the last block of each stack and type was allocated. */
static bool find_last(struct grouping *grouping, struct session_error *error)
{
    const struct sums *sums = &grouping->sums;
    if (!(grouping->last_ns = calloc(sums->codes.count + 1, sizeof(*grouping->last_ns))))
        return session_fail_memory(error, "the leaks");
    for (uint32_t i = 0; i < sums->codes.count; i++) {
        uint32_t part;
        if (sums->codes.codes[i].high & OF_COLLECTOR)
            continue;
        if (!code_map_add(&grouping->parts, part_of(grouping, i), GROUPS_MAX, &part))
            return session_fail_memory(error, "the leaks");
        const uint64_t last_ns = sums_of(sums, i, SUMS_TIMES)[1];
        if (last_ns > grouping->last_ns[part])
            grouping->last_ns[part] = last_ns;
    }
    return true;
}

/* Returns true if the program allocated all blocks of the sum's stack and type in the first tenth
 * of its run. Nobody knows while it runs. */
static bool starts(const struct grouping *grouping, uint32_t number)
{
    const struct session_leaks *leaks = grouping->leaks;
    const uint64_t tenth = (leaks->to_ns - leaks->from_ns) / SESSION_LEAK_TENTHS;
    return !session_recording(grouping->session) && !session_stopped(grouping->session) &&
           grouping->last_ns[code_map_find(&grouping->parts, part_of(grouping, number))] <=
               leaks->from_ns + tenth;
}

static bool find_groups(struct grouping *grouping, struct session_error *error)
{
    const struct sums *sums = &grouping->sums;
    for (uint32_t i = 0; i < sums->codes.count; i++) {
        const uint32_t stack = (uint32_t)sums->codes.codes[i].low;
        const uint64_t high = sums->codes.codes[i].high;
        const uint64_t type = grouping->session->names.type_first[(uint32_t)high];
        const uint32_t reason =
            high & OF_COLLECTOR ? grouping->by_collector : grouping->reasons.of_stack[stack];
        const uint64_t path = grouping->path_of[grouping->sites[stack]];
        if (i % 4096 == 0 && !scan_go_on(grouping->session, error))
            return false;
        const uint64_t kept = reason == 0 && starts(grouping, i) ? STARTS : 0;
        const uint64_t reach =
            reason == 0 ? high >> REACH_SHIFT : (uint64_t)SESSION_LEAK_REACH_UNKNOWN;
        const struct code code = {path << 32 | type, reason | kept | reach << REACH_SHIFT};
        if (!code_map_add(&grouping->groups, code, GROUPS_MAX, &grouping->group_of_code[i]))
            return session_fail_memory(error, "the leaks");
    }
    return true;
}

/* ---- the result ------------------------------------------------------------------------- */

static int compare_leaks(const void *left, const void *right)
{
    const struct session_leak *a = left, *b = right;
    if (a->kind <= SESSION_LEAK_START_UP && b->kind <= SESSION_LEAK_START_UP &&
        a->reach != b->reach)
        return a->reach < b->reach ? -1 : 1;
    return ORDER(a->kind, b->kind) ?: ORDER(b->bytes, a->bytes) ?: ORDER(a->stack, b->stack) ?:
           ORDER(a->type, b->type);
}

ARRAY_ORDER(compare_stacks, struct session_leak_stack,
            ORDER(b->bytes, a->bytes) ?: ORDER(a->stack, b->stack))

ARRAY_ORDER(compare_stack_ids, struct session_leak_stack, ORDER(a->stack, b->stack))

/* Orders the stacks of a group. One may occur twice, for two types of one name. */
static size_t order_stacks(struct session_leak_stack *stacks, size_t count)
{
    size_t used = 0;
    qsort(stacks, count, sizeof(*stacks), compare_stack_ids);
    for (size_t i = 0; i < count; i++) {
        if (used > 0 && stacks[used - 1].stack == stacks[i].stack) {
            stacks[used - 1].blocks += stacks[i].blocks;
            stacks[used - 1].bytes += stacks[i].bytes;
        } else {
            stacks[used++] = stacks[i];
        }
    }
    qsort(stacks, used, sizeof(*stacks), compare_stacks);
    return used;
}

static void add_sum(const struct grouping *grouping, size_t number, struct session_leak *leak)
{
    const uint64_t *total = sums_of(&grouping->sums, number, SUMS_TOTAL);
    const uint64_t *sizes = sums_of(&grouping->sums, number, SUMS_SIZES);
    const uint64_t *times = sums_of(&grouping->sums, number, SUMS_TIMES);
    const uint64_t *born = sums_of(&grouping->sums, number, SUMS_BORN);
    const uint64_t least_size = ~sizes[0], first_ns = ~times[0];
    const bool first = leak->stack_count == 0;
    const uint32_t type = (uint32_t)grouping->sums.codes.codes[number].high;
    leak->type = grouping->session->names.type_first[type];
    leak->exact = (first || leak->exact) &&
                  strcmp(session_type_confidence(grouping->session, type), "exact") == 0;
    leak->stack_count++;
    leak->blocks += total[0];
    leak->bytes += total[1];
    leak->least_size = first || least_size < leak->least_size ? least_size : leak->least_size;
    leak->most_size = sizes[1] > leak->most_size ? sizes[1] : leak->most_size;
    leak->first_ns = first || first_ns < leak->first_ns ? first_ns : leak->first_ns;
    leak->last_ns = times[1] > leak->last_ns ? times[1] : leak->last_ns;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++)
        leak->born[i] += born[i];
}

/* Puts the stacks of each group one after another. */
static void list_stacks(const struct grouping *grouping)
{
    struct session_leaks *leaks = grouping->leaks;
    size_t next = 0;
    for (size_t i = 0; i < leaks->count; i++) {
        leaks->leaks[i].first_stack = next;
        next += leaks->leaks[i].stack_count;
        leaks->leaks[i].stack_count = 0;
    }
    for (size_t i = 0; i < leaks->stack_count; i++) {
        struct session_leak *leak = &leaks->leaks[grouping->group_of_code[i]];
        const uint64_t *total = sums_of(&grouping->sums, i, SUMS_TOTAL);
        leaks->stacks[leak->first_stack + leak->stack_count++] = (struct session_leak_stack){
            (uint32_t)grouping->sums.codes.codes[i].low, total[0], total[1]};
    }
}

static void add_to(struct session_leak_sums *sums, const struct session_leak *leak)
{
    sums->groups++;
    sums->blocks += leak->blocks;
    sums->bytes += leak->bytes;
}

static void finish_leak(const struct grouping *grouping, size_t group)
{
    struct session_leaks *leaks = grouping->leaks;
    struct session_leak *leak = &leaks->leaks[group];
    struct session_leak_stack *stacks = leaks->stacks + leak->first_stack;
    const uint64_t high = grouping->groups.codes[group].high, reason = (uint32_t)high;
    leak->stack_count = order_stacks(stacks, leak->stack_count);
    leak->stack = stacks[0].stack;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++)
        leak->tenths += leak->born[i] > 0;
    leak->why = "";
    if (reason != 0) {
        leak->kind = grouping->reasons.kinds[reason - 1];
        leak->why = leaks->texts + grouping->reasons.texts[reason - 1];
    } else if (high & STARTS) {
        leak->kind = SESSION_LEAK_START_UP;
    }
    leak->reach = (enum session_leak_reach)(high >> REACH_SHIFT);
    add_to(&leaks->of_kind[leak->kind], leak);
    if (leak->kind <= SESSION_LEAK_START_UP)
        add_to(&leaks->of_reach[leak->reach], leak);
    if (leak->kind <= SESSION_LEAKS_LAST)
        add_to(&leaks->leaked, leak);
}

static bool make_result(struct grouping *grouping, struct session_error *error)
{
    struct session_leaks *leaks = grouping->leaks;
    leaks->count = grouping->groups.count;
    leaks->stack_count = grouping->sums.codes.count;
    leaks->leaks = calloc(leaks->count + 1, sizeof(*leaks->leaks));
    leaks->stacks = calloc(leaks->stack_count + 1, sizeof(*leaks->stacks));
    if (!leaks->leaks || !leaks->stacks)
        return session_fail_memory(error, "the leaks");
    for (size_t i = 0; i < leaks->stack_count; i++)
        add_sum(grouping, i, &leaks->leaks[grouping->group_of_code[i]]);
    list_stacks(grouping);
    leaks->texts = grouping->reasons.text;
    grouping->reasons.text = NULL;
    for (size_t i = 0; i < leaks->count; i++)
        finish_leak(grouping, i);
    qsort(leaks->leaks, leaks->count, sizeof(*leaks->leaks), compare_leaks);
    return true;
}

static void grouping_free(struct grouping *grouping)
{
    collected_arenas_free(&grouping->collected);
    free(grouping->reachability);
    sums_free(&grouping->sums);
    code_map_free(&grouping->paths);
    code_map_free(&grouping->parts);
    code_map_free(&grouping->groups);
    FREE_ALL(grouping->last_ns, grouping->group_of_code, grouping->sites, grouping->path_of,
             grouping->reasons.of_stack, grouping->reasons.kinds, grouping->reasons.texts,
             grouping->reasons.text);
}

static bool group(struct grouping *grouping, const struct suppressions *suppressions,
                  struct session_error *error)
{
    struct session *session = grouping->session;
    if (!stacks_frames(&session->stacks, error))
        return false;
    grouping->group_of_code =
        calloc(grouping->sums.codes.count + 1, sizeof(*grouping->group_of_code));
    if (!grouping->group_of_code)
        return session_fail_memory(error, "the leaks");
    return find_reasons(grouping, suppressions, error) && find_last(grouping, error) &&
           find_paths(grouping, error) && find_groups(grouping, error) &&
           make_result(grouping, error);
}

bool selection_leaks(struct selection *selection, const struct suppressions *suppressions,
                     struct session_leaks *leaks, struct session_error *error)
{
    struct session *session = selection->session;
    struct grouping grouping = {.session = session, .leaks = leaks};
    *leaks = (struct session_leaks){.from_ns = session_start_ns(session),
                                    .to_ns = session_duration_ns(session)};
    if (leaks->to_ns < leaks->from_ns)
        leaks->to_ns = leaks->from_ns;
    struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_SIZES) |
                                        SUMS_BIT(SUMS_TIMES) | SUMS_BIT(SUMS_BORN),
                               .number = by_stack_and_type,
                               .context = &grouping,
                               .columns = COLUMN_BIT(COLUMN_STACK) | COLUMN_BIT(COLUMN_TYPE),
                               .among = SUMS_OF_LIVE,
                               .from_ns = leaks->from_ns,
                               .to_ns = leaks->to_ns};
    const struct filter_live live = {.end = true};
    bool good = collected_arenas_read(session, &grouping.collected, error);
    leaks->has_reach = references_known(session, "", 0, NULL);
    if (good && leaks->has_reach) {
        grouping.reachability = references_by_row(session, 0, &live, error);
        good = grouping.reachability != NULL;
    }
    if (good && grouping.collected.count > 0)
        query.columns |= COLUMN_BIT(COLUMN_ARENA);
    good = good && sums_find(session, &selection->set, &query, &grouping.sums, error) &&
           group(&grouping, suppressions, error);
    grouping_free(&grouping);
    if (!good)
        session_leaks_free(leaks);
    return good;
}

const char *session_leak_reach_word(enum session_leak_reach reach)
{
    static const enum reachability words[SESSION_LEAK_REACHES] = {
        [SESSION_LEAK_UNREACHABLE] = REACHABILITY_UNREACHABLE,
        [SESSION_LEAK_POSSIBLY] = REACHABILITY_POSSIBLY,
        [SESSION_LEAK_REACH_UNKNOWN] = REACHABILITY_UNKNOWN,
        [SESSION_LEAK_REACHABLE] = REACHABILITY_REACHABLE};
    return reachability_words[words[reach]];
}

/* ---- patterns --------------------------------------------------------------------------- */

/* Writes a pattern that matches the whole name. Characters that could break the line become '*'. */
static void whole_name(char *pattern, size_t size, const char *name)
{
    size_t length = 0;
    pattern[length++] = '^';
    for (; *name != '\0' && length + 2 < size; name++) {
        const unsigned char letter = (unsigned char)*name;
        pattern[length++] = (char)(letter < ' ' || letter == 0x7f ? '*' : letter);
    }
    pattern[length++] = *name == '\0' ? '$' : '*';
    pattern[length] = '\0';
}

bool session_leak_frame_pattern(const struct session *session, uint32_t function, char *pattern,
                                size_t size)
{
    const char *name = session_function_name(session, function);
    if (function == 0 || strcmp(name, "?") == 0 || size <= 3)
        return false;
    /* A name without a symbol is the module's and an offset: LeakSanitizer knows the module. */
    if (strstr(name, "+0x"))
        snprintf(pattern, size, "%s", session_function_module(session, function));
    else
        whole_name(pattern, size, name);
    return true;
}
