/* SPDX-License-Identifier: BSD-2-Clause */
/* The overview view: what is odd in this session, and who held the memory at the peak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/leaks.h"
#include "tui/screen/format.h"
#include "tui/view/common/list.h"
#include "tui/view/common/offers.h"
#include "tui/view/overview/overview.h"

static int overview_lines(const struct overview *overview);
static struct overview_line line_of(const struct overview *overview, int number);

#define FILTER_SIZE 4096

/* ---- facts and chart -------------------------------------------------------------------- */

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct overview_data *data = argument;
    struct session_function_row *rows = NULL;
    size_t count = 0;
    const bool good = selection_functions(selection, &rows, &count, error);
    data->finding_count =
        findings_collect(session, selection, data->request.filtered != 0, rows, count,
                         good ? NULL : error, data->findings, FINDINGS_MOST);
    free(rows);
    return selection_timeline(selection, data->request.start, data->request.end,
                              (size_t)data->request.slot_count, SESSION_COLOR_NONE, data->slots,
                              error) &&
           good;
}

static void load_facts(struct overview *overview, struct browse *browse, int width)
{
    static const struct load_kind kind = LOAD_KIND(overview_data, run, NULL);
    const uint64_t start = session_start_ns(browse->session);
    const uint64_t end = session_duration_ns(browse->session);
    const int slots = width - 4 > OVERVIEW_SLOTS_MOST ? OVERVIEW_SLOTS_MOST : width - 4;
    const struct overview_request wanted = {
        browse->selections, start, end > start ? end : start + 1, slots > 1 ? (uint64_t)slots : 1,
        browse->filter[0] != 0};
    overview->data = browse_get(browse, &overview->load, &kind, &wanted);
}

/* ---- the peak --------------------------------------------------------------------------- */

static void load_held(struct overview *overview, struct browse *browse)
{
    overview->held_by[HELD_BY_USER] = SESSION_GROWTH_USER;
    for (int way = 0; way < HELD_WAYS; way++) {
        const struct growth_data *before = overview->held[way];
        const struct growth_data *held =
            !browse->peak_known   ? NULL
            : way == HELD_BY_WHAT ? live_by_type_get(browse, overview->what_loads, browse->peak_ns,
                                                     &overview->held_by[way])
                                  : growth_get(browse, &overview->user_load, browse->peak_ns,
                                               browse->peak_ns, SESSION_GROWTH_USER);
        overview->held[way] = held;
        if (held && held != before)
            growth_sort_live(held);
        overview->held_counts[way] = 0;
        while (held && overview->held_counts[way] < held->count &&
               overview->held_counts[way] < OVERVIEW_HELD_MOST &&
               held->rows[overview->held_counts[way]].after.bytes > 0)
            overview->held_counts[way]++;
    }
}

struct use_data {
    struct {
        uint64_t selections, ns;
    } request;
    struct session_use use;
};

static bool run_use(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    struct use_data *use = data;
    return selection_use(selection, use->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, &use->use,
                         error);
}

static void load_use(struct overview *overview, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(use_data, run_use, NULL);
    const struct use_data wanted = {.request = {browse->selections, browse->peak_ns}};
    const struct use_data *use = browse_get(browse, &overview->use_load, &kind, &wanted.request);
    overview->use = use ? &use->use : NULL;
}

/* ---- ranked findings -------------------------------------------------------------------- */

struct ranked_data {
    struct {
        uint64_t selections, kind;
        char filter[FILTER_SIZE];
    } request;
    struct ranked_finding findings[RANKED_OF_KIND];
    size_t count;
};

/* A graph that cannot run under this filter finds nothing. */
static bool run_ranked(struct session *session, struct selection *selection, void *argument,
                       struct session_error *error)
{
    struct ranked_data *data = argument;
    if (!ranked_find(session, (size_t)data->request.kind, data->request.filter, data->findings,
                     &data->count, error))
        data->count = 0;
    return true;
}

/* Looks for the moment with the most holes, of no filter. Returns false while it is not known. */
static bool load_holes(struct overview *overview, struct browse *browse)
{
    const struct session_use *use = NULL;
    uint64_t ns;
    if (!browse->filter[0] && !worst_holes_get(browse, &ns, &use))
        return false;
    if (use && ranked_holes(use, ns, &overview->ranked[overview->ranked_count]))
        overview->ranked_count++;
    overview->ranked_count =
        ranked_order(overview->ranked, overview->ranked_count, browse->peak_bytes);
    overview->holes_done = true;
    return true;
}

/* Takes what a kind has found. If the user has selected just that, it is not a finding. */
static void take_findings(struct overview *overview, const struct browse *browse,
                          const struct ranked_data *data)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < data->count; i++)
        blocks += data->findings[i].count;
    if (browse->filter[0] && blocks >= selection_allocations(browse->selection))
        return;
    for (size_t i = 0; i < data->count && overview->ranked_count < RANKED_MOST; i++)
        overview->ranked[overview->ranked_count++] = data->findings[i];
}

/* Looks for the next kinds as far as the answers come in time. */
static void load_ranked(struct overview *overview, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(ranked_data, run_ranked, NULL);
    static struct ranked_data wanted; /* too large for the stack; only one thread uses views */
    /* A filter that is coming does not wait for findings about the one before. */
    if (browse->coming.job) {
        load_clear(&browse->loader, &overview->ranked_load);
        worst_holes_leave(browse);
        return;
    }
    if (overview->ranked_selections != browse->selections) {
        overview->ranked_selections = browse->selections;
        overview->ranked_count = overview->kinds_done = 0;
        overview->holes_done = overview->unranked = false;
    }
    /* While the program runs, nobody knows what it will free. */
    if (session_recording(browse->session))
        overview->kinds_done = RANKED_KINDS;
    if (!overview->holes_done && !load_holes(overview, browse))
        return;
    while (overview->kinds_done < RANKED_KINDS) {
        memset(&wanted.request, 0, sizeof(wanted.request));
        wanted.request.selections = browse->selections;
        wanted.request.kind = overview->kinds_done;
        if (!browse_put_allocations(browse, wanted.request.filter, FILTER_SIZE)) {
            overview->kinds_done = RANKED_KINDS;
            overview->unranked = true;
            return;
        }
        const struct ranked_data *data =
            browse_get(browse, &overview->ranked_load, &kind, &wanted.request);
        if (!data)
            return;
        take_findings(overview, browse, data);
        overview->ranked_count =
            ranked_order(overview->ranked, overview->ranked_count, browse->peak_bytes);
        overview->kinds_done++;
    }
}

struct once_data {
    uint64_t selections; /* the request */
    struct session_leak_sums start_up, leaked;
};

static bool run_once(struct session *session, struct selection *selection, void *argument,
                     struct session_error *error)
{
    struct once_data *data = argument;
    struct session_leaks leaks;
    if (!selection_leaks(selection, NULL, &leaks, error))
        return false;
    data->start_up = leaks.of_kind[SESSION_LEAK_START_UP];
    data->leaked = leaks.leaked;
    session_leaks_free(&leaks);
    return true;
}

/* Tells how much of what leaked was allocated at the start, once, and kept. If the filter is too
 * long to rank findings, tells that. */
static void load_once(struct overview *overview, struct browse *browse)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct once_data), run_once,
                                          NULL};
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    if (session_recording(browse->session) || overview->kinds_done < RANKED_KINDS)
        return;
    if (overview->unranked) {
        overview->once.gravity = FINDING_ODD;
        overview->once.view = VIEW_OVERVIEW;
        snprintf(overview->once.text, sizeof(overview->once.text),
                 "the filter is too long for leaks, growers and other findings by rank");
        return;
    }
    const struct once_data *data =
        browse_get(browse, &overview->once_load, &kind, &browse->selections);
    if (!data || data->start_up.blocks == 0)
        return;
    overview->once.gravity = FINDING_GOOD;
    overview->once.view = VIEW_LEAKS;
    snprintf(overview->once.text, sizeof(overview->once.text),
             "early leaks, of the start of the run: %s%s%s in %s%s block%s",
             data->start_up.blocks == data->leaked.blocks ? "all " : "", browse->about,
             format_size(bytes, data->start_up.bytes), browse->about,
             format_count(blocks, data->start_up.blocks), format_plural(data->start_up.blocks));
}

static void overview_load(struct overview *overview, struct browse *browse, int width)
{
    overview->once.text[0] = 0;
    load_facts(overview, browse, width);
    if (overview->data)
        load_held(overview, browse);
    if (!overview->held[HELD_BY_USER] || !overview->held[HELD_BY_WHAT])
        return;
    load_use(overview, browse);
    if (overview->use) {
        load_ranked(overview, browse);
        load_once(overview, browse);
    }
}

static void clear_loads(struct overview *overview, struct browse *browse)
{
    struct load *const loads[] = {&overview->load,          &overview->user_load,
                                  &overview->what_loads[0], &overview->what_loads[1],
                                  &overview->use_load,      &overview->ranked_load,
                                  &overview->once_load};
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        load_clear(&browse->loader, loads[i]);
}

enum {
    COLUMN_PART,
    COLUMN_BYTES,
    COLUMN_BLOCKS,
    COLUMN_HELD,
    COLUMN_HELD_BLOCKS,
    COLUMN_WHAT,
    COLUMN_FUNCTION,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_PART] = {"part", .text = true},
    [COLUMN_BYTES] = {.title = "bytes"},
    [COLUMN_BLOCKS] = {"blocks", .file = "allocations"},
    [COLUMN_HELD] = {"held", .file = "held_bytes"},
    [COLUMN_HELD_BLOCKS] = {"blocks held", .file = "held_count"},
    [COLUMN_WHAT] = {"what", .text = true, .file = "subject"},
    [COLUMN_FUNCTION] = {"function", .text = true, .file = "user"},
};

struct rows {
    const struct overview *overview;
    const struct session *session;
};

static void put_number(struct table_cell *cell, uint64_t number, bool bytes)
{
    cell->is_number = true;
    cell->number = number;
    if (bytes)
        format_size(cell->text, number);
    else
        format_count(cell->text, number);
}

static void ranked_cell(const struct ranked_finding *finding, size_t column,
                        struct table_cell *cell)
{
    if (column == COLUMN_PART)
        cell->name = ranked_word(finding);
    else if (column == COLUMN_BYTES)
        put_number(cell, finding->bytes, true);
    else if (column == COLUMN_BLOCKS)
        put_number(cell, finding->count, false);
    else if (column == COLUMN_WHAT)
        cell->name = finding->type[0] || finding->kind == RANKED_HOLES ? finding->type
                                                                       : SESSION_UNKNOWN_TYPE;
    else if (column == COLUMN_FUNCTION)
        cell->name = finding->user;
}

static void held_cell(const struct rows *rows, const struct overview_line *line, size_t column,
                      struct table_cell *cell)
{
    static const char *const parts[] = {[SESSION_GROWTH_TYPE] = "at the peak, by type",
                                        [SESSION_GROWTH_USER] = "at the peak, by function",
                                        [SESSION_GROWTH_SIZE] = "at the peak, by size"};
    const enum session_growth_by by = rows->overview->held_by[line->way];
    const struct session_growth *row = &rows->overview->held[line->way]->rows[line->at];
    if (column == COLUMN_PART)
        cell->name = parts[by];
    else if (column == COLUMN_HELD)
        put_number(cell, row->after.bytes, true);
    else if (column == COLUMN_HELD_BLOCKS)
        put_number(cell, row->after.count, false);
    else if (column == (line->way == HELD_BY_WHAT ? COLUMN_WHAT : COLUMN_FUNCTION))
        cell->name = growth_name(rows->session, by, row->id);
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct rows *rows = context;
    const struct overview_line line = line_of(rows->overview, (int)row);
    if (line.kind == LINE_RANKED)
        ranked_cell(&rows->overview->ranked[line.at], column, out);
    else if (line.kind == LINE_HELD)
        held_cell(rows, &line, column, out);
    else if (column == COLUMN_PART)
        out->name = "the session";
    else if (column == COLUMN_WHAT)
        out->name = rows->overview->data->findings[line.at].text;
}

static struct table_source source_of(struct rows *rows)
{
    return (struct table_source){.context = rows,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = (size_t)overview_lines(rows->overview),
                                 .cell = cell};
}

/* The lines as rows of a table, for `:w` and `y`, as view_ops.table and view_ops.copy. */
static bool overview_table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    struct rows rows = {.overview = view, .session = browse->session};
    const struct table_source source = source_of(&rows);
    table_write(&source, out, format);
    return source.rows > 0;
}

static bool overview_copy(void *view, struct browse *browse, FILE *out)
{
    struct rows rows = {.overview = view, .session = browse->session};
    const struct table_source source = source_of(&rows);
    const int selected = rows.overview->selected;
    if (selected < 0 || (size_t)selected >= source.rows)
        return false;
    table_copy(&source, (size_t)selected, out);
    return true;
}

#define STEP_SIZE 8192

static void destroy(void *view, struct browse *browse)
{
    clear_loads(view, browse);
    free(view);
}

/* A graph over 100 million rows takes seconds. */
static void leave(void *view, struct browse *browse)
{
    load_clear(&browse->loader, &((struct overview *)view)->ranked_load);
    worst_holes_leave(browse);
}

/* ---- lines ------------------------------------------------------------------------------ */

int overview_fact_lines(const struct overview *overview)
{
    return overview->data ? (int)overview->data->finding_count + (overview->once.text[0] != 0) : 0;
}

const struct finding *overview_fact(const struct overview *overview, size_t at)
{
    return at < overview->data->finding_count ? &overview->data->findings[at] : &overview->once;
}

static int overview_lines(const struct overview *overview)
{
    return (int)overview->ranked_count + overview_fact_lines(overview) +
           (int)overview->held_counts[HELD_BY_USER] + (int)overview->held_counts[HELD_BY_WHAT];
}

static struct overview_line line_of(const struct overview *overview, int number)
{
    size_t at = number < 0 ? SIZE_MAX : (size_t)number;
    if (at < overview->ranked_count)
        return (struct overview_line){.kind = LINE_RANKED, .at = at};
    at -= overview->ranked_count;
    if (at < (size_t)overview_fact_lines(overview))
        return (struct overview_line){.kind = LINE_FACT, .at = at};
    at -= (size_t)overview_fact_lines(overview);
    for (int way = 0; way < HELD_WAYS; way++) {
        if (at < overview->held_counts[way])
            return (struct overview_line){
                .kind = LINE_HELD, .way = (enum overview_held)way, .at = at};
        at -= overview->held_counts[way];
    }
    return (struct overview_line){.kind = LINE_NONE};
}

static void select_line(struct overview *overview, int line)
{
    const int last = overview_lines(overview) - 1;
    overview->selected = line > last ? last : line;
    if (overview->selected < 0)
        overview->selected = 0;
}

/* Moves to the first line of the next part of the screen, or of the one before. */
static void next_part(struct overview *overview, bool back)
{
    const int starts[] = {0, (int)overview->ranked_count,
                          (int)overview->ranked_count + overview_fact_lines(overview),
                          overview_lines(overview) - (int)overview->held_counts[HELD_BY_WHAT]};
    int part = 3;
    while (part > 0 && starts[part] > overview->selected)
        part--;
    select_line(overview, starts[(part + (back ? 3 : 1)) % 4]);
}

/* ---- what a line counts ----------------------------------------------------------------- */

/* Returns the step of a row of sizes, which the caller frees; NULL if memory is exhausted. */
static char *sizes_step(uint32_t exponent)
{
    return list_size_step(exponent > SESSION_SMALLEST_SIZE ? (UINT64_C(1) << (exponent - 1)) + 1
                                                           : 0,
                          exponent < 64 ? UINT64_C(1) << exponent : UINT64_MAX);
}

/* Returns a step that the caller frees, NULL if memory is exhausted. */
static char *held_step(const struct overview *overview, const struct browse *browse,
                       const struct overview_line *line)
{
    const enum session_growth_by by = overview->held_by[line->way];
    const uint32_t id = overview->held[line->way]->rows[line->at].id;
    char time[FORMAT_SIZE], *step = NULL;
    char *test = by == SESSION_GROWTH_SIZE
                     ? sizes_step(id)
                     : list_name_step(by == SESSION_GROWTH_TYPE ? "type" : "user",
                                      id == 0 ? NULL : growth_name(browse->session, by, id));
    format_filter_time(time, browse->peak_ns);
    if (!test ||
        asprintf(&step, "where alloc_time <= %s and (freed == false or free_time > %s) and %s",
                 time, time, test + strlen("where ")) < 0)
        step = NULL;
    free(test);
    return step;
}

/* The leaked blocks are a set: no step selects them. */
static void show_leaked(struct browse *browse)
{
    char *text = NULL, *shown = browse_allocations(browse);
    if (!browse->filter[0])
        browse_replace(browse, "leaked");
    else if (shown && asprintf(&text, "leaked & ( %s )", shown) >= 0)
        browse_replace(browse, text);
    free(shown);
    free(text);
}

static void follow_fact(const struct overview *overview, struct browse *browse, size_t at)
{
    const struct finding *finding = overview_fact(overview, at);
    char kept[FORMAT_SIZE];
    if (finding->leaked)
        show_leaked(browse);
    else if (finding->filter[0])
        browse_narrow(browse, finding->filter);
    if (finding->ns > 0)
        browse->moment_ns = finding->ns;
    browse->request_view = finding->view;
    if (finding->kept > 0)
        browse_say(browse, "the first %s are kept", format_count(kept, finding->kept));
    if (finding->sql)
        browse_query(browse, finding->sql);
    else if (!finding->filter[0] && finding->view == VIEW_SAME)
        browse_say(browse, "this line counts no allocations");
}

static void follow_ranked(const struct ranked_finding *finding, struct browse *browse)
{
    char text[STEP_SIZE];
    if (finding->kind == RANKED_HOLES) {
        browse->moment_ns = finding->first_ns;
        browse_show(browse, VIEW_MEMORY);
        browse_say(browse, "h lists the holes");
        return;
    }
    char *filter = browse->filter[0] ? browse_allocations(browse) : strdup("");
    if (filter && ranked_filter(finding, filter, text, sizeof(text))) {
        browse_replace(browse, text);
        browse_show(browse, VIEW_ALLOCATIONS);
    } else {
        browse_say(browse, "the filter of this line is too long");
    }
    free(filter);
}

static void follow(const struct overview *overview, struct browse *browse)
{
    const struct overview_line line = line_of(overview, overview->selected);
    char *step;
    switch (line.kind) {
    case LINE_RANKED:
        follow_ranked(&overview->ranked[line.at], browse);
        break;
    case LINE_FACT:
        follow_fact(overview, browse, line.at);
        break;
    case LINE_HELD:
        step = held_step(overview, browse, &line);
        if (step)
            browse_list(browse, step);
        free(step);
        break;
    case LINE_NONE:
        break;
    }
}

/* Steps only: what a graph finds is not one. */
static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    const struct overview *overview = view;
    const struct overview_line line = line_of(overview, overview->selected);
    if (capacity == 0)
        return 0;
    if (line.kind == LINE_FACT && overview_fact(overview, line.at)->filter[0]) {
        snprintf(out->label, sizeof(out->label), "%.120s",
                 overview_fact(overview, line.at)->leaked
                     ? "never freed, also what the runtime keeps"
                     : overview_fact(overview, line.at)->text);
        return offer_step(out, "%s", overview_fact(overview, line.at)->filter);
    }
    if (line.kind == LINE_HELD) {
        snprintf(out->label, sizeof(out->label), "live at the peak: %.90s",
                 growth_name(browse->session, overview->held_by[line.way],
                             overview->held[line.way]->rows[line.at].id));
        out->step = held_step(overview, browse, &line);
        return out->step != NULL;
    }
    if (line.kind == LINE_RANKED && overview->ranked[line.at].user[0]) {
        const struct ranked_finding *finding = &overview->ranked[line.at];
        snprintf(out->label, sizeof(out->label), "this function: %.90s", finding->user);
        out->step = list_name_step("user", finding->user);
        return out->step != NULL;
    }
    return 0;
}

/* ---- keys ------------------------------------------------------------------------------- */

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct overview *overview = view;
    if (!input->more)
        overview_load(overview, browse, input->width);
    switch (input->action) {
    case ACTION_REFRESH:
        select_line(overview, overview->selected);
        break;
    case ACTION_UP:
    case ACTION_WHEEL_UP:
        select_line(overview, overview->selected - 1);
        break;
    case ACTION_DOWN:
    case ACTION_WHEEL_DOWN:
        select_line(overview, overview->selected + 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PREVIOUS_PANE:
        next_part(overview, true);
        break;
    case ACTION_PAGE_DOWN:
    case ACTION_NEXT_PANE:
        next_part(overview, false);
        break;
    case ACTION_HOME:
        select_line(overview, 0);
        break;
    case ACTION_END:
        select_line(overview, overview_lines(overview) - 1);
        break;
    case ACTION_FOLLOW:
        follow(overview, browse);
        break;
    case ACTION_CLICK: {
        const int line =
            overview_line_at(overview, input->width, input->height, input->x, input->y);
        if (line >= 0)
            select_line(overview, line);
        if (line >= 0 && input->twice)
            follow(overview, browse);
        break;
    }
    default:
        return false;
    }
    return true;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "show what the selected line counts", .keys = {KEYCODE_ENTER},
     .footer = "follow"},
};

const struct view_ops overview_view = {
    .name = "overview",
    .title = "Overview",
    .help = "What is odd in this session, the gravest first, and who held the memory at its peak. "
            "A function of yours holds what it allocates through libraries, too. Outside of blocks "
            "lie holes, "
            "free memory of 1 KiB or more between two blocks, and smaller gaps; what lies beside a "
            "mapping "
            "is unclear: heap, mapping or nothing.",
    .keys = KEY_TABLE(keys),
    .size = sizeof(struct overview),
    .destroy = destroy,
    .leave = leave,
    .update = update,
    .render = overview_render,
    .offers = offers,
    .copy = overview_copy,
    .table = overview_table,
};
