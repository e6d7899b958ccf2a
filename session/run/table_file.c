/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/run/table_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schemas/printable.h"
#include "session/data/error.h"
#include "session/run/draft.h"

struct table_file {
    FILE *out;
    struct draft draft;
    const char *const *names;
    size_t count, next; /* columns; that of the next value */
    bool json;
    bool begun; /* a row is written */
};

/* Writes a string. Only control characters of valid UTF-8 are escaped: a reader gets the text as it
 * is. */
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

struct table_file *table_file_open(const char *path, const char *const *names, size_t count,
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

/* Begins the next value. */
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

void table_file_text(struct table_file *file, const char *text)
{
    if (!text) {
        table_file_null(file);
        return;
    }
    begin_value(file);
    if (file->json)
        put_json_text(file->out, text);
    else
        put_csv_text(file->out, text);
    end_value(file);
}

void table_file_number(struct table_file *file, uint64_t number)
{
    begin_value(file);
    fprintf(file->out, "%" PRIu64, number);
    end_value(file);
}

void table_file_truth(struct table_file *file, bool truth)
{
    begin_value(file);
    fputs(truth ? "true" : "false", file->out);
    end_value(file);
}

void table_file_null(struct table_file *file)
{
    begin_value(file);
    if (file->json)
        fputs("null", file->out);
    end_value(file);
}

bool table_file_close(struct table_file *file, bool keep, struct session_error *error)
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
