/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of a table as text. */
#include <inttypes.h>
#include <string.h>

#include "tui/widget/table.h"

static const char *cell_text(const struct table_cell *cell)
{
    return cell->name ? cell->name : cell->text;
}

static const char *file_name(const struct table_column *column)
{
    return column->file ? column->file : column->title;
}

/* Quotes a field if it has a character that means something in CSV (RFC 4180, 2). A byte that could
 * steer a terminal becomes U+FFFD. */
static void put_csv(FILE *out, const char *text)
{
    const bool quoted = text[strcspn(text, ",\"\r\n")] != 0;
    fputs(quoted ? "\"" : "", out);
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;) {
        char encoded[5];
        text_encode(glyph_steers(glyph) ? 0xfffd : glyph, encoded);
        fprintf(out, "%s%s", glyph == '"' ? "\"" : "", encoded);
    }
    fputs(quoted ? "\"" : "", out);
}

/* Writes a string of JSON (RFC 8259, 7). Malformed UTF-8 becomes '?'. */
static void put_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;) {
        char encoded[5];
        if (glyph == '"' || glyph == '\\') {
            fprintf(out, "\\%c", (char)glyph);
        } else if (glyph_steers(glyph)) {
            fprintf(out, "\\u%04x", (unsigned)glyph);
        } else {
            text_encode(glyph, encoded);
            fputs(encoded, out);
        }
    }
    fputc('"', out);
}

void table_cell_signed(struct table_cell *cell, int64_t value)
{
    cell->is_number = true;
    cell->negative = value < 0;
    cell->number = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void put_cell(const struct table_source *source, size_t row, size_t column, FILE *out,
                     enum table_format format)
{
    struct table_cell cell = {.text = ""};
    source->cell(source->context, row, column, &cell);
    const char *text = cell_text(&cell);
    if (cell.is_number)
        fprintf(out, "%s%" PRIu64, cell.negative ? "-" : "", cell.number);
    else if (format == TABLE_CSV)
        put_csv(out, text);
    else
        put_json(out, text);
}

static void write_csv(const struct table_source *source, FILE *out)
{
    for (size_t i = 0; i < source->column_count; i++) {
        if (i > 0)
            fputc(',', out);
        put_csv(out, file_name(&source->columns[i]));
    }
    fputs("\r\n", out);
    for (size_t row = 0; row < source->rows; row++) {
        for (size_t i = 0; i < source->column_count; i++) {
            if (i > 0)
                fputc(',', out);
            put_cell(source, row, i, out, TABLE_CSV);
        }
        fputs("\r\n", out);
    }
}

static void write_json(const struct table_source *source, FILE *out)
{
    fputc('[', out);
    for (size_t row = 0; row < source->rows; row++) {
        fputs(row > 0 ? ",\n {" : "\n {", out);
        for (size_t i = 0; i < source->column_count; i++) {
            if (i > 0)
                fputs(", ", out);
            put_json(out, file_name(&source->columns[i]));
            fputs(": ", out);
            put_cell(source, row, i, out, TABLE_JSON);
        }
        fputc('}', out);
    }
    fputs("\n]\n", out);
}

void table_write(const struct table_source *source, FILE *out, enum table_format format)
{
    if (format == TABLE_CSV)
        write_csv(source, out);
    else
        write_json(source, out);
}

void table_copy(const struct table_source *source, size_t row, FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < source->column_count; i++)
        if (text_width(source->columns[i].title) > width)
            width = text_width(source->columns[i].title);
    for (size_t i = 0; i < source->column_count && row < source->rows; i++) {
        struct table_cell cell = {.text = ""};
        source->cell(source->context, row, i, &cell);
        if (!*cell_text(&cell))
            continue;
        fprintf(out, "%s%*s  %s\n", source->columns[i].title,
                width - text_width(source->columns[i].title), "", cell_text(&cell));
    }
}
