/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-export. */
#include "cli/options.h"

static const struct command_option options[] = {
    [EXPORT_OPTION_FORMAT] =
        {'f', "format", "NAME",
         .choices = "pprof pprof-text collapsed speedscope callgrind "
                    "massif dhat heaptrack svg firefox chrome heapsnapshot csv ndjson parquet",
         .help = "the format, see below", .group = "Output"},
    [EXPORT_OPTION_OUTPUT] = {'o', "output", "FILE",
                              .help = "write to FILE, which appears when it is complete (default: "
                                      "standard output)"},
    [EXPORT_OPTION_SQL] = {0, "sql", "DATABASE", .choices = "duckdb postgresql clickhouse",
                           .help = "instead of exporting a session, write the filter as a query "
                                   "for the tables of many sessions in duckdb, postgresql or "
                                   "clickhouse; a SESSION then only has saved filters"},
    [EXPORT_OPTION_BY] = {0, "by", "KEY,…", .choices = "service host release program",
                          .help = "with --sql: one answer for all sessions that have the same "
                                  "labels or keys of meta, such as service,host"},
    [EXPORT_OPTION_FILTER] = {0, "filter", "TEXT", .choices = "",
                              .help = "export only what this filter selects, a text or the name of "
                                      "a saved filter",
                              .group = "What is exported"},
    [EXPORT_OPTION_PROCESS] = {0, "process", "WHICH", .choices = "all",
                               .help = "which process of a run to export: its name, PID, PID.N for "
                                       "the Nth program that it executed, or all for their sum "
                                       "(default: the one that used most)"},
    [EXPORT_OPTION_AT] = {0, "at", "TIME", .choices = "peak end",
                          .help = "take what is live at TIME instead of at the end: 2.5s, peak, "
                                  "or the name of a mark"},
    [EXPORT_OPTION_BASE] = {0, "base", "SESSION",
                            .help = "export the difference to this session: what is negative was "
                                    "more there"},
    [EXPORT_OPTION_FRAMES] = {0, "frames", "WHICH", .choices = "site all",
                              .help = "which frames of a stack to export: from the call site "
                                      "outward, or all, with the allocators inside it (default: "
                                      "site)"},
    [EXPORT_OPTION_VALUE] = {0, "value", "WHICH",
                             .choices = "bytes allocations live_bytes live_count at_peak_bytes "
                                        "at_peak_count",
                             .help = "for collapsed and svg: which sum to export: bytes, "
                                     "allocations, live_bytes, live_count, at_peak_bytes or "
                                     "at_peak_count (default: bytes; with --at live_bytes)",
                             .group = "Options of single formats"},
    [EXPORT_OPTION_PCS] = {0, "pcs", "WHICH", .choices = "made-up real",
                           .help = "for pprof-text: write made-up addresses with their names, or "
                                   "the real addresses and the mappings, for a reader that has "
                                   "the binaries (default: made-up)"},
    [EXPORT_OPTION_TABLES] =
        {0, "tables", "DIR",
         .help = "for csv, ndjson and parquet: write all tables of the session into "
                 "the folder DIR, with scripts that load them into "
                 "PostgreSQL, DuckDB and ClickHouse"},
    [EXPORT_OPTION_WINDOW] = {0, "window", "LENGTH", .choices = "",
                              .help = "for pprof: write a file for each such part of the run, as "
                                      "10s: what was allocated in it, and what was live at its "
                                      "end; FILE.pb.gz becomes FILE.0001.pb.gz and so on"},
    [EXPORT_OPTION_LABEL] =
        {0, "label", "KEY=TEXT", .choices = "service= host=",
         .help = "for pprof, parquet and --tables: give all samples, rows, or the session in "
                 "the table meta, this label, as service=shop, in place of the "
                 "session's own of that key; up to 8 times"},
    [EXPORT_OPTION_EVENTS] = {0, "events", "N", .choices = "",
                              .help = "for chrome: show the lives of the N largest blocks "
                                      "(default: 1000)"},
    [EXPORT_OPTION_MAX_EVENTS] = {0, "max-events", "N", .choices = "",
                                  .help = "for firefox: refuse to write more than N allocations "
                                          "and frees (default: 2000000)"},
    [EXPORT_OPTION_QUIET] = {'q', "quiet", .help = "print only errors and warnings",
                             .group = "Messages and help"},
    [EXPORT_OPTION_HELP] = {'h', "help", .help = "print this text"},
    [EXPORT_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line export_command_line = {
    .program = "mprof-export",
    .synopsis = "--format NAME [OPTIONS] SESSION | --sql DATABASE [OPTIONS] [SESSION]",
    .about = "Writes a session that mprof-ingest made in the format of another tool.\n",
    .after = "Formats:\n"
             "  pprof         go tool pprof and web services: gzip, with types, threads and sizes\n"
             "  pprof-text    google-pprof, jeprof: gperftools' text format\n"
             "  collapsed     flamegraph.pl, speedscope: one line a stack\n"
             "  speedscope    speedscope: bytes, allocations, live, at program's peak\n"
             "  callgrind     callgrind_annotate, kcachegrind: costs of lines and calls\n"
             "  massif        ms_print, massif-visualizer: live bytes over time, with trees\n"
             "  dhat          Valgrind's dh_view.html: lifetimes, and the peak of each stack\n"
             "  heaptrack     heaptrack_print, heaptrack_gui: all events\n"
             "  firefox       the Firefox Profiler: all events in native allocations\n"
             "  chrome        chrome://tracing, Perfetto: heap over time, largest blocks\n"
             "  heapsnapshot  Chrome's memory panel: references between blocks, retained sizes\n"
             "  csv           rows of the filter's graph: allocations, groups or a measure\n"
             "  ndjson        the same as JSON, an object a line\n"
             "  parquet       the same with the session and its labels, for DuckDB and ClickHouse\n"
             "  svg           a browser: a flame graph to click and search\n"
             "Exit status: 0 good, 1 bad session or output, 2 bad usage or filter.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = COMMAND_FILES,
};
