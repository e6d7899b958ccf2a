/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distance of two words is the number of characters to insert, delete or replace, and of
 * neighbours to exchange: the optimal string alignment distance (Damerau, A technique for computer
 * detection and correction of spelling errors, CACM 7, 1964). Letters match in either case.
 */
#include "session/filter/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].ours, name) == 0 && strlen(others[i].theirs) == suggestion->length &&
            strncasecmp(others[i].theirs, suggestion->word, suggestion->length) == 0)
            return true;
    }
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
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    size_t smallest_last = 0;
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
