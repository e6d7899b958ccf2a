/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/printable.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
enum { REPLACEMENT_LENGTH = 3 };

size_t name_utf8(char *out, size_t size, const char *text)
{
    size_t used = 0;
    while (*text) {
        uint32_t character;
        const unsigned length = printable_decode(text, &character);
        const size_t wanted = length ? length : REPLACEMENT_LENGTH;
        if (used + wanted >= size)
            break;
        memcpy(out + used, length ? text : REPLACEMENT, wanted);
        used += wanted;
        text += length ? length : 1;
    }
    out[used] = '\0';
    return used;
}

char *name_utf8_copy(const char *text, size_t *length)
{
    const size_t size = REPLACEMENT_LENGTH * strlen(text) + 1;
    char *copy = malloc(size);
    const size_t used = copy ? name_utf8(copy, size, text) : 0;
    if (length)
        *length = used;
    return copy;
}

size_t name_text_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        const unsigned length = printable_glyph(text);
        columns += length ? 1 : PRINTABLE_BYTE_MAX;
        text += length ? length : 1;
    }
    return columns;
}

size_t name_put_text(FILE *out, const char *text)
{
    size_t columns = 0;
    while (*text) {
        const unsigned length = printable_glyph(text);
        if (length)
            fwrite(text, 1, length, out);
        else
            fprintf(out, "\\x%02x", (unsigned char)*text);
        columns += length ? 1 : PRINTABLE_BYTE_MAX;
        text += length ? length : 1;
    }
    return columns;
}

const char *bytes_human(uint64_t bytes, char room[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double shown = (double)bytes;
    size_t unit = 0;
    for (; shown >= 1023.95 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        shown /= 1024;
    snprintf(room, 32, "%.*f %s", unit > 0, shown, bytes == 1 ? "byte" : units[unit]);
    return room;
}

void name_put_csv(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        const unsigned length = printable_glyph(text);
        if (*text == '"')
            fputc('"', out);
        fwrite(length ? text : REPLACEMENT, 1, length ? length : REPLACEMENT_LENGTH, out);
        text += length ? length : 1;
    }
    fputc('"', out);
}

void name_put_percent(FILE *out, char byte, bool plain)
{
    fprintf(out, plain ? "%c" : "%%%02X", (unsigned char)byte);
}

void name_put_markdown(FILE *out, const char *text)
{
    while (*text) {
        const unsigned length = printable_glyph(text);
        if (length == 1 && strchr("\\`*_{}[]<>|~&#", *text))
            fputc('\\', out);
        if (length)
            fwrite(text, 1, length, out);
        else
            fprintf(out, "\\\\x%02x", (unsigned char)*text);
        text += length ? length : 1;
    }
}

/* Returns true if XML 1.0 allows the character that begins here. */
static bool is_xml(const char *text)
{
    uint32_t character;
    if (printable_decode(text, &character) == 0)
        return false;
    return character >= 0x20 ? character != 0xfffe && character != 0xffff
                             : character == '\t' || character == '\n' || character == '\r';
}

void name_put_xml(FILE *out, const char *text)
{
    while (*text) {
        uint32_t character = 0;
        const unsigned length = printable_decode(text, &character);
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            fputs(entity, out);
        else if (!is_xml(text))
            fputs(REPLACEMENT, out);
        else if (printable_steers(character))
            fprintf(out, "&#x%" PRIx32 ";", character);
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
}
