/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/run_sums.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/replay/call_tree.h"
#include "ingest/write/derived.h"
#include "ingest/write/insert.h"
#include "ingest/write/session_tables.h"
#include "at_peak_sql.h"
#include "call_sites_sql.h"

/* Events between two looks at Ctrl-C. */
enum { EVENTS_PER_LOOK = 1 << 18 };

struct run_sums {
    struct writer_database *tables;
    struct writer *session;
    struct writer_run *run;
    const struct writer_run_part *parts;
    uint32_t machines;
    sqlite3_stmt *insert[WRITER_TABLES];
    struct run_stack {
        uint32_t function, frame; /* of the call site, 0: none */
    } * stacks;                   /* by id */
    size_t stack_count, stack_capacity;
    uint32_t *functions; /* of frames, by id; [0] is not one */
    size_t frame_count, frame_capacity;
    size_t function_count; /* the largest id */
    struct totals totals;
    struct function_sum *sums; /* by function */
    struct call_tree tree;
    struct run_node {
        uint32_t parent, frame;
        uint32_t stack; /* that ends there, 0: none */
    } * nodes;          /* of all stacks, by id; [0] is not one */
    size_t node_count, node_capacity;
};

static bool fail_memory(struct run_sums *sums)
{
    return ingest_fail_memory(sums->tables->status, "the sums of the run");
}

static bool is_good(const struct run_sums *sums)
{
    return sums->tables->status->code == INGEST_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool put_row(void *context, enum writer_table table, const struct writer_value *values,
                    size_t count)
{
    struct run_sums *sums = context;
    sqlite3_stmt **insert = &sums->insert[table];
    return ((*insert || writer_insert_prepare(sums->tables->sqlite, table, insert) == SQLITE_OK) &&
            writer_insert_row(*insert, values, count) == SQLITE_OK) ||
           writer_database_fail(sums->tables, NULL);
}

static bool read_stack(struct run_sums *sums, sqlite3_stmt *query)
{
    if (!array_reserve(&sums->stacks, &sums->stack_capacity, sums->stack_count + 1,
                       sizeof(*sums->stacks)))
        return fail_memory(sums);
    sums->stacks[sums->stack_count++] = (struct run_stack){
        (uint32_t)sqlite3_column_int64(query, 0), (uint32_t)sqlite3_column_int64(query, 1)};
    return true;
}

static bool read_frame(struct run_sums *sums, sqlite3_stmt *query)
{
    if (!array_reserve(&sums->functions, &sums->frame_capacity, sums->frame_count + 2,
                       sizeof(*sums->functions)))
        return fail_memory(sums);
    sums->functions[++sums->frame_count] = (uint32_t)sqlite3_column_int64(query, 0);
    return true;
}

/* Calls `each` for all rows. Ids are dense. */
static bool read_rows(struct run_sums *sums, const char *sql,
                      bool (*each)(struct run_sums *sums, sqlite3_stmt *query))
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(sums->tables->sqlite, sql, -1, &query, NULL);
    bool good = result == SQLITE_OK;
    while (good && (result = sqlite3_step(query)) == SQLITE_ROW)
        good = each(sums, query);
    sqlite3_finalize(query);
    if (good && result == SQLITE_DONE)
        return true;
    return is_good(sums) ? writer_database_fail(sums->tables, NULL) : false;
}

static bool read_tables(struct run_sums *sums)
{
    int64_t functions = 0;
    if (!read_rows(sums, call_sites_sql, read_stack) ||
        !read_rows(sums, "SELECT function_id FROM frame ORDER BY id", read_frame) ||
        !writer_database_number(sums->tables, "SELECT ifnull(max(id), 0) FROM function",
                                &functions))
        return false;
    sums->function_count = (size_t)functions;
    sums->sums = calloc(sums->function_count + 1, sizeof(*sums->sums));
    return sums->sums || fail_memory(sums);
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool count_event(struct run_sums *sums, struct totals_log_event *event)
{
    const struct writer_run_part *part = &sums->parts[event->part];
    struct totals_block *block = &event->block;
    if (block->stack != 0)
        block->stack += (uint32_t)part->first_stack;
    block->function = sums->stacks[block->stack].function;
    block->type = sums->run->rows.ids[part->first_type + block->type];
    return event->is_free
               ? totals_free(&sums->totals, block, event->ns, event->lifetime_ns, event->counted)
               : totals_allocate(&sums->totals, block);
}

/* Sums up the processes of one machine. */
static bool replay_machine(struct run_sums *sums, uint32_t machine, uint64_t duration_ns)
{
    struct totals_log *log = &sums->run->log;
    struct totals_log_event event;
    bool *wanted = calloc(log->part_count + 1, sizeof(*wanted));
    uint64_t *later_ns = calloc(log->part_count + 1, sizeof(*later_ns));
    for (size_t i = 0; wanted && later_ns && i < log->part_count; i++) {
        wanted[i] = sums->parts[i].machine == machine;
        later_ns[i] = sums->parts[i].later_ns;
    }
    totals_init(&sums->totals, duration_ns);
    bool good = wanted && later_ns &&
                (sums->machines > 1 ||
                 totals_sum_slots(&sums->totals, duration_ns, sums->run->rows.rows)) &&
                totals_log_rewind(log, wanted, later_ns);
    for (uint64_t n = 0; good && totals_log_next(log, &event); n++)
        good = count_event(sums, &event) &&
               (n % EVENTS_PER_LOOK != 0 || !writer_database_interrupted(sums->tables));
    free(wanted);
    free(later_ns);
    totals_finish(&sums->totals);
    good = good && totals_finish_slots(&sums->totals);
    if (log->error != 0 || writer_database_interrupted(sums->tables))
        return writer_database_fail(sums->tables, strerror(log->error));
    return good || fail_memory(sums);
}

/*
 * Sums up each machine separately: live blocks of different machines are never added up. The run's
 * peak is the largest of the machines' peaks.
 */
static bool replay(struct run_sums *sums, const struct table_sink *sink)
{
    int64_t duration_ns = 0;
    if (!writer_database_number(sums->tables, "SELECT value FROM meta WHERE key = 'duration_ns'",
                                &duration_ns))
        return false;
    struct totals *all = calloc(1, sizeof(*all));
    bool good = all || fail_memory(sums);
    for (uint32_t machine = 1; good && machine <= sums->machines; machine++) {
        good = replay_machine(sums, machine, (uint64_t)duration_ns) &&
               session_timeline_put(sink, &sums->totals, machine);
        if (!good || sums->machines == 1)
            break;
        good = totals_join(all, &sums->totals) || fail_memory(sums);
        totals_free_memory(&sums->totals);
    }
    if (good && sums->machines > 1)
        sums->totals = *all;
    else if (all)
        totals_free_memory(all);
    free(all);
    return good && writer_sample_written(sums->session, (uint64_t)duration_ns);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool put_frame(void *context, const struct writer_frame *row)
{
    struct run_sums *sums = context;
    if (row->is_run) {
        if (row->run.depth == 0)
            sums->nodes[row->run.node].stack = row->run.stack;
        return writer_put_frame(sums->session, row);
    }
    if (!array_reserve(&sums->nodes, &sums->node_capacity, (size_t)row->node.id + 1,
                       sizeof(*sums->nodes)))
        return fail_memory(sums);
    sums->nodes[row->node.id] = (struct run_node){row->node.parent, row->node.frame, 0};
    sums->node_count = row->node.id;
    return writer_put_frame(sums->session, row);
}

/* Adds the stacks that have frames to their functions and to the tree. Descending ids lead from
 * each node to those inwards of it. */
static bool add_nodes(struct run_sums *sums)
{
    struct function_path functions = {.sums = sums->sums};
    struct call_tree_path calls = {.count = 0};
    bool good = true;
    for (size_t id = sums->node_count; good && id > 0; id--) {
        const struct run_node *node = &sums->nodes[id];
        const struct stack_usage usage = stack_usages_of(&sums->totals.stacks, node->stack);
        const struct call_tree_step step = {
            .node = (uint32_t)id, .frame = node->frame, .function = sums->functions[node->frame]};
        good = function_path_enter(&functions, step.node, node->parent, step.function,
                                   node->stack ? &usage : NULL) &&
               call_tree_enter(&calls, &step, node->parent) &&
               (node->stack == 0 || usage.allocations == 0 ||
                call_tree_add_path(&sums->tree, &calls, sums->stacks[node->stack].frame, &usage));
    }
    function_path_finish(&functions);
    free(calls.steps);
    return good || fail_memory(sums);
}

/* Adds the stacks without frames, and what is the call sites' own. */
static bool add_call_sites(struct run_sums *sums)
{
    bool good = true;
    for (size_t i = 0; good && i < sums->stack_count; i++) {
        const struct stack_usage usage = stack_usages_of(&sums->totals.stacks, i);
        const uint32_t function = sums->stacks[i].function;
        function_sum_add_self(&sums->sums[function], &usage);
        if (function != 0)
            continue;
        function_sum_add(&sums->sums[0], &usage);
        good = call_tree_add_bare(&sums->tree, &usage);
    }
    return good || fail_memory(sums);
}

/* Writes the frames of all stacks, and the tree. */
static bool put_stacks(struct run_sums *sums)
{
    struct writer_frames *frames = &sums->run->frames;
    sums->tree.interrupted = sums->tables->interrupted;
    if (!writer_frames_each(frames, put_frame, sums))
        return is_good(sums) ? writer_database_fail(sums->tables, strerror(frames->records.error))
                             : false;
    if (!add_nodes(sums) || !add_call_sites(sums))
        return false;
    if (!call_tree_finish(&sums->tree))
        return writer_database_interrupted(sums->tables) ? writer_database_fail(sums->tables, NULL)
                                                         : fail_memory(sums);
    return writer_put_tree(sums->session, &sums->tree, &sums->totals.stacks) &&
           writer_frames_done(sums->session);
}

/* Writes each stack's share of the peak. Its other sums are those of its process. */
static bool put_shares(struct run_sums *sums)
{
    sqlite3_stmt *update = NULL;
    int result = sqlite3_prepare_v2(sums->tables->sqlite, at_peak_sql, -1, &update, NULL);
    for (size_t i = 0; result == SQLITE_OK && i < sums->stack_count; i++) {
        const struct stack_usage usage = stack_usages_of(&sums->totals.stacks, i);
        if (usage.at_peak_count == 0)
            continue;
        sqlite3_bind_int64(update, 1, (int64_t)i);
        sqlite3_bind_int64(update, 2, (int64_t)usage.at_peak_count);
        sqlite3_bind_int64(update, 3, (int64_t)usage.at_peak_bytes);
        sqlite3_step(update);
        result = sqlite3_reset(update);
    }
    sqlite3_finalize(update);
    return writer_database_check(sums->tables, result);
}

static bool put_sums(struct run_sums *sums)
{
    const struct table_sink sink = {sums, put_row};
    const struct totals *totals = &sums->totals;
    return read_tables(sums) && replay(sums, &sink) && put_stacks(sums) && put_shares(sums) &&
           session_functions_put(&sink, sums->sums, sums->function_count + 1, totals) &&
           session_sizes_put(&sink, totals) && session_type_totals_put(&sink, &totals->types) &&
           session_slots_put(&sink, totals->slot_sums) &&
           writer_derived_meta(sums->tables, totals, sums->machines);
}

bool writer_run_sums_put(struct writer_database *tables, struct writer *session,
                         struct writer_run *run, const struct writer_run_part *parts,
                         uint32_t machines)
{
    struct run_sums *sums = calloc(1, sizeof(*sums));
    if (!sums)
        return ingest_fail_memory(tables->status, "the sums of the run");
    sums->tables = tables;
    sums->session = session;
    sums->run = run;
    sums->parts = parts;
    sums->machines = machines;
    const bool good = put_sums(sums);
    for (int i = 0; i < WRITER_TABLES; i++)
        sqlite3_finalize(sums->insert[i]);
    totals_free_memory(&sums->totals);
    call_tree_free(&sums->tree);
    free(sums->stacks);
    free(sums->functions);
    free(sums->sums);
    free(sums->nodes);
    free(sums);
    return good;
}
