/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind's format: the cost of each line of a function, and of the calls that it makes.
 *
 * A call's cost is inclusive, so a stack may pass each function once: only the outermost occurrence
 * of a function in a stack is called, by the frame around it or by "(root)". Then a reader's
 * inclusive sums are right with recursion, too. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/output.h"
#include "schemas/array.h"

enum { COSTS = 4 };

struct cost {
    uint32_t function, line;
    uint32_t callee; /* of a call */
    uint64_t calls, value[COSTS];
};

/* Costs that are added up by a pair of numbers. */
struct costs {
    struct pair_ids *ids;
    struct cost *list;
    size_t capacity;
};

enum name_kind { NAME_OBJECT, NAME_FILE, NAME_FUNCTION, NAME_KINDS };

struct writing {
    const struct export *export;
    uint32_t root;                      /* the number of "(root)" among the functions */
    struct costs own, calls;            /* by function and line; by these and the callee */
    struct text_ids *names[NAME_KINDS]; /* those written so far */
    char **labels;                      /* by function: a name of its own, NULL: it has one */
    bool *seen;                         /* by function: a stack has it */
};

static void add_values(struct cost *to, const struct cost *cost)
{
    to->calls += cost->calls;
    for (int i = 0; i < COSTS; i++)
        to->value[i] += cost->value[i];
}

static bool add_cost(struct writing *writing, struct costs *costs, const struct cost *cost)
{
    uint32_t id;
    bool is_new;
    const uint64_t place =
        (uint64_t)cost->function << 32 | cost->line; /* NOLINT(clang-analyzer-core*) */
    if (!pair_ids_find(costs->ids, place, cost->callee, &id, &is_new) ||
        !ARRAY_GROW(costs->list, id, costs->capacity))
        return report_fail_memory(writing->export->error, "the calls");
    if (is_new) {
        costs->list[id] = *cost;
        return true;
    }
    add_values(&costs->list[id], cost);
    return true;
}

/* Adds the call of a node's function, with the costs of all stacks through the node. */
static bool add_call(struct writing *writing, uint32_t caller, uint32_t callee,
                     const struct cost *cost)
{
    struct session_code_frame frame;
    struct cost call = *cost;
    if (caller != 0 && !export_frame(writing->export, &writing->export->own, caller, &frame))
        return false;
    call.function = caller == 0 ? writing->root : frame.function;
    call.line = caller == 0 ? 0 : frame.line;
    call.callee = callee;
    return add_cost(writing, &writing->calls, &call);
}

struct calling {
    struct writing *writing;
    const struct cost *costs; /* by node: of all stacks through it */
};

static bool add_node(void *context, uint32_t node, const struct session_code_frame *frame,
                     bool recurs)
{
    const struct calling *calling = context;
    struct writing *writing = calling->writing;
    const struct cost *cost = &calling->costs[node];
    writing->seen[frame->function] |= cost->calls > 0;
    return recurs || cost->calls == 0 ||
           add_call(writing, session_stack_node(writing->export->own.session, node).caller,
                    frame->function, cost);
}

static bool add_stacks(struct writing *writing, const struct session_stack_sums *rows, size_t count)
{
    const struct export_side *side = &writing->export->own;
    const uint32_t nodes = session_stack_nodes(side->session);
    struct cost *costs = calloc((size_t)nodes + 1, sizeof(*costs));
    struct calling calling = {writing, costs};
    struct session_code_frame frame = {.function = 0};
    bool good = costs || report_fail_memory(writing->export->error, "the calls");
    for (size_t i = 0; good && i < count; i++) {
        const uint32_t node = side->starts[rows[i].stack];
        struct cost cost = {.calls = rows[i].allocations,
                            .value = {rows[i].bytes, rows[i].allocations, rows[i].live_bytes,
                                      rows[i].at_peak_bytes}};
        add_values(&costs[node], &cost);
        good = export_frame(writing->export, side, node, &frame);
        cost.function = frame.function;
        cost.line = frame.line;
        good = good && add_cost(writing, &writing->own, &cost);
    }
    if (good && costs[0].calls > 0) {
        good = add_call(writing, 0, 0, &costs[0]);
        writing->seen[0] = true;
    }
    for (uint32_t node = 1; good && node <= nodes; node++) {
        const uint32_t caller = session_stack_node(side->session, node).caller;
        if (caller != 0)
            add_values(&costs[caller], &costs[node]);
    }
    good =
        good && session_each_stack_node(side->session, add_node, &calling, writing->export->error);
    free(costs);
    return good;
}

/* ---- names ---- */

static const char *file_of(struct writing *writing, uint32_t function)
{
    struct session_function facts = {.file = ""};
    if (function != 0 && function != writing->root)
        session_function(writing->export->own.session, function, &facts, NULL);
    return facts.file[0] ? export_clean(&writing->export->own, facts.file) : "???";
}

static const char *object_of(struct writing *writing, uint32_t function)
{
    struct session_function facts = {.module = 0};
    struct session_module module = {.path = ""};
    const struct export_side *side = &writing->export->own;
    if (function != 0 && function != writing->root &&
        session_function(side->session, function, &facts, NULL) && facts.module != 0)
        session_module(side->session, facts.module, &module, NULL);
    return module.path[0] ? export_clean(side, module.path) : "???";
}

static const char *name_of(const struct writing *writing, uint32_t function)
{
    return function == writing->root   ? "(root)"
           : writing->labels[function] ? writing->labels[function]
                                       : export_function_name(&writing->export->own, function);
}

/* Gives functions with the same name and file, which a reader takes for one, names of their own. */
static bool label_functions(struct writing *writing)
{
    struct text_ids *texts = text_ids_new();
    struct pair_ids *known = pair_ids_new();
    bool good = texts && known;
    for (uint32_t function = 0; good && function < writing->root; function++) {
        uint32_t name, file, both;
        bool is_new;
        good = text_ids_find(texts, name_of(writing, function), &name, &is_new) &&
               text_ids_find(texts, file_of(writing, function), &file, &is_new) &&
               pair_ids_find(known, name, file, &both, &is_new) &&
               (is_new || asprintf(&writing->labels[function], "%s #%" PRIu32,
                                   name_of(writing, function), function) > 0);
    }
    text_ids_free(texts);
    pair_ids_free(known);
    return good || report_fail_memory(writing->export->error, "the names");
}

/* Writes "KEY=(number) name", and the name only once. */
static bool put_name(struct writing *writing, const char *key, enum name_kind kind,
                     const char *name)
{
    uint32_t id;
    bool is_new;
    if (!text_ids_find(writing->names[kind], name, &id, &is_new))
        return report_fail_memory(writing->export->error, "the names");
    fprintf(writing->export->out, "%s=(%" PRIu32 ")%s%s\n", key, id + 1, is_new ? " " : "",
            is_new ? name : "");
    return true;
}

/* ---- the file ---- */

static void put_cost(FILE *out, const struct cost *cost)
{
    fprintf(out, "%" PRIu32, cost->line);
    for (int i = 0; i < COSTS; i++)
        fprintf(out, " %" PRIu64, cost->value[i]);
    fputc('\n', out);
}

static bool put_call(struct writing *writing, const struct cost *call)
{
    struct session_function facts = {.line = 0};
    if (call->callee != 0)
        session_function(writing->export->own.session, call->callee, &facts, NULL);
    if (!put_name(writing, "cob", NAME_OBJECT, object_of(writing, call->callee)) ||
        !put_name(writing, "cfi", NAME_FILE, file_of(writing, call->callee)) ||
        !put_name(writing, "cfn", NAME_FUNCTION, name_of(writing, call->callee)))
        return false;
    fprintf(writing->export->out, "calls=%" PRIu64 " %" PRIu32 "\n", call->calls, facts.line);
    put_cost(writing->export->out, call);
    return true;
}

static int compare_costs(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    return ORDER(a->function, b->function) ?: ORDER(a->line, b->line) ?: ORDER(a->callee, b->callee);
}

static bool put_functions(struct writing *writing)
{
    const size_t own_count = writing->own.list ? pair_ids_count(writing->own.ids) : 0;
    const size_t call_count = writing->calls.list ? pair_ids_count(writing->calls.ids) : 0;
    size_t own = 0, call = 0;
    bool good = true;
    if (writing->own.list)
        qsort(writing->own.list, own_count, sizeof(*writing->own.list), compare_costs);
    if (writing->calls.list)
        qsort(writing->calls.list, call_count, sizeof(*writing->calls.list), compare_costs);
    for (uint32_t function = 0; good && function <= writing->root; function++) {
        const size_t first_own = own, first_call = call;
        while (own < own_count && writing->own.list[own].function == function)
            own++;
        while (call < call_count && writing->calls.list[call].function == function)
            call++;
        if (own == first_own && call == first_call && !writing->seen[function])
            continue;
        good = put_name(writing, "ob", NAME_OBJECT, object_of(writing, function)) &&
               put_name(writing, "fl", NAME_FILE, file_of(writing, function)) &&
               put_name(writing, "fn", NAME_FUNCTION, name_of(writing, function));
        /* A function that only calls outer ones again costs nothing beside these. */
        if (own == first_own && call == first_call)
            put_cost(writing->export->out, &(struct cost){.line = 0});
        for (size_t i = first_own; i < own; i++)
            put_cost(writing->export->out, &writing->own.list[i]);
        for (size_t i = first_call; good && i < call; i++)
            good = put_call(writing, &writing->calls.list[i]);
        fputc('\n', writing->export->out);
    }
    return good;
}

static void put_head(const struct export *export, const uint64_t totals[COSTS])
{
    const struct session *session = export->own.session;
    const char *command = session_meta(session, "argv");
    fprintf(export->out,
            "# callgrind format\nversion: 1\ncreator: mprof-export\npid: %" PRId64
            "\ncmd: %s\npart: 1\npositions: line\n"
            "event: Bytes : Bytes allocated\nevent: Blocks : Allocations\n"
            "event: Live : Bytes live at the %s\nevent: Peak : Bytes live at the program's peak\n"
            "events: Bytes Blocks Live Peak\nsummary: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            "\n\n",
            session_meta_number(session, "pid"), export_clean(&export->own, command ? command : ""),
            export->at ? "time asked for" : "end", totals[0], totals[1], totals[2], totals[3]);
}

static bool put_file(struct writing *writing)
{
    struct session_stack_sums *rows = NULL;
    uint64_t totals[COSTS] = {0};
    size_t count = 0;
    bool good = label_functions(writing) &&
                export_sums(writing->export, &writing->export->own, 0, false, &rows, &count);
    for (size_t i = 0; i < count; i++) {
        totals[0] += rows[i].bytes;
        totals[1] += rows[i].allocations;
        totals[2] += rows[i].live_bytes;
        totals[3] += rows[i].at_peak_bytes;
    }
    good = good && add_stacks(writing, rows, count);
    free(rows);
    if (!good)
        return false;
    put_head(writing->export, totals);
    return put_functions(writing);
}

bool export_callgrind(struct export *export)
{
    const uint32_t root = session_function_count(export->own.session) + 1;
    struct writing writing = {.export = export,
                              .root = root,
                              .own.ids = pair_ids_new(),
                              .calls.ids = pair_ids_new(),
                              .labels = calloc(root + 1, sizeof(*writing.labels)),
                              .seen = calloc(root + 1, sizeof(*writing.seen))};
    bool good = writing.own.ids && writing.calls.ids && writing.labels && writing.seen;
    for (int i = 0; i < NAME_KINDS; i++)
        good = (writing.names[i] = text_ids_new()) && good;
    good = good ? put_file(&writing) : report_fail_memory(export->error, "an export");
    for (uint32_t i = 0; writing.labels && i <= root; i++)
        free(writing.labels[i]);
    for (int i = 0; i < NAME_KINDS; i++)
        text_ids_free(writing.names[i]);
    FREE_ALL(writing.labels, writing.seen, writing.own.list, writing.calls.list);
    pair_ids_free(writing.own.ids);
    pair_ids_free(writing.calls.ids);
    return good;
}
