/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/help_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/browser/help.h"
#include "tui/keys/action_names.h"
#include "tui/keys/user_keys.h"
#include "tui/screen/key_names.h"

struct lines {
    struct help_line *line;
    size_t count, room;
    int width, keys;
    bool failed;
};

static struct help_line *add(struct lines *lines, enum help_line_kind kind)
{
    if (lines->count == lines->room) {
        const size_t room = lines->room ? lines->room * 2 : 64;
        struct help_line *line = realloc(lines->line, room * sizeof(*line));
        if (!line) {
            lines->failed = true;
            return NULL;
        }
        lines->line = line;
        lines->room = room;
    }
    struct help_line *line = &lines->line[lines->count++];
    *line = (struct help_line){.kind = kind};
    return line;
}

/* Returns the bytes of `text` that fit `width` columns, cut between words if that is possible. */
static size_t fitting(const char *text, int width)
{
    size_t last = 0;
    int used = 0;
    const char *at = text;
    while (*at) {
        const char *before = at;
        used += glyph_width(text_next(&at));
        if (used > width)
            return last > 0 ? last : before > text ? (size_t)(before - text) : (size_t)(at - text);
        if (*at == ' ' || !*at)
            last = (size_t)(at - text);
    }
    return last;
}

/* Adds a text in as many lines as it needs. */
static void add_text(struct lines *lines, enum help_line_kind kind, const char *left,
                     const char *text, int width)
{
    do {
        struct help_line *line = add(lines, kind);
        if (!line)
            return;
        const size_t length = fitting(text, width > 1 ? width : 1);
        snprintf(line->left, sizeof(line->left), "%s", left);
        snprintf(line->text, sizeof(line->text), "%.*s", (int)length, text);
        text += length;
        text += strspn(text, " ");
        left = "";
    } while (*text);
}

static void add_heading(struct lines *lines, const char *text)
{
    struct help_line *line = add(lines, HELP_HEADING);
    if (line)
        snprintf(line->text, sizeof(line->text), "%s", text);
}

static void add_keys(struct lines *lines, enum view_number view, const struct key_binding *binding)
{
    char keys[80] = "", symbol[KEY_NAME_SIZE];
    uint32_t shown[KEYS_SHOWN];
    size_t length = 0;
    const size_t count = key_binding_keys(&browser_view(view)->keys, view, binding, shown);
    for (size_t i = 0; i < count && length + KEY_NAME_SIZE < sizeof(keys); i++)
        length += (size_t)snprintf(keys + length, sizeof(keys) - length, "%s%s", i ? " " : "",
                                   key_symbol(shown[i], symbol));
    add_text(lines, HELP_KEYS, keys, binding->description, lines->width - lines->keys - 3);
}

/* Adds the keys of the view alone, or those that work everywhere. */
static void add_bindings(struct lines *lines, enum view_number view, bool everywhere)
{
    const struct key_table *own = &browser_view(view)->keys;
    const struct key_binding *binding;
    for (size_t i = 0; (binding = key_binding_at(own, view, i)); i++)
        if ((binding->views == IN_ALL) == everywhere)
            add_keys(lines, view, binding);
}

/* Adds the keys that the user has bound. */
static void add_users_keys(struct lines *lines)
{
    const struct user_key *user;
    char name[KEY_NAME_SIZE], text[120];
    for (size_t i = 0; (user = user_keys_at(i)); i++) {
        if (i == 0)
            add_heading(lines, HELP_USERS_KEYS);
        const char *action = action_name(user->action);
        snprintf(text, sizeof(text), "%s%s%s", action ? action : "",
                 user->view == VIEWS ? "" : " in ",
                 user->view == VIEWS ? "" : browser_view(user->view)->name);
        add_text(lines, HELP_KEYS, key_symbol(user->key, name), text,
                 lines->width - lines->keys - 3);
    }
}

static void add_commands(struct lines *lines)
{
    size_t count;
    const struct command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++) {
        char head[80];
        snprintf(head, sizeof(head), "%s%s%s", commands[i].name, *commands[i].argument ? " " : "",
                 commands[i].argument);
        add_text(lines, HELP_KEYS, head, commands[i].description, lines->width - lines->keys - 3);
    }
    add_text(lines, HELP_KEYS, "VIEW", "a view by its name; Tab lists the names",
             lines->width - lines->keys - 3);
}

struct help_line *help_lines(enum view_number view, int width, int keys, size_t *count)
{
    struct lines lines = {.width = width, .keys = keys};
    const struct view_ops *ops = browser_view(view);
    add_heading(&lines, ops->title);
    if (ops->help)
        add_text(&lines, HELP_TEXT, "", ops->help, width - 3);
    add_bindings(&lines, view, false);
    add_heading(&lines, "Everywhere");
    add_bindings(&lines, view, true);
    add_users_keys(&lines);
    add_heading(&lines, "Commands, after :");
    add_commands(&lines);
    add_heading(&lines, "Filters, after f");
    size_t examples;
    const struct filter_example *example = help_filter_examples(&examples);
    for (size_t i = 0; i < examples; i++) {
        struct help_line *line = add(&lines, HELP_FILTER);
        if (line) {
            snprintf(line->left, sizeof(line->left), "%s", example[i].text);
            snprintf(line->text, sizeof(line->text), "%s", example[i].meaning);
        }
    }
    if (lines.failed) {
        free(lines.line);
        lines.line = NULL;
        lines.count = 0;
    }
    *count = lines.count;
    return lines.line;
}
