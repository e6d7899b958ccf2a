/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/manual.h"

#include <stddef.h>

#include "cli/tui_options.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/command.h"
#include "tui/browser/help.h"
#include "tui/keys/keys.h"
#include "tui/screen/key_names.h"

/* Writes text for a man page and escapes the characters that its macros use. */
static void put_escaped(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
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
