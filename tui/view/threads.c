/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of threads: a tree of processes and their threads with what they allocated, and a pane
 * that tells who freed the blocks of the selected one, and whose blocks it freed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/spread.h"
#include "session/table.h"
#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/offers.h"
#include "tui/view/common/table_view.h"

#define POINTS 10 /* the parts of the run in whose middle the live bytes are taken */

/* A process, or a thread of the process above it. */
struct thread_row {
    uint64_t key; /* the id, and which of both it is of */
    bool is_process;
    uint32_t id;
    int level;
    uint64_t place; /* processes in the order of the session, after the threads above them: 0 */
    uint64_t allocations, bytes, live_bytes, at_peak_bytes;
    uint64_t out_count, out_bytes; /* its blocks that another thread freed */
    uint64_t in_count, in_bytes;   /* blocks of another thread that it freed */
    uint64_t from_ns, to_ns;
    uint64_t number; /* pid or tid */
    uint64_t live[POINTS];
};

struct threads_data {
    struct list_data list;
    struct session_cross_thread_free *frees;
    size_t free_count;
    uint64_t bytes;
};

#define AT(member) offsetof(struct thread_row, member)
enum { COLUMN_NAME, COLUMN_NUMBER, COLUMN_BYTES = 3, COLUMN_LIVE = 6, COLUMN_TO = 10, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_NAME] = {"process, its threads", .text = true, .keep = true, .file = "thread"},
    [COLUMN_NUMBER] = {"pid, tid", 8, 90, .meaning = "of the system", .file = "tid",
                       .number = TABLE_COUNT, .at = AT(number)},
    {"count", 6, .keep = true, .meaning = "allocations", .file = "allocations",
     .number = TABLE_COUNT, .at = AT(allocations)},
    [COLUMN_BYTES] = {"bytes", 6, .keep = true, .meaning = "allocated in all",
                      .number = TABLE_BYTES, .at = AT(bytes)},
    {"live", 6, 64, .meaning = "bytes at the end", .file = "live_bytes", .number = TABLE_BYTES,
     .at = AT(live_bytes)},
    {"program peak", 12, 74, .meaning = "bytes live at the program's peak", .file = "at_peak_bytes",
     .number = TABLE_BYTES, .at = AT(at_peak_bytes)},
    [COLUMN_LIVE] = {"over run", POINTS, 66, .text = true, .unsorted = true, .file = "",
                     .meaning = "bytes live in each tenth of the run"},
    {"others freed", 12, 50, .meaning = "its blocks that another thread freed", .file = "handed_on",
     .number = TABLE_COUNT, .at = AT(out_count)},
    {"freed of others", 15, 100, .meaning = "blocks of another thread that it freed",
     .file = "taken_on", .number = TABLE_COUNT, .at = AT(in_count)},
    {"from", 8, 110, .file = "from_ns", .number = TABLE_INSTANT, .at = AT(from_ns)},
    [COLUMN_TO] = {"to", 8, 110, .file = "to_ns", .number = TABLE_INSTANT, .at = AT(to_ns)},
};

/* ---- processes and threads -------------------------------------------------------------- */

static bool occurs(const struct threads_data *data, uint32_t thread)
{
    for (size_t i = 0; i < data->free_count; i++)
        if (data->frees[i].thread == thread || data->frees[i].free_thread == thread)
            return true;
    return false;
}

/* Adds a process with its threads that occur, then the processes that it started. Returns whether
 * any of these threads occurs: otherwise nothing is added. */
static bool add_process(const struct session *session, struct threads_data *data, uint32_t parent,
                        int level)
{
    const struct session_process *processes;
    const struct session_thread *all;
    const size_t process_count = session_processes(session, &processes);
    const size_t thread_count = session_threads(session, &all);
    struct thread_row *rows = data->list.rows;
    bool any = false;
    for (size_t p = 0; p < process_count; p++) {
        const struct session_process *process = &processes[p];
        const uint32_t above =
            process->executed_from != 0 ? process->executed_from : process->parent;
        if (above != parent)
            continue;
        const size_t here = data->list.count++;
        rows[here] = (struct thread_row){.key = UINT64_C(1) << 32 | process->id,
                                         .is_process = true,
                                         .id = process->id,
                                         .level = level,
                                         .place = p + 1,
                                         .from_ns = process->start_ns,
                                         .to_ns = process->end_ns,
                                         .number = (uint64_t)process->pid};
        bool used = false;
        for (size_t i = 0; i < thread_count; i++) {
            if (session_thread_process(session, all[i].id) != process->id ||
                !occurs(data, all[i].id))
                continue;
            used = true;
            rows[data->list.count++] = (struct thread_row){.key = all[i].id,
                                                           .id = all[i].id,
                                                           .level = level + 1,
                                                           .from_ns = all[i].start_ns,
                                                           .to_ns = all[i].end_ns,
                                                           .number = (uint64_t)all[i].tid};
        }
        used |= add_process(session, data, process->id, level + 1);
        if (!used)
            data->list.count = here;
        any |= used;
    }
    return any;
}

static struct thread_row *row_of_thread(struct threads_data *data, uint32_t thread)
{
    struct thread_row *rows = data->list.rows;
    for (size_t i = 0; i < data->list.count; i++)
        if (rows[i].key == thread)
            return &rows[i];
    return NULL;
}

static void add_frees(struct threads_data *data, const struct session_cross_thread_free *frees)
{
    struct thread_row *from = row_of_thread(data, frees->thread);
    struct thread_row *to = row_of_thread(data, frees->free_thread);
    if (from) {
        from->allocations += frees->allocations;
        from->bytes += frees->bytes;
        from->at_peak_bytes += frees->at_peak_bytes;
        if (frees->free_thread == SESSION_NO_THREAD)
            from->live_bytes += frees->bytes;
    }
    if (from && frees->free_thread != SESSION_NO_THREAD && from != to) {
        from->out_count += frees->allocations;
        from->out_bytes += frees->bytes;
    }
    if (to && from != to) {
        to->in_count += frees->allocations;
        to->in_bytes += frees->bytes;
    }
    data->bytes += frees->bytes;
}

/* Adds the sums of the threads to their process, which is the row above them. */
static void sum_processes(struct list_data *list)
{
    struct thread_row *process = NULL, *row = list->rows;
    for (const struct thread_row *end = row + list->count; row < end; row++) {
        if (row->is_process)
            process = row;
        if (row->is_process || !process)
            continue;
        process->allocations += row->allocations;
        process->bytes += row->bytes;
        process->live_bytes += row->live_bytes;
        process->at_peak_bytes += row->at_peak_bytes;
        process->out_count += row->out_count;
        process->out_bytes += row->out_bytes;
        process->in_count += row->in_count;
        process->in_bytes += row->in_bytes;
        for (size_t i = 0; i < POINTS; i++)
            process->live[i] += row->live[i];
    }
}

/* Adds the bytes that are live over the run. */
static bool add_courses(const struct session *session, struct selection *selection,
                        struct threads_data *data, struct session_error *error)
{
    uint64_t moments[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        moments[i] = (uint64_t)((double)session_duration_ns(session) * (2.0 * (double)i + 1) /
                                (2.0 * POINTS));
    const struct selection_table_query query = {
        .keys = "thread", .by_keys = true, .moments = moments, .moment_count = POINTS};
    struct selection_table *table = selection_table(selection, &query, error);
    for (size_t i = 0; table && i < table->count; i++) {
        struct thread_row *row = row_of_thread(data, (uint32_t)table->key[i].id);
        if (row)
            memcpy(row->live, selection_table_values(table, i), sizeof(row->live));
    }
    selection_table_free(table);
    return table != NULL;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct threads_data *data = context;
    const struct session_process *processes;
    const struct session_thread *threads;
    const size_t most =
        session_processes(session, &processes) + session_threads(session, &threads) + 1;
    if (!selection_cross_thread_frees(selection, &data->frees, &data->free_count, error))
        return false;
    data->list.rows = calloc(most, sizeof(struct thread_row));
    if (!data->list.rows) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    add_process(session, data, 0, 0);
    for (size_t i = 0; i < data->free_count; i++)
        add_frees(data, &data->frees[i]);
    if (!add_courses(session, selection, data, error))
        return false;
    sum_processes(&data->list);
    return true;
}

static void clear(void *context)
{
    struct threads_data *data = context;
    free(data->frees);
    free(data->list.rows);
}

static int level(const void *row)
{
    return ((const struct thread_row *)row)->level;
}

static uint64_t rank(const void *view, const void *row)
{
    return ((const struct thread_row *)row)->place;
}

static const char *name_of(const struct table_view *view, const struct thread_row *row)
{
    const struct session_process *processes;
    const size_t count = session_processes(view->session, &processes);
    if (!row->is_process)
        return session_thread_label(view->session, row->id);
    return row->place > count ? "?" : basename(processes[row->place - 1].program);
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct thread_row *shown = row;
    const struct threads_data *data = ((const struct table_view *)view)->list.data;
    if (column == COLUMN_NAME) {
        snprintf(cell->text, sizeof(cell->text), "%*s%.150s",
                 2 * (shown->level < 20 ? shown->level : 20), "", name_of(view, shown));
    } else if (column == COLUMN_NUMBER) {
        snprintf(cell->text, sizeof(cell->text), "%" PRIu64, shown->number);
    } else if (column == COLUMN_TO && shown->to_ns == UINT64_MAX) {
        cell->is_number = false;
        snprintf(cell->text, sizeof(cell->text), "end");
    } else if (column == COLUMN_LIVE) {
        bars_spark(cell->text, sizeof(cell->text), shown->live, POINTS);
    } else if (column == COLUMN_BYTES) {
        cell->part = shown->bytes;
        cell->whole = data->bytes;
    }
    if (shown->is_process) {
        cell->styled = true;
        cell->style = theme_style(THEME_STRONG);
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    const struct thread_row *shown = row;
    char *step;
    const int length = shown->is_process
                           ? asprintf(&step, "where process == %" PRIu64, shown->number)
                           : asprintf(&step, "where thread == %" PRIu32, shown->id);
    return length < 0 ? NULL : step;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    const struct thread_row *shown = row;
    snprintf(out, size, "this %s: %.90s", shown->is_process ? "process" : "thread",
             name_of(view, shown));
}

static const struct list_kind threads_list = {LIST_OF(struct thread_row),
                                              .sort = COLUMN_BYTES,
                                              .load = LIST_LOAD(threads_data, run, clear),
                                              .cell = cell,
                                              .rank = rank,
                                              .level = level,
                                              .step = step,
                                              .label = label};

/* ---- who frees whose blocks ------------------------------------------------------------- */

/* Blocks of one thread that another one (or the same) freed, or that nobody did. */
struct frees_row {
    uint64_t key; /* the place in the answer */
    struct session_cross_thread_free sums;
    bool inwards; /* the selected thread freed them */
};

enum { FREES_WHO = 3, FREES_COLUMNS };
#undef AT
#define AT(member) offsetof(struct frees_row, sums.member)

static const struct table_column frees_columns[FREES_COLUMNS] = {
    {"blocks", 6, .keep = true, .number = TABLE_COUNT, .at = AT(allocations)},
    {"bytes", 6, .keep = true, .number = TABLE_BYTES, .at = AT(bytes)},
    {"program peak", 12, 56, .number = TABLE_BYTES, .at = AT(at_peak_bytes)},
    [FREES_WHO] = {"who frees whose blocks", .text = true, .keep = true, .unsorted = true},
};

static bool ask_frees(const void *state, const struct browse *browse, struct list_request *request)
{
    const struct table_view *view = state;
    request->of[1] = ((const struct thread_row *)list_selected(&view->list))->key;
    request->of[2] = view->list.ordered;
    return true;
}

/* Finds the pairs of the thread or, of a process, those of different threads. */
static bool make_frees(const void *state, struct list_data *list)
{
    const struct table_view *view = state;
    const struct threads_data *data = view->list.data;
    const uint32_t id = (uint32_t)list->request.of[1];
    const bool is_process = id != list->request.of[1];
    struct frees_row *rows = list->rows = calloc(data->free_count + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < data->free_count; i++) {
        const struct session_cross_thread_free *frees = &data->frees[i];
        const bool of_process = is_process && frees->thread != frees->free_thread &&
                                frees->free_thread != SESSION_NO_THREAD &&
                                (session_thread_process(view->session, frees->thread) == id ||
                                 session_thread_process(view->session, frees->free_thread) == id);
        const bool outwards = !is_process && frees->thread == id;
        const bool inwards = !is_process && !outwards && frees->free_thread == id;
        if (of_process || outwards || inwards)
            rows[list->count++] = (struct frees_row){i, *frees, inwards};
    }
    return rows;
}

/* Returns the tid of a thread, as the upper table shows it. */
static int64_t tid_of(const struct session *session, uint32_t thread)
{
    const struct session_thread *list;
    const size_t count = session_threads(session, &list);
    for (size_t i = 0; i < count; i++)
        if (list[i].id == thread)
            return list[i].tid;
    return 0;
}

static void frees_cell(const void *state, const void *row, size_t column, struct table_cell *cell)
{
    const struct table_view *view = state;
    const struct frees_row *shown = row;
    const struct thread_row *main = list_selected(&view->list);
    const uint32_t thread = shown->sums.thread, free_thread = shown->sums.free_thread;
    const char *from = session_thread_label(view->session, thread);
    const int64_t from_tid = tid_of(view->session, thread);
    if (column != FREES_WHO)
        return;
    if (free_thread == SESSION_NO_THREAD || free_thread == thread) {
        cell->name = free_thread == thread ? "freed by itself" : "never freed";
        return;
    }
    const char *to = session_thread_label(view->session, free_thread);
    const int64_t to_tid = tid_of(view->session, free_thread);
    if (shown->inwards)
        snprintf(cell->text, sizeof(cell->text), "frees blocks of %.100s (%" PRId64 ")", from,
                 from_tid);
    else if (main && main->is_process)
        snprintf(cell->text, sizeof(cell->text),
                 "%.80s (%" PRId64 ") frees blocks of %.80s (%" PRId64 ")", to, to_tid, from,
                 from_tid);
    else
        snprintf(cell->text, sizeof(cell->text), "freed by %.100s (%" PRId64 ")", to, to_tid);
}

static char *frees_step(const void *view, const void *row, const char **why)
{
    const struct session_cross_thread_free *sums = &((const struct frees_row *)row)->sums;
    char *step;
    const int length =
        sums->free_thread == SESSION_NO_THREAD
            ? asprintf(&step, "where thread == %" PRIu32 " and freed == false", sums->thread)
            : asprintf(&step, "where thread == %" PRIu32 " and free_thread == %" PRIu32,
                       sums->thread, sums->free_thread);
    return length < 0 ? NULL : step;
}

static void frees_label(const void *view, const void *row, char *out, size_t size)
{
    snprintf(out, size, "the blocks of this line");
}

static const struct list_kind frees_list = {.columns = frees_columns,
                                            .column_count = FREES_COLUMNS,
                                            .row_size = sizeof(struct frees_row),
                                            .make = make_frees,
                                            .ask = ask_frees,
                                            .cell = frees_cell,
                                            .step = frees_step,
                                            .label = frees_label};

/* ---- view ------------------------------------------------------------------------------- */

static void head(const void *state, const struct browse *browse, const struct area *area)
{
    const struct table_view *view = state;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    uint64_t processes = 0, crossed = 0, crossed_bytes = 0;
    if (!view->list.data)
        return;
    for (size_t i = 0; i < view->list.count; i++) {
        const struct thread_row *row = list_row(&view->list, i);
        processes += row->is_process;
        crossed += row->is_process ? 0 : row->out_count;
        crossed_bytes += row->is_process ? 0 : row->out_bytes;
    }
    const uint64_t count = view->list.count - processes;
    area_print(area, 1, 0, theme_style(THEME_STRONG),
               "%s thread%s of %s process%s; %s%s blocks (%s) were freed by another thread",
               format_count(a, count), format_plural(count), format_count(b, processes),
               processes == 1 ? "" : "es", browse->about, format_count(c, crossed),
               format_size(d, crossed_bytes));
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    const struct thread_row *shown = row;
    snprintf(out, size, shown->is_process ? " between threads of %.80s " : " blocks of %.80s ",
             name_of(view, shown));
}

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    if (capacity == 0)
        return 0;
    snprintf(out->label, sizeof(out->label), "freed by another thread");
    return offer_step(out, "where crossed == true");
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "list the blocks of the thread or process; in the pane: those of its line",
     .keys = {KEYCODE_ENTER}, .footer = "list"},
    {ACTION_NEXT_PANE, "into the pane of frees, and back", .keys = {KEYCODE_TAB},
     .footer = "frees"},
};

static const struct table_view_kind kind = {.size = sizeof(struct table_view),
                                            .list = &threads_list,
                                            .side = &frees_list,
                                            .lines = 1,
                                            .head = head,
                                            .title = title,
                                            .offers = offers};

const struct view_ops threads_view = {
    .name = "threads",
    .title = "Threads",
    .help = "Processes as a tree, with their threads. The pane tells who freed the blocks of the "
            "selected thread, and whose blocks it freed.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
