/* SPDX-License-Identifier: BSD-2-Clause */
/* The source view: a file with the bytes of each line in the margin. Without a file it lists the
 * files that have any. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/graphs.h"
#include "session/source.h"
#include "session/stacks.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/browse.h"
#include "tui/view/common/list.h"
#include "tui/view/common/offers.h"
#include "tui/view/view.h"

#define SOURCE_PATH_MOST 1000
#define SOURCE_NOTE_SIZE 300

/* A source file as it lies on this machine. */
struct source_file {
    struct {
        uint64_t renewals;
        char path[SOURCE_PATH_MOST]; /* as the session names it, zeros after it */
    } request;
    char found[SOURCE_PATH_MOST + 300]; /* where it lies here; "": it was not found */
    char note[SOURCE_NOTE_SIZE];        /* what may be wrong with it; "": nothing */
    bool warns;                         /* the note is a warning */
    char *text;                         /* NUL after each line */
    size_t *lines;                      /* where each line begins */
    size_t count;
};

enum { FILE_MOST = 16 << 20, LINES_MOST = 1000000 };

/* Opens a regular file. Returns -1 if there is none, or it cannot be read. */
static int open_regular(const char *path, struct stat *about)
{
    /* Without O_NONBLOCK a pipe of this name would hold the engine. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, about) == 0 && S_ISREG(about->st_mode))
        return descriptor;
    close(descriptor);
    return -1;
}

/* Returns what replaces the beginning of `path` by a setting "FROM=TO": FROM ends at the last '=',
 * and at a component of the path. Returns false if it is not the beginning. */
static bool map_path(const char *setting, const char *path, char *out, size_t size)
{
    const char *equal = strrchr(setting, '=');
    size_t length = equal ? (size_t)(equal - setting) : 0;
    while (length > 1 && setting[length - 1] == '/')
        length--;
    if (length == 0 || strncmp(setting, path, length) != 0 ||
        (path[length] != '/' && path[length] != 0 && setting[length - 1] != '/'))
        return false;
    const char *rest = path + length + strspn(path + length, "/");
    const char *to = equal + 1;
    const size_t to_length = strlen(to);
    const char *slash = to_length > 0 && to[to_length - 1] == '/' ? "" : "/";
    return snprintf(out, size, "%s%s%s", to, slash, rest) < (int)size;
}

/* Opens the file at its recorded place or, if it is not there, at that of a setting. */
static int find(struct session *session, struct source_file *file, struct stat *about)
{
    struct session_setting *settings = NULL;
    struct session_error ignored;
    size_t count = 0;
    int descriptor = -1;
    if (session_settings(session, &settings, &count, &ignored)) {
        for (size_t i = 0; i < count && descriptor < 0; i++)
            if (settings[i].kind == SESSION_SOURCE &&
                map_path(settings[i].value, file->request.path, file->found, sizeof(file->found)))
                descriptor = open_regular(file->found, about);
        session_settings_free(settings, count);
    }
    /* The folder that a relative path begins at is that of the compiler. */
    if (descriptor < 0 && file->request.path[0] == '/') {
        snprintf(file->found, sizeof(file->found), "%s", file->request.path);
        descriptor = open_regular(file->found, about);
    }
    if (descriptor < 0)
        file->found[0] = 0;
    return descriptor;
}

static bool read_all(int descriptor, char *text, size_t size)
{
    size_t used = 0;
    while (used < size) {
        const ssize_t got = read(descriptor, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    memset(text + used, 0, size - used + 1);
    return true;
}

static bool split(struct source_file *file, size_t size)
{
    size_t capacity = 0;
    for (size_t at = 0; at < size && file->count < LINES_MOST;) {
        if (file->count == capacity) {
            capacity = capacity * 2 + 1024;
            size_t *larger = realloc(file->lines, capacity * sizeof(*larger));
            if (!larger)
                return false;
            file->lines = larger;
        }
        file->lines[file->count++] = at;
        char *end = memchr(file->text + at, '\n', size - at);
        size_t next = end ? (size_t)(end - file->text) + 1 : size;
        if (end)
            *end = 0;
        if (end && next >= at + 2 && end[-1] == '\r')
            end[-1] = 0;
        at = next;
    }
    return true;
}

/* Finds the module that has code of the file: the first function that is declared in it tells. */
static bool find_module(struct session *session, const char *path, struct session_module *module)
{
    struct session_error ignored;
    const uint32_t count = session_function_count(session);
    for (uint32_t id = 1; id <= count; id++) {
        struct session_function function;
        if (session_function(session, id, &function, &ignored) && function.module != 0 &&
            strcmp(function.file, path) == 0)
            return session_module(session, function.module, module, &ignored);
    }
    return false;
}

/* Returns when the recording began, 0 if it is not known. */
static time_t recording_began(const struct session *session)
{
    const char *text = session_meta(session, "start_time");
    struct tm tm = {0};
    if (!text || sscanf(text, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                        &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return timegm(&tm);
}

/* Says if the lines may have moved since the program was built. */
static void compare_ages(struct session *session, struct source_file *file,
                         const struct stat *about)
{
    struct session_module module;
    struct stat binary;
    const time_t began = recording_began(session);
    if (find_module(session, file->request.path, &module) && stat(module.path, &binary) == 0 &&
        about->st_mtime > binary.st_mtime) {
        snprintf(file->note, sizeof(file->note),
                 "the source is newer than the binary %.150s: lines may have moved", module.name);
        file->warns = true;
    } else if (began != 0 && about->st_mtime > began) {
        snprintf(file->note, sizeof(file->note),
                 "the source has changed since the recording: lines may have moved");
        file->warns = true;
    }
}

/* Finds and reads the file of the request. It is missing if `found` is "". */
static bool file_run(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct source_file *file = data;
    struct stat about;
    const int descriptor = find(session, file, &about);
    if (descriptor < 0) {
        snprintf(file->note, sizeof(file->note),
                 "not here: mprof-tui --setting 'add source FROM=TO'");
        file->warns = true;
        return true;
    }
    bool good = about.st_size <= FILE_MOST;
    if (!good) {
        snprintf(file->note, sizeof(file->note), "larger than 16 MiB: not shown");
        file->warns = true;
        close(descriptor);
        return true;
    }
    file->text = malloc((size_t)about.st_size + 1);
    good = file->text && read_all(descriptor, file->text, (size_t)about.st_size) &&
           split(file, (size_t)about.st_size);
    close(descriptor);
    if (!good)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    else
        compare_ages(session, file, &about);
    return good;
}

static void file_clear(void *data)
{
    struct source_file *file = data;
    FREE_ALL(file->text, file->lines);
}

/* Writes a line, "" if the file has none of the number. */
static void file_line(const struct source_file *file, uint32_t line, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    if (!file || line == 0 || line > file->count)
        return;
    for (const char *at = file->text + file->lines[line - 1]; *at && used + 5 < size; at++) {
        if (*at != '\t') {
            out[used++] = *at;
            continue;
        }
        do
            out[used++] = ' ';
        while (used % 4 != 0);
    }
    out[used] = 0;
}

struct stacks_data {
    struct {
        uint64_t renewals, line;
        char path[SOURCE_PATH_MOST];
    } request;
    char *test;
};

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct stacks_data *data = argument;
    return session_source_stacks(session, data->request.path, (uint32_t)data->request.line,
                                 &data->test, error);
}

/* Stores a test for the stacks that a line counts, or with line 0 the file; NULL: there
 * is none, as for too many stacks. Returns false while that is not known. */
static bool source_stacks(struct browse *browse, struct load *load, const char *path, uint32_t line,
                          const char **test)
{
    static const struct load_kind kind = LOAD_ROWS(stacks_data, run, test);
    static struct stacks_data wanted; /* too large for the stack; only one thread uses views */
    memset(&wanted, 0, sizeof(wanted));
    wanted.request.renewals = browse->renewals;
    wanted.request.line = line;
    snprintf(wanted.request.path, sizeof(wanted.request.path), "%s", path);
    const struct stacks_data *data = browse_get(browse, load, &kind, &wanted.request);
    *test = data ? data->test : NULL;
    return data != NULL;
}

enum measure { AT_PEAK, LIVE, ALLOCATED, MEASURES };
static const char *const measure_names[MEASURES] = {"program peak", "live", "allocated"};
static const char *const measure_files[MEASURES] = {"total_at_peak_bytes", "total_live_bytes",
                                                    "total_bytes"};

enum { COLUMN_LINE, COLUMN_BYTES, COLUMN_SHARE, COLUMN_OWN, COLUMN_BLOCKS, COLUMN_TEXT, COLUMNS };

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
    struct list_data list;
    uint64_t whole[MEASURES];
    bool any_own;
};

struct source {
    const struct session *session;
    struct table table;
    struct list files;
    struct load file_load, lines_load, stacks_load;
    const char *test;               /* for the stacks of the selected row, or NULL */
    bool tested;                    /* that is known */
    const struct source_file *file; /* NULL: not known yet; so with the others */
    const struct lines_data *sums;
    enum measure measure;
    char *path; /* the file that is shown, or NULL */
    uint32_t line;
    bool all;     /* files of libraries are listed, too */
    bool seeks;   /* to `line`, once the file is known */
    bool visited; /* another view has opened the file: Esc goes back there */
};

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
    return selection_source(selection, lines->request.path, &lines->lines, &lines->count, error) &&
           find_whole(selection, lines->whole, error);
}

static void load_file(struct source *source, struct browse *browse)
{
    static const struct load_kind file_kind = LOAD_KIND(source_file, file_run, file_clear);
    static const struct load_kind lines_kind = LOAD_ROWS(lines_data, run_lines, lines);
    struct source_file file = {.request = {.renewals = browse->renewals}};
    struct lines_data lines = {.request = {.selections = browse->selections}};
    snprintf(file.request.path, sizeof(file.request.path), "%s", source->path);
    memcpy(lines.request.path, file.request.path, sizeof(lines.request.path));
    source->file = browse_get(browse, &source->file_load, &file_kind, &file.request);
    source->sums = browse_get(browse, &source->lines_load, &lines_kind, &lines.request);
}

/* ---- the list of files ------------------------------------------------------------------ */

enum { FILE_BYTES, FILE_SHARE, FILE_PATH, FILE_COLUMNS };

static const struct table_column file_columns[FILE_COLUMNS] = {
    [FILE_BYTES] = {"bytes", 10, .keep = true, .number = TABLE_BYTES, .at = TABLE_ASKED},
    [FILE_SHARE] = {"share", 6, .unsorted = true},
    [FILE_PATH] = {"file", .text = true, .keep = true, .unsorted = true, .cut = TABLE_CUT_FILE},
};

static bool run_files(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct files_data *data = context;
    struct session_source_file *files = NULL;
    const bool good = selection_source_files(selection, &files, &data->list.count, error) &&
                      find_whole(selection, data->whole, error);
    for (size_t i = 0; good && i < data->list.count; i++)
        data->any_own |= files[i].own;
    data->list.rows = files;
    return good;
}

/* Files of libraries are left out if there are others. */
static bool hides_file(const void *view, const void *row)
{
    const struct source *source = view;
    const struct files_data *data = source->files.data;
    return !source->all && data->any_own && !((const struct session_source_file *)row)->own;
}

static uint64_t file_bytes(const void *view, const void *row, size_t column)
{
    const struct session_source_file *file = row;
    const enum measure measure = ((const struct source *)view)->measure;
    return measure == AT_PEAK ? file->at_peak_bytes
           : measure == LIVE  ? file->live_bytes
                              : file->bytes;
}

static void file_cell(const void *view, const void *row, size_t column, struct table_cell *cell)
{
    const struct source *source = view;
    const struct files_data *data = source->files.data;
    const uint64_t bytes = file_bytes(view, row, column), whole = data->whole[source->measure];
    cell->styled = false;
    if (column == FILE_PATH) {
        cell->name = ((const struct session_source_file *)row)->path;
    } else if (column == FILE_SHARE) {
        format_percent(cell->text, bytes, whole);
    } else {
        cell->part = bytes;
        cell->whole = whole;
    }
}

/* A file is its path, which lives as long as the session. */
static uint64_t file_key(const void *view, const void *row)
{
    return (uint64_t)(uintptr_t)((const struct session_source_file *)row)->path;
}

static const struct list_kind files_list = {.columns = file_columns,
                                            .column_count = FILE_COLUMNS,
                                            .row_size = sizeof(struct session_source_file),
                                            .load =
                                                LIST_LOAD(files_data, run_files, list_free_rows),
                                            .key = file_key,
                                            .hides = hides_file,
                                            .cell = file_cell,
                                            .number = file_bytes};

/* The titles name the measure. One thread draws. */
static struct table_source of_files(const struct source *source)
{
    static struct table_column columns[FILE_COLUMNS];
    struct table_source rows = list_source(&source->files);
    memcpy(columns, file_columns, sizeof(columns));
    columns[FILE_BYTES].title = measure_names[source->measure];
    columns[FILE_BYTES].file = measure_files[source->measure];
    columns[FILE_BYTES].unsorted = true; /* always the largest first */
    rows.columns = columns;
    rows.about = NULL;
    return rows;
}

static void *create(void)
{
    struct source *source = calloc(1, sizeof(*source));
    if (source)
        list_init(&source->files, &files_list, source);
    return source;
}

static void destroy(void *view, struct browse *browse)
{
    struct source *source = view;
    list_clear(&source->files, browse);
    LOADS_CLEAR(&browse->loader, &source->file_load, &source->lines_load, &source->stacks_load);
    FREE_ALL(source->path, source);
}

/* ---- the table of lines ----------------------------------------------------------------- */

/* Returns the sums of a line, NULL if it has none. */
static const struct session_source_line *sums_of(const struct source *source, uint32_t line)
{
    size_t low = 0;
    ARRAY_BISECT(low, source->sums ? source->sums->count : 0,
                 source->sums->lines[middle].line < line);
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

/* Returns the rows: the file's lines or, if it is missing, up to the last one with sums. */
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

/* Returns true if the file is missing: then the rows name the functions of their lines. */
static bool is_missing(const struct source *source)
{
    return source->file && source->file->count == 0;
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
    } else if (column == COLUMN_TEXT && is_missing(source)) {
        if (sums && sums->function != 0)
            cell->name = session_function_name(source->session, sums->function);
    } else if (column == COLUMN_TEXT) {
        file_line(source->file, line, cell->text, sizeof(cell->text));
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

static struct table_source of_lines(const struct source *source)
{
    static struct table_column columns[COLUMNS] = {
        [COLUMN_LINE] = {"line", 5, .keep = true, .unsorted = true},
        [COLUMN_BYTES] = {.width = 12, .keep = true, .unsorted = true},
        [COLUMN_SHARE] = {"share", 6, 66, .unsorted = true},
        [COLUMN_OWN] = {"own", 7, 110, .file = "bytes", .unsorted = true},
        [COLUMN_BLOCKS] = {"blocks", 7, 100, .file = "total_allocations", .unsorted = true},
        [COLUMN_TEXT] = {.text = true, .keep = true, .unsorted = true},
    };
    columns[COLUMN_TEXT].title = is_missing(source) ? "function" : "source";
    columns[COLUMN_TEXT].cut = is_missing(source) ? TABLE_CUT_NAME : TABLE_CUT_END;
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
static void take_request(struct source *source, struct browse *browse)
{
    if (!browse->source_path)
        return;
    open_file(source, browse->source_path, browse->source_line);
    free(browse->source_path);
    browse->source_path = NULL;
    source->visited = true;
    if (browse->source_live)
        source->measure = LIVE;
}

/* Returns the line with most bytes, or, behind `last`, with the most of those that follow it in
 * this order. Returns 0 if no line has any. */
static uint32_t hottest_line(const struct source *source, const struct session_source_line *last)
{
    const struct session_source_line *best = NULL;
    const uint64_t limit = last ? line_bytes(last, source->measure) : UINT64_MAX;
    const uint32_t end = line_of(source, row_count(source) - 1); /* the file may be shorter now */
    for (size_t i = 0; i < source->sums->count && source->sums->lines[i].line <= end; i++) {
        const struct session_source_line *sums = &source->sums->lines[i];
        const uint64_t bytes = line_bytes(sums, source->measure);
        if (bytes <= limit && !(bytes == limit && sums <= last) && bytes > 0 &&
            (!best || bytes > line_bytes(best, source->measure)))
            best = sums;
    }
    return best ? best->line : 0;
}

/* Selects a line, and shows those around it. */
static void go_to(struct source *source, uint32_t line, int height)
{
    const struct table_source rows = of_lines(source);
    size_t row = 0;
    while (row + 1 < rows.rows && line_of(source, row) < line)
        row++;
    const size_t above = height > 3 ? (size_t)(height - 1) / 3 : 0;
    source->table.first = row > above ? row - above : 0;
    table_select(&source->table, &rows, row);
}

/* Selects the line that was asked for; without one, that with most bytes. */
static void seek(struct source *source, int height)
{
    if (!source->seeks || !source->file || !source->sums || row_count(source) == 0)
        return;
    if (source->line == 0)
        source->line = hottest_line(source, NULL);
    go_to(source, source->line, height);
    source->seeks = false;
}

/* Goes to the line with the next fewer bytes, from the last one to that with most. */
static void next_hottest(struct source *source, struct browse *browse, int height)
{
    if (!source->file || !source->sums || row_count(source) == 0)
        return;
    uint32_t line = hottest_line(source, sums_of(source, line_of(source, source->table.selected)));
    if (line == 0)
        line = hottest_line(source, NULL);
    if (line == 0)
        browse_complain(browse, "no line has bytes");
    else
        go_to(source, line, height);
}

static void edit(struct source *source, struct browse *browse)
{
    if (!source->file || !source->file->found[0])
        browse_complain(browse, "the file is not on this machine: there is nothing to "
                                "edit");
    else
        browse_edit(browse, source->file->found, line_of(source, source->table.selected));
}

/* Returns false if the action is another one. `height`: of the rows. */
static bool act(struct source *source, struct browse *browse, enum action action, int height)
{
    switch (action) {
    case ACTION_EXPAND_HOTTEST:
        if (source->path)
            next_hottest(source, browse, height);
        return source->path != NULL;
    case ACTION_MODE:
        source->measure = (source->measure + 1) % MEASURES;
        list_sort(&source->files);
        browse_say(browse, "bytes %s",
                   source->measure == LIVE ? "live at the end" : measure_names[source->measure]);
        return true;
    case ACTION_LIBRARIES:
        if (source->path)
            return false;
        source->all = !source->all;
        list_renew(&source->files);
        return true;
    case ACTION_OPEN:
        if (source->path)
            edit(source, browse);
        return true;
    case ACTION_FOLLOW:
        if (!source->path && list_selected(&source->files)) {
            const struct session_source_file *file = list_selected(&source->files);
            open_file(source, file->path, 0);
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

/* Returns the file of the selected row, NULL if there is none. `*line`: 0 in the list of files. */
static const char *selected_path(const struct source *source, uint32_t *line)
{
    *line = source->path ? line_of(source, source->table.selected) : 0;
    if (source->path)
        return source->path;
    const struct session_source_file *file = list_selected(&source->files);
    return file ? file->path : NULL;
}

/* Asks which stacks the selected row counts. */
static void load_stacks(struct source *source, struct browse *browse)
{
    uint32_t line;
    const char *path = selected_path(source, &line);
    const bool counts = path && (!source->path || sums_of(source, line));
    source->test = NULL;
    source->tested =
        counts && source_stacks(browse, &source->stacks_load, path, line, &source->test);
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct source *source = view;
    const struct table_place place = {0, 1, input->width, input->height - 1};
    source->session = browse->session;
    take_request(source, browse);
    bool used = act(source, browse, input->action, place.height);
    if (!used) {
        const struct table_source rows = source->path ? of_lines(source) : of_files(source);
        const enum table_answer answer = list_update_table(
            browse, source->path ? &source->table : &source->files.table, &rows, input, &place);
        used = answer != TABLE_IGNORED;
        if (answer == TABLE_FOLLOW)
            act(source, browse, ACTION_FOLLOW, place.height);
    }
    if (source->path) {
        load_file(source, browse);
        seek(source, place.height);
    } else {
        source->files.table.sort = FILE_BYTES;
        source->files.table.descending = true;
        list_load(&source->files, browse);
    }
    const struct table_source rows = source->path ? of_lines(source) : of_files(source);
    table_settle(source->path ? &source->table : &source->files.table, &rows, &place);
    if (!input->more)
        load_stacks(source, browse);
    return used;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_head(const struct source *source, const struct area *area)
{
    const struct source_file *file = source->file;
    if (!source->path) {
        const struct files_data *data = source->files.data;
        const size_t hidden = data ? data->list.count - source->files.count : 0;
        char count[FORMAT_SIZE];
        const int end = 1 + area_text(area, 1, 0, theme_style(THEME_STRONG),
                                      hidden > 0 ? "your source files on the stacks"
                                                 : "source files on the stacks");
        if (hidden > 0)
            area_print(area, end, 0, theme_style(THEME_FAINT),
                       " \u00b7 %s of libraries hidden \u00b7 S shows them",
                       format_count(count, hidden));
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

static void render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct source *source = view;
    const struct table_source rows = source->path ? of_lines(source) : of_files(source);
    const struct area below = area_part(area, 0, 1, area->width, area->height - 1);
    render_head(source, area);
    table_render(source->path ? &source->table : &source->files.table, &rows, &below);
    if (rows.rows > 0)
        return;
    if (source->path && source->file && source->sums)
        area_text(area, 2, 3, theme_style(THEME_FAINT), source->file->note);
    else
        list_render_empty(browse, area, 3, !source->path && source->files.data);
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    const struct source *source = view;
    uint32_t line;
    const char *path = selected_path(source, &line);
    return path && source->tested ? offer_source(path, line, source->test, out, capacity) : 0;
}

static bool copy(void *view, struct browse *browse, FILE *out)
{
    const struct source *source = view;
    if (!source->path)
        return false;
    char text[256];
    const uint32_t line = line_of(source, source->table.selected);
    file_line(source->file, line, text, sizeof(text));
    fprintf(out, "%s:%" PRIu32 "  %s\n", source->path, line, text);
    return true;
}

static bool table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct source *source = view;
    const struct table_source rows = source->path ? of_lines(source) : of_files(source);
    table_write(&rows, out, format);
    return rows.rows > 0;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "open the selected file", .keys = {KEYCODE_ENTER}, .footer = "open"},
    {ACTION_LIBRARIES, "list the files of libraries, or hide them", .keys = {'S'}},
    {ACTION_MODE, "bytes at the program's peak, live at the end, or allocated in all",
     .keys = {'B'}, .footer = "measure"},
    {ACTION_EXPAND_HOTTEST, "go to the line with most bytes; again: to the one with the next fewer",
     .keys = {'e'}, .footer = "hottest"},
    {ACTION_OPEN, "open $EDITOR at the line", .keys = {'o'}, .footer = "edit"},
};

const struct view_ops source_view = {
    .name = "source",
    .title = "Source",
    .help = "A source file with the bytes of each line: those of all stacks that pass through it, "
            "inlined functions included. \"own\" are those whose call site it is. If the file is "
            "missing here, the functions of its lines stand in its place.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = render,
    .offers = offers,
    .copy = copy,
    .table = table,
};
