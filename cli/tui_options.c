/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-tui. */
#include "cli/options.h"

static const struct command_option options[] = {
    [TUI_OPTION_FILTER] = {0, "filter", "TEXT", .choices = "",
                           .help = "begin with this filter, a text or the name of a saved "
                                   "filter"},
    [TUI_OPTION_VIEW] =
        {0, "view", "NAME",
         .choices =
             "overview timeline memory tree functions types leaks allocations sizes rss retained "
             "lifetimes threads arenas source diff graphs sql detail",
         .help = "begin with this view: overview, timeline, memory, tree, functions, types, leaks, "
                 "allocations, sizes, rss, retained, lifetimes, threads, arenas, source, diff, "
                 "graphs, sql "
                 "or detail"},
    [TUI_OPTION_PROCESS] = {0, "process", "WHICH", .choices = "all",
                            .help =
                                "which process of a run to show: its name, PID, PID.N for the Nth "
                                "program that it executed, or all for their sum (default: the "
                                "one that used most)"},
    [TUI_OPTION_THEME] = {0, "theme", "NAME", .choices = "dark light colour-blind mono",
                          .help = "the colours: dark or light, for such a ground; colour-blind, "
                                  "for a dark ground; mono, with patterns in place of colours "
                                  "(default: mono with NO_COLOR, light if COLORFGBG names a light "
                                  "ground, otherwise dark)"},
    [TUI_OPTION_ASCII] = {0, "ascii", .help = "show only ASCII characters"},
    [TUI_OPTION_FRESH] = {0, "fresh",
                          .help = "begin with the overview of everything, not where you left the "
                                  "session"},
    [TUI_OPTION_LIVE] = {0, "live",
                         .help = "SESSION is the trace of a program that still runs: show it as it "
                                 "grows"},
    [TUI_OPTION_YES] = {'y', "yes",
                        .help = "if SESSION is a trace, make the session without a question; with "
                                "--live replace one that exists"},
    [TUI_OPTION_SCRIPT] =
        {0, "script", "FILE",
         .help = "read keys from FILE (- is standard input) and write screens as text, "
                 "without a terminal"},
    [TUI_OPTION_SIZE] = {0, "size", "WxH", .choices = "",
                         .help = "screen size for --script (default: 80x24)"},
    [TUI_OPTION_GRAPH] =
        {0, "graph", "TASK", .choices = "list export import delete rename run run-all",
         .help =
             "do a task with saved filters, and end: 'list' prints those of SESSION, of your "
             "folder and those that ship; 'export NAME' prints one; 'import FILE' stores the graph "
             "of the file NAME.graph in SESSION, or in your folder if none is named or it cannot "
             "be written; 'delete NAME' and 'rename OLD=NEW' take the one of SESSION, or of your "
             "folder if it is not stored there; 'run TEXT' runs a text of the filter language, "
             "whose steps 'write \"FILE\"' make files, and prints its number or how many rows it "
             "has; 'run-all TEXT' lets the saved filters that it uses write files, too. All but "
             "the last two work without SESSION"},
    [TUI_OPTION_SETTING] =
        {0, "setting", "TASK", .choices = "list add delete",
         .help =
             "do a task with settings, and end: 'list' prints those of SESSION and of your folder; "
             "'add SETTING' and 'delete SETTING' change those of SESSION, or without SESSION those "
             "of your folder for all sessions. A SETTING is 'hide WORD' (a namespace, class, "
             "module or function is not your own code), 'show WORD' (it is, although it is hidden "
             "by default), 'wrapper FUNCTION' (it only wraps an allocator, so the call site is its "
             "caller) or 'source FROM=TO' (source files whose path begins with FROM lie under TO "
             "here)"},
    [TUI_OPTION_PRINT_CONFIG] =
        {0, "print-config",
         .help = "print a configuration with all keys and actions, for "
                 "$XDG_CONFIG_HOME/mprof/tui.conf, in which every line is a comment, and end"},
    [TUI_OPTION_MAN] = {0, "man", .help = "print the manual page, for man -l"},
    [TUI_OPTION_HELP] = {'h', "help", .help = "print this text"},
    [TUI_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line tui_command_line = {
    .program = "mprof-tui",
    .synopsis = "[OPTIONS] [EARLIER] SESSION",
    .about = "Browses a session that mprof-ingest made, or compares it with an EARLIER one.\n",
    .after =
        "In the browser ? explains every key.\n"
        "Exit status: 0 good, 1 bad session, script or terminal, 2 bad usage, filter or process.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = COMMAND_FILES,
};
