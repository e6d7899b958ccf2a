/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/help.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/screen/action.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

/* The signs of the screens with their meanings. */
static const struct {
    const char *sign, *meaning;
} signs[] = {
    {"~", "before a number: an estimate from a sample"},
    {"\u2265 >", "before a number: it may be more, as the lifetime of a block that is still live"},
    {"K M G", "bytes: 1K is 1,024 bytes; 1k of blocks or allocations is 1,000"},
    {"\u25b2 !", "a finding: a grave one in red, one to look at in yellow"},
    {"\u00b7", "a finding that hardly matters; nothing, in a row of bars"},
    {"\u2713", "looked for, and all is well"},
    {"\u25bc \u25b2", "the column by which rows are sorted, the largest or the smallest first"},
    {"\u2026", "a name was cut: the line or pane below has all of it"},
    {"?", "after a type: inferred, not certain"},
    {"a \u2190 b", "b calls a"},
    {"\u25b8 \u25be", "a row that Enter opens or closes"},
    {"\u2192", "in the tree: a function of a library that your code calls and that allocates"},
    {"\u21c4 \u21ba",
     "functions that call each other, shown as one row; a function that calls itself"},
    {"\u00d7 3", "so many times, or so many blocks of one size"},
};

/* Writes text for a man page and escapes the characters that its macros use. */
static void put_escaped(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '^')
            fputs("\\(ha", out);
        else if (*text == '~')
            fputs("\\(ti", out);
        else
            fputc(*text, out);
}

static void put_entry(FILE *out, const char *head, const char *argument, const char *text)
{
    fputs(".TP\n\\fB", out);
    put_escaped(out, head);
    fputs("\\fR", out);
    if (*argument)
        fprintf(out, " \\fI%s\\fR", argument);
    fputc('\n', out);
    put_escaped(out, text);
    fputc('\n', out);
}

static void put_option(FILE *out, const struct command_option *option)
{
    char head[64] = "";
    command_option_head(option, head, sizeof(head));
    put_entry(out, option->letter ? head : head + 4, "", option->help); /* blanks */
}

static void put_binding(FILE *out, const struct key_binding *binding)
{
    char head[64] = "";
    size_t length = 0;
    for (size_t k = 0; k < KEYS_MOST && binding->keys[k]; k++) {
        char name[KEY_NAME_SIZE];
        length += (size_t)snprintf(head + length, sizeof(head) - length, "%s%s", k ? ", " : "",
                                   key_spelling(binding->keys[k], name));
    }
    put_entry(out, head, "", binding->description);
}

static void put_keys(FILE *out)
{
    fputs(".SS In every view, or in each that sorts or colours\n", out);
    for (size_t i = 0; i < shared_keys.count; i++)
        put_binding(out, &shared_keys.bindings[i]);
    for (int view = 0; view < VIEWS; view++) {
        const struct view_ops *ops = browser_view((enum view_number)view);
        if (!ops || ops->keys.count == 0)
            continue;
        fprintf(out, ".SS %s\n", ops->title);
        for (size_t i = 0; i < ops->keys.count; i++)
            put_binding(out, &ops->keys.bindings[i]);
    }
}

static void put_configuration(FILE *out)
{
    fputs(".SH CONFIGURATION\nThe file\n.I $XDG_CONFIG_HOME/mprof/tui.conf\nis text. A line is "
          "empty, begins with #, or is one of:\n",
          out);
    put_entry(out, "theme", "NAME", "the colours, unless --theme names others");
    put_entry(out, "hide", "WORD",
              "a namespace, class, module or function that is not your own code, in all sessions; "
              "a setting of a session about the word comes first");
    put_entry(out, "key", "KEY ACTION [VIEW]",
              "binds a key, in all views that know the action or in one view; the action none "
              "takes its meaning away");
    fputs("A line that is wrong is named when the browser starts, and the others hold.\n"
          "mprof\\-tui \\-\\-print\\-config prints such a file with all keys, actions and views;\n"
          "in the browser :keys lists the keys that you have bound.\n",
          out);
}

void manual_page(FILE *out)
{
    size_t count;
    fputs(".\\\" Made by mprof-tui --man from the program's own tables.\n"
          ".TH MPROF\\-TUI 1 \"\" \"mprof " MPROF_VERSION "\" \"mprof\"\n"
          ".SH NAME\nmprof\\-tui \\- browse the heap of a recorded program\n.SH SYNOPSIS\n",
          out);
    fprintf(out, "%s ", tui_command_line.program);
    put_escaped(out, tui_command_line.synopsis);
    fputs(
        "\n.SH DESCRIPTION\n"
        "Shows a session that\n.BR mprof\\-ingest (1)\nmade: an overview of the findings, the live "
        "bytes over time, the memory as it\nwas at any moment, and the functions that "
        "allocated. Every view obeys the filter in the\nsecond line and says how many of how "
        "many allocations it lets through.\nIn a large session without a filter the timeline's "
        "columns come from sums that ingest made:\neach begins at the nearest moment that has a "
        "sum, at most a sixteenth of a column from the\ntime that is shown.\n.SH OPTIONS\n",
        out);
    for (size_t i = 0; i < tui_command_line.count; i++)
        put_option(out, &tui_command_line.options[i]);
    fputs(".SH KEYS\n", out);
    put_keys(out);
    fputs(".SH SIGNS\n", out);
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        put_entry(out, signs[i].sign, "", signs[i].meaning);
    fputs(".SH COMMANDS\nTyped after a colon; a command may be shortened.\n", out);
    const struct command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++)
        put_entry(out, commands[i].name, commands[i].argument, commands[i].description);
    fputs(".SH FILTERS\nExamples:\n", out);
    const struct filter_example *examples = help_filter_examples(&count);
    for (size_t i = 0; i < count; i++)
        put_entry(out, examples[i].text, "", examples[i].meaning);
    put_configuration(out);
    fputs(".SH ENVIRONMENT\n", out);
    put_entry(out, "NO_COLOR", "",
              "if it is set and not empty, and no theme is named, no colour is used");
    put_entry(out, "COLORTERM", "",
              "truecolor or 24bit: the terminal takes true colours, if terminfo knows a kind of it "
              "that does, such as xterm-direct");
    put_entry(out, "COLORFGBG", "", "if it ends in ;7 or ;15, the terminal's ground is light");
    put_entry(out, "XDG_CONFIG_HOME", "",
              "the folder with your graphs, mprof/graphs/NAME.graph, your settings, "
              "mprof/settings, the browser's configuration, mprof/tui.conf, and where you left "
              "each session, "
              "mprof/state; default: "
              "~/.config");
    put_entry(out, "XDG_STATE_HOME", "",
              "the folder of the files mprof/browsed, which says that this is not your first run, "
              "and mprof/copied.txt, which y writes; "
              "default: ~/.local/state");
    put_entry(out, "LC_ALL, LC_CTYPE, LANG", "", "in a locale without UTF-8 only ASCII is shown");
    fputs(".SH EXIT STATUS\n", out);
    put_entry(out, "0", "", "good");
    put_entry(out, "1", "", "bad session, script or terminal");
    put_entry(
        out, "2", "",
        "bad usage, a filter that does not parse, or a process that the session does not have");
}

/* ---- lines ------------------------------------------------------------------------------ */

enum help_line_kind {
    HELP_HEADING,
    HELP_TEXT,   /* from the left margin */
    HELP_KEYS,   /* `left`: keys or a command; `text`: what they do, or the rest of that */
    HELP_FILTER, /* `left`: a filter; `text`: what it means */
};

/* The heading of the user's own keys; it is missing if there are none. */
#define HELP_USERS_KEYS "Your keys, from tui.conf"

struct help_line {
    enum help_line_kind kind;
    char left[80], text[240];
};

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
    const struct key_binding *binding = NULL;
    while ((binding = key_binding_next(own, view, binding)))
        if ((binding->views == IN_ALL) == everywhere)
            add_keys(lines, view, binding);
}

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

/* Makes the lines for columns of this width, of which the keys take `keys`; longer explanations go
 * on in the next line. The caller frees them. Returns NULL if memory is exhausted. */
static struct help_line *help_lines(enum view_number view, int width, int keys, size_t *count)
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
    add_heading(&lines, "Signs");
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        add_text(&lines, HELP_KEYS, signs[i].sign, signs[i].meaning, width - keys - 3);
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

static const struct filter_example examples[] = {
    {.text = "leaked", .meaning = "never freed, except by design of the runtime"},
    {.text = "live at peak", .meaning = "live at the program's peak"},
    {.text = "all | where size >= 4K", .meaning = "by size"},
    {.text = "all | where lifetime < 1ms and not function == \"main\"", .meaning = "short-lived"},
    {.text = "all | where stack has \"main\" | color by thread", .meaning = "made below main"},
    {.text = "all | where alloc_time in 1s .. 2s", .meaning = "made in that second"},
    {.text = "all | sort size desc | top 100", .meaning = "the hundred largest"},
};

const struct filter_example *help_filter_examples(size_t *count)
{
    *count = sizeof(examples) / sizeof(examples[0]);
    return examples;
}

/* ---- layout ----------------------------------------------------------------------------- */

struct layout {
    int columns, width, keys; /* the columns of a screen, their width, that of the keys in them */
};

static struct layout lay_out(int width)
{
    const int columns = width >= 120 ? 2 : 1;
    return (struct layout){
        .columns = columns, .width = width / columns, .keys = width / columns >= 70 ? 21 : 15};
}

/* Returns the lines for the present view; the caller frees them. `*rows`: of each column. */
static struct help_line *present_lines(const struct browser *browser, size_t *count, int *rows)
{
    const struct layout layout = lay_out(browser->width);
    struct help_line *lines = help_lines(browser->current, layout.width, layout.keys, count);
    *rows = ((int)*count + layout.columns - 1) / layout.columns;
    return lines;
}

static bool matches(const struct help_line *line, const char *search)
{
    return *search && (strcasestr(line->left, search) || strcasestr(line->text, search));
}

static void render_line(const struct area *column, int y, int keys, const struct help_line *line,
                        bool match)
{
    const struct cell_style text = theme_style(match ? THEME_MATCH : THEME_PLAIN);
    const int width = column->width;
    switch (line->kind) {
    case HELP_HEADING:
        area_field(column, 1, y, width - 2, theme_style(THEME_HEADING), line->text);
        break;
    case HELP_TEXT:
        area_field(column, 2, y, width - 3, text, line->text);
        break;
    case HELP_KEYS:
        area_field(column, 2, y, keys - 1, theme_style(THEME_KEY), line->left);
        area_field(column, 2 + keys, y, width - keys - 3, text, line->text);
        break;
    case HELP_FILTER:
        area_field(column, 2, y, width - 3, theme_style(THEME_FILTER), line->left);
        const int end = 4 + text_width(line->left);
        if (end + text_width(line->text) < width)
            area_text(column, end, y, match ? text : theme_style(THEME_FAINT), line->text);
        break;
    }
}

void help_render(const struct browser *browser, const struct area *area)
{
    const struct layout layout = lay_out(area->width);
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    for (int column = 0; column < layout.columns; column++) {
        const struct area part =
            area_part(area, column * layout.width, 0, layout.width, area->height);
        for (int y = 0; y < part.height && y + browser->help_scroll < rows; y++) {
            const int line = column * rows + y + browser->help_scroll;
            if ((size_t)line < count)
                render_line(&part, y, layout.keys, &lines[line],
                            matches(&lines[line], browser->help_search));
        }
    }
    free(lines);
}

/* ---- mode ------------------------------------------------------------------------------- */

void help_open(struct browser *browser)
{
    browser->mode = MODE_HELP;
    browser->help_scroll = 0;
    browser->help_search[0] = 0;
}

static void scroll_to(struct browser *browser, int row)
{
    size_t count;
    int rows;
    free(present_lines(browser, &count, &rows));
    const int last = rows - (browser->height - FRAME_TOP - FRAME_BOTTOM);
    row = row < last ? row : last;
    browser->help_scroll = row > 0 ? row : 0;
}

bool help_open_keys(struct browser *browser)
{
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    size_t at = 0;
    while (at < count && strcmp(lines[at].text, HELP_USERS_KEYS) != 0)
        at++;
    free(lines);
    if (at == count)
        return false;
    help_open(browser);
    scroll_to(browser, (int)at % rows);
    return true;
}

/* Scrolls to the next line that matches, from the present one on or after it. */
static void find(struct browser *browser, bool from_here, bool forwards)
{
    size_t count;
    int rows;
    struct help_line *lines = present_lines(browser, &count, &rows);
    const size_t at = browser->help_found < count ? browser->help_found : 0;
    for (size_t i = from_here ? 0 : 1; i <= count && count > 0; i++) {
        const size_t step = i % count, line = (at + (forwards ? step : count - step)) % count;
        if (!matches(&lines[line], browser->help_search))
            continue;
        browser->help_found = line;
        free(lines);
        scroll_to(browser, (int)line % rows);
        return;
    }
    free(lines);
    if (browser->help_search[0])
        browse_complain(&browser->browse, "the help has no \"%.100s\"", browser->help_search);
    else
        browse_say(&browser->browse, "no search yet; / searches");
}

void help_search(struct browser *browser, const char *text)
{
    browser->mode = MODE_HELP;
    browser->help_found = 0;
    snprintf(browser->help_search, sizeof(browser->help_search), "%s", text);
    if (*text)
        find(browser, true, true);
}

/* Returns true if a key that closes the help also opens a prompt or a view. */
static bool leads_elsewhere(enum action action)
{
    return action == ACTION_COMMAND || action == ACTION_FILTER ||
           (action >= ACTION_VIEW_1 && action <= ACTION_VIEW_LAST);
}

void help_mode_key(struct browser *browser, uint32_t key)
{
    /* The keys that move have the same meaning as in a list. */
    static const struct key_table none = {NULL, 0};
    const int page = browser->height - FRAME_TOP - FRAME_BOTTOM, at = browser->help_scroll;
    const enum action action = key_action(&none, VIEW_FUNCTIONS, key);
    switch (action) {
    case ACTION_DOWN:
        scroll_to(browser, at + 1);
        break;
    case ACTION_UP:
        scroll_to(browser, at - 1);
        break;
    case ACTION_PAGE_DOWN:
        scroll_to(browser, at + page);
        break;
    case ACTION_PAGE_UP:
        scroll_to(browser, at - page);
        break;
    case ACTION_HOME:
        scroll_to(browser, 0);
        break;
    case ACTION_END:
        scroll_to(browser, 10000);
        break;
    case ACTION_SEARCH:
        prompt_open(browser, MODE_SEARCH);
        browser->prompt_behind = MODE_HELP;
        break;
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        find(browser, false, action == ACTION_NEXT);
        break;
    default:
        browser->mode = MODE_VIEW;
        if (leads_elsewhere(action))
            browser_do(browser, action);
        break;
    }
}
