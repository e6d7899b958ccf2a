/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source view: a file with the bytes of each line in the margin. Without a file it lists the
 * files that have any.
 */
#include "tui/view/source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

enum measure { AT_PEAK, LIVE, ALLOCATED, MEASURES };
static const char *const measure_names[MEASURES] = {"program peak", "live", "allocated"};
static const char *const measure_files[MEASURES] = {"total_at_peak_bytes", "total_live_bytes",
                                                    "total_bytes"};

enum { COLUMN_LINE, COLUMN_BYTES, COLUMN_SHARE, COLUMN_OWN, COLUMN_BLOCKS, COLUMN_TEXT, COLUMNS };
enum { FILE_BYTES, FILE_SHARE, FILE_PATH, FILE_COLUMNS };

struct lines_data {
    struct {
        uint64_t selections;
        char path[SOURCE_PATH_MOST];
    } request;
    struct session_source_line *lines;
    size_t count;
    uint64_t whole[MEASURES]; /* of the selection */
};

struct files_data {
    uint64_t selections;
    struct session_source_file *files;
    size_t count;
    uint64_t whole[MEASURES];
};

struct source {
    struct table table, file_table;
    struct load file_load, lines_load, files_load, stacks_load;
    const char *test;               /* for the stacks of the selected row, or NULL */
    bool tested;                    /* that is known */
    const struct source_file *file; /* NULL: not known yet; so with the others */
    const struct lines_data *sums;
    const struct files_data *files;
    size_t *order; /* of the rows of `files`, for the measure; files->count of them */
    uint64_t ordered;
    enum measure measure;
    char *path; /* the file that is shown, or NULL */
    uint32_t line;
    bool seeks;   /* to `line`, once the file is known */
    bool visited; /* another view has opened the file: Esc goes back there */
};

static void *create(void)
{
    return calloc(1, sizeof(struct source));
}

static void destroy(void *view, struct exploration *exploration)
{
    struct source *source = view;
    load_clear(&exploration->loader, &source->file_load);
    load_clear(&exploration->loader, &source->lines_load);
    load_clear(&exploration->loader, &source->files_load);
    load_clear(&exploration->loader, &source->stacks_load);
    free(source->order);
    free(source->path);
    free(source);
}

/* ---- loading ---------------------------------------------------------------------------- */

/* Stores the bytes of the whole selection. The sums at the peak are those of its functions. */
static bool find_whole(struct selection *selection, uint64_t *whole, struct session_error *error)
{
    struct session_function_row *rows;
    size_t count;
    whole[LIVE] = selection_live_bytes(selection);
    whole[ALLOCATED] = selection_bytes(selection);
    if (!selection_functions(selection, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        whole[AT_PEAK] += rows[i].at_peak_bytes;
    free(rows);
    return true;
}

static bool run_lines(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct lines_data *lines = data;
    (void)session;
    return selection_source(selection, lines->request.path, &lines->lines, &lines->count, error) &&
           find_whole(selection, lines->whole, error);
}

static void clear_lines(void *data)
{
    free(((struct lines_data *)data)->lines);
}

static bool run_files(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct files_data *files = data;
    (void)session;
    return selection_source_files(selection, &files->files, &files->count, error) &&
           find_whole(selection, files->whole, error);
}

static void clear_files(void *data)
{
    free(((struct files_data *)data)->files);
}

static void load_file(struct source *source, struct exploration *exploration)
{
    static const struct load_kind file_kind = {sizeof(((struct source_file *)0)->request),
                                               sizeof(struct source_file), source_file_run,
                                               source_file_clear};
    static const struct load_kind lines_kind = {sizeof(((struct lines_data *)0)->request),
                                                sizeof(struct lines_data), run_lines, clear_lines};
    struct source_file file = {.request = {.renewals = exploration->renewals}};
    struct lines_data lines = {.request = {.selections = exploration->selections}};
    snprintf(file.request.path, sizeof(file.request.path), "%s", source->path);
    memcpy(lines.request.path, file.request.path, sizeof(lines.request.path));
    source->file = exploration_get(exploration, &source->file_load, &file_kind, &file.request);
    source->sums = exploration_get(exploration, &source->lines_load, &lines_kind, &lines.request);
}

/* ---- the table of files ----------------------------------------------------------------- */

static uint64_t file_bytes(const struct session_source_file *file, enum measure measure)
{
    return measure == AT_PEAK ? file->at_peak_bytes
           : measure == LIVE  ? file->live_bytes
                              : file->bytes;
}

static const struct files_data *sorted_files;
static enum measure sorted_measure;

static int compare_files(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const uint64_t of_a = file_bytes(&sorted_files->files[a], sorted_measure);
    const uint64_t of_b = file_bytes(&sorted_files->files[b], sorted_measure);
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void load_files(struct source *source, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct files_data), run_files,
                                          clear_files};
    const struct files_data *files =
        exploration_get(exploration, &source->files_load, &kind, &exploration->selections);
    const uint64_t ordered = exploration->selections * MEASURES + source->measure + 1;
    source->files = NULL;
    if (!files)
        return;
    if (source->ordered != ordered) {
        size_t *order = realloc(source->order, (files->count + 1) * sizeof(*order));
        if (!order)
            return;
        source->order = order;
        for (size_t i = 0; i < files->count; i++)
            order[i] = i;
        sorted_files = files;
        sorted_measure = source->measure;
        qsort(order, files->count, sizeof(*order), compare_files);
        source->ordered = ordered;
    }
    source->files = files;
}

static void file_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct source *source = context;
    const struct session_source_file *file = &source->files->files[source->order[row]];
    const uint64_t bytes = file_bytes(file, source->measure);
    if (column == FILE_PATH) {
        cell->name = file->path;
    } else if (column == FILE_SHARE) {
        format_percent(cell->text, bytes, source->files->whole[source->measure]);
    } else {
        cell->is_number = true;
        cell->number = bytes;
        cell->part = bytes;
        cell->whole = source->files->whole[source->measure];
        format_size_short(cell->text, bytes);
    }
}

static uint64_t file_key(void *context, size_t row)
{
    return ((const struct source *)context)->order[row];
}

/* The titles name the measure. One thread draws. */
static struct table_source source_of_files(const struct source *source)
{
    static struct table_column columns[FILE_COLUMNS] = {
        [FILE_BYTES] = {.width = 10, .keep = true, .unsorted = true},
        [FILE_SHARE] = {.title = "share", .width = 6, .unsorted = true},
        [FILE_PATH] =
            {.title = "file", .text = true, .keep = true, .unsorted = true, .cut = TABLE_CUT_FILE},
    };
    columns[FILE_BYTES].title = measure_names[source->measure];
    columns[FILE_BYTES].file = measure_files[source->measure];
    return (struct table_source){.context = (void *)source,
                                 .columns = columns,
                                 .column_count = FILE_COLUMNS,
                                 .rows = source->files ? source->files->count : 0,
                                 .cell = file_cell,
                                 .key = file_key};
}

/* ---- the table of lines ----------------------------------------------------------------- */

/* Returns the sums of a line, NULL if it has none. */
static const struct session_source_line *sums_of(const struct source *source, uint32_t line)
{
    size_t low = 0, high = source->sums ? source->sums->count : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (source->sums->lines[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return source->sums && low < source->sums->count && source->sums->lines[low].line == line
               ? &source->sums->lines[low]
               : NULL;
}

static uint64_t line_bytes(const struct session_source_line *line, enum measure measure)
{
    return measure == AT_PEAK ? line->at_peak_bytes
           : measure == LIVE  ? line->live_bytes
                              : line->bytes;
}

/* Returns the number of rows: the lines of the file or, if it is missing, up to the last one that
 * has sums. */
static size_t row_count(const struct source *source)
{
    size_t count = source->file ? source->file->count : 0;
    const struct lines_data *sums = source->sums;
    if (sums && sums->count > 0 && sums->lines[sums->count - 1].line > count)
        count = source->file && source->file->count > 0 ? count : sums->count;
    return count;
}

/* Returns the line of a row. If the file is missing, only lines with sums are rows. */
static uint32_t line_of(const struct source *source, size_t row)
{
    if (source->file && source->file->count > 0)
        return (uint32_t)row + 1;
    return source->sums && row < source->sums->count ? source->sums->lines[row].line : 0;
}

static void put_size(struct table_cell *cell, uint64_t bytes)
{
    cell->is_number = true;
    cell->number = bytes;
    if (bytes > 0)
        format_size_short(cell->text, bytes);
}

static void line_cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct source *source = context;
    const uint32_t line = line_of(source, row);
    const struct session_source_line *sums = sums_of(source, line);
    if (column == COLUMN_LINE) {
        cell->is_number = true;
        cell->number = line;
        snprintf(cell->text, sizeof(cell->text), "%" PRIu32, line);
        cell->styled = !sums;
        cell->style = theme_style(THEME_FAINT);
    } else if (column == COLUMN_TEXT) {
        source_file_line(source->file, line, cell->text, sizeof(cell->text));
    } else if (sums) {
        const uint64_t bytes = line_bytes(sums, source->measure);
        const uint64_t whole = source->sums->whole[source->measure];
        if (column == COLUMN_BYTES) {
            put_size(cell, bytes);
            cell->part = bytes;
            cell->whole = whole;
        } else if (column == COLUMN_SHARE && bytes > 0) {
            format_percent(cell->text, bytes, whole);
        } else if (column == COLUMN_OWN) {
            put_size(cell, sums->own_bytes);
        } else if (column == COLUMN_BLOCKS) {
            cell->is_number = true;
            cell->number = sums->allocations;
            format_count_short(cell->text, sums->allocations);
        }
    }
}

static uint64_t line_key(void *context, size_t row)
{
    return line_of(context, row);
}

static struct table_source source_of_lines(const struct source *source)
{
    static struct table_column columns[COLUMNS] = {
        [COLUMN_LINE] = {.title = "line", .width = 5, .keep = true, .unsorted = true},
        [COLUMN_BYTES] = {.width = 12, .keep = true, .unsorted = true},
        [COLUMN_SHARE] = {.title = "share", .width = 6, .least_width = 66, .unsorted = true},
        [COLUMN_OWN] =
            {.title = "own", .file = "bytes", .width = 7, .least_width = 110, .unsorted = true},
        [COLUMN_BLOCKS] = {.title = "blocks",
                           .file = "total_allocations",
                           .width = 7,
                           .least_width = 100,
                           .unsorted = true},
        [COLUMN_TEXT] = {.title = "source", .text = true, .keep = true, .unsorted = true},
    };
    columns[COLUMN_BYTES].title = measure_names[source->measure];
    columns[COLUMN_BYTES].file = measure_files[source->measure];
    return (struct table_source){.context = (void *)source,
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .rows = row_count(source),
                                 .cell = line_cell,
                                 .key = line_key};
}

/* ---- actions ---------------------------------------------------------------------------- */

static void open_file(struct source *source, const char *path, uint32_t line)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    free(source->path);
    source->path = copy;
    source->line = line;
    source->seeks = true;
    source->file = NULL;
    source->sums = NULL;
}

/* Takes the place that another view has chosen. */
static void take_wish(struct source *source, struct exploration *exploration)
{
    if (!exploration->source_path)
        return;
    open_file(source, exploration->source_path, exploration->source_line);
    free(exploration->source_path);
    exploration->source_path = NULL;
    source->visited = true;
}

/* Selects the line that was asked for; without one, that with most bytes. */
static void seek(struct source *source, const struct table_place *place)
{
    const struct table_source rows = source_of_lines(source);
    if (!source->seeks || !source->file || !source->sums || rows.rows == 0)
        return;
    uint32_t line = source->line;
    uint64_t most = 0;
    for (size_t i = 0; line == 0 && i < source->sums->count; i++) {
        const struct session_source_line *sums = &source->sums->lines[i];
        if (line_bytes(sums, source->measure) > most) {
            most = line_bytes(sums, source->measure);
            source->line = sums->line;
        }
    }
    line = source->line;
    size_t row = 0;
    while (row + 1 < rows.rows && line_of(source, row) < line)
        row++;
    const size_t height = place->height > 1 ? (size_t)place->height - 1 : 1;
    source->table.first = row > height / 3 ? row - height / 3 : 0;
    table_select(&source->table, &rows, row);
    source->seeks = false;
}

static void edit(struct source *source, struct exploration *exploration)
{
    if (!source->file || !source->file->found[0])
        exploration_complain(exploration, "the file is not on this machine: there is nothing to "
                                          "edit");
    else
        exploration_edit(exploration, source->file->found, line_of(source, source->table.selected));
}

/* Returns false if the action is another one. */
static bool act(struct source *source, struct exploration *exploration, enum action action)
{
    switch (action) {
    case ACTION_MODE:
        source->measure = (source->measure + 1) % MEASURES;
        exploration_say(exploration, "bytes %s",
                        source->measure == LIVE ? "live at the end"
                                                : measure_names[source->measure]);
        return true;
    case ACTION_OPEN:
        if (source->path)
            edit(source, exploration);
        return true;
    case ACTION_FOLLOW:
        if (!source->path && source->files && source->file_table.selected < source->files->count) {
            open_file(source, source->files->files[source->order[source->file_table.selected]].path,
                      0);
            source->visited = false;
        }
        return true;
    case ACTION_BACK:
        if (!source->path || source->visited)
            return false;
        free(source->path);
        source->path = NULL;
        return true;
    default:
        return false;
    }
}

static struct table_place place_of(int width, int height)
{
    return (struct table_place){0, 1, width, height - 1};
}

/* Returns the file of the selected row, NULL if there is none. `*line`: 0 in the list of files. */
static const char *selected_path(const struct source *source, uint32_t *line)
{
    *line = source->path ? line_of(source, source->table.selected) : 0;
    if (source->path)
        return source->path;
    const bool any = source->files && source->file_table.selected < source->files->count;
    return any ? source->files->files[source->order[source->file_table.selected]].path : NULL;
}

/* Asks which stacks the selected row counts. */
static void load_stacks(struct source *source, struct exploration *exploration)
{
    uint32_t line;
    const char *path = selected_path(source, &line);
    const bool counts = path && (!source->path || sums_of(source, line));
    source->test = NULL;
    source->tested =
        counts && source_stacks(exploration, &source->stacks_load, path, line, &source->test);
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct source *source = view;
    const struct table_place place = place_of(input->width, input->height);
    take_wish(source, exploration);
    bool used = act(source, exploration, input->action);
    if (!used) {
        const struct table_source rows =
            source->path ? source_of_lines(source) : source_of_files(source);
        const enum table_answer answer = list_update(
            exploration, source->path ? &source->table : &source->file_table, &rows, input, &place);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            act(source, exploration, ACTION_FOLLOW);
    }
    if (source->path) {
        load_file(source, exploration);
        seek(source, &place);
    } else {
        load_files(source, exploration);
    }
    const struct table_source rows =
        source->path ? source_of_lines(source) : source_of_files(source);
    table_settle(source->path ? &source->table : &source->file_table, &rows, &place);
    if (!input->more)
        load_stacks(source, exploration);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_head(const struct source *source, const struct area *area)
{
    const struct source_file *file = source->file;
    if (!source->path) {
        area_text(area, 1, 0, theme_style(THEME_STRONG), "source files on the stacks");
        return;
    }
    const char *path = file && file->found[0] ? file->found : source->path;
    const char *last = strrchr(path, '/');
    if (file && last && text_width(path) + text_width(file->note) + 4 > area->width)
        path = last + 1;
    const int x = 1 + area_text(area, 1, 0, theme_style(THEME_STRONG), path);
    if (file && file->note[0])
        area_field(area, x + 2, 0, area->width - x - 3,
                   theme_style(file->warns ? THEME_WARNING : THEME_FAINT), file->note);
}

static void render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct source *source = view;
    const struct table_source rows =
        source->path ? source_of_lines(source) : source_of_files(source);
    const struct area below = area_part(area, 0, 1, area->width, area->height - 1);
    render_head(source, area);
    table_render(source->path ? &source->table : &source->file_table, &rows, &below);
    if (rows.rows > 0)
        return;
    if (source->path && source->file && source->sums)
        area_text(area, 2, 3, theme_style(THEME_FAINT), source->file->note);
    else
        list_render_empty(exploration, area, 3, !source->path && source->files);
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct source *source = view;
    uint32_t line;
    (void)exploration;
    const char *path = selected_path(source, &line);
    return path && source->tested ? source_offers(path, line, source->test, out, capacity) : 0;
}

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct source *source = view;
    (void)exploration;
    if (!source->path)
        return false;
    char text[256];
    const uint32_t line = line_of(source, source->table.selected);
    source_file_line(source->file, line, text, sizeof(text));
    fprintf(out, "%s:%" PRIu32 "  %s\n", source->path, line, text);
    return true;
}

static bool table(void *view, struct exploration *exploration, FILE *out, enum table_format format)
{
    const struct source *source = view;
    const struct table_source rows =
        source->path ? source_of_lines(source) : source_of_files(source);
    (void)exploration;
    table_write(&rows, out, format);
    return rows.rows > 0;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "open",
     .description = "open the selected file"},
    {.keys = {'B'},
     .action = ACTION_MODE,
     .footer = "measure",
     .description = "bytes at the program's peak, live at the end, or allocated in all"},
    {.keys = {'o'},
     .action = ACTION_OPEN,
     .footer = "edit",
     .description = "open $EDITOR at the line"},
};

const struct view_ops source_view = {
    .name = "source",
    .title = "Source",
    .help = "A source file with the bytes of each line: those of all stacks that pass through it, "
            "inlined functions included. \"own\" are those whose call site it is.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .table = table,
};
