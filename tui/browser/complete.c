/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion of what is typed in a prompt. Tab puts in the only word that fits, or what all that
 * fit have in common; Tab again goes through them. */

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/graphs.h"
#include "session/sql.h"
#include "session/stacking.h"
#include "session/words.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/screen/theme.h"

/* A search for the words that fit. */
struct asking {
    struct completion *completion;
    char *part;     /* the typed part of the word */
    bool anywhere;  /* the part may be anywhere in the word */
    bool in_filter; /* names are strings of the filter language */
    bool in_string; /* the quote before the part is typed already */
    bool in_sql;    /* in a string of SQL, where ' is doubled */
};

static bool fits(const struct asking *asking, const char *word)
{
    if (asking->anywhere)
        return strcasestr(word, asking->part) != NULL;
    return strncmp(word, asking->part, strlen(asking->part)) == 0;
}

/* Puts a word among the others. Returns false if there is no room for more. */
static bool keep(struct completion *completion, const char *word)
{
    size_t at = 0;
    int order = 1;
    while (at < completion->count && (order = strcmp(completion->words[at], word)) < 0)
        at++;
    if (at < completion->count && order == 0)
        return true;
    completion->more = completion->count == COMPLETIONS_MOST;
    char *copy = completion->more ? NULL : strdup(word);
    if (!copy)
        return false;
    memmove(completion->words + at + 1, completion->words + at,
            (completion->count - at) * sizeof(completion->words[0]));
    completion->words[at] = copy;
    completion->count++;
    return true;
}

/* Writes a text with each ' doubled. Returns false if there is no room. */
static bool double_quotes(char *out, size_t size, const char *text)
{
    size_t length = 0;
    for (; *text && length + 2 < size; text++) {
        out[length++] = *text;
        if (*text == '\'')
            out[length++] = '\'';
    }
    out[length] = 0;
    return !*text;
}

/* Keeps a word as it is put in: names of a filter in quotes. */
static bool visit(void *context, const char *word, bool name)
{
    const struct asking *asking = context;
    char quoted[2200], doubled[2200];
    if (asking->in_sql && !double_quotes(doubled, sizeof(doubled), word))
        return true;
    if (asking->in_sql)
        word = doubled;
    if (!fits(asking, word))
        return true;
    if (!asking->in_filter || (!name && !asking->in_string))
        return keep(asking->completion, word);
    if (!*filter_quote(quoted, sizeof(quoted), word))
        return true;
    return keep(asking->completion, asking->in_string ? quoted + 1 : quoted);
}

/* ---- words of each place ---------------------------------------------------------------- */

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Splits a filter before the word that its end begins. Returns where that word begins. */
static size_t split_filter(const char *text, bool *in_string)
{
    size_t start = strlen(text), quote = 0;
    *in_string = false;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '\\' && *in_string && text[i + 1]) {
            i++;
        } else if (text[i] == '"') {
            *in_string = !*in_string;
            quote = i + 1;
        }
    }
    if (*in_string)
        return quote;
    while (start > 0 && in_word(text[start - 1]))
        start--;
    return start;
}

/* Asks twice: for words that begin with the part, and if there are none, for those that have it. */
static void ask(struct browser *browser, struct asking *asking,
                void (*words)(struct browser *browser, struct asking *asking, const char *before),
                const char *before)
{
    asking->anywhere = false;
    words(browser, asking, before);
    if (asking->completion->count == 0 && strlen(asking->part) > 1) {
        asking->anywhere = true;
        words(browser, asking, before);
    }
}

static void filter_words(struct browser *browser, struct asking *asking, const char *before)
{
    session_filter_words(browser->browse.session, before, visit, asking);
}

static void complete_filter(struct browser *browser, struct asking *asking, const char *text)
{
    const size_t start = split_filter(text, &asking->in_string);
    char *before = strndup(text, asking->in_string ? start - 1 : start);
    asking->part = strdup(text + start);
    asking->in_filter = true;
    if (before && asking->part)
        ask(browser, asking, filter_words, before);
    free(before);
}

static void function_words(struct browser *browser, struct asking *asking, const char *before)
{
    session_field_names(browser->browse.session, "function", visit, asking);
    session_field_names(browser->browse.session, "type", visit, asking);
}

static void command_words(struct browser *browser, struct asking *asking, const char *before)
{
    const char *name;
    size_t count;
    const struct command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++)
        visit(asking, commands[i].name, false);
    for (int i = 0; (name = browser_view_name(i)); i++)
        visit(asking, name, false);
}

static void view_words(struct browser *browser, struct asking *asking, const char *before)
{
    const char *name;
    for (int i = 0; (name = browser_view_name(i)); i++)
        visit(asking, name, false);
}

static void color_words(struct browser *browser, struct asking *asking, const char *before)
{
    for (int i = 1; i <= SESSION_COLOR_KIND; i++)
        visit(asking, color_by_name((enum session_color_by)i), false);
}

/* The fields, and the word for the groups of the filter. */
static void stacking_words(struct browser *browser, struct asking *asking, const char *before)
{
    visit(asking, SESSION_STACKING_GROUPS, false);
    session_stacking_fields(visit, asking);
}

static void theme_words(struct browser *browser, struct asking *asking, const char *before)
{
    for (int i = 0; i < THEME_KINDS; i++)
        visit(asking, theme_name((enum theme_kind)i), false);
}

static void moment_words(struct browser *browser, struct asking *asking, const char *before)
{
    session_moment_names(browser->browse.session, visit, asking);
}

static void process_words(struct browser *browser, struct asking *asking, const char *before)
{
    visit(asking, "all", false);
    session_field_names(browser->browse.session, "process", visit, asking);
}

static void graph_words(struct browser *browser, struct asking *asking, const char *before)
{
    struct session_graph *graphs = NULL;
    struct session_error error;
    size_t count = 0;
    if (!session_graphs(browser->browse.session, &graphs, &count, &error))
        return;
    for (size_t i = 0; i < count; i++)
        visit(asking, graphs[i].name, false);
    session_graphs_free(graphs, count);
}

/* The files of the folder that the typed path names. */
static void file_words(struct browser *browser, struct asking *asking, const char *before)
{
    char path[4096];
    const char *slash = strrchr(asking->part, '/');
    const int length = slash ? (int)(slash - asking->part) + 1 : 0;
    snprintf(path, sizeof(path), "%.*s", length, asking->part);
    DIR *folder = opendir(length > 0 ? path : ".");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct stat about;
        const char *name = entry->d_name;
        if (name[0] == '.' && (!slash || slash[1] != '.') && asking->part[0] != '.')
            continue;
        const int end = snprintf(path, sizeof(path), "%.*s%s", length, asking->part, name);
        if (end >= (int)sizeof(path) - 1)
            continue;
        if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
            memcpy(path + end, "/", 2);
        visit(asking, path, false);
    }
    if (folder)
        closedir(folder);
}

/* Completes an answer: a part of a filter, or a graph's name. An operator and set follow a set. */
static void complete_answer(struct browser *browser, struct asking *asking, const char *text)
{
    const bool joins = *text == '+' || *text == '-' || *text == '&';
    char *whole = NULL;
    if (!browser->asked_before) {
        asking->part = strdup(text);
        if (asking->part)
            ask(browser, asking, graph_words, "");
        return;
    }
    if (asprintf(&whole, "%s%s", joins ? "all " : browser->asked_before, text) < 0)
        return;
    complete_filter(browser, asking, whole);
    free(whole);
}

static void complete_command(struct browser *browser, struct asking *asking, const char *text)
{
    static void (*const words[])(struct browser *, struct asking *, const char *) = {
        [ARGUMENT_VIEW] = view_words,         [ARGUMENT_COLOR] = color_words,
        [ARGUMENT_MOMENT] = moment_words,     [ARGUMENT_PROCESS] = process_words,
        [ARGUMENT_FUNCTION] = function_words, [ARGUMENT_FILE] = file_words,
        [ARGUMENT_GRAPH] = graph_words,       [ARGUMENT_THEME] = theme_words,
        [ARGUMENT_STACKING] = stacking_words,
    };
    text += strspn(text, " ");
    const size_t length = strcspn(text, " ");
    if (!text[length]) {
        asking->part = strdup(text);
        if (asking->part)
            ask(browser, asking, command_words, "");
        return;
    }
    const struct command *command = command_find(text, length);
    const char *argument = text + length + strspn(text + length, " ");
    if (!command || command->kind == ARGUMENT_NONE)
        return;
    if (command->kind == ARGUMENT_FILTER) {
        complete_filter(browser, asking, argument);
        return;
    }
    const char *comma = command->kind == ARGUMENT_STACKING ? strrchr(argument, ',') : NULL;
    asking->part = strdup(comma ? comma + 1 + strspn(comma + 1, " ") : argument);
    if (asking->part)
        ask(browser, asking, words[command->kind], "");
}

/* Returns the second of two times as split_times() takes them, NULL if there is none. */
static const char *second_time(const char *text)
{
    const char *at = strstr(text, "..");
    if (at)
        at += 1;
    else if (!(at = strchr(text, ',')))
        at = strchr(text + strspn(text, " "), ' ');
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Completes a time or the second of two: the name of a mark may have spaces. */
static void complete_times(struct browser *browser, struct asking *asking, const char *text)
{
    for (const char *part = text; part && asking->completion->count == 0;
         part = part == text ? second_time(text) : NULL) {
        free(asking->part);
        asking->part = strdup(part);
        if (asking->part)
            ask(browser, asking, moment_words, "");
    }
}

/* ---- SQL -------------------------------------------------------------------------------- */

/* Visits the words of a statement, keywords in the case of what is typed. */
static bool visit_sql(void *context, const char *word, bool name)
{
    struct asking *asking = context;
    char lower[128];
    const bool keyword = isupper((unsigned char)word[0]) && islower((unsigned char)*asking->part);
    snprintf(lower, sizeof(lower), "%s", word);
    for (char *c = lower; keyword && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return visit(asking, keyword ? lower : word, name);
}

static void sql_words(struct browser *browser, struct asking *asking, const char *before)
{
    char *text = strdup(line_editor_text(browser->editors[browser->mode]));
    if (text)
        session_sql_words(browser->browse.session, text, strlen(before),
                          *asking->part && !asking->anywhere, visit_sql, asking);
    free(text);
}

/* Returns true if a string that begins after `text` is the filter of graph('…'). */
static bool begins_graph(const char *text, size_t length)
{
    static const char *const tables[] = {"graph", "graph_warning"};
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || text[--length] != '(')
        return false;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const size_t size = strlen(tables[i]);
        if (length >= size && strncasecmp(text + length - size, tables[i], size) == 0 &&
            (length == size || !in_word(text[length - size - 1])))
            return true;
    }
    return false;
}

/* Completes a statement: tables and columns; in a string a filter, or functions and types. */
static void complete_sql(struct browser *browser, struct asking *asking, const char *text)
{
    size_t start = strlen(text), quotes = 0, quote = 0;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] != '\'')
            continue;
        const bool doubled = quotes > 0 && quotes % 2 == 0 && text[i - 1] == '\'';
        quotes++;
        if (!doubled)
            quote = quotes % 2 == 1 ? i : quote;
    }
    asking->in_sql = quotes % 2 == 1;
    if (quotes % 2 == 1 && begins_graph(text, quote)) {
        complete_filter(browser, asking, text + quote + 1);
        return;
    }
    if (quotes % 2 == 1) {
        asking->part = strdup(text + quote + 1);
        if (asking->part)
            ask(browser, asking, function_words, "");
        return;
    }
    while (start > 0 && in_word(text[start - 1]))
        start--;
    char *before = strndup(text, start);
    asking->part = strdup(text + start);
    if (before && asking->part)
        ask(browser, asking, sql_words, before);
    free(before);
}

/* ---- putting in ------------------------------------------------------------------------- */

static int code_points(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes && text[i]; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* Returns the bytes that all words begin with, at whole characters. */
static size_t common_length(const struct completion *completion)
{
    const char *first = completion->words[0];
    size_t length = strlen(first);
    for (size_t i = 1; i < completion->count; i++) {
        size_t same = 0;
        while (same < length && completion->words[i][same] == first[same])
            same++;
        length = same;
    }
    while (length > 0 && ((unsigned char)first[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static void put(struct browser *browser, struct line_editor *editor, const char *word,
                size_t length)
{
    char *part = strndup(word, length);
    if (!part)
        return;
    browser->completion.written = line_editor_replace(editor, browser->completion.written, part);
    free(part);
}

void complete(struct browser *browser)
{
    struct completion *completion = &browser->completion;
    struct line_editor *editor = browser->editors[browser->mode];
    if (completion->count > 1) {
        completion->at = (completion->at + 1) % (int)completion->count;
        put(browser, editor, completion->words[completion->at],
            strlen(completion->words[completion->at]));
        return;
    }
    completion_clear(completion);
    struct asking asking = {.completion = completion};
    char *text = strdup(line_editor_before(editor));
    if (!text)
        return;
    switch (browser->mode) {
    case MODE_FILTER:
        complete_filter(browser, &asking, text);
        break;
    case MODE_COMMAND:
        complete_command(browser, &asking, text);
        break;
    case MODE_ASK:
        complete_answer(browser, &asking, text);
        break;
    case MODE_GOTO:
        if (browser->current == VIEW_SQL) {
            complete_sql(browser, &asking, text);
            break;
        }
        /* fallthrough */
    case MODE_RANGE:
        complete_times(browser, &asking, text);
        break;
    case MODE_SEARCH:
        asking.part = strdup(text);
        if (asking.part)
            ask(browser, &asking, function_words, "");
        break;
    default:
        break;
    }
    if (asking.part && completion->count > 0) {
        const char *first = completion->words[0];
        const size_t typed = strlen(asking.part);
        const size_t length = completion->count == 1 ? strlen(first) : common_length(completion);
        completion->written = code_points(asking.part, typed);
        if (completion->count == 1 || (!asking.anywhere && length > typed))
            put(browser, editor, first, length);
    }
    free(asking.part);
    free(text);
    if (completion->count == 1)
        completion_clear(completion);
}

void completion_render(const struct completion *completion, const struct area *row)
{
    const int count = (int)completion->count, at = completion->at;
    int first = 0, used = 0;
    /* Begins so that the present word is visible. */
    for (int i = 0; i <= at; i++) {
        used += text_width(completion->words[i]) + 2;
        if (used > row->width - 4) {
            first = i;
            used = text_width(completion->words[i]) + 2;
        }
    }
    area_fill(row, 0, 0, row->width, 1, ' ', theme_style(THEME_SELECTED));
    int x = 1;
    for (int i = first; i < count && x < row->width - 3; i++) {
        const int width = text_width(completion->words[i]), room = row->width - x - 2;
        area_field(row, x, 0, width < room ? width : room,
                   theme_style(i == at ? THEME_CURSOR : THEME_SELECTED), completion->words[i]);
        x += width + 2;
    }
    if (x >= row->width - 3 || completion->more)
        area_put(row, row->width - 1, 0, 0x2026, theme_style(THEME_SELECTED));
}
