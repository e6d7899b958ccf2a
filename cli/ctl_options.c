/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/ctl_options.h"

static const struct command_option options[] = {
    [CTL_OPTION_WAIT] = {'w', "wait", "SECONDS", .choices = "",
                         .help = "seconds to wait before the request is withdrawn (default: 5)"},
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
        "  rotate           go on in a new trace, which begins with the live blocks (--sample)\n"
        "  stop             end the recording and complete the trace\n"
        "\n"
        "The program carries out the request in its next heap call.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = COMMAND_RECORDING,
    .words = "status pause resume mark snapshot rotate stop",
};
