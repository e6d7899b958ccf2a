/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/ctl_options.h"

static const struct command_option options[] = {
    [CTL_OPTION_WAIT] = {'w', "wait", "SECONDS", .choices = "",
                         .help = "how long that may take before it is taken back (default: 5)"},
    [CTL_OPTION_QUIET] = {'q', "quiet", .help = "say nothing but errors"},
    [CTL_OPTION_HELP] = {'h', "help", .help = "print this text"},
    [CTL_OPTION_VERSION] = {'V', "version", .help = "print the version"},
};

const struct command_line ctl_command_line = {
    .program = "mprof-ctl",
    .synopsis = "[OPTIONS] PID|TRACE COMMAND [NAME]",
    .about = "Steers a recording. PID is a process that records, or its mprof-run.\n"
             "\n"
             "  status           say how the recording stands\n"
             "  pause            record no allocations from here on, only what ends a block\n"
             "  resume           record allocations again, or begin to\n"
             "  mark NAME        put a named moment on the time line\n"
             "  snapshot NAME    the same, as one whose live blocks are worth comparing\n"
             "  stop             complete the trace; nothing more is recorded\n"
             "\n"
             "The program does what is asked in its next heap call.\n",
    .options = options,
    .count = sizeof(options) / sizeof(*options),
    .operands = "if [ \"$COMP_CWORD\" -eq 1 ]; then compgen -f -- \"$word\"; pgrep -x mprof-run; "
                "else compgen -W 'status pause resume mark snapshot stop' -- \"$word\"; fi",
};
