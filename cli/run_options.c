/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run_options.h"

static const struct command_option options[] = {
    [RUN_OPTION_PID] = {'p', "pid", "PID",
                        .help = "record the process PID, which runs already, until it ends, for "
                                "--duration, or until Ctrl-C; it goes on as before"},
    [RUN_OPTION_OUTPUT] = {'o', "output", "TRACE",
                           .help = "the trace (default: mprof.PROGRAM.PID.bin)"},
    [RUN_OPTION_FORCE] = {'f', "force", .help = "replace an existing TRACE and SESSION"},
    [RUN_OPTION_OPEN] = {0, "open", .help = "ingest the trace at the end and open the browser"},
    [RUN_OPTION_LIVE] =
        {0, "live",
         .help = "with --open: open it while the program runs; the program's output then goes "
                 "to TRACE.out"},
    [RUN_OPTION_SESSION] = {0, "session", "FILE",
                            .help = "the session that --open makes (default: TRACE with .db)"},
    [RUN_OPTION_UNWIND] =
        {0, "unwind", "HOW", .choices = "auto eh fp instrument off",
         .help = "how stacks are taken: auto (default), fp, eh, instrument (the program "
                 "is built with -finstrument-functions) or off"},
    [RUN_OPTION_DEPTH] = {0, "depth", "N", .choices = "",
                          .help = "frames to keep of each stack (default: all)"},
    [RUN_OPTION_CLOCK] = {0, "clock", "HOW", .choices = "exact fast",
                          .help = "exact (default): read it for every event; fast: for every few"},
    [RUN_OPTION_FREE_STACKS] = {0, "free-stacks", .help = "record the stacks of frees too"},
    [RUN_OPTION_FOLLOW] = {0, "follow", "WHAT", .choices = "all fork exec none",
                           .help =
                               "record forked children and executed programs too: all (default), "
                               "fork, exec or none"},
    [RUN_OPTION_MAX_SIZE] = {0, "max-size", "SIZE", .choices = "",
                             .help = "stop recording when a trace has SIZE bytes (with K, M or G)"},
    [RUN_OPTION_MIN_FREE] = {0, "min-free", "SIZE", .choices = "",
                             .help =
                                 "stop recording when less than SIZE, or N%, of the disk is free "
                                 "(default: 1G or 5%, the smaller; 0: only when it is full)"},
    [RUN_OPTION_MMAP] =
        {0, "mmap",
         .help = "record mmap, munmap, mremap and mprotect too, separately from the heap"},
    [RUN_OPTION_COMPRESS] = {0, "compress",
                             .help = "write the trace compressed; this uses a second core, not the "
                                     "program's"},
    [RUN_OPTION_SAMPLE] = {0, "sample", "SIZE", .choices = "",
                           .help = "record only a sample, one point in SIZE bytes on average"},
    [RUN_OPTION_ROTATE] =
        {0, "rotate", "TIME", .choices = "",
         .help = "with --sample: begin a new trace every TIME (60s, 5m, 1h), with the blocks that "
                 "are live; the complete ones are TRACE.r1, TRACE.r2, …"},
    [RUN_OPTION_KEEP] = {0, "keep", "N", .choices = "",
                         .help = "with --rotate: keep the N newest complete traces of this run"},
    [RUN_OPTION_START_ON] =
        {0, "start-on", "WHAT", .choices = "signal file: rss> live> allocs> mark: call: call",
         .help = "record nothing before this: signal (SIGUSR2 to mprof-run), file:PATH (the "
                 "file exists), rss>SIZE, live>SIZE (more is allocated and not freed), "
                 "allocs>N, mark:NAME (the program sets this mark), call:SYMBOL (the first "
                 "allocation in that function or in one that it calls), call (the program "
                 "calls mprof_resume())"},
    [RUN_OPTION_START_AFTER] = {0, "start-after", "SECONDS", .choices = "",
                                .help = "record nothing during the first SECONDS"},
    [RUN_OPTION_STOP_ON] = {0, "stop-on", "WHAT",
                            .choices = "signal file: rss> live> allocs> mark: call: call",
                            .help = "stop recording permanently on this; values as for --start-on"},
    [RUN_OPTION_DURATION] = {0, "duration", "SECONDS", .choices = "",
                             .help = "stop recording after it has lasted SECONDS"},
    [RUN_OPTION_TOGGLE] = {0, "toggle", "SIGNAL", .choices = "SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1",
                           .help = "this signal to the program turns recording off and on"},
    [RUN_OPTION_SUPPRESSIONS] = {0, "suppressions",
                                 .help = "ask the program once for the leak suppressions that it "
                                         "carries (__lsan_default_suppressions)"},
    [RUN_OPTION_SIZED_DELETE] = {0, "sized-delete",
                                 .help = "compare the size that C++'s delete passes with that of "
                                         "the block"},
    [RUN_OPTION_PYTHON] = {0, "python",
                           .help = "record the functions of Python too, with file and line; "
                                   "sets PYTHONMALLOC=malloc"},
    [RUN_OPTION_ECL] = {0, "ecl",
                        .help = "record the functions of ECL (Embeddable Common Lisp) too, and the "
                                "heap of its collector by Lisp type"},
    [RUN_OPTION_QUIET] = {'q', "quiet", .help = "do not print where the trace is"},
    [RUN_OPTION_HELP] = {'h', "help", .help = "print this text"},
    [RUN_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line run_command_line = {
    .program = "mprof-run",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGS…] | --pid PID [OPTIONS]",
    .about = "Runs PROGRAM, records every allocation and free into a trace, and ends as PROGRAM "
             "ends.\n"
             "Its children, and programs that it executes, record into the folder TRACE.d.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .program_follows = true,
    .operands = COMMAND_PROGRAM,
};
