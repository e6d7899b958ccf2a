/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-report. */
#include "cli/options.h"

static const struct command_option options[] = {
    [REPORT_OPTION_OUTPUT] = {'o', "output", "FILE",
                              .help = "write to FILE, which appears when it is whole; default: "
                                      "standard output",
                              .group = "Output"},
    [REPORT_OPTION_FORMAT] = {0, "format", "FORMAT",
                              .choices = "text csv json markdown html github sarif",
                              .help =
                                  "text (default), csv, json, markdown, or html: one page about "
                                  "the whole session; of --check also github (annotations of a "
                                  "workflow) and sarif"},
    [REPORT_OPTION_BY] = {0, "by", "WHAT",
                          .choices = "user function site type line module thread stack",
                          .help =
                              "group by user (the innermost function of your own code), function "
                              "or site (the call site), type, line, module, thread or stack",
                          .group = "What is reported"},
    [REPORT_OPTION_TOP] = {0, "top", "N", .choices = "all",
                           .help = "the largest N rows of a table, or all (default: 20)"},
    [REPORT_OPTION_FILTER] = {0, "filter", "TEXT", .choices = "",
                              .help = "only these allocations: a text of the filter language, or "
                                      "the name of a saved filter"},
    [REPORT_OPTION_AT] = {0, "at", "TIME", .choices = "start peak end",
                          .help = "only blocks that were live at TIME: 2.5s, peak, a mark, or a "
                                  "sum of these"},
    [REPORT_OPTION_PROCESS] = {0, "process", "WHICH", .choices = "all",
                               .help =
                                   "which process of a run to report: its name, PID, PID.N for the "
                                   "Nth program that it executed, or all for their sum (default: "
                                   "the one that used most)"},
    [REPORT_OPTION_KIND] = {0, "kind", "LIST", .choices = "unreachable possibly reachable unknown",
                            .help = "leaks: only those of these kinds: unreachable, possibly, "
                                    "reachable or unknown, if the references were taken"},
    [REPORT_OPTION_SUPPRESS] = {0, "suppress", "FILE",
                                .help = "leaks: leave out what the lines leak:PATTERN of FILE "
                                        "name, as LeakSanitizer takes them"},
    [REPORT_OPTION_CHECK] = {0, "check", "FILE",
                             .help = "check the budgets of FILE instead of a report; the exit "
                                     "status is 3 if one is exceeded",
                             .group = "Budgets and comparisons"},
    [REPORT_OPTION_BASE] = {0, "base", "SESSION",
                            .help = "the session to compare with: of diff, of retained, of budgets "
                                    "in percent, and of a page"},
    [REPORT_OPTION_JUNIT] = {0, "junit", "FILE",
                             .help = "also write the verdicts of --check to FILE in JUnit's XML"},
    [REPORT_OPTION_HISTORY] = {0, "history", "FILE",
                               .help = "append what --check measures to FILE, a line of JSON for "
                                       "each run; medians and a page read it"},
    [REPORT_OPTION_LABEL] = {0, "label", "TEXT", .choices = "",
                             .help = "the label of the run in the history, as a commit"},
    [REPORT_OPTION_VERBOSE] = {0, "verbose", .help = "1988: every size and every leak",
                               .group = "The report 1988"},
    [REPORT_OPTION_NORMAL] = {0, "normal",
                              .help = "1988: sizes over 100 or with over 0.2% of the allocations, "
                                      "and leaks from 0.5% (default)"},
    [REPORT_OPTION_TERSE] = {0, "terse",
                             .help =
                                 "1988: sizes with over 2% of the allocations, or over 1% and a "
                                 "known type, and leaks from 1%"},
    [REPORT_OPTION_LEAKTABLE] = {0, "leaktable", .help = "1988: print the leaks (default)"},
    [REPORT_OPTION_NOLEAKTABLE] = {0, "noleaktable", .help = "1988: leave out the leaks"},
    [REPORT_OPTION_OFFSETS] = {0, "offsets",
                               .help =
                                   "1988: tell the call sites in a function apart in the leaks: "
                                   "a+n is n bytes after the start of a"},
    [REPORT_OPTION_HELP] = {'h', "help", .help = "print this text", .group = "Help"},
    [REPORT_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line report_command_line = {
    .program = "mprof-report",
    .synopsis = "[REPORT] [OPTIONS] SESSION",
    .about =
        "Prints a report about a session that mprof-ingest made.\n\n"
        "  summary               the program, its sums, and who holds most (default)\n"
        "  peak                  who held the memory at the program's peak\n"
        "  leaks                 blocks that were never freed, and that nothing keeps\n"
        "  functions             what each function allocated, itself and below it\n"
        "  types, lines, sizes   the same by type, source line or size\n"
        "  short-lived           blocks that lived under 1 ms\n"
        "  findings              what graphs that look for faults found\n"
        "  fragmentation         holes between live blocks, and what pins them\n"
        "  retained              who keeps memory alive, and which blocks nothing reaches\n"
        "  rss                   why the resident set is what it is: each byte in one class\n"
        "  diff                  what changed since the session of --base\n"
        "  trend                 the measures of many runs: a history takes the place of SESSION\n"
        "  1988                  the four tables of the first mprof\n",
    .after =
        "Exit status: 0 done, 1 the session cannot be read or cannot tell what a budget measures,\n"
        "or the output cannot be written, 2 wrong options, or a filter or a budget that does not\n"
        "parse, 3 a budget was exceeded.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = COMMAND_FILES,
    .words = "summary peak leaks functions types lines sizes short-lived findings fragmentation "
             "retained rss diff trend 1988",
};
