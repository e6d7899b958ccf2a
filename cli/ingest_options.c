/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-ingest. */
#include "cli/options.h"

static const struct command_option options[] = {
    [INGEST_OPTION_OUTPUT] = {'o', "output", "FILE",
                              .help = "the session; default: TRACE with .db in place of .bin",
                              .group = "The session"},
    [INGEST_OPTION_FORCE] = {'f', "force", .help = "replace an existing session"},
    [INGEST_OPTION_QUIET] = {'q', "quiet", .help = "print no progress bar and no summary"},
    [INGEST_OPTION_PROCESS] = {0, "process", "WHICH", .choices = "all",
                               .help =
                                   "which process of a run the session shows first: its name, "
                                   "PID, PID.N for the Nth program that it executed, or all for "
                                   "their sum (default: the one that used most)"},
    [INGEST_OPTION_LIVE] = {0, "live",
                            .help =
                                "TRACE is still being recorded: keep the session up to date and "
                                "readable until the program ends or you press Ctrl-C"},
    [INGEST_OPTION_INDEX] = {0, "index", "WHICH", .choices = "none stack all",
                             .help =
                                 "indexes of the table allocation: none (default), stack or all"},
    [INGEST_OPTION_BUNDLE] =
        {0, "bundle",
         .help = "put copies of the program, its libraries, their debug information "
                 "and sources into the session: sqlite3 SESSION -Ax unpacks them"},
    [INGEST_OPTION_REDACT] =
        {0, "redact", "ROOT", .optional = true,
         .help = "leave out arguments, host, and the names of folders above ROOT, the root of the "
                 "sources; default: the folder that they have in common"},
    [INGEST_OPTION_LABEL] = {0, "label", "KEY=TEXT", .choices = "service= release=",
                             .help = "note this in the table meta, as service=shop, in place of "
                                     "what the trace has under that key; up to 8 times"},
    [INGEST_OPTION_SUPPRESSIONS] =
        {0, "suppressions", "FILE",
         .help = "lines leak:PATTERN, as LeakSanitizer takes them, name the stacks that are not "
                 "leaks; program: the lines that the program carries (mprof-run --suppressions)"},
    [INGEST_OPTION_DEBUG_DIR] = {0, "debug-dir", "DIR",
                                 .help = "look for separate debug files there too",
                                 .group = "Where names come from"},
    [INGEST_OPTION_SYSROOT] = {0, "sysroot", "DIR",
                               .help = "look for the program's files below DIR"},
    [INGEST_OPTION_CACHE] = {0, "cache", "DIR", .choices = "off",
                             .help = "keep names and types there for later calls, and use those of "
                                     "earlier ones; off: neither (default: mprof in "
                                     "$XDG_CACHE_HOME or ~/.cache)"},
    [INGEST_OPTION_DUMP] = {0, "dump", "ORDER", .optional = true, .choices = "file time",
                            .help =
                                "print the trace as text instead, one line a record; ORDER is file "
                                "(default) or time (events only, merged)",
                            .group = "Instead of a session"},
    [INGEST_OPTION_COMPRESS] = {0, "compress",
                                .help =
                                    "write the trace compressed, into FILE or in its own place"},
    [INGEST_OPTION_REBUILD] =
        {0, "rebuild",
         .help = "TRACE is a session: compute its sums, peaks and column chunks again "
                 "from its rows"},
    [INGEST_OPTION_HELP] = {'h', "help", .help = "print this text", .group = "Help"},
    [INGEST_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line ingest_command_line = {
    .program = "mprof-ingest",
    .synopsis = "[OPTIONS] TRACE…",
    .about = "Turns a trace that mprof-run wrote into a session, an SQLite file for mprof-tui and "
             "sqlite3.\n"
             "The traces of the run's other processes, in TRACE.d, are read with TRACE. Several "
             "traces,\nor a directory of them, become one session too.\n",
    .after = "Exit status: 0 done, 1 the trace or the session cannot be used, 2 wrong options.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = COMMAND_FILES,
};
