/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/warning.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "schemas/printable.h"
#include "session/filter/field_names.h"
#include "session/store/session_state.h"

/* ---- suggest ---- */

/* The distance of two words is the number of characters to insert, delete or replace, and of
 * neighbours to exchange: the optimal string alignment distance (Damerau, A technique for computer
 * detection and correction of spelling errors, CACM 7, 1964). Letters match in either case. */

/* Longer words are names of C++ types and functions, where a few letters say little. */
enum { WORD_MAX = 120 };

void suggest_start(struct suggestion *suggestion, const char *word, size_t length)
{
    /* Names of types have no such word before them. */
    static const char *const tags[] = {"struct ", "class ", "union ", "enum "};
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        const size_t tag = strlen(tags[i]);
        if (length > tag && memcmp(word, tags[i], tag) == 0) {
            word += tag;
            length -= tag;
        }
    }
    *suggestion = (struct suggestion){.word = word, .length = length};
    /* A third of the letters may be wrong, at most three. More is another word. */
    size_t wrong = length / 3 > 3 ? 3 : length / 3;
    suggestion->distance = length == 0 || length > WORD_MAX ? 0 : wrong + 1;
}

void suggest_words(struct suggestion *suggestion, const char *word, size_t length)
{
    suggest_start(suggestion, word, length);
    suggestion->words = true;
    if (length == 1 || length == 2)
        suggestion->distance = length;
}

/* Words of other languages, and the word of this one. */
static const struct {
    const char *theirs, *ours;
} others[] = {
    {"filter", "where"},
    {"select", "where"},
    {"order", "sort"},
    {"orderby", "sort"},
    {"limit", "top"},
    {"head", "top"},
    {"first", "top"},
    {"group", "join"},
    {"groupby", "join"},
    {"average", "avg"},
    {"mean", "avg"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"total", "sum"},
    {"save", "write"},
    {"export", "write"},
    {"colour", "color"},
    {"allocs", "all"},
    {"allocations", "all"},
    {"everything", "all"},
    {"leak", "leaked"},
    {"leaks", "leaked"},
    {"alive", "live"},
    {"like", "~"},
    {"contains", "~"},
    {"matches", "~"},
    {"=~", "~"},
    {"=", "=="},
    {"equals", "=="},
    {"<>", "!="},
    {"=<", "<="},
    {"=>", ">="},
    {"&&", "and"},
    {"&", "and"},
    {"||", "or"},
    {"!", "not"},
    {"nil", "null"},
    {"none", "null"},
    {"yes", "true"},
    {"no", "false"},
    {".", ".."},
    {",", ".."},
    {"-", ".."},
    {"to", ".."},
    {"...", ".."},
    {"@", "at"},
    {"descending", "desc"},
    {"ascending", "asc"},
    {"begin", "start"},
    {"finish", "end"},
    {"class", "type"},
    {"age", "lifetime"},
    {"time", "alloc_time"},
    {"name", "function"},
    {"addr", "address"},
};

static bool is_other_word(const struct suggestion *suggestion, const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i].ours, name) == 0 && strlen(others[i].theirs) == suggestion->length &&
            strncasecmp(others[i].theirs, suggestion->word, suggestion->length) == 0)
            return true;
    return false;
}

/* Returns the distance of a name that begins with the word: 0 if only the end of a plural or the
 * next part is missing, as in "live_bytes". SIZE_MAX: it does not begin so. */
static size_t beginning(const struct suggestion *suggestion, const char *name)
{
    const size_t length = suggestion->length;
    if (length < 3 || length >= strlen(name) || strncasecmp(name, suggestion->word, length) != 0)
        return SIZE_MAX;
    return name[length] == '_' || name[length + 1] == '\0' ? 0 : 2;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the distance of two words, or `limit` if it is not smaller. */
static size_t distance(const char *left, size_t left_length, const char *right, size_t right_length,
                       size_t limit)
{
    size_t rows[3][WORD_MAX + 4];
    size_t *before = rows[0], *last = rows[1], *now = rows[2], smallest_last = 0;
    for (size_t k = 0; k <= right_length; k++)
        last[k] = k;
    for (size_t i = 1; i <= left_length; i++) {
        size_t smallest = now[0] = i;
        for (size_t k = 1; k <= right_length; k++) {
            char a = lower(left[i - 1]);
            char b = lower(right[k - 1]);
            now[k] = least(least(last[k], now[k - 1]) + 1, last[k - 1] + (a != b));
            if (i > 1 && k > 1 && a == lower(right[k - 2]) && b == lower(left[i - 2]))
                now[k] = least(now[k], before[k - 2] + 1);
            smallest = least(smallest, now[k]);
        }
        /* An exchange reaches two rows back. */
        if (smallest >= limit && smallest_last >= limit)
            return limit;
        smallest_last = smallest;
        size_t *swap = before;
        before = last;
        last = now;
        now = swap;
    }
    return least(last[right_length], limit);
}

/* Finds the last part of a C++ name, as "parse" in "json::parse(char const*)". */
static const char *last_part(const char *name, size_t *length)
{
    const char *end = name + strcspn(name, "(<");
    const char *part = end;
    while (part > name && part[-1] != ':')
        part--;
    *length = (size_t)(end - part);
    return part;
}

/* Keeps the name if it contains the word and nothing better is known. */
static void offer_longer(struct suggestion *suggestion, const char *name)
{
    if (suggestion->words || suggestion->length < 3 ||
        (suggestion->name[0] != '\0' &&
         !(suggestion->contains && strlen(name) < strlen(suggestion->name))))
        return;
    for (const char *at = name; strlen(at) >= suggestion->length; at++)
        if (strncasecmp(at, suggestion->word, suggestion->length) == 0) {
            suggestion->contains = true;
            snprintf(suggestion->name, sizeof(suggestion->name), "%s", name);
            return;
        }
}

static void keep(struct suggestion *suggestion, const char *name, size_t distance)
{
    suggestion->distance = distance;
    suggestion->contains = false;
    snprintf(suggestion->name, sizeof(suggestion->name), "%s", name);
}

void suggest_offer(struct suggestion *suggestion, const char *name)
{
    if (name && suggestion->offered)
        suggestion->offered(suggestion->context, name);
    if (!name || suggestion->distance == 0)
        return;
    const size_t near = !suggestion->words                ? SIZE_MAX
                        : is_other_word(suggestion, name) ? 0
                                                          : beginning(suggestion, name);
    if (near < suggestion->distance) {
        keep(suggestion, name, near);
        return;
    }
    offer_longer(suggestion, name);
    size_t part_length;
    const char *part = last_part(name, &part_length);
    /* Fewer letters are wrong in a name that has the word as its last part than in any other. */
    if (part_length == suggestion->length && suggestion->distance > 1 &&
        memcmp(part, suggestion->word, part_length) == 0) {
        keep(suggestion, name, 1);
        return;
    }
    size_t length = strnlen(name, WORD_MAX + 4);
    size_t apart =
        length > suggestion->length ? length - suggestion->length : suggestion->length - length;
    if (apart >= suggestion->distance)
        return;
    size_t here =
        distance(suggestion->word, suggestion->length, name, length, suggestion->distance);
    if (here < suggestion->distance)
        keep(suggestion, name, here);
}

const char *suggest_text(const struct suggestion *suggestion, char out[SUGGEST_TEXT])
{
    out[0] = '\0';
    if (suggestion->name[0] != '\0')
        snprintf(out, SUGGEST_TEXT, ": did you mean \"%s\"?", suggestion->name);
    return out;
}

void filter_warn(struct filter_warnings *warnings, int column, const char *format, ...)
{
    struct session_warning warning = {.column = column};
    char message[sizeof(warning.message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    printable_copy(warning.message, sizeof(warning.message), message);
    for (size_t i = 0; i < warnings->count; i++)
        if (warnings->list[i].column == column &&
            strcmp(warnings->list[i].message, warning.message) == 0)
            return;
    if (warnings->count < FILTER_WARNINGS_MAX)
        warnings->list[warnings->count++] = warning;
}

static bool of_frames(enum filter_field field)
{
    return field == FIELD_STACK || field == FIELD_FREE_STACK;
}

/* Offers the names that allocations have in the field. */
static void offer_names(struct session *session, const struct filter_test *test,
                        struct suggestion *like)
{
    const struct names *all = &session->names;
    struct field_names names;
    if (of_frames(test->field)) {
        for (uint32_t id = 1; id < all->function_count; id++)
            suggest_offer(like, all->function[id].name);
        return;
    }
    if (!field_names_open(session, test->field, test->frame, &names, NULL))
        return;
    for (uint32_t value = 0; value < names.count; value++) {
        const char *name = names.name[field_names_id(&names, value)];
        const bool path = test->field == FIELD_FILE && name && !strchr(test->low.text, '/');
        suggest_offer(like, path ? basename(name) : name);
    }
    field_names_close(&names);
}

/* Returns true if the test names a function of the session that is on stacks, but not at the frame
 * that is tested. */
static bool has_outer_frame(const struct session *session, const struct filter_test *test)
{
    const struct names *names = &session->names;
    if (test->field != FIELD_FUNCTION && test->field != FIELD_USER)
        return false;
    for (uint32_t id = 1; id < names->function_count; id++)
        if (names->function[id].name && strcmp(names->function[id].name, test->low.text) == 0)
            return true;
    return false;
}

static void warn_of_name(struct session *session, const struct filter_test *test,
                         struct filter_warnings *warnings)
{
    const char *field =
        of_frames(test->field) ? "function on its stack" : filter_fields[test->field].name;
    const int column = test->low.column;
    struct suggestion like;
    char text[SUGGEST_TEXT];
    if (test->low.is_number) {
        filter_warn(warnings, column, "no allocation has the %s %llu", field,
                    (unsigned long long)test->low.number);
        return;
    }
    if (test->operator_ == OPERATOR_MATCH) {
        filter_warn(warnings, column, "no allocation has a %s that matches \"%.80s\"", field,
                    test->low.text);
        return;
    }
    suggest_start(&like, test->low.text, strlen(test->low.text));
    if (has_outer_frame(session, test)) {
        filter_warn(warnings, column,
                    "no allocation has the %s \"%.80s\": it called others that did, so write "
                    "stack has \"%.80s\"",
                    field, test->low.text, test->low.text);
        return;
    }
    offer_names(session, test, &like);
    filter_warn(warnings, column, "no allocation has the %s \"%.80s\"%s", field, test->low.text,
                suggest_text(&like, text));
}

void filter_warn_of_names(struct session *session, const struct filter_program *program,
                          struct filter_warnings *warnings)
{
    if (!program)
        return;
    filter_warn_of_names(session, program->left, warnings);
    filter_warn_of_names(session, program->right, warnings);
    if (program->unknown)
        warn_of_name(session, program->unknown, warnings);
}

void filter_place_warnings(const struct filter_origin *origin, size_t from,
                           struct filter_warnings *warnings)
{
    for (size_t i = from; i < warnings->count; i++) {
        struct session_warning *warning = &warnings->list[i];
        struct session_error error = {.column = warning->column};
        snprintf(error.message, sizeof(error.message), "%s", warning->message);
        filter_place_error(origin, &error);
        warning->column = error.column;
        printable_copy(warning->message, sizeof(warning->message), error.message);
    }
}
