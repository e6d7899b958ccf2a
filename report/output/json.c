/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "report/output/names.h"
#include "schemas/printable.h"

struct json {
    FILE *out;
    yajl_gen generator;
    bool pretty; /* yajl ends the last line itself */
    bool failed;
};

/* Writes what yajl has made: pieces of whole characters. yajl escapes control characters of ASCII
 * only; the others that could steer a terminal are escaped here. All of them lie below U+10000. */
static void print(void *out, const char *text, size_t length)
{
    const char *const end = text + length, *plain = text;
    while (text < end) {
        uint32_t character;
        if ((unsigned char)*text < 0x7f) {
            text++;
            continue;
        }
        const unsigned size = printable_decode(text, &character);
        if (printable_steers(character)) {
            fwrite(plain, 1, (size_t)(text - plain), out);
            fprintf(out, "\\u%04" PRIx32, character);
            plain = text + size;
        }
        text += size ? size : 1;
    }
    fwrite(plain, 1, (size_t)(end - plain), out);
}

struct json *json_begin(FILE *out, bool pretty)
{
    struct json *json = calloc(1, sizeof(*json));
    if (!json)
        return NULL;
    json->out = out;
    json->pretty = pretty;
    json->generator = yajl_gen_alloc(NULL);
    if (!json->generator) {
        free(json);
        return NULL;
    }
    yajl_gen_config(json->generator, yajl_gen_beautify, (int)pretty);
    yajl_gen_config(json->generator, yajl_gen_indent_string, " ");
    yajl_gen_config(json->generator, yajl_gen_print_callback, print, out);
    return json;
}

static void check(struct json *json, yajl_gen_status status)
{
    if (status != yajl_gen_status_ok)
        json->failed = true;
}

bool json_end(struct json *json)
{
    if (!json)
        return false;
    /* A whole document takes no more values. */
    const bool whole = yajl_gen_null(json->generator) == yajl_gen_generation_complete;
    const bool good = whole && !json->failed;
    if (!json->pretty)
        fputc('\n', json->out);
    yajl_gen_free(json->generator);
    free(json);
    return good;
}

void json_text(struct json *json, const char *text)
{
    char room[1024], *copy = NULL;
    size_t length;
    if (!text) {
        json_null(json);
        return;
    }
    if (strlen(text) < sizeof(room) / 4)
        length = name_utf8(room, sizeof(room), text);
    else if (!(copy = name_utf8_copy(text, &length))) {
        json->failed = true;
        return;
    }
    const char *valid = copy ? copy : room;
    check(json, yajl_gen_string(json->generator, (const unsigned char *)valid, length));
    free(copy);
}

/* Writes the digits as they are: yajl's own integers end at 2^63. */
static void put_digits(struct json *json, const char *digits)
{
    check(json, yajl_gen_number(json->generator, digits, strlen(digits)));
}

void json_number(struct json *json, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    put_digits(json, digits);
}

void json_signed(struct json *json, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    put_digits(json, digits);
}

static void put_real(struct json *json, int digits_kept, double number)
{
    char digits[40];
    if (!isfinite(number)) {
        json_null(json);
        return;
    }
    snprintf(digits, sizeof(digits), "%.*g", digits_kept, number);
    put_digits(json, digits);
}

void json_real(struct json *json, double number)
{
    put_real(json, 10, number);
}

void json_precise(struct json *json, double number)
{
    put_real(json, 15, number);
}

void json_truth(struct json *json, bool truth)
{
    check(json, yajl_gen_bool(json->generator, (int)truth));
}

void json_null(struct json *json)
{
    check(json, yajl_gen_null(json->generator));
}

static void put_word(struct json *json, const char *word, size_t length)
{
    if (*word == '-' || (*word >= '0' && *word <= '9'))
        check(json, yajl_gen_number(json->generator, word, length));
    else if (word[length] != ':' && length == 4 && memcmp(word, "true", length) == 0)
        json_truth(json, true);
    else if (word[length] != ':' && length == 5 && memcmp(word, "false", length) == 0)
        json_truth(json, false);
    else if (word[length] != ':' && length == 4 && memcmp(word, "null", length) == 0)
        json_null(json);
    else
        check(json, yajl_gen_string(json->generator, (const unsigned char *)word, length));
}

void json_put(struct json *json, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    for (size_t length; *form; form += length) {
        length = strcspn(form, " ,:{}[]%");
        if (length > 0) {
            put_word(json, form, length);
            continue;
        }
        length = 1;
        if (*form == '{')
            check(json, yajl_gen_map_open(json->generator));
        else if (*form == '}')
            check(json, yajl_gen_map_close(json->generator));
        else if (*form == '[')
            check(json, yajl_gen_array_open(json->generator));
        else if (*form == ']')
            check(json, yajl_gen_array_close(json->generator));
        if (*form != '%')
            continue;
        length = form[1] == 'l' || form[1] == 'z' ? 3 : 2;
        switch (form[length - 1]) {
        case 's':
            json_text(json, va_arg(values, const char *));
            break;
        case 'u':
            json_number(json, length == 2 ? va_arg(values, unsigned) : va_arg(values, size_t));
            break;
        case 'd':
            json_signed(json, va_arg(values, long));
            break;
        case 'g':
            json_real(json, va_arg(values, double));
            break;
        default:
            json_truth(json, va_arg(values, int) != 0);
        }
    }
    va_end(values);
}

/* ---- reading ---- */

/* A value is yajl's own. */
static yajl_val inner(const struct json_value *value)
{
    return (yajl_val)(uintptr_t)value;
}

struct json_value *json_parse(const char *text)
{
    char wrong[8];
    return (struct json_value *)yajl_tree_parse(text, wrong, sizeof(wrong));
}

void json_value_free(struct json_value *value)
{
    yajl_tree_free(inner(value));
}

const struct json_value *json_value_member(const struct json_value *value, const char *key)
{
    const char *path[] = {key, NULL};
    return value ? (const struct json_value *)yajl_tree_get(inner(value), path, yajl_t_any) : NULL;
}

size_t json_value_items(const struct json_value *value)
{
    return value && YAJL_IS_ARRAY(inner(value)) ? YAJL_GET_ARRAY(inner(value))->len : 0;
}

const struct json_value *json_value_item(const struct json_value *value, size_t item)
{
    return item < json_value_items(value)
               ? (const struct json_value *)YAJL_GET_ARRAY(inner(value))->values[item]
               : NULL;
}

const char *json_value_text(const struct json_value *value)
{
    return value && YAJL_IS_STRING(inner(value)) ? YAJL_GET_STRING(inner(value)) : NULL;
}

bool json_value_number(const struct json_value *value, int64_t *number)
{
    const bool good = value && YAJL_IS_INTEGER(inner(value));
    *number = good ? YAJL_GET_INTEGER(inner(value)) : 0;
    return good;
}
