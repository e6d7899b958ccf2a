/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/line_editor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tui/screen/input.h"

#define HISTORY_MOST 50

struct line_editor {
    uint32_t text[LINE_MOST + 1];
    int length, cursor;
    char utf8[LINE_MOST * 4 + 1], *history[HISTORY_MOST];
    int history_count;
    int history_at; /* == history_count: the text being typed */
    char *typed;    /* the typed text, kept while the user browses the history */
};

struct line_editor *line_editor_new(void)
{
    return calloc(1, sizeof(struct line_editor));
}

void line_editor_free(struct line_editor *editor)
{
    if (!editor)
        return;
    for (int i = 0; i < editor->history_count; i++)
        free(editor->history[i]);
    free(editor->typed);
    free(editor);
}

static void set_text(struct line_editor *editor, const char *text)
{
    editor->length = 0;
    for (uint32_t glyph; editor->length < LINE_MOST && (glyph = text_next(&text)) != 0;)
        if (glyph_width(glyph) > 0)
            editor->text[editor->length++] = glyph;
    editor->cursor = editor->length;
}

void line_editor_set(struct line_editor *editor, const char *text)
{
    set_text(editor, text);
    editor->history_at = editor->history_count;
}

static const char *encode(struct line_editor *editor, int length)
{
    char *to = editor->utf8;
    for (int i = 0; i < length; i++)
        to += text_encode(editor->text[i], to);
    *to = 0;
    return editor->utf8;
}

const char *line_editor_text(struct line_editor *editor)
{
    return encode(editor, editor->length);
}

const char *line_editor_before(struct line_editor *editor)
{
    return encode(editor, editor->cursor);
}

void line_editor_remember(struct line_editor *editor, const char *text)
{
    int count = editor->history_count;
    if (!*text || (count > 0 && strcmp(editor->history[count - 1], text) == 0))
        return;
    char *copy = strdup(text);
    if (!copy)
        return;
    if (count == HISTORY_MOST) {
        free(editor->history[0]);
        memmove(editor->history, editor->history + 1, (HISTORY_MOST - 1) * sizeof(char *));
        count--;
    }
    editor->history[count] = copy;
    editor->history_count = count + 1;
    editor->history_at = editor->history_count;
}

static enum line_result history_move(struct line_editor *editor, int step)
{
    int at = editor->history_at + step;
    if (at < 0 || at > editor->history_count)
        return LINE_MOVED;
    if (editor->history_at == editor->history_count) {
        free(editor->typed);
        editor->typed = strdup(line_editor_text(editor));
    }
    editor->history_at = at;
    const char *text = at == editor->history_count ? editor->typed : editor->history[at];
    set_text(editor, text ? text : "");
    return LINE_CHANGED;
}

static enum line_result erase(struct line_editor *editor, int from, int to)
{
    if (from < 0 || to > editor->length || from >= to)
        return LINE_MOVED;
    memmove(editor->text + from, editor->text + to,
            (size_t)(editor->length - to) * sizeof(editor->text[0]));
    editor->length -= to - from;
    editor->cursor = from;
    return LINE_CHANGED;
}

static enum line_result insert(struct line_editor *editor, uint32_t glyph)
{
    if (editor->length == LINE_MOST || glyph_width(glyph) == 0)
        return LINE_IGNORED;
    memmove(editor->text + editor->cursor + 1, editor->text + editor->cursor,
            (size_t)(editor->length - editor->cursor) * sizeof(editor->text[0]));
    editor->text[editor->cursor++] = glyph;
    editor->length++;
    return LINE_CHANGED;
}

int line_editor_replace(struct line_editor *editor, int count, const char *text)
{
    int inserted = 0;
    erase(editor, editor->cursor - count, editor->cursor);
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;)
        inserted += insert(editor, glyph) == LINE_CHANGED;
    return inserted;
}

static int word_start(const struct line_editor *editor)
{
    int at = editor->cursor;
    while (at > 0 && editor->text[at - 1] == ' ')
        at--;
    while (at > 0 && editor->text[at - 1] != ' ')
        at--;
    return at;
}

static enum line_result move_to(struct line_editor *editor, int position)
{
    if (position >= 0 && position <= editor->length)
        editor->cursor = position;
    return LINE_MOVED;
}

enum line_result line_editor_key(struct line_editor *editor, uint32_t key)
{
    switch (key) {
    case KEYCODE_ENTER:
        return LINE_DONE;
    case KEYCODE_ESCAPE:
        return LINE_CANCELLED;
    case KEYCODE_LEFT:
    case KEYCODE_CONTROL('B'):
        return move_to(editor, editor->cursor - 1);
    case KEYCODE_RIGHT:
    case KEYCODE_CONTROL('F'):
        return move_to(editor, editor->cursor + 1);
    case KEYCODE_HOME:
    case KEYCODE_CONTROL('A'):
        return move_to(editor, 0);
    case KEYCODE_END:
    case KEYCODE_CONTROL('E'):
        return move_to(editor, editor->length);
    case KEYCODE_UP:
        return history_move(editor, -1);
    case KEYCODE_DOWN:
        return history_move(editor, 1);
    case KEYCODE_BACKSPACE:
        return erase(editor, editor->cursor - 1, editor->cursor);
    case KEYCODE_DELETE:
    case KEYCODE_CONTROL('D'):
        return erase(editor, editor->cursor, editor->cursor + 1);
    case KEYCODE_CONTROL('U'):
        return erase(editor, 0, editor->cursor);
    case KEYCODE_CONTROL('K'):
        return erase(editor, editor->cursor, editor->length);
    case KEYCODE_CONTROL('W'):
        return erase(editor, word_start(editor), editor->cursor);
    default:
        return key < 32 || key >= KEYCODE_FIRST ? LINE_IGNORED : insert(editor, key);
    }
}

/* Returns the first code point to show in `width` columns, so that the cursor is visible. */
static int first_seen(const struct line_editor *editor, int width)
{
    int room = width - 1, first = editor->cursor;
    while (first > 0 && room >= glyph_width(editor->text[first - 1])) {
        first--;
        room -= glyph_width(editor->text[first]);
    }
    return first;
}

void line_editor_click(struct line_editor *editor, int width, int x)
{
    int position = first_seen(editor, width);
    while (position < editor->length && x >= glyph_width(editor->text[position])) {
        x -= glyph_width(editor->text[position]);
        position++;
    }
    editor->cursor = position;
}

int line_editor_render(const struct line_editor *editor, const struct area *area, int error,
                       struct cell_style style, struct cell_style error_style)
{
    int first = first_seen(editor, area->width);
    int error_column = -1, x = 0;
    area_fill(area, 0, 0, area->width, 1, ' ', style);
    for (int i = first; i <= editor->length && x < area->width; i++) {
        struct cell_style now = error >= 0 && i >= error ? error_style : style;
        if (i == error)
            error_column = x;
        if (i == editor->cursor)
            now.attributes |= CELL_REVERSE;
        if (i < editor->length || i == editor->cursor)
            area_put(area, x, 0, i < editor->length ? editor->text[i] : ' ', now);
        x += i < editor->length ? glyph_width(editor->text[i]) : 1;
    }
    if (error > editor->length)
        error_column = x - 1 < area->width ? x - 1 : -1;
    return error_column;
}

/* Editors that take FILE:LINE after --goto instead of +LINE FILE. */
static bool wants_goto(const char *program)
{
    const char *name = basename(program);
    return strcmp(name, "code") == 0 || strcmp(name, "codium") == 0;
}

bool editor_words(const char *editor, const char *path, uint32_t line, char **words, char *text,
                  size_t size)
{
    size_t count = 0, used = strlen(editor) + 1;
    char *rest = NULL;
    if (used >= size)
        return false;
    memcpy(text, editor, used);
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (count + 4 > EDITOR_WORDS)
            return false;
        words[count++] = word;
    }
    if (count == 0)
        return false;
    const bool together = wants_goto(words[0]);
    int length = together ? snprintf(text + used, size - used, "%s:%" PRIu32, path, line)
                          : snprintf(text + used, size - used, "+%" PRIu32, line);
    if (length < 0 || (size_t)length >= size - used)
        return false;
    if (together)
        words[count++] = (char *)"--goto";
    words[count++] = text + used;
    used += (size_t)length + 1;
    if (!together) {
        length = snprintf(text + used, size - used, "%s", path);
        if (length < 0 || (size_t)length >= size - used)
            return false;
        words[count++] = text + used;
    }
    words[count] = NULL;
    return true;
}

static const char *users_editor(void)
{
    const char *editor = getenv("VISUAL");
    if (!editor || !editor[strspn(editor, " \t")])
        editor = getenv("EDITOR");
    return editor && editor[strspn(editor, " \t")] ? editor : "vi";
}

/* Starts the editor with the usual signals. Returns an error number. */
static int start(char **words, pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t usual;
    posix_spawnattr_init(&attributes);
    sigemptyset(&usual);
    static const int signals[] = {SIGHUP, SIGINT,  SIGQUIT, SIGTERM, SIGSEGV,
                                  SIGBUS, SIGABRT, SIGFPE,  SIGILL,  SIGTSTP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&usual, signals[i]);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int result = posix_spawnp(child, words[0], NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    return result;
}

bool editor_run(const char *path, uint32_t line, char *error, size_t error_size)
{
    const char *editor = users_editor();
    char text[PATH_MAX + 1024], *words[EDITOR_WORDS];
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t child;
    if (!editor_words(editor, path, line, words, text, sizeof(text))) {
        snprintf(error, error_size, "the editor \"%.80s\" has too many words", editor);
        return false;
    }
    /* Ctrl-C and Ctrl-\ are for the editor. */
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    const int result = start(words, &child);
    int status = 0;
    if (result == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    if (result != 0)
        snprintf(error, error_size, "the editor \"%.80s\" does not start: %s: set EDITOR", words[0],
                 strerror(result));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(error, error_size, "the editor \"%.80s\" does not start: set EDITOR", words[0]);
    return result == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}
