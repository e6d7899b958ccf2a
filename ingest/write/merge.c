/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/merge.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/call_tree.h"
#include "ingest/write/derived.h"
#include "ingest/write/inherited.h"
#include "ingest/write/packed.h"
#include "ingest/write/session_tables.h"
#include "schemas/array.h"
#include "schemas/packed_array.h"
#include "at_peak_sql.h"
#include "call_sites_sql.h"
#include "estimate_sql.h"
#include "merge_begin_sql.h"
#include "merge_first_sql.h"
#include "merge_maps_sql.h"
#include "merge_meta_sql.h"
#include "merge_names_sql.h"
#include "merge_rows_sql.h"
#include "merge_sampling_sql.h"
#include "merge_tables_sql.h"
#include "process_stack_count_sql.h"
#include "run_processes_sql.h"
#include "run_select_sql.h"
#include "suppressions_sql.h"

/* ---- run sums ------------------------------------------------------------------------------ */

/* Events between two looks at Ctrl-C. */
enum { EVENTS_PER_LOOK = 1 << 18 };

struct run_sums {
    struct writer_database *tables;
    struct writer *session;
    struct writer_run *run;
    const struct writer_run_part *parts;
    uint32_t machines;
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

static bool read_stack(void *context, sqlite3_stmt *query)
{
    struct run_sums *sums = context;
    if (!ARRAY_RESERVE(sums->stacks, sums->stack_count, sums->stack_capacity))
        return fail_memory(sums);
    sums->stacks[sums->stack_count++] = (struct run_stack){
        (uint32_t)sqlite3_column_int64(query, 0), (uint32_t)sqlite3_column_int64(query, 1)};
    return true;
}

static bool read_frame(void *context, sqlite3_stmt *query)
{
    struct run_sums *sums = context;
    if (!array_reserve(&sums->functions, &sums->frame_capacity, sums->frame_count + 2,
                       sizeof(*sums->functions)))
        return fail_memory(sums);
    sums->functions[++sums->frame_count] = (uint32_t)sqlite3_column_int64(query, 0);
    return true;
}

static bool read_tables(struct run_sums *sums)
{
    int64_t functions = 0;
    if (!writer_database_each(sums->tables, call_sites_sql, read_stack, sums) ||
        !writer_database_each(sums->tables, "SELECT function_id FROM frame ORDER BY id", read_frame,
                              sums) ||
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
                totals_begin_stage(&sums->totals) && totals_log_rewind(log, wanted, later_ns);
    for (uint64_t n = 0; good && totals_log_next(log, &event); n++)
        good = count_event(sums, &event) &&
               (n % EVENTS_PER_LOOK != 0 || !writer_database_interrupted(sums->tables));
    FREE_ALL(wanted, later_ns);
    good = totals_finish(&sums->totals) && good && totals_finish_slots(&sums->totals);
    if (log->error != 0 || writer_database_interrupted(sums->tables))
        return writer_database_fail(sums->tables, strerror(log->error));
    return good || fail_memory(sums);
}

/* Sums up each machine separately: live blocks of different machines are never added up. The run's
 * peak is the largest of the machines' peaks. */
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
    if (!ARRAY_RESERVE(sums->nodes, row->node.id, sums->node_capacity))
        return fail_memory(sums);
    sums->nodes[row->node.id] = (struct run_node){row->node.parent, row->node.frame, 0};
    sums->node_count = row->node.id;
    return writer_put_frame(sums->session, row);
}

/* Adds the stacks that have frames to their functions and to the tree. Descending ids lead from
 * each node to those inwards of it. */
static bool add_nodes(struct run_sums *sums)
{
    struct stack_tree to = {.path.sums = sums->sums, .tree = &sums->tree};
    bool good = true;
    for (size_t id = sums->node_count; good && id > 0; id--) {
        const struct run_node *node = &sums->nodes[id];
        const struct stack_usage usage = stack_usages_of(&sums->totals.stacks, node->stack);
        const struct call_tree_step step = {
            .node = (uint32_t)id, .frame = node->frame, .function = sums->functions[node->frame]};
        good = stack_tree_enter(&to, &step, node->parent, node->stack ? &usage : NULL,
                                sums->stacks[node->stack].frame);
    }
    stack_tree_leave(&to);
    return good || fail_memory(sums);
}

/* Adds the stacks without frames, and what is the call sites' own. */
static bool add_call_sites(struct run_sums *sums)
{
    bool good = true;
    for (size_t i = 0; good && i < sums->stack_count; i++) {
        const struct stack_usage usage = stack_usages_of(&sums->totals.stacks, i);
        const uint32_t function = sums->stacks[i].function;
        function_sum_add_stack(sums->sums, function, &usage);
        good = function != 0 || call_tree_add_bare(&sums->tree, &usage);
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
           writer_put_run_moment_sums(sums->session, sums->run) &&
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
    const struct table_sink sink = writer_database_sink(sums->tables);
    const struct totals *totals = &sums->totals;
    return read_tables(sums) && replay(sums, &sink) && put_stacks(sums) && put_shares(sums) &&
           session_functions_put(&sink, sums->sums, sums->function_count + 1, totals) &&
           session_sizes_put(&sink, totals) && session_type_totals_put(&sink, &totals->types) &&
           session_slots_put(&sink, totals->slot_sums) &&
           writer_derived_meta(sums->tables, totals, sums->machines);
}

/* Puts the sums into `tables`, the database with the tables of all processes, in which a
 * transaction is open, and frames and tree into `session`, whose rows are done. `parts` are those
 * of run->log. False with the status set. */
static bool writer_run_sums_put(struct writer_database *tables, struct writer *session,
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
    totals_free_memory(&sums->totals);
    call_tree_free(&sums->tree);
    FREE_ALL(sums->stacks, sums->functions, sums->sums, sums->nodes, sums);
    return good;
}

/* ---- run processes ------------------------------------------------------------------------- */

static char *text(sqlite3_stmt *query, int column)
{
    const char *found = (const char *)sqlite3_column_text(query, column);
    return strdup(found ? found : "");
}

/* Makes a place of an id. Ids are dense from 1. */
static size_t place(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL
               ? SIZE_MAX
               : (size_t)sqlite3_column_int64(query, column) - 1;
}

static bool read_row(sqlite3_stmt *query, struct run_process *process)
{
    *process = (struct run_process){
        .program = text(query, 2),
        .arguments = text(query, 3),
        .ending = text(query, 4),
        .allocations = (uint64_t)sqlite3_column_int64(query, 5),
        .peak_bytes = (uint64_t)sqlite3_column_int64(query, 7),
        .parent = place(query, 9),
        .executed = place(query, 10),
    };
    process->choice = (struct process_choice){
        .pid = sqlite3_column_int64(query, 1),
        .place = (unsigned)sqlite3_column_int64(query, 8),
        .program = process->program,
        .bytes = (uint64_t)sqlite3_column_int64(query, 6),
        .resident = (uint64_t)sqlite3_column_int64(query, 11),
    };
    return process->program && process->arguments && process->ending;
}

struct run_reading {
    struct writer_database *database;
    struct run *run;
    size_t capacity;
};

static bool read_process(void *context, sqlite3_stmt *query)
{
    struct run_reading *reading = context;
    struct run *run = reading->run;
    return (ARRAY_GROW(run->processes, run->count, reading->capacity) &&
            read_row(query, &run->processes[run->count++])) ||
           ingest_fail_memory(reading->database->status, "the processes of the run");
}

/* Reads the processes into `run`, which is zero-initialized. Call run_processes_free() in any case.
 * False with the database's status set. */
static bool run_processes_read(struct writer_database *database, struct run *run)
{
    struct run_reading reading = {database, run, 0};
    return writer_database_each(database, run_processes_sql, read_process, &reading);
}

/* Writes the id of the selected process. 0 is the sum of all. */
static bool write_selected(struct writer_database *database, size_t id)
{
    return writer_database_run_with(database,
                                    "INSERT OR REPLACE INTO meta VALUES ('selected_process', ?)",
                                    NULL, (int64_t)id) &&
           writer_database_run(database, run_select_sql);
}

/* Selects the process that `word` names (schemas/process_choice.h, also PROCESS_CHOICE_ALL; NULL:
 * the one that used most) and writes it into `meta`. False with the status set if there is none. */
static bool run_processes_select(struct writer_database *database, struct run *run,
                                 const char *word)
{
    if (word && strcmp(word, PROCESS_CHOICE_ALL) == 0) {
        run->selected = run->count;
        run->matches = run->count;
        return write_selected(database, 0);
    }
    struct process_choice *rows = calloc(run->count + 1, sizeof(*rows));
    if (!rows)
        return ingest_fail_memory(database->status, "the processes of the run");
    for (size_t i = 0; i < run->count; i++)
        rows[i] = run->processes[i].choice;
    run->selected = process_choose(rows, run->count, word, &run->matches);
    free(rows);
    if (run->matches == 0)
        return ingest_fail(database->status, word ? INGEST_BAD_USAGE : INGEST_BAD_INPUT,
                           word ? "no process of the session is called \"%s\" or has "
                                  "that number; without --process the summary lists them"
                                : "the run has no process%s; record it again",
                           word ? word : "");
    return write_selected(database, run->selected + 1);
}

void run_processes_free(struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        FREE_ALL(run->processes[i].program, run->processes[i].arguments, run->processes[i].ending);
    free(run->processes);
    *run = (struct run){0};
}

/* ---- merge --------------------------------------------------------------------------------- */

struct writer_merge {
    struct writer_database tables; /* of all processes so far */
    char *path;                    /* of that file */
    struct writer *session;
    struct writer_run *run;
    struct writer_run_part *parts; /* of each process */
    uint64_t first_free;           /* of the present process */
    uint32_t *stacks;              /* that it allocated by */
    size_t count, capacity, stack_capacity;
};

struct writer_merge *writer_merge_open(const char *target, const char *tables,
                                       const struct writer_options *options,
                                       struct ingest_status *status)
{
    struct writer_options whole = *options;
    struct writer_merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->path = strdup(tables))) {
        free(merge);
        ingest_fail_memory(status, "the session of several processes");
        return NULL;
    }
    whole.run = NULL;
    merge->run = options->run;
    merge->tables = (struct writer_database){
        .name = options->name ? options->name : target,
        .advice = " (is the disk full?); nothing was left behind",
        .interrupted = options->interrupted,
        .status = status,
    };
    merge->session = writer_open(target, &whole, status);
    if (merge->session) {
        merge->run->rows.sink = writer_sink(merge->session);
        return merge;
    }
    writer_merge_close(merge);
    return NULL;
}

/* Stores the largest id of a table, 0 if it has no rows. */
static bool last_id(struct writer_merge *merge, const char *sql, uint64_t *id)
{
    int64_t found = 0;
    const bool good = writer_database_number(&merge->tables, sql, &found);
    *id = (uint64_t)found;
    return good;
}

bool writer_merge_begin(struct writer_merge *merge, uint64_t later_ns)
{
    struct writer_run *run = merge->run;
    run->rows.later_ns = later_ns;
    merge->first_free = writer_records_count(&run->frees);
    if (merge->count != 0 &&
        (!last_id(merge, "SELECT max(id) FROM stack", &run->rows.first_stack) ||
         !last_id(merge, "SELECT max(id) FROM thread", &run->rows.first_thread) ||
         !last_id(merge, "SELECT max(id) FROM arena", &run->rows.first_arena) ||
         !last_id(merge, "SELECT max(id) FROM frame", &run->frames.first_frame)))
        return false;
    run->frames.first_stack = run->rows.first_stack;
    run->frames.first_node = run->frames.nodes;
    return true;
}

/* Fills type_map: the session's type ids by those of the draft. */
static bool map_types(struct writer_merge *merge)
{
    const struct writer_run_rows *rows = &merge->run->rows;
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(merge->tables.sqlite, "INSERT INTO type_map VALUES (?, ?)", -1,
                                    &insert, NULL);
    for (size_t i = rows->first_id; result == SQLITE_OK && i < rows->id_count; i++) {
        sqlite3_bind_int64(insert, 1, (int64_t)(i - rows->first_id));
        sqlite3_bind_int64(insert, 2, rows->ids[i]);
        sqlite3_step(insert);
        result = sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return writer_database_check(&merge->tables, result);
}

static bool add_tables(struct writer_merge *merge, const char *path)
{
    struct writer_database *tables = &merge->tables;
    int64_t differ;
    if (!writer_database_run_with(tables, "ATTACH ? AS part", path, 0) ||
        !writer_database_number(tables, merge_sampling_sql, &differ))
        return false;
    if (differ != 0)
        return ingest_fail(tables->status, INGEST_BAD_INPUT,
                           "%s: the processes were sampled differently; make a session of each",
                           tables->name);
    return writer_database_run(tables, "BEGIN; DELETE FROM type_map") && map_types(merge) &&
           writer_database_run(tables, merge_first_sql) &&
           writer_database_run_with(tables, "INSERT INTO first VALUES ('later', ?)", NULL,
                                    (int64_t)merge->run->rows.later_ns) &&
           writer_database_run_with(tables, "INSERT INTO first VALUES ('node', ?)", NULL,
                                    (int64_t)merge->run->frames.first_node) &&
           writer_database_run(tables, merge_names_sql) &&
           writer_database_run(tables, merge_rows_sql) &&
           writer_database_run(tables, merge_meta_sql) &&
           writer_database_run(tables, "COMMIT; DETACH part");
}

/* Makes the draft of the first process the tables of all. */
static bool open_tables(struct writer_merge *merge)
{
    return writer_database_open(&merge->tables, merge->path, SQLITE_OPEN_READWRITE) &&
           writer_database_run(&merge->tables, merge_begin_sql) &&
           writer_database_run(&merge->tables, merge_maps_sql);
}

bool writer_merge_add(struct writer_merge *merge, const char *path, uint32_t machine)
{
    struct writer_run *run = merge->run;
    const size_t count = merge->count;
    int64_t stacks = 0;
    if (!ARRAY_RESERVE(merge->parts, count, merge->capacity) ||
        !ARRAY_RESERVE(merge->stacks, count, merge->stack_capacity))
        return ingest_fail_memory(merge->tables.status, "the processes of the run");
    if (!(count == 0 ? open_tables(merge) : add_tables(merge, path)) ||
        !writer_database_run_with(
            &merge->tables,
            "UPDATE process SET machine = ? WHERE id = (SELECT max(id) FROM process)", NULL,
            (int64_t)machine) ||
        !writer_database_run_with(&merge->tables, "INSERT OR REPLACE INTO first VALUES ('part', ?)",
                                  NULL, (int64_t)run->rows.first_stack) ||
        !writer_database_number(&merge->tables, process_stack_count_sql, &stacks))
        return false;
    merge->stacks[count] = (uint32_t)stacks;
    merge->parts[merge->count++] = (struct writer_run_part){
        run->rows.later_ns, machine,          run->rows.first_stack, run->rows.first_arena,
        run->rows.first_id, merge->first_free};
    return true;
}

bool writer_merge_leave_out(struct writer_merge *merge, const char *why)
{
    return writer_database_run_with(
        &merge->tables, "INSERT INTO problem(kind, detail) VALUES ('trace left out', ?)", why, 0);
}

bool writer_merge_fork(struct writer_merge *merge, uint64_t trace_id, uint64_t begin_ns,
                       uint64_t end_ns)
{
    return writer_database_check(
        &merge->tables, writer_inherited_fork(merge->tables.sqlite, trace_id, begin_ns, end_ns));
}

/* Copies all tables of the processes into the session, whose tables of these names are empty. */
static bool copy_table(void *context, sqlite3_stmt *query)
{
    const char *name = (const char *)sqlite3_column_text(query, 0);
    char sql[256];
    snprintf(sql, sizeof(sql), "INSERT INTO main.%s SELECT * FROM tables.%s", name, name);
    return writer_database_run(context, sql);
}

static bool copy_tables(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    /* All that follows is written in the order of ids, so a few pages do. */
    return writer_database_run(session, "COMMIT; PRAGMA cache_size = -4096") &&
           writer_database_run_with(session, "ATTACH ? AS tables", merge->path, 0) &&
           writer_database_run(session, "BEGIN") &&
           writer_database_each(session, merge_tables_sql, copy_table, session);
}

/* Writes how many stacks each process allocated by. A process alone has no such array. */
static bool put_process_stacks(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    uint8_t *data = malloc(merge->count * 4);
    if (!data)
        return ingest_fail_memory(session->status, "the processes of the run");
    for (size_t i = 0; i < merge->count; i++)
        packed_put(data + i * 4, merge->stacks[i], 4);
    const int result = merge->count < 2
                           ? SQLITE_OK
                           : writer_packed_put_array(session->sqlite, PACKED_PROCESS_STACKS, data,
                                                     merge->count * 4);
    free(data);
    return writer_database_check(session, result);
}

static bool put_estimate(struct writer_merge *merge)
{
    struct writer_database *session = writer_database(merge->session);
    int64_t sampled;
    return writer_database_number(session, "SELECT EXISTS (SELECT 1 FROM sample_weight)",
                                  &sampled) &&
           (sampled == 0 || writer_database_run(session, estimate_sql));
}

bool writer_merge_finish(struct writer_merge *merge, uint32_t machines)
{
    struct writer_run *run = merge->run;
    if (!writer_run_rows_finish(&run->rows) || !writer_rows_done(merge->session) ||
        !writer_database_run(&merge->tables, "BEGIN") ||
        !writer_run_sums_put(&merge->tables, merge->session, run, merge->parts, machines) ||
        !writer_database_run(&merge->tables, "COMMIT"))
        return false;
    writer_database_close(&merge->tables);
    struct writer_database *session = writer_database(merge->session);
    return copy_tables(merge) && put_process_stacks(merge) &&
           writer_inherited_put(session, &run->frees, merge->parts, merge->count) &&
           put_estimate(merge);
}

bool writer_merge_commit(struct writer_merge *merge)
{
    return writer_commit(merge->session);
}

bool writer_merge_select(struct writer_merge *merge, struct run *run, const char *word)
{
    struct writer_database *session = writer_database(merge->session);
    return run_processes_read(session, run) && run_processes_select(session, run, word);
}

uint64_t writer_merge_fact(struct writer_merge *merge, const char *key)
{
    sqlite3_stmt *query = NULL;
    uint64_t found = 0;
    if (sqlite3_prepare_v2(writer_database(merge->session)->sqlite,
                           "SELECT value FROM meta WHERE key = ?", -1, &query, NULL) == SQLITE_OK &&
        sqlite3_bind_text(query, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found;
}

void writer_merge_close(struct writer_merge *merge)
{
    if (!merge)
        return;
    writer_database_close(&merge->tables);
    writer_close(merge->session);
    FREE_ALL(merge->parts, merge->stacks, merge->path, merge);
}

/* ---- suppressed ---------------------------------------------------------------------------- */

static bool add_row(struct suppressed_list *list, sqlite3_stmt *query)
{
    struct suppressed *more = realloc(list->rows, (list->count + 1) * sizeof(*more));
    const char *pattern = (const char *)sqlite3_column_text(query, 0);
    if (!more)
        return false;
    list->rows = more;
    more[list->count] = (struct suppressed){pattern ? strdup(pattern) : NULL,
                                            (uint64_t)sqlite3_column_int64(query, 1),
                                            (uint64_t)sqlite3_column_int64(query, 2)};
    return more[list->count++].pattern != NULL;
}

static bool read_rows(struct suppressed_list *list, sqlite3 *database)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, suppressions_sql, -1, &query, NULL);
    bool good = result == SQLITE_OK;
    while (good && (result = sqlite3_step(query)) == SQLITE_ROW)
        good = add_row(list, query);
    sqlite3_finalize(query);
    return good && result == SQLITE_DONE;
}

bool suppressed_list_read(struct suppressed_list *list, const char *session,
                          struct ingest_status *status)
{
    sqlite3 *database = NULL;
    *list = (struct suppressed_list){0};
    bool good = sqlite3_open_v2(session, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                read_rows(list, database);
    if (!good) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: what was suppressed cannot be read: %s", session,
                    database ? sqlite3_errmsg(database) : "out of memory");
        suppressed_list_free(list);
    }
    sqlite3_close(database);
    return good;
}

void suppressed_list_free(struct suppressed_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->rows[i].pattern);
    free(list->rows);
    *list = (struct suppressed_list){0};
}
