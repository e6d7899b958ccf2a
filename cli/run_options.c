/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-run and mprof-ctl. */
#include "cli/options.h"

static const struct command_option options[] = {
    [RUN_OPTION_PID] = {'p', "pid", "PID",
                        .help = "record the process PID, which runs already, until it ends, for "
                                "--duration, or until Ctrl-C; it goes on as before",
                        .group = "Which processes"},
    [RUN_OPTION_FOLLOW] = {0, "follow", "WHAT", .choices = "all fork exec none",
                           .help =
                               "record forked children and executed programs too: all (default), "
                               "fork, exec or none"},
    [RUN_OPTION_OUTPUT] = {'o', "output", "TRACE",
                           .help = "the trace (default: mprof.PROGRAM.PID.bin)",
                           .group = "Where the trace goes"},
    [RUN_OPTION_FORCE] = {'f', "force", .help = "replace an existing TRACE and SESSION"},
    [RUN_OPTION_COMPRESS] = {0, "compress",
                             .help = "write the trace compressed; this uses a second core, not the "
                                     "program's"},
    [RUN_OPTION_ROTATE] =
        {0, "rotate", "TIME", .choices = "",
         .help = "with --sample: begin a new trace every TIME (60s, 5m, 1h), with the blocks that "
                 "are live; the complete ones are TRACE.r1, TRACE.r2, …"},
    [RUN_OPTION_KEEP] = {0, "keep", "N", .choices = "",
                         .help = "with --rotate: keep the N newest complete traces of this run"},
    [RUN_OPTION_MAX_SIZE] = {0, "max-size", "SIZE", .choices = "",
                             .help = "stop recording when a trace has SIZE bytes (with K, M or G)"},
    [RUN_OPTION_MIN_FREE] = {0, "min-free", "SIZE", .choices = "",
                             .help =
                                 "stop recording when less than SIZE, or N%, of the disk is free "
                                 "(default: 1G or 5%, the smaller; 0: only when it is full)"},
    [RUN_OPTION_SAMPLE] = {0, "sample", "SIZE", .choices = "",
                           .help = "record only a sample, one point in SIZE bytes on average",
                           .group = "What is recorded"},
    [RUN_OPTION_MMAP] =
        {0, "mmap",
         .help = "record mmap, munmap, mremap and mprotect too, separately from the heap"},
    [RUN_OPTION_FREE_STACKS] = {0, "free-stacks", .help = "record the stacks of frees too"},
    [RUN_OPTION_UNWIND] =
        {0, "unwind", "HOW", .choices = "auto eh fp instrument off",
         .help = "how stacks are taken: auto (default), fp, eh, instrument (the program "
                 "is built with -finstrument-functions) or off"},
    [RUN_OPTION_DEPTH] = {0, "depth", "N", .choices = "",
                          .help = "frames to keep of each stack (default: all)"},
    [RUN_OPTION_CLOCK] = {0, "clock", "HOW", .choices = "exact fast",
                          .help = "exact (default): read it for every event; fast: for every few"},
    [RUN_OPTION_PYTHON] = {0, "python",
                           .help = "record the functions of Python too, with file and line; "
                                   "sets PYTHONMALLOC=malloc"},
    [RUN_OPTION_ECL] = {0, "ecl",
                        .help = "record the functions of ECL (Embeddable Common Lisp) too, and the "
                                "heap of its collector by Lisp type"},
    [RUN_OPTION_SIZED_DELETE] = {0, "sized-delete",
                                 .help = "compare the size that C++'s delete passes with that of "
                                         "the block"},
    [RUN_OPTION_SUPPRESSIONS] = {0, "suppressions",
                                 .help = "ask the program once for the leak suppressions that it "
                                         "carries (__lsan_default_suppressions)"},
    [RUN_OPTION_RESIDENCY] =
        {0, "residency", "WHEN", .choices = "",
         .help = "when to read which pages of the program are in memory: every TIME (2s, 500ms, "
                 "1m), or off (default: when the resident set changes, at marks and the end, for "
                 "at most 1 % of a core)"},
    [RUN_OPTION_REFERENCES] =
        {0, "references", "WHEN", .choices = "",
         .help =
             "take the references between blocks: end (of the program), SIGUSR1 or SIGUSR2 (to "
             "mprof-run), mark:NAME (the program sets this mark) or a time from the start (10s, "
             "5m); the program stands still while they are taken; may be given more than once"},
    [RUN_OPTION_REFERENCES_STOP] = {0, "references-stop", "SECONDS", .choices = "",
                                    .help = "with --references: take none if the program would "
                                            "stand still for longer (default: 2)"},
    [RUN_OPTION_PARTIAL] = {0, "partial",
                            .help = "with --references: also if recording begins later than the "
                                    "program; earlier blocks are then not known"},
    [RUN_OPTION_START_ON] =
        {0, "start-on", "WHAT", .choices = "signal file: rss> live> allocs> mark: call: call",
         .help = "record nothing before this: signal (SIGUSR2 to mprof-run), file:PATH (the "
                 "file exists), rss>SIZE, live>SIZE (more is allocated and not freed), "
                 "allocs>N, mark:NAME (the program sets this mark), call:SYMBOL (the first "
                 "allocation in that function or in one that it calls), call (the program "
                 "calls mprof_resume())",
         .group = "When it is recorded"},
    [RUN_OPTION_START_AFTER] = {0, "start-after", "SECONDS", .choices = "",
                                .help = "record nothing during the first SECONDS"},
    [RUN_OPTION_STOP_ON] = {0, "stop-on", "WHAT",
                            .choices = "signal file: rss> live> allocs> mark: call: call",
                            .help = "stop recording permanently on this; values as for --start-on"},
    [RUN_OPTION_DURATION] = {0, "duration", "SECONDS", .choices = "",
                             .help = "stop recording after it has lasted SECONDS"},
    [RUN_OPTION_TOGGLE] = {0, "toggle", "SIGNAL", .choices = "SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1",
                           .help = "this signal to the program turns recording off and on"},
    [RUN_OPTION_OPEN] = {0, "open", .help = "ingest the trace at the end and open the browser",
                         .group = "What comes after the run"},
    [RUN_OPTION_LIVE] =
        {0, "live",
         .help = "with --open: open it while the program runs; the program's output then goes "
                 "to TRACE.out"},
    [RUN_OPTION_SESSION] = {0, "session", "FILE",
                            .help = "the session that --open or --check makes (default: TRACE "
                                    "with .db)"},
    [RUN_OPTION_CHECK] = {0, "check", "BUDGETS",
                          .help = "if the program ends with status 0, ingest the trace and check "
                                  "the budgets of a file; the exit status is 3 if one is exceeded",
                          .group = "Budgets (mprof-report)"},
    [RUN_OPTION_BASE] = {0, "base", "SESSION",
                         .help = "the session with which budgets in percent compare"},
    [RUN_OPTION_FORMAT] = {0, "format", "FORMAT", .choices = "text csv json markdown github sarif",
                           .help = "the format of the verdict (default: text)"},
    [RUN_OPTION_VERDICT] = {0, "verdict", "FILE",
                            .help = "write the verdict to FILE instead of standard output"},
    [RUN_OPTION_JUNIT] = {0, "junit", "FILE", .help = "also write it to FILE in JUnit's XML"},
    [RUN_OPTION_HISTORY] = {0, "history", "FILE",
                            .help =
                                "append what was measured to FILE, a line of JSON for each run"},
    [RUN_OPTION_LABEL] = {0, "label", "KEY=TEXT", .choices = "service= release=",
                          .help = "note this in the trace, as service=shop; the session has it in "
                                  "the table meta; up to 8 times; a text without = is the label "
                                  "of the run in the history, as a commit"},
    [RUN_OPTION_QUIET] = {'q', "quiet", .help = "do not print where the trace is",
                          .group = "Messages and help"},
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

static const struct command_option ctl_options[] = {
    [CTL_OPTION_WAIT] = {'w', "wait", "SECONDS", .choices = "",
                         .help = "seconds to wait before the request is withdrawn (default: 5)"},
    [CTL_OPTION_REFERENCES_STOP] = {0, "references-stop", "SECONDS", .choices = "",
                                    .help = "take no references if the program would stand still "
                                            "for longer (default: 2)"},
    [CTL_OPTION_PARTIAL] = {0, "partial",
                            .help = "take references also if recording began later than the "
                                    "program; earlier blocks are then not known"},
    [CTL_OPTION_QUIET] = {'q', "quiet", .help = "print only errors"},
    [CTL_OPTION_HELP] = {'h', "help", .help = "print this text"},
    [CTL_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line ctl_command_line = {
    .program = "mprof-ctl",
    .synopsis = "[OPTIONS] PID|TRACE COMMAND [NAME]",
    .about =
        "Steers a recording. PID is a process that records, or its mprof-run.\n"
        "\n"
        "  status           print the state of the recording\n"
        "  pause            record no new allocations, only events that end a block\n"
        "  resume           record allocations again, or begin to record\n"
        "  mark NAME        set a named mark on the timeline\n"
        "  snapshot NAME    set a named mark for comparing live blocks\n"
        "  references [NAME]\n"
        "                   take the references between blocks; the program stands still "
        "for that time\n"
        "  rotate           go on in a new trace, which begins with the live blocks (--sample)\n"
        "  stop             end the recording and complete the trace\n"
        "\n"
        "The program carries out the request in its next heap call. For references it runs no "
        "code.\n",
    .options = ctl_options,
    .count = sizeof(ctl_options) / sizeof(*ctl_options),
    .operands = COMMAND_RECORDING,
    .words = "status pause resume mark snapshot references rotate stop",
};
