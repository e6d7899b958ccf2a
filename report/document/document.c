/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/document/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/json.h"
#include "report/output/names.h"
#include "schemas/array.h"
#include "schemas/code/short_name.h"

bool document_format(const char *name, enum document_format *format)
{
    static const char *const names[] = {"text", "csv",    "json", "markdown",
                                        "html", "github", "sarif"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0) {
            *format = (enum document_format)i;
            return true;
        }
    return false;
}

struct document *document_new(const char *report, bool estimated)
{
    struct document *document = calloc(1, sizeof(*document));
    if (document) {
        document->report = report;
        document->estimated = estimated;
    }
    return document;
}

void document_free(struct document *document)
{
    if (!document)
        return;
    for (size_t i = 0; i < document->fact_count; i++)
        free(document->facts[i].value.text);
    for (size_t i = 0; i < document->table_count; i++) {
        for (size_t j = 0; j < document->tables[i].count; j++)
            free(document->tables[i].values[j].text);
        FREE_ALL(document->tables[i].values, document->tables[i].columns);
    }
    FREE_ALL(document->facts, document->tables, document->frames, document);
}

/* Makes room for one more item of `size` bytes. Returns the array, or NULL. */
static void *grown(struct document *document, void *items, size_t count, size_t *capacity,
                   size_t size)
{
    if (document->failed)
        return NULL;
    document->failed = !array_grow(&items, capacity, count + 1, size);
    return document->failed ? NULL : items;
}

static char *copied(struct document *document, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        document->failed = true;
    return copy;
}

static bool is_text(enum value_kind kind)
{
    return kind == VALUE_TEXT || kind == VALUE_NAME;
}

/* ---- facts ------------------------------------------------------------------------------ */

/* Takes the value. */
static void add_fact(struct document *document, const char *name, const char *title,
                     struct document_value value)
{
    struct document_fact *facts = grown(document, document->facts, document->fact_count,
                                        &document->fact_capacity, sizeof(*facts));
    if (!facts) {
        free(value.text);
        return;
    }
    document->facts = facts;
    facts[document->fact_count++] = (struct document_fact){name, title, value};
}

void document_fact_text(struct document *document, const char *name, const char *title,
                        const char *text)
{
    add_fact(document, name, title,
             (struct document_value){
                 .kind = VALUE_TEXT, .is_null = !text, .text = copied(document, text)});
}

void document_fact_number(struct document *document, const char *name, const char *title,
                          enum value_kind kind, uint64_t number)
{
    add_fact(document, name, title, (struct document_value){.kind = kind, .number = number});
}

void document_fact_sum(struct document *document, const char *name, const char *title,
                       enum value_kind kind, uint64_t number, double standard_error)
{
    add_fact(document, name, title,
             (struct document_value){.kind = kind,
                                     .number = number,
                                     .estimated = document->estimated,
                                     .standard_error = standard_error});
}

/* ---- tables ----------------------------------------------------------------------------- */

void document_table(struct document *document, const char *name, const char *title,
                    const struct document_column *columns, size_t column_count)
{
    struct document_table *tables = grown(document, document->tables, document->table_count,
                                          &document->table_capacity, sizeof(*tables));
    if (!tables)
        return;
    document->tables = tables;
    struct document_column *copy = malloc(column_count * sizeof(*copy));
    if (!copy) {
        document->failed = true;
        return;
    }
    memcpy(copy, columns, column_count * sizeof(*copy));
    tables[document->table_count++] = (struct document_table){
        .name = name, .title = title, .columns = copy, .column_count = column_count};
}

/* Returns the number of whole rows of a table. */
static size_t document_row_count(const struct document_table *table)
{
    return table->column_count ? table->count / table->column_count : 0;
}

void document_rows(struct document *document, uint64_t all_rows)
{
    if (!document->failed)
        document->tables[document->table_count - 1].all_rows = all_rows;
}

/* Takes the value. */
static void add_value(struct document *document, struct document_value value)
{
    struct document_table *table =
        document->failed ? NULL : &document->tables[document->table_count - 1];
    struct document_value *values =
        table ? grown(document, table->values, table->count, &table->capacity, sizeof(*values))
              : NULL;
    if (!values) {
        free(value.text);
        return;
    }
    table->values = values;
    if (value.kind == VALUE_TEXT)
        value.kind = table->columns[table->count % table->column_count].kind;
    values[table->count++] = value;
    const uint64_t rows = document_row_count(table);
    if (table->all_rows < rows)
        table->all_rows = rows;
}

void document_text(struct document *document, const char *text)
{
    add_value(document, (struct document_value){.is_null = !text, .text = copied(document, text)});
}

void document_number(struct document *document, uint64_t number)
{
    add_value(document, (struct document_value){.number = number});
}

void document_sum(struct document *document, uint64_t sum, double standard_error)
{
    add_value(document, (struct document_value){.number = sum,
                                                .estimated = document->estimated,
                                                .standard_error = standard_error});
}

void document_sum_change(struct document *document, uint64_t before, uint64_t now,
                         double standard_error)
{
    add_value(document,
              (struct document_value){.number = now < before ? before - now : now - before,
                                      .negative = now < before,
                                      .estimated = document->estimated,
                                      .standard_error = standard_error});
}

void document_share(struct document *document, uint64_t part, uint64_t whole)
{
    add_value(document, (struct document_value){.is_null = whole == 0,
                                                .share = whole ? (double)part / (double)whole : 0});
}

void document_truth(struct document *document, bool truth)
{
    add_value(document, (struct document_value){.number = truth});
}

void document_null(struct document *document)
{
    add_value(document, (struct document_value){.is_null = true});
}

void document_value(struct document *document, struct document_value value)
{
    add_value(document, value);
}

void document_frames(struct document *document, struct session *session, uint32_t stack)
{
    const size_t count = session_stack(session, stack, NULL, 0);
    if (!ARRAY_GROW(document->frames, count, document->frame_capacity))
        document->failed = true;
    add_value(document,
              (struct document_value){.document = document, .session = session, .stack = stack});
}

/* ---- short names ------------------------------------------------------------------------ */

/* A name of the list, to find those that look alike. */
struct alike {
    const char *whole;
    char **text;
};

ARRAY_ORDER(by_text, struct alike, strcmp(*a->text, *b->text) ?: strcmp(a->whole, b->whole))

/* Gives names that differ and look alike a longer form. Returns false if memory is exhausted. */
static bool part_alike(struct alike *list, size_t count, bool whole)
{
    char longer[SHORT_NAME_SIZE];
    bool good = true;
    if (count > 0)
        qsort(list, count, sizeof(*list), by_text);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && strcmp(*list[to].text, *list[from].text) == 0;)
            to++;
        if (strcmp(list[from].whole, list[to - 1].whole) == 0)
            continue;
        for (size_t i = from; i < to; i++) {
            char *text =
                strdup(whole ? list[i].whole
                             : short_name_with_parameters(longer, sizeof(longer), list[i].whole));
            good &= text != NULL;
            if (!text)
                continue;
            free(*list[i].text);
            *list[i].text = text;
        }
    }
    return good;
}

bool short_names_make(struct short_names *names, const char *const *whole, size_t count)
{
    char text[SHORT_NAME_SIZE];
    struct alike *list = calloc(count + 1, sizeof(*list));
    size_t found = 0;
    *names = (struct short_names){calloc(count + 1, sizeof(*names->texts)), count};
    bool good = list && names->texts;
    for (size_t i = 0; good && i < count; i++) {
        if (!whole[i])
            continue;
        names->texts[i] = strdup(short_name(text, sizeof(text), whole[i]));
        good = names->texts[i] != NULL;
        list[found++] = (struct alike){whole[i], &names->texts[i]};
    }
    good = good && part_alike(list, found, false) && part_alike(list, found, true);
    free(list);
    return good;
}

void short_names_free(struct short_names *names)
{
    for (size_t i = 0; names->texts && i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
}

struct short_table {
    struct document_table table; /* its values belong to the other table, but for the names */
    struct short_names names[DOCUMENT_COLUMNS_MOST];
};

static void short_table_free(struct short_table *shorter)
{
    for (size_t i = 0; i < DOCUMENT_COLUMNS_MOST; i++)
        short_names_free(&shorter->names[i]);
    free(shorter->table.values);
}

/* Returns false if memory is exhausted. short_table_free() in any case. */
static bool short_table_make(struct short_table *shorter, const struct document_table *table)
{
    const size_t columns = table->column_count, rows = document_row_count(table);
    const char **whole = calloc(rows + 1, sizeof(*whole));
    *shorter = (struct short_table){.table = *table};
    shorter->table.values = calloc(table->count + 1, sizeof(*table->values));
    bool good = whole && shorter->table.values;
    for (size_t i = 0; good && i < table->count; i++)
        shorter->table.values[i] = table->values[i];
    for (size_t column = 0; good && column < columns; column++) {
        if (table->columns[column].kind != VALUE_NAME)
            continue;
        for (size_t row = 0; row < rows; row++)
            whole[row] = table->values[row * columns + column].text;
        good = short_names_make(&shorter->names[column], whole, rows);
        for (size_t row = 0; good && row < rows; row++)
            shorter->table.values[row * columns + column].text = shorter->names[column].texts[row];
    }
    free(whole);
    return good;
}

/* ---- values as text --------------------------------------------------------------------- */

/* Writes "12,345", grouped in threes. Returns its length. */
static int group_digits(char *out, uint64_t number)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return (int)(to - out);
}

static void format_time(char *out, size_t size, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (ns >= units[i].ns) {
            snprintf(out, size, "%.3f %s", (double)ns / (double)units[i].ns, units[i].unit);
            return;
        }
    snprintf(out, size, "%" PRIu64 " ns", ns);
}

const char *value_format(const struct document_value *value, char room[64])
{
    char *to = room;
    if (value->is_null)
        return "-";
    if (value->estimated)
        *to++ = '~';
    if (value->negative)
        *to++ = '-';
    const size_t size = 64 - (size_t)(to - room);
    switch (value->kind) {
    case VALUE_DURATION:
    case VALUE_MOMENT:
        format_time(to, size, value->number);
        break;
    case VALUE_SHARE:
        snprintf(to, size, "%.1f%%", 100 * value->share);
        break;
    case VALUE_ADDRESS:
        snprintf(to, size, "0x%" PRIx64, value->number);
        break;
    case VALUE_TRUTH:
        return value->number ? "yes" : "no";
    case VALUE_LINE:
        snprintf(to, size, "%" PRIu64, value->number);
        break;
    default:
        group_digits(to, value->number);
    }
    return room;
}

const char *value_human(const struct document_value *value, char room[64])
{
    char size[32];
    if (value->is_null || value->kind != VALUE_BYTES)
        return value_format(value, room);
    snprintf(room, 64, "%s%s%s", value->estimated ? "~" : "", value->negative ? "-" : "",
             bytes_human(value->number, size));
    return room;
}

/* Returns what programs see of it in CSV: "1234". */
static const char *value_plain(const struct document_value *value, char room[64])
{
    if (value->is_null)
        return "";
    switch (value->kind) {
    case VALUE_SHARE:
        snprintf(room, 64, "%.6f", value->share);
        return room;
    case VALUE_ADDRESS:
        snprintf(room, 64, "0x%" PRIx64, value->number);
        return room;
    case VALUE_TRUTH:
        return value->number ? "true" : "false";
    default:
        snprintf(room, 64, "%s%" PRIu64, value->negative ? "-" : "", value->number);
        return room;
    }
}

/* Returns the title, or the name with blanks in `room`. */
static const char *column_title(const char *name, const char *title, char room[64])
{
    if (title)
        return title;
    snprintf(room, 64, "%s", name);
    for (char *at = room; (at = strchr(at, '_'));)
        *at = ' ';
    return room;
}

/* Returns the frames of a value of FRAMES, innermost first. They are valid until the next call. */
static const struct session_frame *value_frames(const struct document_value *value, size_t *count)
{
    struct session_frame *frames = value->document->frames;
    const size_t all =
        session_stack(value->session, value->stack, frames, value->document->frame_capacity);
    const size_t site = session_stack_call_site(value->session, value->stack);
    const size_t first = site < all ? site : all;
    *count = all - first;
    return frames + first;
}

/* ---- text ------------------------------------------------------------------------------- */

/* The format for people: facts as lines, tables with their numbers in front and the names, which
 * have any length, after them. The frames of a stack follow their row. */

/* Text columns but the last one are padded to this many columns at most. */
enum { NAME_COLUMNS_MOST = 48 };

/* Returns true if the column comes after the numbers. */
static bool is_name(enum value_kind kind)
{
    return is_text(kind) || kind == VALUE_LINE;
}

static const struct document_value *value_at(const struct document_table *table, size_t row,
                                             size_t column)
{
    return &table->values[row * table->column_count + column];
}

static const char *shown_name(const struct document_column *column,
                              const struct document_value *value)
{
    return !value->is_null ? value->text : column->none ? column->none : "(unknown)";
}

static size_t value_columns(const struct document_column *column,
                            const struct document_value *value)
{
    char room[64];
    if (is_text(value->kind))
        return name_text_columns(shown_name(column, value));
    return value->kind == VALUE_FRAMES ? 0 : strlen(value_format(value, room));
}

static void measure(const struct document_table *table, size_t *widths)
{
    char room[64];
    for (size_t i = 0; i < table->column_count; i++) {
        const struct document_column *column = &table->columns[i];
        widths[i] = strlen(column_title(column->name, column->title, room));
        for (size_t row = 0; row < document_row_count(table); row++) {
            const size_t width = value_columns(column, value_at(table, row, i));
            if (width > widths[i])
                widths[i] = width;
        }
        if (is_text(column->kind) && widths[i] > NAME_COLUMNS_MOST)
            widths[i] = NAME_COLUMNS_MOST;
    }
}

static void put_frames(FILE *out, const struct document_value *value)
{
    char name[SHORT_NAME_SIZE];
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    for (size_t i = 0; i < count; i++) {
        const struct session_frame *frame = &frames[i];
        fputs("      ", out);
        name_put_text(out, short_name(name, sizeof(name),
                                      session_function_name(value->session, frame->function)));
        if (*frame->file) {
            fputs("  ", out);
            name_put_text(out, frame->file);
            if (frame->line)
                fprintf(out, ":%u", (unsigned)frame->line);
        }
        fputc('\n', out);
    }
}

/* Writes a name after `pending` blanks. Returns the blanks that the next one needs: none is
 * written at the end of a line. */
static size_t put_name(FILE *out, const struct document_column *column,
                       const struct document_value *value, size_t width, size_t pending)
{
    char room[64];
    const char *text =
        value->kind == VALUE_LINE ? value_format(value, room) : shown_name(column, value);
    if (*text == '\0')
        return pending + width + 2;
    fprintf(out, "%*s", (int)pending, "");
    const size_t used = name_put_text(out, text);
    return 2 + (used < width ? width - used : 0);
}

static void put_head(FILE *out, const struct document_table *table, const size_t *widths)
{
    char room[64];
    size_t pending = 2;
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_name(table->columns[i].kind) && table->columns[i].kind != VALUE_FRAMES)
            fprintf(out, "  %*s", (int)widths[i],
                    column_title(table->columns[i].name, table->columns[i].title, room));
    for (size_t i = 0; i < table->column_count; i++) {
        const struct document_value title = {
            .kind = VALUE_TEXT,
            .text = (char *)column_title(table->columns[i].name, table->columns[i].title, room)};
        if (is_name(table->columns[i].kind))
            pending = put_name(out, &table->columns[i], &title, widths[i], pending);
    }
    fputc('\n', out);
}

static void put_row(FILE *out, const struct document_table *table, const size_t *widths, size_t row)
{
    char room[64];
    size_t pending = 2;
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_name(table->columns[i].kind) && table->columns[i].kind != VALUE_FRAMES)
            fprintf(out, "  %*s", (int)widths[i], value_format(value_at(table, row, i), room));
    for (size_t i = 0; i < table->column_count; i++)
        if (is_name(table->columns[i].kind))
            pending =
                put_name(out, &table->columns[i], value_at(table, row, i), widths[i], pending);
    fputc('\n', out);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == VALUE_FRAMES)
            put_frames(out, value_at(table, row, i));
}

static void put_table(FILE *out, const struct document_table *table)
{
    const size_t rows = document_row_count(table);
    size_t widths[DOCUMENT_COLUMNS_MOST] = {0};
    char shown[64], all[64];
    measure(table, widths);
    fprintf(out, "%s", table->title);
    if (rows < table->all_rows)
        fprintf(
            out, ", the first %s of %s",
            value_format(&(struct document_value){.kind = VALUE_NUMBER, .number = rows}, shown),
            value_format(&(struct document_value){.kind = VALUE_NUMBER, .number = table->all_rows},
                         all));
    fputs(rows == 0 ? ": none\n" : "\n", out);
    if (rows == 0)
        return;
    put_head(out, table, widths);
    for (size_t row = 0; row < rows; row++)
        put_row(out, table, widths, row);
}

static void put_fact(FILE *out, const struct document_fact *fact, size_t width)
{
    char title[64], room[64];
    fprintf(out, "%-*s  ", (int)width, column_title(fact->name, fact->title, title));
    if (is_text(fact->value.kind) && !fact->value.is_null)
        name_put_text(out, fact->value.text);
    else
        fputs(value_format(&fact->value, room), out);
    fputs(fact->value.kind == VALUE_BYTES && !fact->value.is_null ? " bytes\n" : "\n", out);
}

static bool document_write_text(const struct document *document, FILE *out)
{
    bool good = true;
    size_t width = 0;
    char room[64];
    for (size_t i = 0; i < document->fact_count; i++) {
        const size_t length =
            strlen(column_title(document->facts[i].name, document->facts[i].title, room));
        if (length > width)
            width = length;
    }
    for (size_t i = 0; i < document->fact_count; i++)
        put_fact(out, &document->facts[i], width);
    for (size_t i = 0; good && i < document->table_count; i++) {
        struct short_table shorter;
        if (i > 0 || document->fact_count > 0)
            fputc('\n', out);
        good = short_table_make(&shorter, &document->tables[i]);
        if (good)
            put_table(out, &shorter.table);
        short_table_free(&shorter);
    }
    return good;
}

/* ---- Markdown --------------------------------------------------------------------------- */

/* As GitHub and GitLab show it: the facts as one table, each table under its heading. */

enum { FRAMES_SHOWN = 3 };

/* Writes the innermost frames by their short names, and all of them by their whole ones to open. */
static void markdown_put_frames(FILE *out, const struct document_value *value)
{
    char name[SHORT_NAME_SIZE];
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    for (size_t i = 0; i < count && i < FRAMES_SHOWN; i++) {
        fputs(i > 0 ? " \u2190 " : "", out);
        name_put_markdown(out,
                          short_name(name, sizeof(name),
                                     session_function_name(value->session, frames[i].function)));
    }
    if (count == 0)
        return;
    fprintf(out, "<details><summary>%zu frame%s</summary>", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "<br>" : "", out);
        name_put_markdown(out, session_function_name(value->session, frames[i].function));
    }
    fputs("</details>", out);
}

/* Writes the whole names of a table that has short ones, to open. */
static void markdown_put_names(FILE *out, const struct document_table *whole,
                               const struct document_table *shorter)
{
    bool any = false;
    for (size_t i = 0; i < whole->count; i++) {
        const char *text = whole->values[i].text, *shown = shorter->values[i].text;
        if (!text || text == shown || strcmp(text, shown) == 0)
            continue;
        fputs(any ? "- " : "\n<details><summary>Whole names</summary>\n\n- ", out);
        name_put_markdown(out, text);
        fputc('\n', out);
        any = true;
    }
    fputs(any ? "\n</details>\n" : "", out);
}

static void put_cell(FILE *out, const struct document_value *value, const char *none)
{
    char room[64];
    fputs(" ", out);
    if (value->is_null && is_text(value->kind))
        fputs(none ? none : "(unknown)", out);
    else if (is_text(value->kind))
        name_put_markdown(out, value->text);
    else if (value->kind == VALUE_FRAMES)
        markdown_put_frames(out, value);
    else
        name_put_markdown(out, value_format(value, room));
    fputs(" |", out);
}

static void markdown_put_table(FILE *out, const struct document_table *table)
{
    char room[64];
    const size_t rows = document_row_count(table);
    fprintf(out, "### %s\n\n", table->title);
    if (rows == 0) {
        fputs("None.\n", out);
        return;
    }
    fputs("|", out);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(out, " %s |", column_title(table->columns[i].name, table->columns[i].title, room));
    fputs("\n|", out);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(is_text(table->columns[i].kind) || table->columns[i].kind == VALUE_FRAMES ? " --- |"
                                                                                        : " ---: |",
              out);
    fputc('\n', out);
    for (size_t row = 0; row < rows; row++) {
        fputs("|", out);
        for (size_t i = 0; i < table->column_count; i++)
            put_cell(out, &table->values[row * table->column_count + i], table->columns[i].none);
        fputc('\n', out);
    }
    if (rows < table->all_rows)
        fprintf(out, "\nThe first %zu of %llu.\n", rows, (unsigned long long)table->all_rows);
}

static bool document_write_markdown(const struct document *document, FILE *out)
{
    bool good = true;
    char room[64];
    if (document->fact_count > 0)
        fputs("| | |\n| --- | --- |\n", out);
    for (size_t i = 0; i < document->fact_count; i++) {
        const struct document_fact *fact = &document->facts[i];
        fprintf(out, "| %s |", column_title(fact->name, fact->title, room));
        put_cell(out, &fact->value, NULL);
        fputc('\n', out);
    }
    for (size_t i = 0; good && i < document->table_count; i++) {
        struct short_table shorter;
        if (i > 0 || document->fact_count > 0)
            fputc('\n', out);
        good = short_table_make(&shorter, &document->tables[i]);
        if (good) {
            markdown_put_table(out, &shorter.table);
            markdown_put_names(out, &document->tables[i], &shorter.table);
        }
        short_table_free(&shorter);
    }
    return good;
}

/* ---- CSV -------------------------------------------------------------------------------- */

/* RFC 4180, with a line of names. Null is empty, texts are quoted. If the session was
 * sampled, each sum is followed by a column NAME_error with its standard error. */

static void csv_put_frames(FILE *out, const struct document_value *value)
{
    /* A text of one line: the outermost function first, as in a folded stack. */
    size_t size = 1, count;
    const struct session_frame *frames = value_frames(value, &count);
    char *text = NULL;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    for (size_t i = count; i-- > 0;)
        fprintf(line, "%s%s", session_function_name(value->session, frames[i].function),
                i > 0 ? " > " : "");
    if (fclose(line) == 0)
        name_put_csv(out, text);
    free(text);
}

static void put_value(FILE *out, const struct document_value *value)
{
    char room[64];
    if (value->is_null)
        return;
    if (is_text(value->kind))
        name_put_csv(out, value->text);
    else if (value->kind == VALUE_FRAMES)
        csv_put_frames(out, value);
    else
        fputs(value_plain(value, room), out);
}

static void put_error(FILE *out, const struct document_value *value)
{
    fputc(',', out);
    if (value->estimated && value->standard_error >= 0)
        fprintf(out, "%.6g", value->standard_error);
}

static void put_facts(const struct document *document, FILE *out)
{
    fprintf(out, "name,value%s\r\n", document->estimated ? ",error" : "");
    for (size_t i = 0; i < document->fact_count; i++) {
        fprintf(out, "%s,", document->facts[i].name);
        put_value(out, &document->facts[i].value);
        if (document->estimated)
            put_error(out, &document->facts[i].value);
        fputs("\r\n", out);
    }
}

/* Returns true if a column has estimates: then all its values are. */
static bool is_estimated(const struct document_table *table, size_t column)
{
    for (size_t i = column; i < table->count; i += table->column_count)
        if (table->values[i].estimated)
            return true;
    return false;
}

static void csv_put_table(const struct document_table *table, FILE *out)
{
    bool errors[DOCUMENT_COLUMNS_MOST] = {false};
    for (size_t i = 0; i < table->column_count; i++) {
        errors[i] = is_estimated(table, i);
        fprintf(out, "%s%s", i > 0 ? "," : "", table->columns[i].name);
        if (errors[i])
            fprintf(out, ",%s_error", table->columns[i].name);
    }
    fputs("\r\n", out);
    for (size_t row = 0; row < document_row_count(table); row++) {
        const struct document_value *values = &table->values[row * table->column_count];
        for (size_t i = 0; i < table->column_count; i++) {
            fputs(i > 0 ? "," : "", out);
            put_value(out, &values[i]);
            if (errors[i])
                put_error(out, &values[i]);
        }
        fputs("\r\n", out);
    }
}

/* Writes the first table, or the facts of a document that begins with none. */
static void document_write_csv(const struct document *document, FILE *out)
{
    if (document->facts_first || document->table_count == 0)
        put_facts(document, out);
    else
        csv_put_table(&document->tables[0], out);
}

/* ---- JSON (schemas/report.md) ----------------------------------------------------------- */

static const char *unit_name(enum value_kind kind)
{
    static const char *const names[] = {
        [VALUE_BYTES] = "bytes",           [VALUE_DURATION] = "ns",     [VALUE_SHARE] = "fraction",
        [VALUE_MOMENT] = "ns since start", [VALUE_ADDRESS] = "address", [VALUE_NUMBER] = "number",
        [VALUE_LINE] = "number",           [VALUE_TRUTH] = "truth",     [VALUE_FRAMES] = "frames"};
    return names[kind] ? names[kind] : "text";
}

static void json_put_frames(struct json *json, const struct document_value *value)
{
    size_t count;
    const struct session_frame *frames = value_frames(value, &count);
    json_put(json, "[");
    for (size_t i = 0; i < count; i++) {
        const struct session_frame *frame = &frames[i];
        json_put(json, "{function: %s, file: %s, line:",
                 session_function_name(value->session, frame->function),
                 *frame->file ? frame->file : NULL);
        if (frame->line)
            json_number(json, frame->line);
        else
            json_null(json);
        json_put(json, "}");
    }
    json_put(json, "]");
}

static void json_put_value(struct json *json, const struct document_value *value)
{
    char room[64];
    if (value->is_null)
        json_null(json);
    else if (is_text(value->kind))
        json_text(json, value->text);
    else if (value->kind == VALUE_FRAMES)
        json_put_frames(json, value);
    else if (value->kind == VALUE_TRUTH)
        json_truth(json, value->number != 0);
    else if (value->kind == VALUE_SHARE)
        json_real(json, value->share);
    else if (value->kind == VALUE_ADDRESS)
        json_text(json, value_plain(value, room));
    else if (value->negative)
        json_signed(json, (int64_t)(0 - value->number));
    else
        json_number(json, value->number);
}

/* Writes a member, and the standard error of an estimate after it. */
static void put_member(struct json *json, const char *name, const struct document_value *value)
{
    char error[128];
    json_put(json, "%s:", name);
    json_put_value(json, value);
    if (!value->estimated)
        return;
    snprintf(error, sizeof(error), "%s_error", name);
    json_put(json, "%s:", error);
    if (value->standard_error >= 0)
        json_real(json, value->standard_error);
    else
        json_null(json);
}

static void json_put_rows(struct json *json, const char *name, const struct document_table *table)
{
    json_put(json, "%s: [", name);
    for (size_t row = 0; row < document_row_count(table); row++) {
        json_put(json, "{");
        for (size_t i = 0; i < table->column_count; i++)
            put_member(json, table->columns[i].name, &table->values[row * table->column_count + i]);
        json_put(json, "}");
    }
    json_put(json, "]");
}

static void json_put_table(struct json *json, const struct document_table *table)
{
    json_put(json, "%s: {count: %lu, units: {", table->name, table->all_rows);
    for (size_t i = 0; i < table->column_count; i++)
        json_put(json, "%s: %s", table->columns[i].name, unit_name(table->columns[i].kind));
    json_put(json, "}");
    json_put_rows(json, "rows", table);
    json_put(json, "}");
}

/* Returns false if memory was exhausted. */
static bool document_write_json(const struct document *document, const struct document_about *about,
                                FILE *out)
{
    struct json *json = json_begin(out, true);
    if (!json)
        return false;
    json_put(
        json,
        "{schema: 2, report: %s, session: %s, base: %s, filter: %s, at: %s, sampled: %i, facts: {",
        document->report, about->session, about->base, about->filter, about->at,
        document->estimated);
    for (size_t i = 0; i < document->fact_count; i++)
        put_member(json, document->facts[i].name, &document->facts[i].value);
    json_put(json, "}, tables: {");
    for (size_t i = 0; i < document->table_count; i++)
        json_put_table(json, &document->tables[i]);
    json_put(json, "}");
    for (size_t i = 0; document->also && i < document->table_count; i++)
        if (strcmp(document->tables[i].name, document->also) == 0)
            json_put_rows(json, document->also, &document->tables[i]);
    json_put(json, "}");
    return json_end(json);
}

bool document_write(const struct document *document, enum document_format format,
                    const struct document_about *about, struct output *output,
                    struct session_error *error)
{
    FILE *out = output_stream(output);
    if (document->failed)
        return report_fail_memory(error, "the report");
    switch (format) {
    case FORMAT_TEXT:
        return document_write_text(document, out) || report_fail_memory(error, "the names");
    case FORMAT_CSV:
        document_write_csv(document, out);
        return true;
    case FORMAT_MARKDOWN:
        return document_write_markdown(document, out) || report_fail_memory(error, "the names");
    default:
        break;
    }
    return document_write_json(document, about, out) || report_fail_memory(error, "the report");
}
