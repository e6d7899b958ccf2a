/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of retained sizes: who keeps memory alive at a snapshot of references. Roots and blocks
 * open into what only they keep (the tree of dominators); types, owners and functions of the user
 * are sets, in which nothing counts twice. A block that another view has selected is shown with
 * what refers to it and what it refers to. The pane shows a shortest path from the selected block
 * to a root. All blocks of the process count, whatever is selected. */
#include <inttypes.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "schemas/code/short_name.h"
#include "session/retained.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/moments.h"
#include "tui/view/common/table_view.h"

/* Rows of a question, and of each open row. */
#define ROWS_MAX 2000
#define CHILDREN_MAX 200
/* Open rows. */
#define OPEN_MAX 150

static const struct {
    enum session_retained_by by;
    const char *title;
    const char *field; /* of the filter language; NULL: none */
    bool opens;
} modes[] = {
    {RETAINED_BY_ROOT, "roots", NULL, true},
    {RETAINED_BY_BLOCK, "blocks", NULL, true},
    {RETAINED_BY_TYPE, "types", "type", false},
    {RETAINED_BY_HOLDER, "types by holder", "type", false},
    {RETAINED_BY_OWNER, "owners", "owner", false},
    {RETAINED_BY_USER, "functions of yours", "user", false},
    {RETAINED_UNREACHABLE, "unreachable blocks", "type", false},
    {.title = "one block"},
};
enum { MODES = sizeof(modes) / sizeof(*modes), ONE_BLOCK = MODES - 1 };

struct retained {
    struct table_view view;
    unsigned mode;
    uint64_t block; /* of the mode ONE_BLOCK; 0: none yet */
    uint64_t place; /* of the snapshot, from the last one: 0, 1, … */
    bool compares;
    int64_t open[OPEN_MAX];
    size_t open_count;
};

struct retained_row {
    uint64_t key;
    int level;
    bool is_open;
    enum session_block_part part;    /* of ONE_BLOCK */
    struct session_retained_row row; /* texts of the data */
    uint64_t moved;                  /* how much it has grown or shrunk since the base */
    uint64_t before;                 /* bytes in the base */
};

struct retained_data {
    /* of[1]: the block, of[2]: the mode, of[3]: the place times 2, odd if it compares, of[4]: the
     * path of another session to compare with; text: the open rows */
    struct list_data list;
    struct session_heap_snapshots snapshots;
    const struct session_heap_snapshot *shown; /* NULL: there is none */
    struct session_retained_changes changes;   /* since the base */
    uint64_t base_ns;
    struct session_retained *kept; /* the texts of the rows */
    size_t kept_count, kept_capacity, row_capacity;
    uint64_t all; /* rows that there are, without those below others */
};

static const struct retained_data *data_of(const void *view)
{
    return ((const struct retained *)view)->view.list.data;
}

/* ---- rows ------------------------------------------------------------------------------- */

enum {
    COLUMN_BYTES,
    COLUMN_SHARE,
    COLUMN_OWN,
    COLUMN_BLOCKS,
    COLUMN_HOLDS,
    COLUMN_THROUGH,
    COLUMN_CHANGE,
    COLUMNS
};

#define AT(member) offsetof(struct retained_row, row.member)
static const struct table_column columns[COLUMNS] = {
    [COLUMN_BYTES] = {"retained", 8, .keep = true, .file = "retained_bytes", .number = TABLE_BYTES,
                      .meaning = "bytes that only it keeps alive, its own included",
                      .at = AT(bytes)},
    [COLUMN_SHARE] = {"share", 6, 60, .unsorted = true, .meaning = "of all live bytes"},
    [COLUMN_OWN] = {"own", 8, 50, .file = "own_bytes", .number = TABLE_BYTES, .at = AT(own_bytes)},
    [COLUMN_BLOCKS] = {"blocks", 7, 70, .file = "retained_blocks", .number = TABLE_COUNT,
                       .at = AT(blocks)},
    [COLUMN_HOLDS] = {"holds", .text = true, .keep = true, .unsorted = true,
                      .cut = TABLE_CUT_BRANCH},
    [COLUMN_THROUGH] = {"through / by", 20, 76, .text = true, .unsorted = true, .file = "through"},
    [COLUMN_CHANGE] = {"change", 8, .keep = true, .file = "change_bytes", .number = TABLE_BYTES,
                       .meaning = "since the base, the largest first",
                       .at = offsetof(struct retained_row, moved)},
};

/* Returns true if rows tell how they have changed: sets do, which have names. */
static bool compares(const struct retained *retained)
{
    const enum session_retained_by by = modes[retained->mode].by;
    return retained->compares && retained->mode != ONE_BLOCK && by != RETAINED_BY_BLOCK &&
           by != RETAINED_UNREACHABLE;
}

static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct retained *retained = view;
    size_t length = 0;
    request->of[1] = retained->mode == ONE_BLOCK ? retained->block : 0;
    request->of[2] = retained->mode;
    request->of[3] = 2 * retained->place + compares(retained);
    request->of[4] = compares(retained) ? (uint64_t)(uintptr_t)browse->other : 0;
    for (size_t i = 0; i < retained->open_count && length + 24 < LIST_TEXT; i++)
        length += (size_t)snprintf(request->text + length, LIST_TEXT - length, "%" PRId64 " ",
                                   retained->open[i]);
    return true;
}

static bool is_open(const struct list_request *request, int64_t id)
{
    char *end;
    for (const char *at = request->text; *at; at = *end ? end + 1 : end)
        if (strtoll(at, &end, 10) == id && end != at)
            return true;
        else if (end == at)
            return false;
    return false;
}

static bool fail_memory(struct session_error *error)
{
    snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
    return false;
}

/* Adds the rows of an answer, and below each that is open its children. */
static bool add_rows(struct session *session, struct retained_data *data, int64_t node, int level,
                     struct session_error *error)
{
    const struct list_request *request = &data->list.request;
    const unsigned mode = request->of[2] < MODES ? (unsigned)request->of[2] : 0;
    if (!ARRAY_GROW(data->kept, data->kept_count, data->kept_capacity))
        return fail_memory(error);
    const size_t here = data->kept_count++;
    data->kept[here] = (struct session_retained){.rows = NULL};
    const bool good = level == 0
                          ? session_retained(session, data->shown->id, modes[mode].by, ROWS_MAX,
                                             &data->kept[here], error)
                          : session_retained_children(session, data->shown->id, node, CHILDREN_MAX,
                                                      &data->kept[here], error);
    if (level == 0)
        data->all = data->kept[here].all;
    for (size_t i = 0; good && i < data->kept[here].count; i++) {
        const struct session_retained_row *row = &data->kept[here].rows[i];
        struct retained_row *rows;
        /* Roots and what opens below them have ids below 0 and above; 0 are several roots. */
        const int64_t id = level == 0 && mode == 0 ? -row->id : row->id;
        if (!array_grow(&data->list.rows, &data->row_capacity, data->list.count + 1, sizeof(*rows)))
            return fail_memory(error);
        rows = data->list.rows;
        rows[data->list.count] =
            (struct retained_row){.key = (uint64_t)id,
                                  .level = level,
                                  .is_open = modes[mode].opens && is_open(request, id),
                                  .row = *row};
        if (rows[data->list.count++].is_open && level < 100 &&
            !add_rows(session, data, level == 0 && mode == 0 ? id : row->last, level + 1, error))
            return false;
    }
    return good;
}

/* Adds the block of the mode ONE_BLOCK, and below it what refers to it and what it refers to. */
static bool add_block(struct session *session, struct retained_data *data,
                      struct session_error *error)
{
    data->kept = calloc(BLOCK_REFERENTS + 1, sizeof(*data->kept));
    if (!data->kept)
        return fail_memory(error);
    for (int part = BLOCK_ITSELF; part <= BLOCK_REFERENTS; part++) {
        struct session_retained *kept = &data->kept[data->kept_count++];
        if (!session_block_references(session, data->shown->id, data->list.request.of[1],
                                      (enum session_block_part)part, ROWS_MAX, kept, error))
            return false;
        struct retained_row *rows;
        if (!array_grow(&data->list.rows, &data->row_capacity, data->list.count + kept->count + 1,
                        sizeof(*rows)))
            return fail_memory(error);
        rows = data->list.rows;
        for (size_t i = 0; i < kept->count; i++)
            rows[data->list.count++] = (struct retained_row){.key = (uint64_t)part << 32 | i,
                                                             .level = part != BLOCK_ITSELF,
                                                             .part = (enum session_block_part)part,
                                                             .row = kept->rows[i]};
    }
    return true;
}

/* Adds a row for each set that has changed since the base. */
static bool add_changes(struct session *const sessions[SIDES], const int64_t snapshots[SIDES],
                        struct retained_data *data, struct session_error *error)
{
    struct session_retained_changes *changes = &data->changes;
    struct retained_row *rows;
    if (!session_retained_changes(sessions, snapshots, modes[data->list.request.of[2]].by, changes,
                                  error))
        return false;
    data->list.rows = rows = calloc(changes->count + 1, sizeof(*rows));
    if (!rows)
        return fail_memory(error);
    for (size_t i = 0; i < changes->count && i < ROWS_MAX; i++) {
        const struct session_retained_change *change = &changes->rows[i];
        const uint64_t now = change->bytes[SIDE_NOW], before = change->bytes[SIDE_BASE];
        /* The names are those of the changes, which live as long. */
        rows[data->list.count++] =
            (struct retained_row){.key = i + 1,
                                  .row = {.name = (char *)(uintptr_t)change->name,
                                          .place = (char *)(uintptr_t)change->place,
                                          .id = 1,
                                          .bytes = now,
                                          .blocks = change->blocks[SIDE_NOW]},
                                  .moved = now > before ? now - before : before - now,
                                  .before = before};
    }
    data->all = changes->count;
    return true;
}

/* Compares with the snapshot before, or with the last one of another session. */
static bool compare(struct session *session, struct retained_data *data,
                    struct session_error *error)
{
    const char *other = (const char *)(uintptr_t)data->list.request.of[4];
    const size_t at = (size_t)(data->shown - data->snapshots.rows);
    struct session_heap_snapshots snapshots = {.count = 0};
    const struct session_heap_snapshot *base = at > 0 ? data->shown - 1 : NULL;
    struct session *of = session;
    bool good = true;
    if (other) {
        of = session_open(other, error);
        if (of)
            session_obey(of, session);
        good = of && session_heap_snapshots(of, &snapshots, error);
        base = snapshots.count > 0 ? &snapshots.rows[snapshots.count - 1] : NULL;
    }
    if (good && !base)
        snprintf(error->message, sizeof(error->message),
                 other ? "%.200s has no references between blocks"
                       : "this is the first snapshot of references: there is none before it",
                 other ? other : "");
    good = good && base &&
           add_changes((struct session *const[]){of, session},
                       (const int64_t[]){base->id, data->shown->id}, data, error);
    if (base)
        data->base_ns = base->ns;
    session_heap_snapshots_free(&snapshots);
    if (of != session)
        session_close(of);
    return good;
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct retained_data *data = context;
    const uint64_t place = data->list.request.of[3] / 2;
    if (!session_heap_snapshots(session, &data->snapshots, error))
        return false;
    if (data->snapshots.count == 0)
        return true;
    data->shown = &data->snapshots
                       .rows[place < data->snapshots.count ? data->snapshots.count - 1 - place : 0];
    if (data->list.request.of[3] % 2 != 0)
        return compare(session, data, error);
    return data->list.request.of[2] == ONE_BLOCK ? add_block(session, data, error)
                                                 : add_rows(session, data, 0, 0, error);
}

static void clear(void *context)
{
    struct retained_data *data = context;
    for (size_t i = 0; i < data->kept_count; i++)
        session_retained_free(&data->kept[i]);
    FREE_ALL(data->kept, data->list.rows);
    session_retained_changes_free(&data->changes);
    session_heap_snapshots_free(&data->snapshots);
}

static uint64_t live_bytes(const struct retained_data *data)
{
    const struct session_heap_snapshot *shown = data->shown;
    return shown->reachable.bytes + shown->possibly.bytes + shown->unreachable.bytes +
           shown->by_unreachable.bytes + shown->unknown.bytes;
}

static int level(const void *row)
{
    return ((const struct retained_row *)row)->level;
}

static uint64_t rank(const void *view, const void *row)
{
    return ((const struct retained_row *)row)->part;
}

/* Returns the block of a row; 0: it is a root or a set. */
static uint64_t block_of(const struct retained *retained, const struct retained_row *row)
{
    const int64_t id = retained->mode == ONE_BLOCK ? row->row.id : (int64_t)row->key;
    return !compares(retained) && (retained->mode == ONE_BLOCK || modes[retained->mode].opens) &&
                   id > 0
               ? (uint64_t)id
               : 0;
}

/* Returns true if the name of a row is followed by its place. */
static bool names_holder(const struct retained *retained, const struct retained_row *row)
{
    return retained->mode == ONE_BLOCK ? row->part != BLOCK_ITSELF
                                       : modes[retained->mode].by == RETAINED_BY_HOLDER;
}

static void cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct retained_row *of = row;
    const struct retained *retained = view;
    const struct retained_data *data = data_of(view);
    char times[FORMAT_SIZE];
    if (column == COLUMN_CHANGE) {
        const int64_t net = (int64_t)(of->row.bytes - of->before);
        growth_text(cell->text, net);
        cell->negative = net < 0;
        cell->styled = true;
        cell->style = theme_style(net > 0 ? THEME_WARNING : net < 0 ? THEME_GOOD : THEME_FAINT);
    } else if (column == COLUMN_OWN && compares(retained)) {
        *cell = (struct table_cell){.is_number = false};
    } else if (column == COLUMN_SHARE) {
        format_percent(cell->text, of->row.bytes, live_bytes(data));
    } else if (column == COLUMN_HOLDS) {
        const char *name = of->row.name ? of->row.name : SESSION_UNKNOWN_TYPE;
        const char *mark = of->part == BLOCK_REFERRERS                          ? "← "
                           : of->part == BLOCK_REFERENTS                        ? "→ "
                           : !modes[retained->mode].opens || compares(retained) ? ""
                           : of->is_open                                        ? "- "
                                                                                : "+ ";
        const int indent = 2 * (of->level < 20 ? of->level : 20);
        char type[SHORT_NAME_SIZE], member[SHORT_NAME_SIZE], number[24] = "";
        if (block_of(retained, of) != 0)
            snprintf(number, sizeof(number), " #%" PRIu64, block_of(retained, of));
        if (names_holder(retained, of) && of->row.place)
            snprintf(cell->text, sizeof(cell->text),
                     of->row.id < 0 ? "%*s%s%.90s%s (%.90s)" : "%*s%s%.90s%s" TABLE_BY "%.90s",
                     indent, "", mark, short_name(type, sizeof(type), name), number,
                     short_name(member, sizeof(member), of->row.place));
        else if (of->row.repeats > 1)
            snprintf(cell->text, sizeof(cell->text), "%*s%s%.120s%s ×%s", indent, "", mark, name,
                     number, format_count(times, of->row.repeats));
        else
            snprintf(cell->text, sizeof(cell->text), "%*s%s%.150s%s", indent, "", mark, name,
                     number);
    } else if (column == COLUMN_THROUGH && of->row.place && !names_holder(retained, of)) {
        snprintf(cell->text, sizeof(cell->text), "%.150s", of->row.place);
    }
}

static char *step(const void *view, const void *row, const char **why)
{
    const struct retained *retained = view;
    const struct retained_row *of = row;
    const char *field = modes[retained->mode].field;
    char *step;
    if (field)
        return list_name_step(field, of->row.id ? of->row.name : NULL);
    if (block_of(retained, of) != 0)
        return asprintf(&step, "where id == %" PRIu64, block_of(retained, of)) < 0 ? NULL : step;
    *why = "a root is not a block";
    return NULL;
}

static void label(const void *view, const void *row, char *out, size_t size)
{
    const struct retained_row *of = row;
    snprintf(out, size, "this one: %.100s", of->row.name ? of->row.name : SESSION_UNKNOWN_TYPE);
}

static const struct list_kind retained_list = {LIST_OF(struct retained_row),
                                               .last_optional = true,
                                               .sort = COLUMN_BYTES,
                                               .load = LIST_LOAD(retained_data, run, clear),
                                               .ask = ask,
                                               .cell = cell,
                                               .rank = rank,
                                               .level = level,
                                               .step = step,
                                               .label = label};

/* ---- the path --------------------------------------------------------------------------- */

struct path_data {
    struct list_data list; /* of[1]: the block, of[2]: the snapshot */
    struct session_path path;
};

struct path_row {
    uint64_t key, place;
    const struct session_path_step *step;
};

enum { PATH_TYPE, PATH_MEMBER, PATH_COLUMNS };

static const struct table_column path_columns[PATH_COLUMNS] = {
    [PATH_TYPE] = {"from the block to its root", .text = true, .keep = true, .unsorted = true},
    [PATH_MEMBER] = {"held by", 34, 60, .text = true, .unsorted = true},
};

static bool ask_path(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct retained *retained = view;
    const struct retained_data *data = data_of(view);
    const struct retained_row *row = list_selected(&retained->view.list);
    if (!row || !data || !data->shown || block_of(retained, row) == 0)
        return false;
    request->of[1] = block_of(retained, row);
    request->of[2] = (uint64_t)data->shown->id;
    return true;
}

static bool run_path(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct path_data *data = context;
    const uint64_t *of = data->list.request.of;
    if (!session_path_to_root(session, (int64_t)of[2], of[1], &data->path, error))
        return false;
    struct path_row *rows = calloc(data->path.count + 1, sizeof(*rows));
    data->list.rows = rows;
    for (size_t i = 0; rows && i < data->path.count; i++)
        rows[data->list.count++] = (struct path_row){i + 1, i, &data->path.steps[i]};
    return rows || fail_memory(error);
}

static void clear_path(void *context)
{
    struct path_data *data = context;
    session_path_free(&data->path);
    free(data->list.rows);
}

static void path_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct session_path_step *step = ((const struct path_row *)row)->step;
    char times[FORMAT_SIZE], number[24] = "";
    if (step->id > 0)
        snprintf(number, sizeof(number), " #%" PRId64, step->id);
    if (column == PATH_MEMBER && step->member)
        snprintf(cell->text, sizeof(cell->text), "%.150s", step->member);
    else if (column == PATH_TYPE && step->repeats > 1)
        snprintf(cell->text, sizeof(cell->text), "%.120s%s ×%s", step->name, number,
                 format_count(times, step->repeats));
    else if (column == PATH_TYPE)
        snprintf(cell->text, sizeof(cell->text), "%.150s%s", step->name, number);
}

static const struct list_kind path_list = {
    .columns = path_columns,
    .column_count = PATH_COLUMNS,
    .row_size = sizeof(struct path_row),
    .none = "a block has one: Enter opens a root into its blocks",
    .load = LIST_LOAD(path_data, run_path, clear_path),
    .ask = ask_path,
    .cell = path_cell};

/* ---- view ------------------------------------------------------------------------------- */

static const char *instead(const void *view)
{
    const struct retained_data *data = data_of(view);
    return data && !data->shown
               ? "no references between blocks; mprof-run --references=end takes them"
               : NULL;
}

static const char *none(const void *view)
{
    return ((const struct retained *)view)->mode == ONE_BLOCK
               ? "the block was not live when the references were taken"
               : NULL;
}

static void head(const void *view, const struct browse *browse, const struct area *area)
{
    const struct retained *retained = view;
    const struct retained_data *data = data_of(view);
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    if (!data || !data->shown)
        return;
    const struct session_heap_snapshot *shown = data->shown;
    int x =
        1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%s", modes[retained->mode].title);
    x +=
        area_print(area, x, 0, theme_style(THEME_FAINT), " · references at %s · %.40s · %zu of %zu",
                   format_instant(a, shown->ns), shown->name ? shown->name : shown->reason,
                   data->snapshots.count - (size_t)retained->place, data->snapshots.count);
    browse_tell_process(browse, area, x, 0, (uint64_t)shown->process);
    if (compares(retained))
        area_print(area, 1, 1, theme_style(THEME_FAINT), "changed since %s%s · live %s",
                   format_instant(b, data->base_ns), browse->other ? " of the other session" : "",
                   format_size(a, live_bytes(data)));
    else if (shown->why || shown->partial)
        area_print(area, 1, 1, theme_style(THEME_WARNING), "not complete: %.120s",
                   shown->why ? shown->why : "the recording began later than the program");
    else
        area_print(area, 1, 1, theme_style(THEME_FAINT),
                   "live %s · possibly reachable %s · unreachable %s",
                   format_size(a, live_bytes(data)), format_size(b, shown->possibly.bytes),
                   format_size((char[FORMAT_SIZE]){0},
                               shown->unreachable.bytes + shown->by_unreachable.bytes));
}

static void title(const void *view, const void *row, char *out, size_t size)
{
    const struct retained *retained = view;
    snprintf(out, size,
             block_of(retained, row) != 0 ? " path to root: Tab, then Enter goes to a step "
                                          : " path to root ");
}

/* Opens the selected row, or closes it. */
static void open_row(struct retained *retained, struct browse *browse)
{
    const struct retained_row *row = list_selected(&retained->view.list);
    if (!row)
        return;
    const int64_t id = (int64_t)row->key;
    for (size_t i = 0; i < retained->open_count; i++)
        if (retained->open[i] == id) {
            retained->open[i] = retained->open[--retained->open_count];
            return;
        }
    if (retained->open_count == OPEN_MAX)
        browse_complain(browse, "%d rows are open: close one of them first", OPEN_MAX);
    else
        retained->open[retained->open_count++] = id;
}

/* Shows something else, by the column that matters there. */
static void show_mode(struct retained *retained, unsigned mode)
{
    retained->mode = mode;
    retained->view.list.table.sort = compares(retained) ? COLUMN_CHANGE : COLUMN_BYTES;
    list_hide_last(&retained->view.list, !compares(retained));
}

/* Shows another block in place of the one that was selected elsewhere. */
static void show_block(struct retained *retained, uint64_t block)
{
    retained->block = block;
    show_mode(retained, ONE_BLOCK);
    retained->open_count = 0;
    retained->view.list.table.selected = retained->view.list.table.first = 0;
}

static void list_blocks(struct retained *retained, struct browse *browse)
{
    const struct retained_data *data = data_of(retained);
    const struct retained_row *row = list_selected(&retained->view.list);
    char time[FORMAT_SIZE], *filter = NULL;
    const char *why = NULL;
    if (!row || !data || !data->shown)
        return;
    char *narrow = step(retained, row, &why);
    format_filter_time(time, data->shown->ns);
    if (!narrow || asprintf(&filter, "live at %s | %s", time, narrow) < 0)
        filter = NULL;
    if (filter) {
        browse_replace(browse, filter);
        browse_show(browse, VIEW_ALLOCATIONS);
    } else {
        browse_complain(browse, "%s", why ? why : SESSION_OUT_OF_MEMORY);
    }
    FREE_ALL(narrow, filter);
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct retained *retained = view;
    const struct retained_data *data = data_of(view);
    const size_t count = data ? data->snapshots.count : 0;
    const struct retained_row *row = list_selected(&retained->view.list);
    const struct path_row *step =
        retained->view.in_side ? list_selected(&retained->view.side) : NULL;
    switch (input->action) {
    case ACTION_REFRESH:
        if (browse->to_holders != 0)
            show_block(retained, browse->to_holders);
        browse->to_holders = 0;
        return false;
    case ACTION_VIEW_1 + VIEW_RETAINED:
        if (!row || block_of(retained, row) == 0)
            return false;
        browse->allocation = block_of(retained, row);
        show_block(retained, browse->allocation);
        return true;
    case ACTION_MODE:
        show_mode(retained, (retained->mode + 1) % (retained->block ? MODES : ONE_BLOCK));
        browse_say(browse, "%s", modes[retained->mode].title);
        return true;
    case ACTION_DIFF:
        retained->compares = !retained->compares;
        show_mode(retained, retained->compares && !compares(retained) ? 0 : retained->mode);
        return true;
    case ACTION_STEP_BACK:
    case ACTION_STEP_FORWARD:
        if (input->action == ACTION_STEP_BACK ? retained->place + 1 < count : retained->place > 0) {
            retained->place += input->action == ACTION_STEP_BACK ? 1 : (uint64_t)-1;
            retained->open_count = 0;
        } else {
            browse_say(browse, "no snapshot %s this one: there are %zu",
                       input->action == ACTION_STEP_BACK ? "before" : "after", count);
        }
        return true;
    case ACTION_FOLLOW:
        if (step && step->step->id > 0)
            show_block(retained, browse->allocation = (uint64_t)step->step->id);
        else if (retained->mode == ONE_BLOCK && row && block_of(retained, row) != 0)
            show_block(retained, browse->allocation = block_of(retained, row));
        else if (retained->mode == ONE_BLOCK)
            browse_say(browse, "a root is not a block");
        else if (modes[retained->mode].opens && !compares(retained))
            open_row(retained, browse);
        else
            list_blocks(retained, browse);
        return true;
    default:
        return false;
    }
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW,
     "open a root or block into what only it keeps; of a set: list its blocks; of one block, and "
     "in "
     "the path: go on to the selected one",
     .keys = {KEYCODE_ENTER}, .footer = "open"},
    {ACTION_VIEW_1 + VIEW_RETAINED, "the selected block: who refers to it, what it refers to",
     .keys = {'K'}, .footer = "one block"},
    {ACTION_MODE,
     "roots, blocks, types, types by what holds them, owners, functions of yours, unreachable "
     "blocks, and one block if one "
     "was selected",
     .keys = {'C'}, .footer = "by"},
    {ACTION_DIFF,
     "what has changed since the snapshot before or, with another session, since its last one; and "
     "back",
     .keys = {'d'}, .footer = "changes"},
    {ACTION_NEXT_PANE, "into the path to the root, and back", .keys = {KEYCODE_TAB},
     .footer = "path"},
    {ACTION_STEP_BACK, "to the snapshot before", .keys = {'['}, .footer_keys = "[ ]",
     .footer = "snapshot"},
    {ACTION_STEP_FORWARD, "to the snapshot after", .keys = {']'}},
};

static const struct table_view_kind kind = {.size = sizeof(struct retained),
                                            .list = &retained_list,
                                            .side = &path_list,
                                            .lines = 2,
                                            .head = head,
                                            .title = title,
                                            .none = none,
                                            .instead = instead,
                                            .act = act};

const struct view_ops retained_view = {
    .name = "retained",
    .title = "Retained",
    .help = "Who keeps memory alive: a root or block retains the bytes that would be unreachable "
            "without it. A number such as #412 is the id of a block. References are taken by "
            "mprof-run --references or mprof-ctl. All blocks "
            "of the process count.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    TABLE_VIEW_OPS,
};
