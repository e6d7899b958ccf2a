/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "capture/os/options.h"
#include "cli/options.h"

/* ---- the signal of --toggle ------------------------------------------------------------- */

static bool is_taken(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS,
                                 SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (number == others[i])
            return true;
    /* The C library keeps the numbers in between for itself. */
    return number < 1 || number > SIGRTMAX || (number > SIGSYS && number < SIGRTMIN);
}

/* Reads a text that is one number and nothing else. */
static bool read_number(const char *text, int *number)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || value > SIGRTMAX)
        return false;
    *number = (int)value;
    return true;
}

/* Returns the number of a signal: SIGUSR1, USR1, SIGRTMIN+3 or 10. Returns 0 if there is none of
 * that name, or a program cannot be sent it at any time (SIGKILL, SIGSTOP, SIGCHLD, faults). */
static int run_signal_number(const char *text)
{
    static const char real_time[] = "RTMIN+";
    int number = 0;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    if (strncasecmp(text, real_time, sizeof(real_time) - 1) == 0) {
        if (!read_number(text + sizeof(real_time) - 1, &number))
            return 0;
        number += SIGRTMIN;
    } else if (!read_number(text, &number)) {
        for (int i = 1; i <= SIGSYS && number == 0; i++)
            if (sigabbrev_np(i) && strcasecmp(sigabbrev_np(i), text) == 0)
                number = i;
    }
    return is_taken(number) ? 0 : number;
}

/* Says what an option takes instead of a text: one of its choices, or the argument of --help. */
static void refuse(const char *name, const char *text)
{
    const char *takes = "no argument", *one = "";
    for (size_t i = 0; i < run_command_line.count; i++) {
        const struct command_option *option = &run_command_line.options[i];
        if (option->argument && strcmp(option->name, name) == 0) {
            one = option->choices && *option->choices ? "one of " : "";
            takes = *one ? option->choices : option->argument;
        }
    }
    command_line_wrong(&run_command_line, "--%s takes %s%s, not \"%s\"", name, one, takes, text);
}

/* Adds "key=value" to the library's settings. Returns false if the library would reject it. */
static bool add_setting_of(struct run_arguments *arguments, const char *option, const char *key,
                           const char *value)
{
    struct options parsed;
    char one[OPTIONS_SYMBOL + 32], bad[64];
    int length = snprintf(one, sizeof(one), "%s%s%s", key, value ? "=" : "", value ? value : "");
    if (length < 0 || (size_t)length >= sizeof(one) || strchr(one, ',') ||
        !options_parse(one, &parsed, bad, sizeof(bad))) {
        refuse(option, value ? value : "");
        return false;
    }
    size_t used = strlen(arguments->settings);
    snprintf(arguments->settings + used, sizeof(arguments->settings) - used, "%s%s",
             used ? "," : "", one);
    return true;
}

bool run_arguments_add(struct run_arguments *arguments, const char *key, const char *value)
{
    return add_setting_of(arguments, key, key, value);
}

/* Takes --start-on or --stop-on. */
static bool set_condition(struct run_arguments *arguments, enum run_option option, const char *text)
{
    bool start = option == RUN_OPTION_START_ON;
    struct run_watch *watch = &arguments->watch;
    struct run_condition *condition = start ? &watch->start_on : &watch->stop_on;
    arguments->waits_for_call |= strncmp(text, "call:", strlen("call:")) == 0;
    if (run_condition_parse(text, condition))
        return condition->kind != RUN_CONDITION_INSIDE ||
               add_setting_of(arguments, start ? "start-on" : "stop-on", start ? "start" : "stop",
                              text);
    refuse(start ? "start-on" : "stop-on", text);
    return false;
}

/* Takes --start-after or --duration. */
static bool set_time(struct run_arguments *arguments, enum run_option option, const char *text)
{
    bool after = option == RUN_OPTION_START_AFTER;
    struct run_watch *watch = &arguments->watch;
    if (run_watch_seconds(text, after ? &watch->start_after : &watch->duration))
        return true;
    command_line_wrong(&run_command_line, "--%s: \"%s\" is not a number of seconds above 0",
                       after ? "start-after" : "duration", text);
    return false;
}

static bool set_toggle(struct run_arguments *arguments, const char *text)
{
    char number[16];
    const int found = run_signal_number(text);
    if (found == 0) {
        command_line_wrong(
            &run_command_line,
            "--toggle: \"%s\" is not a signal that can be sent to a program, as SIGUSR1 is", text);
        return false;
    }
    snprintf(number, sizeof(number), "%d", found);
    return run_arguments_add(arguments, "toggle", number);
}

/* Takes --references, which may come more than once. */
static bool set_references(struct run_arguments *arguments, const char *text)
{
    if (!run_references_parse(&arguments->references, text)) {
        refuse("references", text);
        return false;
    }
    return strncmp(text, "mark:", strlen("mark:")) != 0 ||
           add_setting_of(arguments, "references", "references-mark", text + strlen("mark:"));
}

/* Takes --rotate: a number with s, m or h. */
static bool set_rotate(struct run_arguments *arguments, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    const double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    end += *end == 's' || *end == 'm' || *end == 'h';
    arguments->rotate.interval = number * unit;
    if (end != text && *end == 0 && *text >= '0' && *text <= '9' &&
        arguments->rotate.interval >= 1 && arguments->rotate.interval < 1e9)
        return true;
    command_line_wrong(&run_command_line,
                       "--rotate: \"%s\" is not a time of at least 1s, as 60s, 5m or 1h are", text);
    return false;
}

static bool set_keep(struct run_arguments *arguments, const char *text)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    arguments->rotate.keep = number;
    if (*text >= '0' && *text <= '9' && *end == 0 && number > 0 && number <= 1000000)
        return true;
    command_line_wrong(&run_command_line, "--keep: \"%s\" is not a number from 1 to 1000000", text);
    return false;
}

static bool set_process(struct run_arguments *arguments, const char *text)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    arguments->process = (pid_t)number;
    if (errno == 0 && end != text && *end == '\0' && number > 0 && number <= INT_MAX)
        return true;
    command_line_wrong(&run_command_line, "--pid: \"%s\" is not the number of a process", text);
    return false;
}

/* Returns true if the option has this choice: after the run it is too late to refuse it. */
static bool is_choice(enum run_option option, const char *value)
{
    const struct command_option *about = &run_command_line.options[option];
    const size_t length = strlen(value);
    for (const char *at = about->choices; length > 0 && (at = strstr(at, value)); at += length)
        if ((at == about->choices || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    refuse(about->name, value);
    return false;
}

/* Keeps an option that mprof-report takes, under its name there. */
static bool pass_on(struct run_arguments *arguments, const char *option, const char *value)
{
    enum { MOST = sizeof(arguments->check) / sizeof(*arguments->check) };
    if (arguments->check_count + 2 > MOST)
        return command_line_wrong(&run_command_line, "%s is given too often", option) == 0;
    arguments->check[arguments->check_count++] = option;
    arguments->check[arguments->check_count++] = value;
    return true;
}

/* Takes --label: without a = it is that of the history. */
static bool set_label(struct run_arguments *arguments, const char *text)
{
    char setting[TRACE_LABEL_MOST + 1];
    if (!strchr(text, '='))
        return pass_on(arguments, "--label", text);
    if (labels_take(&arguments->labels, &run_command_line, text) >= 0)
        return false;
    snprintf(setting, sizeof(setting), "%s", text);
    for (char *c = setting; (c = strchr(c, ','));)
        *c = OPTIONS_COMMA;
    return run_arguments_add(arguments, "label", setting);
}

#define AT(member) offsetof(struct run_arguments, member)

/* Takes one option. Returns -1 to go on, otherwise the exit status. */
static int take_option(void *context, int option, const char *value)
{
    static const struct command_kept kept[] = {{RUN_OPTION_FORCE, AT(force)},
                                               {RUN_OPTION_OPEN, AT(open)},
                                               {RUN_OPTION_LIVE, AT(live)},
                                               {RUN_OPTION_SESSION, AT(session)},
                                               {RUN_OPTION_CHECK, AT(budgets)},
                                               {RUN_OPTION_COMPRESS, AT(compress)},
                                               {RUN_OPTION_SIZED_DELETE, AT(sized_delete)},
                                               {RUN_OPTION_PYTHON, AT(python)},
                                               {RUN_OPTION_ECL, AT(ecl)},
                                               {RUN_OPTION_PARTIAL, AT(references.partial)}};
    struct run_arguments *arguments = context;
    bool good = true;
    if (command_line_keep(kept, sizeof(kept) / sizeof(*kept), option, value, arguments))
        return -1;
    switch (option) {
    case RUN_OPTION_PID:
        good = set_process(arguments, value);
        break;
    case RUN_OPTION_OUTPUT:
        arguments->trace = value;
        good = *value != 0 ||
               command_line_wrong(&run_command_line, "--output: the name is empty") == 0;
        break;
    case RUN_OPTION_BASE:
        good = pass_on(arguments, "--base", value);
        break;
    case RUN_OPTION_FORMAT:
        good = is_choice(RUN_OPTION_FORMAT, value) && pass_on(arguments, "--format", value);
        break;
    case RUN_OPTION_VERDICT:
        good = pass_on(arguments, "--output", value);
        break;
    case RUN_OPTION_JUNIT:
        good = pass_on(arguments, "--junit", value);
        break;
    case RUN_OPTION_HISTORY:
        good = pass_on(arguments, "--history", value);
        break;
    case RUN_OPTION_LABEL:
        good = set_label(arguments, value);
        break;
    case RUN_OPTION_UNWIND:
        arguments->without_stacks = strcmp(value, "off") == 0;
        arguments->instrument = strcmp(value, "instrument") == 0;
        good = run_arguments_add(arguments, "unwind", value);
        break;
    case RUN_OPTION_CLOCK:
        arguments->fast_clock = strcmp(value, "fast") == 0;
        good = run_arguments_add(arguments, "clock", value);
        break;
    case RUN_OPTION_MMAP:
        arguments->mappings = true;
        good = run_arguments_add(arguments, "mmap", NULL);
        break;
    case RUN_OPTION_DEPTH:
    case RUN_OPTION_FREE_STACKS:
    case RUN_OPTION_FOLLOW:
    case RUN_OPTION_MAX_SIZE:
    case RUN_OPTION_MIN_FREE:
    case RUN_OPTION_SAMPLE:
        good = run_arguments_add(arguments, run_command_line.options[option].name, value);
        break;
    case RUN_OPTION_ROTATE:
        good = set_rotate(arguments, value);
        break;
    case RUN_OPTION_KEEP:
        good = set_keep(arguments, value);
        break;
    case RUN_OPTION_START_ON:
    case RUN_OPTION_STOP_ON:
        good = set_condition(arguments, (enum run_option)option, value);
        break;
    case RUN_OPTION_START_AFTER:
    case RUN_OPTION_DURATION:
        good = set_time(arguments, (enum run_option)option, value);
        break;
    case RUN_OPTION_TOGGLE:
        good = set_toggle(arguments, value);
        break;
    case RUN_OPTION_SUPPRESSIONS:
        arguments->suppressions = true;
        good = run_arguments_add(arguments, "suppressions", NULL);
        break;
    case RUN_OPTION_RESIDENCY:
        good = run_residency_parse(value, &arguments->residency) ||
               command_line_wrong(&run_command_line,
                                  "--residency: \"%s\" is neither off nor a time such as 2s, "
                                  "500ms or 1m",
                                  value) == 0;
        break;
    case RUN_OPTION_REFERENCES:
        good = set_references(arguments, value);
        break;
    case RUN_OPTION_REFERENCES_STOP:
        good = run_watch_seconds(value, &arguments->references.stop) ||
               command_line_wrong(&run_command_line,
                                  "--references-stop: \"%s\" is not a number of seconds above 0",
                                  value) == 0;
        break;
    case RUN_OPTION_QUIET:
        arguments->quiet = arguments->references.quiet = true;
        break;
    }
    return good ? -1 : 2;
}

/* Rejects what only a program that is started can have. Returns as check_together(). */
static int check_process(const struct run_arguments *arguments)
{
    const struct command_line *line = &run_command_line;
    if (*arguments->program)
        return command_line_wrong(line, "--pid records a process that runs: give no program");
    if (run_watch_starts_late(&arguments->watch) ||
        arguments->watch.stop_on.kind != RUN_CONDITION_NONE)
        return command_line_wrong(
            line, "--pid cannot be used with --start-on, --start-after and --stop-on; "
                  "mprof-ctl pauses and stops a recording at any time");
    if (run_references_wanted(&arguments->references) && !arguments->references.partial)
        return command_line_wrong(line, "--references needs every block: with --pid, --partial "
                                        "takes what is known");
    if (arguments->references.signal)
        return command_line_wrong(line, "--pid takes no references at a signal; mprof-ctl PID "
                                        "references --partial takes them at any time");
    if (arguments->sized_delete || arguments->suppressions || arguments->python || arguments->ecl)
        return command_line_wrong(
            line, "--pid cannot be used with --sized-delete, "
                  "--suppressions, --python and --ecl, which need a program from its start");
    return -1;
}

/* Rejects options that exclude each other. Returns -1 to go on, otherwise the exit status. */
static int check_together(struct run_arguments *arguments)
{
    const struct command_line *line = &run_command_line;
    struct options options;
    char bad[64];
    options_parse(arguments->settings, &options, bad, sizeof(bad));
    /* The recorder stops at the limit, so the next trace begins before. */
    arguments->rotate.size = options.max_size / 2;
    if (arguments->sized_delete && arguments->fast_clock)
        return command_line_wrong(
            line, "--sized-delete needs the order of events: it cannot be used with --clock=fast");
    if (arguments->python && (arguments->without_stacks || arguments->instrument))
        return command_line_wrong(
            line, "--python needs stacks: it cannot be used with --unwind=off or instrument");
    if (arguments->check_count > 0 && !arguments->budgets)
        return command_line_wrong(
            line, "%s needs --check",
            strcmp(arguments->check[0], "--output") == 0 ? "--verdict" : arguments->check[0]);
    if (arguments->budgets &&
        (arguments->open || arguments->process != 0 || arguments->rotate.interval > 0))
        return command_line_wrong(line, "--check cannot be used with --open, --pid and --rotate");
    if (arguments->live && !arguments->open)
        return command_line_wrong(line, "--live needs --open");
    const char *other = arguments->live           ? "live"
                        : arguments->compress     ? "compress"
                        : arguments->suppressions ? "suppressions"
                        : arguments->mappings     ? "mmap"
                        : arguments->instrument   ? "unwind=instrument"
                                                  : NULL;
    if (arguments->rotate.interval > 0 && !options.sample)
        return command_line_wrong(line, "--rotate needs --sample: each trace begins with the "
                                        "blocks of the sample that are live");
    if (arguments->rotate.interval > 0 && other)
        return command_line_wrong(line, "--rotate and --%s cannot be used together", other);
    if (arguments->rotate.keep > 0 && arguments->rotate.interval <= 0)
        return command_line_wrong(line, "--keep needs --rotate");
    const bool references = run_references_wanted(&arguments->references);
    if (references && options.sample)
        return command_line_wrong(
            line, "--references needs every block: it cannot be used with --sample");
    if (references && run_watch_starts_late(&arguments->watch) && !arguments->references.partial)
        return command_line_wrong(line, "--references needs every block: with --start-on or "
                                        "--start-after, --partial takes what is known");
    if (!references && arguments->references.partial)
        return command_line_wrong(line, "--partial needs --references");
    if (arguments->references.signal == SIGUSR2 && run_watch_takes_signal(&arguments->watch))
        return command_line_wrong(
            line, "SIGUSR2 begins or ends recording here: take --references=SIGUSR1");
    if (arguments->without_stacks && arguments->waits_for_call)
        return command_line_wrong(line,
                                  "call:SYMBOL needs stacks: it cannot be used with --unwind=off");
    if (arguments->watch.start_on.kind != RUN_CONDITION_NONE && arguments->watch.start_after > 0)
        return command_line_wrong(line, "--start-on and --start-after cannot be used together");
    return -1;
}

int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments)
{
    arguments->references.stop = REFERENCES_STOP;
    int status = command_line_read(&run_command_line, argc, argv, take_option, arguments);
    if (status >= 0)
        return status;
    arguments->program = argv + optind;
    if (optind >= argc && arguments->process == 0)
        return command_line_wrong(&run_command_line, "no program named");
    if ((status = check_together(arguments)) >= 0)
        return status;
    if (arguments->process != 0) {
        status = check_process(arguments);
        /* Until all calls of the process come to the recorder. */
        return status >= 0 || run_arguments_add(arguments, "start", "wait") ? status : 2;
    }
    if (run_watch_starts_late(&arguments->watch) &&
        arguments->watch.start_on.kind != RUN_CONDITION_INSIDE)
        run_arguments_add(arguments, "start",
                          run_watch_decides_start(&arguments->watch) ? "run" : "wait");
    return -1;
}
