/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of threads: what it does with actions, and its screen. */
#include "tui/view/threads/threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

static const struct table_column columns[THREAD_COLUMNS] = {
    [THREAD_NAME] = {.title = "process, thread", .text = true, .keep = true, .file = "thread"},
    [THREAD_NUMBER] = {.title = "pid, tid",
                       .width = 8,
                       .least_width = 56,
                       .meaning = "of the system",
                       .file = "tid"},
    [THREAD_COUNT] = {.title = "count",
                      .width = 6,
                      .keep = true,
                      .meaning = "allocations",
                      .file = "allocations"},
    [THREAD_BYTES] = {.title = "bytes", .width = 6, .keep = true, .meaning = "allocated in all"},
    [THREAD_LIVE] = {.title = "live",
                     .width = 6,
                     .least_width = 64,
                     .meaning = "bytes at the end",
                     .file = "live_bytes"},
    [THREAD_AT_PEAK] = {.title = "program peak",
                        .width = 12,
                        .least_width = 74,
                        .meaning = "bytes live at the program's peak",
                        .file = "at_peak_bytes"},
    [THREAD_OUT] = {.title = "handed on",
                    .width = 9,
                    .least_width = 50,
                    .meaning = "its blocks that another thread freed",
                    .file = "handed_on"},
    [THREAD_IN] = {.title = "taken on",
                   .width = 8,
                   .least_width = 84,
                   .meaning = "blocks of another thread that it freed",
                   .file = "taken_on"},
    [THREAD_FROM] = {.title = "from", .width = 8, .least_width = 110, .file = "from_ns"},
    [THREAD_TO] = {.title = "to", .width = 8, .least_width = 110, .file = "to_ns"},
};

static void *create(void)
{
    struct threads *threads = calloc(1, sizeof(*threads));
    if (threads) {
        threads->pair.main.sort = THREAD_BYTES;
        threads->pair.main.descending = true;
        threads->pair.side.descending = true;
        threads->pair.side.blurred = true;
    }
    return threads;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct threads *threads = view;
    load_clear(&exploration->loader, &threads->load);
    free(threads->parts);
    free(threads);
}

/* ---- the pane -------------------------------------------------------------------------- */

static const struct table_column part_columns[PART_COLUMNS] = {
    [PART_COUNT] = {.title = "blocks", .width = 6, .keep = true},
    [PART_BYTES] = {.title = "bytes", .width = 6, .keep = true},
    [PART_AT_PEAK] = {.title = "program peak", .width = 12, .least_width = 56},
    [PART_WHO] = {.title = "who frees whose blocks", .text = true, .keep = true, .unsorted = true},
};

/* Returns the tid of a thread, as the upper table shows it. */
static int64_t tid_of(const struct threads *threads, uint32_t thread)
{
    const struct session_thread *list;
    const size_t count = session_threads(threads->session, &list);
    for (size_t i = 0; i < count; i++)
        if (list[i].id == thread)
            return list[i].tid;
    return 0;
}

static void part_cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct threads *threads = context;
    const struct handover_row *part = &threads->parts[place];
    const struct session_handover *handover = &threads->data->handovers[part->handover];
    const struct thread_row *row = threads_selected(threads);
    const char *from = session_thread_label(threads->session, handover->thread);
    if (column != PART_WHO) {
        cell->is_number = true;
        cell->number = threads_part_value(threads, part, column);
        if (column == PART_COUNT)
            format_count_short(cell->text, cell->number);
        else
            format_size_short(cell->text, cell->number);
    } else if (handover->free_thread == SESSION_NO_THREAD) {
        snprintf(cell->text, sizeof(cell->text), "never freed");
    } else if (handover->free_thread == handover->thread) {
        snprintf(cell->text, sizeof(cell->text), "freed by itself");
    } else if (part->inwards) {
        snprintf(cell->text, sizeof(cell->text), "frees blocks of %.100s (%" PRId64 ")", from,
                 tid_of(threads, handover->thread));
    } else {
        const char *to = session_thread_label(threads->session, handover->free_thread);
        if (row && row->is_process)
            snprintf(cell->text, sizeof(cell->text),
                     "%.80s (%" PRId64 ") frees blocks of %.80s "
                     "(%" PRId64 ")",
                     to, tid_of(threads, handover->free_thread), from,
                     tid_of(threads, handover->thread));
        else
            snprintf(cell->text, sizeof(cell->text), "freed by %.100s (%" PRId64 ")", to,
                     tid_of(threads, handover->free_thread));
    }
}

static uint64_t part_key(void *context, size_t place)
{
    const struct threads *threads = context;
    return threads->parts[place].handover;
}

/* ---- the table -------------------------------------------------------------------------- */

static void cell(void *context, size_t place, size_t column, struct table_cell *cell)
{
    const struct threads *threads = context;
    const struct thread_row *row = &threads->data->rows[place];
    const uint64_t value = threads_value(row, column);
    cell->styled = row->is_process;
    cell->style = theme_style(THEME_STRONG);
    if (column == THREAD_NAME) {
        snprintf(cell->text, sizeof(cell->text), "%*s%.150s",
                 2 * (row->depth < 20 ? row->depth : 20), "", threads_name(threads, row));
        return;
    }
    cell->is_number = true;
    cell->number = value;
    if (column == THREAD_NUMBER)
        snprintf(cell->text, sizeof(cell->text), "%" PRId64, row->number);
    else if (column == THREAD_TO && value == UINT64_MAX) {
        cell->is_number = false;
        snprintf(cell->text, sizeof(cell->text), "end");
    } else if (column == THREAD_FROM || column == THREAD_TO)
        format_instant(cell->text, value);
    else if (column == THREAD_COUNT || column == THREAD_OUT || column == THREAD_IN)
        format_count_short(cell->text, value);
    else
        format_size_short(cell->text, value);
    if (column == THREAD_BYTES) {
        cell->part = value;
        cell->whole = threads->data->bytes;
    }
}

static uint64_t key(void *context, size_t place)
{
    const struct threads *threads = context;
    const struct thread_row *row = &threads->data->rows[place];
    return (uint64_t)row->is_process << 32 | row->id;
}

static struct pair_tables tables_of(const struct threads *threads, int width, int height)
{
    struct pair_tables tables = {.main = {.context = (void *)threads,
                                          .columns = columns,
                                          .column_count = THREAD_COLUMNS,
                                          .rows = threads->data ? threads->data->count : 0,
                                          .about = threads->estimated ? "~" : NULL,
                                          .cell = cell,
                                          .key = key},
                                 .side = {.context = (void *)threads,
                                          .columns = part_columns,
                                          .column_count = PART_COLUMNS,
                                          .rows = threads->data ? threads->part_count : 0,
                                          .about = threads->estimated ? "~" : NULL,
                                          .cell = part_cell,
                                          .key = part_key}};
    tables.panes = panes_lay_out(width, height, 1, tables.main.rows);
    return tables;
}

/* ---- update ----------------------------------------------------------------------------- */

static void load(struct threads *threads, struct exploration *exploration,
                 const struct view_input *input)
{
    threads_load(threads, exploration);
    const struct pair_tables tables = tables_of(threads, input->width, input->height);
    table_settle(&threads->pair.main, &tables.main, &tables.panes.main);
    threads_find_parts(threads, exploration);
}

static void write_step(const struct threads *threads, const struct thread_row *row, char *out,
                       size_t size)
{
    (void)threads;
    if (row->is_process)
        snprintf(out, size, "where process == %" PRId64, row->number);
    else
        snprintf(out, size, "where thread == %" PRIu32, row->id);
}

static void write_part_step(const struct threads *threads, const struct handover_row *part,
                            char *out, size_t size)
{
    const struct session_handover *handover = &threads->data->handovers[part->handover];
    if (handover->free_thread == SESSION_NO_THREAD)
        snprintf(out, size, "where thread == %" PRIu32 " and freed == false", handover->thread);
    else
        snprintf(out, size, "where thread == %" PRIu32 " and free_thread == %" PRIu32,
                 handover->thread, handover->free_thread);
}

static void follow(struct threads *threads, struct exploration *exploration, bool side)
{
    const struct thread_row *row = threads_selected(threads);
    char step[128];
    if (side && threads->pair.side.selected < threads->part_count)
        write_part_step(threads, &threads->parts[threads->pair.side.selected], step, sizeof(step));
    else if (!side && row)
        write_step(threads, row, step, sizeof(step));
    else
        return;
    exploration_list(exploration, step);
}

static bool act(struct threads *threads, struct exploration *exploration,
                const struct view_input *input)
{
    const struct pair_tables tables = tables_of(threads, input->width, input->height);
    const enum pair_answer answer = pair_update(&threads->pair, exploration, &tables, input);
    if (answer == PAIR_MAIN_SORTED)
        threads_sort(threads);
    else if (answer == PAIR_SIDE_SORTED)
        threads_sort_parts(threads);
    else if (answer == PAIR_MAIN_FOLLOW || answer == PAIR_SIDE_FOLLOW)
        follow(threads, exploration, answer == PAIR_SIDE_FOLLOW);
    return answer != PAIR_IGNORED;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct threads *threads = view;
    load(threads, exploration, input);
    bool used = input->action == ACTION_REFRESH;
    if (!used && threads->data)
        used = act(threads, exploration, input);
    else if (!used)
        used = input->action != ACTION_BACK;
    load(threads, exploration, input);
    const struct pair_tables tables = tables_of(threads, input->width, input->height);
    pair_settle(&threads->pair, &tables);
    return used;
}

/* ---- render and text -------------------------------------------------------------------- */

static void render_totals(const struct threads *threads, const struct exploration *exploration,
                          const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    uint64_t processes = 0, crossed = 0, crossed_bytes = 0;
    for (size_t i = 0; i < threads->data->count; i++) {
        processes += threads->data->rows[i].is_process;
        crossed += threads->data->rows[i].is_process ? 0 : threads->data->rows[i].out_count;
        crossed_bytes += threads->data->rows[i].is_process ? 0 : threads->data->rows[i].out_bytes;
    }
    const uint64_t count = threads->data->count - processes;
    area_print(area, 1, 0, theme_style(THEME_STRONG),
               "%s thread%s of %s process%s; %s%s blocks (%s) were freed by another thread",
               format_count(a, count), count == 1 ? "" : "s", format_count(b, processes),
               processes == 1 ? "" : "es", exploration->about, format_count(c, crossed),
               format_size((char[FORMAT_SIZE]){0}, crossed_bytes));
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct threads *threads = view;
    const struct pair_tables tables = tables_of(threads, area->width, area->height);
    const struct thread_row *row = threads_selected(threads);
    char title[128];
    if (threads->data)
        render_totals(threads, exploration, area);
    if (!row) {
        list_render_empty(exploration, area, 2, threads->data != NULL);
        return;
    }
    snprintf(title, sizeof(title),
             row->is_process ? " between threads of %.80s " : " blocks of %.80s ",
             threads_name(threads, row));
    pair_render(&threads->pair, &tables, area, title);
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct threads *threads = view;
    const struct thread_row *row = threads_selected(threads);
    size_t count = 0;
    (void)exploration;
    if (!row || capacity < 3)
        return 0;
    if (threads->pair.in_side && threads->pair.side.selected < threads->part_count) {
        snprintf(out[count].label, sizeof(out->label), "the blocks of this line");
        write_part_step(threads, &threads->parts[threads->pair.side.selected], out[count++].step,
                        sizeof(out->step));
    }
    snprintf(out[count].label, sizeof(out->label), "this %s: %.90s",
             row->is_process ? "process" : "thread", threads_name(threads, row));
    write_step(threads, row, out[count++].step, sizeof(out->step));
    snprintf(out[count].label, sizeof(out->label), "freed by another thread");
    snprintf(out[count++].step, sizeof(out->step), "where crossed == true");
    return count;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct threads *threads = view;
    const struct pair_tables tables = tables_of(threads, 80, 24);
    (void)exploration;
    if (!threads_selected(threads))
        return false;
    table_copy(&tables.main, threads->pair.main.selected, out);
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct threads *threads = view;
    const struct pair_tables tables = tables_of(threads, 80, 24);
    (void)exploration;
    if (threads->data)
        table_write(&tables.main, out, format);
    return threads->data != NULL;
}

static bool keep_order(void *view, struct table_order *order, bool set)
{
    struct threads *state = view;
    return table_order(&state->pair.main, columns, THREAD_COLUMNS, order, set);
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks of the thread or process; in the pane: those of its line"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "frees",
     .description = "into the pane of frees, and back"},
};

const struct view_ops threads_view = {
    .name = "threads",
    .title = "Threads",
    .help = "Processes as a tree, with their threads. The pane tells who freed the blocks of the "
            "selected thread, and whose blocks it freed.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .order = keep_order,
    .table = write_table,
};
