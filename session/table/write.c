/* SPDX-License-Identifier: BSD-2-Clause */
/* The step write: allocations or groups to a table, or allocations to a session. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schemas/printable.h"
#include "session/filter/field_names.h"
#include "session/filter/sort_order.h"
#include "session/session.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/group_set.h"
#include "session/table/part.h"
#include "session/table/run_state.h"

/* ---- files of tables -------------------------------------------------------------------- */

/* Writes a table to a new file: .csv (RFC 4180, with a line of names) or .json (an array of
 * objects). Order of calls: table_file_open(), for each row the values of all columns in order,
 * table_file_close(). The file has its name only when it is complete. */

struct table_file {
    FILE *out;
    struct draft draft;
    const char *const *names;
    size_t count, next; /* columns; that of the next value */
    bool json;
    bool begun; /* a row is written */
};

/* Writes a string. In valid UTF-8 only control characters are escaped. */
static void put_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        uint32_t glyph;
        const unsigned length = printable_decode(text, &glyph);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (glyph == '"' || glyph == '\\')
            fprintf(out, "\\%c", *text);
        else if (glyph < 0x20 || (glyph >= 0x7f && glyph < 0xa0))
            fprintf(out, "\\u%04x", glyph);
        else
            fwrite(text, 1, length, out);
        text += length > 0 ? length : 1;
    }
    fputc('"', out);
}

static void put_csv_text(FILE *out, const char *text)
{
    /* The empty text is quoted, null is not. */
    if (*text && !strpbrk(text, "\",\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void free_file(struct table_file *file)
{
    draft_end(&file->draft, false, NULL);
    free(file);
}

/* Begins a file. The names stay the caller's and valid until the close. Returns NULL with `error`
 * set: there is such a file already, or it cannot be written. */
static struct table_file *table_file_open(const char *path, const char *const *names, size_t count,
                                          struct session_error *error)
{
    struct table_file *file = calloc(1, sizeof(*file));
    if (!file) {
        session_fail_memory(error, "a file");
        return NULL;
    }
    const int descriptor = draft_begin(&file->draft, path, error);
    file->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file->out) {
        if (descriptor >= 0) {
            close(descriptor);
            session_fail_memory(error, "a file");
        }
        free_file(file);
        return NULL;
    }
    const char *suffix = strrchr(path, '.');
    file->json = suffix && strcmp(suffix, ".json") == 0;
    file->names = names;
    file->count = count;
    for (size_t i = 0; !file->json && i < count; i++) {
        put_csv_text(file->out, names[i]);
        fputs(i + 1 < count ? "," : "\r\n", file->out);
    }
    if (file->json)
        fputc('[', file->out);
    return file;
}

static void begin_value(struct table_file *file)
{
    if (!file->json) {
        if (file->next > 0)
            fputc(',', file->out);
        return;
    }
    if (file->next == 0)
        fputs(file->begun ? ",\n{" : "\n{", file->out);
    else
        fputc(',', file->out);
    put_json_text(file->out, file->names[file->next]);
    fputc(':', file->out);
}

static void end_value(struct table_file *file)
{
    file->begun = true;
    if (++file->next < file->count)
        return;
    file->next = 0;
    fputs(file->json ? "}" : "\r\n", file->out);
}

/* Write the next value of the row. A text of NULL is null. */
static void table_file_text(void *context, const char *text)
{
    struct table_file *file = context;
    begin_value(file);
    if (!text)
        fputs(file->json ? "null" : "", file->out);
    else if (file->json)
        put_json_text(file->out, text);
    else
        put_csv_text(file->out, text);
    end_value(file);
}

static void table_file_number(void *context, uint64_t number)
{
    struct table_file *file = context;
    begin_value(file);
    fprintf(file->out, "%" PRIu64, number);
    end_value(file);
}

static void table_file_truth(void *context, bool truth)
{
    struct table_file *file = context;
    begin_value(file);
    fputs(truth ? "true" : "false", file->out);
    end_value(file);
}

/* Ends the file. With `keep` false, or if something could not be written, nothing stays. Returns
 * false with `error` set then, unless `keep` is false. */
static bool table_file_close(struct table_file *file, bool keep, struct session_error *error)
{
    if (file->json)
        fputs("\n]\n", file->out);
    bool good = ferror(file->out) == 0 && fflush(file->out) == 0;
    const int reason = errno;
    good = fclose(file->out) == 0 && good;
    if (keep && !good)
        session_fail(error, 0, "cannot write \"%.200s\": %s", file->draft.path, strerror(reason));
    good = draft_end(&file->draft, keep && good, error) && good;
    free(file);
    return good || !keep;
}

/* ---- allocations ---- */

/* The names in the table, in order. */
static const struct {
    const char *name;
    enum filter_field field; /* of a text; otherwise FIELD_TOTAL */
} columns[] = {
    {"session", FIELD_TOTAL},     {"id", FIELD_TOTAL},       {"address", FIELD_TOTAL},
    {"size", FIELD_TOTAL},        {"count", FIELD_TOTAL},    {"alloc_ns", FIELD_TOTAL},
    {"free_ns", FIELD_TOTAL},     {"stack_id", FIELD_TOTAL}, {"free_stack_id", FIELD_TOTAL},
    {"kind", FIELD_KIND},         {"type", FIELD_TYPE},      {"confidence", FIELD_CONFIDENCE},
    {"function", FIELD_FUNCTION}, {"user", FIELD_USER},      {"owner", FIELD_OWNER},
    {"file", FIELD_FILE},         {"module", FIELD_MODULE},  {"thread", FIELD_THREAD},
    {"process", FIELD_PROCESS},   {"arena", FIELD_ARENA},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), NUMBERS = 9 };

/* The rows of one session while they are written. */
struct writing {
    struct session *session;
    struct table_file *file;
    struct field_names names[COLUMNS];
    struct column_view views[COLUMN_TOTAL];
    uint32_t chunk; /* of the views */
    bool loaded;
};

static bool open_names(struct writing *writing, struct session_error *error)
{
    for (size_t i = NUMBERS; i < COLUMNS; i++) {
        if (!field_names_open(writing->session, columns[i].field, 0, &writing->names[i], error))
            return false;
    }
    return true;
}

static void close_names(struct writing *writing)
{
    for (size_t i = NUMBERS; i < COLUMNS; i++)
        field_names_close(&writing->names[i]);
}

/* Gets all columns of the chunk that has the row. */
static bool load_chunk(struct writing *writing, uint64_t row, struct session_error *error)
{
    const uint32_t chunk = (uint32_t)(row / COLUMN_CHUNK_ROWS);
    if (writing->loaded && writing->chunk == chunk)
        return true;
    if (!scan_go_on(writing->session, error))
        return false;
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        if (!scan_look(writing->session, chunk, (enum column)column, &writing->views[column],
                       error))
            return false;
    }
    writing->chunk = chunk;
    writing->loaded = true;
    return true;
}

/* Writes a number that is null if it is 0. */
static void put_id(struct table_file *file, uint64_t id)
{
    if (id != 0)
        table_file_number(file, id);
    else
        table_file_text(file, NULL);
}

static bool write_row(struct writing *writing, uint64_t row, struct session_error *error)
{
    struct table_file *file = writing->file;
    if (!load_chunk(writing, row, error))
        return false;
    uint64_t value[COLUMN_TOTAL];
    for (int column = 0; column < COLUMN_TOTAL; column++)
        value[column] = column_view_at(&writing->views[column], (size_t)(row % COLUMN_CHUNK_ROWS));
    table_file_text(file, session_path(writing->session));
    table_file_number(file, row + 1);
    table_file_number(file, value[COLUMN_ADDRESS]);
    table_file_number(file, value[COLUMN_SIZE]);
    table_file_number(file, value[COLUMN_COUNT_OF_OBJECTS]);
    table_file_number(file, value[COLUMN_ALLOC_NS]);
    if (value[COLUMN_LIFE_NS] != 0)
        table_file_number(file, value[COLUMN_ALLOC_NS] + value[COLUMN_LIFE_NS] - 1);
    else
        table_file_text(file, NULL);
    put_id(file, value[COLUMN_STACK]);
    put_id(file, value[COLUMN_FREE_STACK]);
    for (size_t i = NUMBERS; i < COLUMNS; i++) {
        const struct field_names *names = &writing->names[i];
        const uint64_t of_row = value[names->column];
        table_file_text(file, of_row < names->count
                                  ? names->name[field_names_id(names, (uint32_t)of_row)]
                                  : NULL);
    }
    return true;
}

static bool write_rows(struct run *run, struct session *session, const struct row_set *set,
                       struct table_file *file)
{
    struct writing *writing = calloc(1, sizeof(*writing));
    struct sort_entry *entries = NULL;
    size_t count = 0;
    if (!writing)
        return session_fail_memory(run->error, "a file");
    writing->session = session;
    writing->file = file;
    bool good = open_names(writing, run->error);
    if (set->sorted) {
        good = good &&
               sort_order_rows(session, set, run->colors, UINT64_MAX, &entries, &count, run->error);
        for (size_t i = 0; good && i < count; i++)
            good = write_row(writing, entries[i].row, run->error);
    } else {
        for (uint32_t chunk = 0; good && chunk < set->chunks; chunk++) {
            ROW_SET_EACH(row_set_chunk(set, chunk), row)
            {
                good = good &&
                       write_row(writing, (uint64_t)chunk * COLUMN_CHUNK_ROWS + row, run->error);
            }
        }
    }
    free(entries);
    close_names(writing);
    free(writing);
    return good;
}

static bool write_allocations(struct run *run, const struct filter_step *step,
                              struct run_rows *rows)
{
    const char *names[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        names[i] = columns[i].name;
    struct table_file *file = table_file_open(step->file, names, COLUMNS, run->error);
    bool good = file && write_rows(run, run->session, &rows->set, file);
    for (struct run_side *side = rows->sides; good && side; side = side->next)
        good = write_rows(run, side->session, &side->set, file);
    if (file && !table_file_close(file, good, run->error))
        good = false;
    return good;
}

/* ---- groups ---- */

size_t session_group_columns(const struct session_group_set *set,
                             struct session_key_column all[SESSION_GROUP_COLUMNS_MOST])
{
    const struct session_key_column *keys;
    const size_t key_count = session_groups_keys(set, &keys);
    size_t count = 0;
    for (size_t i = 0; i < key_count && i < SESSION_GROUP_KEYS_MOST; i++) {
        all[count++] = keys[i];
        if (session_group_id_name(&keys[i]))
            all[count++] = (struct session_key_column){session_group_id_name(&keys[i]), KEY_NUMBER};
    }
    for (int i = 0; i < MEASURE_TOTAL; i++)
        all[count++] = (struct session_key_column){
            session_group_measure_name((enum session_group_measure)i), KEY_NUMBER};
    all[count++] = (struct session_key_column){"estimated", KEY_TRUTH};
    return count;
}

bool session_group_put_key(const struct session_group_set *set, size_t row, size_t key,
                           const struct session_group_writer *writer, void *file)
{
    const struct session_key_column *keys;
    session_groups_keys(set, &keys);
    const enum session_key_type type = keys[key].type;
    const struct session_group_key value = session_group_key(set, row, key);
    if (value.is_null) {
        writer->text(file, NULL);
    } else if (type == KEY_TRUTH) {
        writer->truth(file, value.id != 0);
    } else if (type == KEY_NUMBER || type == KEY_BYTES || type == KEY_COLOR ||
               (type == KEY_ID && !value.text)) {
        writer->number(file, value.id);
    } else if (type != KEY_PATH) {
        writer->text(file, value.text);
    } else {
        char *path = session_group_key_whole(set, row, key);
        if (!path)
            return false;
        writer->text(file, path);
        free(path);
    }
    return true;
}

bool session_group_put(struct session_group_set *set, size_t row,
                       const struct session_group_writer *writer, void *file,
                       struct session_error *error)
{
    const struct session_key_column *keys;
    const size_t key_count = session_groups_keys(set, &keys);
    for (size_t key = 0; key < key_count; key++) {
        const struct session_group_key value = session_group_key(set, row, key);
        if (!session_group_put_key(set, row, key, writer, file))
            return session_fail_memory(error, "the path of a group");
        if (session_group_id_name(&keys[key]) && value.is_null)
            writer->text(file, NULL);
        else if (session_group_id_name(&keys[key]))
            writer->number(file, value.id);
    }
    for (int i = 0; i < MEASURE_TOTAL; i++) {
        uint64_t value;
        if (!session_group_value(set, row, (enum session_group_measure)i, &value, error))
            return false;
        writer->number(file, value);
    }
    writer->truth(file, group_session(set)->estimate != NULL);
    return true;
}

static bool write_groups(struct run *run, const struct filter_step *step,
                         struct session_group_set *set)
{
    static const struct session_group_writer writer = {table_file_text, table_file_number,
                                                       table_file_truth};
    struct session_key_column all[SESSION_GROUP_COLUMNS_MOST];
    const char *names[SESSION_GROUP_COLUMNS_MOST] = {NULL};
    const size_t count = session_group_columns(set, all);
    for (size_t i = 0; i < count; i++)
        names[i] = all[i].name;
    struct table_file *file = table_file_open(step->file, names, count, run->error);
    bool good = file && session_groups_prepare(set, (1u << MEASURE_TOTAL) - 1, run->error);
    for (size_t row = 0; good && row < session_groups_count(set); row++)
        good = session_group_put(set, row, &writer, file, run->error);
    if (file && !table_file_close(file, good, run->error))
        good = false;
    return good;
}

/* ---- sessions ---- */

static bool write_session(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    bool several;
    const struct run_side *side = run_only_side(rows, &several);
    if (several)
        return session_fail(run->error, step->column,
                            "a session has the allocations of one, and these are of several");
    return part_write(side ? side->session : run->session, side ? &side->set : &rows->set,
                      run->options->text, step->file, run->error);
}

/* ---- all ---- */

bool run_write(struct run *run, const struct filter_step *step, struct run_rows *rows)
{
    const char *suffix = strrchr(step->file, '.');
    if (!run->options->write)
        return session_fail(run->error, step->column, "this filter may not write files");
    if (step->stored && !run->options->stored_write)
        return session_fail(run->error, step->column, "a saved filter may not write files");
    bool good = suffix && strcmp(suffix, ".db") == 0 ? write_session(run, step, rows)
                : rows->groups                       ? write_groups(run, step, rows->groups)
                                                     : write_allocations(run, step, rows);
    if (!good && run->error->column == 0)
        run->error->column = step->column;
    return good;
}
