/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-run: runs a program and records its heap. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/options/options.h"
#include "capture/os/program_image.h"
#include "capture/run/child.h"
#include "capture/run/live.h"
#include "capture/run/operators.h"
#include "capture/run/program.h"
#include "capture/run/sandbox.h"
#include "capture/run/sibling_program.h"
#include "capture/run/sibling_traces.h"
#include "capture/run/signal.h"
#include "cli/run_options.h"
#include "cli/say.h"
#include "schemas/printable.h"
#include "schemas/trace_layout.h"

struct arguments {
    const char *trace;
    const char *session;
    bool force, open, live, quiet, compress;
    bool without_stacks, waits_for_call, suppressions, sized_delete, fast_clock;
    char settings[1024];
    struct run_watch watch;
    char **program;
};

/* Adds "key=value" to the library's settings. Returns false if the library would reject it. */
static bool add_setting_of(struct arguments *arguments, const char *option, const char *key,
                           const char *value)
{
    struct options parsed;
    char one[OPTIONS_SYMBOL + 32], bad[64];
    int length = snprintf(one, sizeof(one), "%s%s%s", key, value ? "=" : "", value ? value : "");
    if (length < 0 || (size_t)length >= sizeof(one) || strchr(one, ',') ||
        !options_parse(one, &parsed, bad, sizeof(bad))) {
        command_line_wrong(&run_command_line, "--%s does not take \"%s\"", option,
                           value ? value : "");
        return false;
    }
    size_t used = strlen(arguments->settings);
    snprintf(arguments->settings + used, sizeof(arguments->settings) - used, "%s%s",
             used ? "," : "", one);
    return true;
}

/* Adds a setting whose key is the option's name. */
static bool add_setting(struct arguments *arguments, const char *key, const char *value)
{
    return add_setting_of(arguments, key, key, value);
}

/* Takes --start-on or --stop-on. */
static bool set_condition(struct arguments *arguments, enum run_option option, const char *text)
{
    bool start = option == RUN_OPTION_START_ON;
    struct run_watch *watch = &arguments->watch;
    struct run_condition *condition = start ? &watch->start_on : &watch->stop_on;
    arguments->waits_for_call |= strncmp(text, "call:", strlen("call:")) == 0;
    if (run_condition_parse(text, condition))
        return condition->kind != RUN_CONDITION_INSIDE ||
               add_setting_of(arguments, start ? "start-on" : "stop-on", start ? "start" : "stop",
                              text);
    command_line_wrong(&run_command_line, "--%s does not take \"%s\"",
                       start ? "start-on" : "stop-on", text);
    return false;
}

/* Takes --start-after or --duration. */
static bool set_time(struct arguments *arguments, enum run_option option, const char *text)
{
    bool after = option == RUN_OPTION_START_AFTER;
    struct run_watch *watch = &arguments->watch;
    if (run_watch_seconds(text, after ? &watch->start_after : &watch->duration))
        return true;
    command_line_wrong(&run_command_line, "--%s: \"%s\" is not a number of seconds above 0",
                       after ? "start-after" : "duration", text);
    return false;
}

/* Takes --toggle. */
static bool set_toggle(struct arguments *arguments, const char *text)
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
    return add_setting(arguments, "toggle", number);
}

/* Takes one option. Returns -1 to go on, otherwise the exit status. */
static int take_option(struct arguments *arguments, enum run_option option, const char *value)
{
    bool good = true;
    switch (option) {
    case RUN_OPTION_OUTPUT:
        arguments->trace = value;
        good = *value != 0 ||
               command_line_wrong(&run_command_line, "--output: the name is empty") == 0;
        break;
    case RUN_OPTION_FORCE:
        arguments->force = true;
        break;
    case RUN_OPTION_OPEN:
        arguments->open = true;
        break;
    case RUN_OPTION_LIVE:
        arguments->live = true;
        break;
    case RUN_OPTION_SESSION:
        arguments->session = value;
        break;
    case RUN_OPTION_UNWIND:
        arguments->without_stacks = strcmp(value, "off") == 0;
        good = add_setting(arguments, "unwind", value);
        break;
    case RUN_OPTION_CLOCK:
        arguments->fast_clock = strcmp(value, "fast") == 0;
        good = add_setting(arguments, "clock", value);
        break;
    case RUN_OPTION_DEPTH:
    case RUN_OPTION_FREE_STACKS:
    case RUN_OPTION_FOLLOW:
    case RUN_OPTION_MAX_SIZE:
    case RUN_OPTION_MIN_FREE:
    case RUN_OPTION_MMAP:
    case RUN_OPTION_SAMPLE:
        good = add_setting(arguments, run_command_line.options[option].name, value);
        break;
    case RUN_OPTION_COMPRESS:
        arguments->compress = true;
        break;
    case RUN_OPTION_START_ON:
    case RUN_OPTION_STOP_ON:
        good = set_condition(arguments, option, value);
        break;
    case RUN_OPTION_START_AFTER:
    case RUN_OPTION_DURATION:
        good = set_time(arguments, option, value);
        break;
    case RUN_OPTION_TOGGLE:
        good = set_toggle(arguments, value);
        break;
    case RUN_OPTION_SIZED_DELETE:
        arguments->sized_delete = true;
        break;
    case RUN_OPTION_SUPPRESSIONS:
        arguments->suppressions = true;
        good = add_setting(arguments, "suppressions", NULL);
        break;
    case RUN_OPTION_QUIET:
        arguments->quiet = true;
        break;
    case RUN_OPTION_HELP:
        command_line_help(&run_command_line, stdout);
        return 0;
    case RUN_OPTION_VERSION:
        command_line_version(&run_command_line, stdout);
        return 0;
    }
    return good ? -1 : 2;
}

/* Rejects options that exclude each other. Returns -1 to go on, otherwise the exit status. */
static int check_together(const struct arguments *arguments)
{
    const struct command_line *line = &run_command_line;
    if (arguments->sized_delete && arguments->fast_clock)
        return command_line_wrong(
            line, "--sized-delete needs the order of events: it cannot be used with --clock=fast");
    if (arguments->live && !arguments->open)
        return command_line_wrong(line, "--live needs --open");
    if (arguments->without_stacks && arguments->waits_for_call)
        return command_line_wrong(line,
                                  "call:SYMBOL needs stacks: it cannot be used with --unwind=off");
    if (arguments->watch.start_on.kind != RUN_CONDITION_NONE && arguments->watch.start_after > 0)
        return command_line_wrong(line, "--start-on and --start-after cannot be used together");
    return -1;
}

/* Parses the command line. Returns -1 to go on, otherwise the exit status. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
    const char *value;
    int option, status = -1;
    while (status < 0 &&
           (option = command_line_next(&run_command_line, argc, argv, &value)) != COMMAND_LINE_END)
        status = option == COMMAND_LINE_WRONG
                     ? 2
                     : take_option(arguments, (enum run_option)option, value);
    if (status >= 0)
        return status;
    arguments->program = argv + optind;
    if (optind >= argc)
        return command_line_wrong(&run_command_line, "no program given");
    if ((status = check_together(arguments)) >= 0)
        return status;
    if (run_watch_starts_late(&arguments->watch) &&
        arguments->watch.start_on.kind != RUN_CONDITION_INSIDE)
        add_setting(arguments, "start",
                    run_watch_decides_start(&arguments->watch) ? "run" : "wait");
    return -1;
}

static bool find_library(char *library)
{
    char folder[PATH_MAX];
    static const char *const places[] = {"/../lib/libmprof.so", "/libmprof.so"};
    if (sibling_program_folder(folder))
        for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
            char *whole = NULL, *real_path = NULL;
            if (asprintf(&whole, "%s%s", folder, places[i]) >= 0)
                real_path = realpath(whole, library);
            free(whole);
            if (real_path)
                return true;
        }
    snprintf(library, PATH_MAX, "%s", MPROF_LIBRARY_FOLDER "/libmprof.so");
    return access(library, R_OK) == 0;
}

/* Checks what has the trace's name. Returns 0, or the exit status after a message. */
static int check_trace(const struct arguments *arguments)
{
    const char *trace = arguments->trace;
    char folder[TRACE_NAME_SIZE];
    struct stat about;
    const bool there = lstat(trace, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) {
        say("mprof-run",
            "%s is not a regular file, and only regular files are replaced; choose "
            "another trace with -o",
            trace);
        return 1;
    }
    if (!trace_name_folder(trace, folder))
        folder[0] = 0;
    /* Takes an empty folder. */
    const bool others = rmdir(folder) != 0 && lstat(folder, &about) == 0;
    if ((there || others) && !arguments->force) {
        say("mprof-run", "%s exists; --force replaces it", there ? trace : folder);
        return 1;
    }
    if (others && !sibling_traces_remove(trace)) {
        say("mprof-run", "cannot replace %s: %s", folder,
            errno == ENOTEMPTY ? "it contains other files" : strerror(errno));
        return 1;
    }
    if (there && unlink(trace) != 0) {
        say("mprof-run", "cannot replace %s: %s", trace, strerror(errno));
        return 1;
    }
    return 0;
}

/* Finds the library and the program. Returns 0, or the exit status after a message. */
static int check_places(const struct arguments *arguments, char *library, char *program,
                        char *binary)
{
    if (!find_library(library)) {
        say("mprof-run",
            "libmprof.so is neither beside this program nor in "
            "%s; install it there",
            MPROF_LIBRARY_FOLDER);
        return 1;
    }
    if (strpbrk(library, " :")) {
        say("mprof-run",
            "%s: the loader allows no space or colon in the path of a preloaded library; "
            "move the installation",
            library);
        return 1;
    }
    enum run_program_verdict verdict = run_program_check(arguments->program[0], program, binary);
    if (verdict != RUN_PROGRAM_GOOD) {
        say("mprof-run", "%s: %s", arguments->program[0], run_program_explain(verdict));
        return verdict == RUN_PROGRAM_NOT_FOUND        ? 127
               : verdict == RUN_PROGRAM_NOT_EXECUTABLE ? 126
                                                       : 1;
    }
    return arguments->trace ? check_trace(arguments) : 0;
}

/* Returns false, after a message, if the sandbox lets nothing be recorded. */
static bool check_sandbox(struct arguments *arguments)
{
    char without[OPTIONS_WITHOUT * 4];
    run_sandbox_look();
    const char *call = run_sandbox_forbids_recording();
    if (call) {
        say("mprof-run",
            "the sandbox kills programs for the system call %s, which recording needs; %s "
            "runs unrecorded. Allow the call in the sandbox.",
            call, arguments->program[0]);
        return false;
    }
    run_sandbox_without(without, sizeof(without));
    return !*without || add_setting(arguments, "without", without);
}

/* Finds the library of the C++ operators, which lies beside the recorder. Returns false if it is
 * not needed or missing. */
static bool find_operators(const char *library, const char *binary, char operators[PATH_MAX + 16])
{
    const char *slash = strrchr(library, '/');
    snprintf(operators, PATH_MAX + 16, "%.*s/libmprof_operators.so", (int)(slash - library),
             library);
    /* The standard library's streams on descriptors call fcntl. */
    return run_sandbox_allows(SYS_fcntl) && access(operators, R_OK) == 0 &&
           run_operators_are_needed(binary);
}

/* Tells whether the loader gives the program the library of C++. */
static bool is_of_cxx(const char *binary)
{
    const int descriptor = open(binary, O_RDONLY | O_CLOEXEC);
    const bool is = descriptor >= 0 && program_image_read(descriptor) == PROGRAM_CXX;
    if (descriptor >= 0)
        close(descriptor);
    return is;
}

/* Finds the library of the operators delete with a size beside the recorder. False after a message.
 */
static bool find_sized(const char *library, char sized[PATH_MAX + 16])
{
    const char *slash = strrchr(library, '/');
    snprintf(sized, PATH_MAX + 16, "%.*s/libmprof_sized.so", (int)(slash - library), library);
    if (access(sized, R_OK) == 0)
        return true;
    say("mprof-run", "%s: %s; --sized-delete needs it", sized, strerror(errno));
    return false;
}

static void count_one(void *context, const char *trace)
{
    (void)trace;
    ++*(size_t *)context;
}

/* Tells whether the trace is of a program that never reached the point where recording begins. */
static bool never_began(const char *trace)
{
    struct client client;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    bool never = client.header->paused == TRACE_PAUSED_FROM_START;
    client_close(&client);
    return never;
}

/* Says that recording never began. This is said even with --quiet. */
static void say_never_began(const char *trace, time_t since)
{
    size_t more = 0;
    sibling_traces_each(trace, since, count_one, &more);
    if (more == 0 && never_began(trace))
        say("mprof-run",
            "nothing was recorded: the condition of --start-on or --start-after was never met");
}

/* Says in one line what traces the run has left. */
static void say_where(const char *trace, time_t since)
{
    struct sibling_traces_sum sum;
    char programs[64] = "";
    sibling_traces_sum(trace, since, &sum);
    if (sum.traces == 0)
        say("mprof-run", "no trace was written to %s", trace);
    else if (sum.traces == 1)
        say("mprof-run", "recorded %s", trace);
    else {
        if (sum.traces > sum.processes)
            snprintf(programs, sizeof(programs), " that ran %zu programs", sum.traces);
        say("mprof-run",
            "recorded %s and " TRACE_FOLDER
            ": %zu process%s%s, %.1f MiB; mprof-ingest reads them together",
            trace, sum.processes, sum.processes == 1 ? "" : "es", programs,
            (double)sum.bytes / (1 << 20));
    }
}

/* Names the session beside the trace: .bin becomes .db. */
static void name_session(const char *trace, char *session, size_t size)
{
    size_t length = strlen(trace);
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    snprintf(session, size, "%.*s.db", (int)length, trace);
}

/* Compresses one trace in its place. If that fails, the trace stays and mprof-ingest says why. */
static void compress_one(void *context, const char *trace)
{
    char ingest_name[] = "mprof-ingest", option[] = "--compress", quiet[] = "--quiet", end[] = "--";
    char *path = strdup(trace);
    char *ingest[] = {ingest_name, option, quiet, end, path, NULL};
    (void)context;
    if (path && access(path, F_OK) == 0)
        sibling_program_run(ingest_name, ingest);
    free(path);
}

static void choose_session(const struct arguments *arguments, const char *trace, char *session,
                           size_t size)
{
    if (arguments->session)
        snprintf(session, size, "%s", arguments->session);
    else
        name_session(trace, session, size);
}

static bool at_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int open_session(const struct arguments *arguments, char *trace)
{
    char session[PATH_MAX + 8];
    choose_session(arguments, trace, session, sizeof(session));
    char ingest_name[] = "mprof-ingest", output[] = "-o", force[] = "--force";
    char suppressions[] = "--suppressions=program";
    char *ingest[] = {ingest_name, trace, output, session, NULL, NULL, NULL};
    size_t count = 4;
    if (arguments->force)
        ingest[count++] = force;
    if (arguments->suppressions)
        ingest[count++] = suppressions;
    int status = arguments->live ? 0 : sibling_program_run(ingest_name, ingest);
    if (status != 0)
        return status;
    if (at_terminal()) {
        char browser_name[] = "mprof-tui";
        char *browser[] = {browser_name, session, NULL};
        return arguments->live ? 0 : sibling_program_run(browser_name, browser);
    }
    /* A script gets the name unchanged, a terminal only what it can show. */
    char name[PRINTABLE_BYTE_MAX * PATH_MAX];
    printable_copy(name, sizeof(name), session);
    puts(isatty(STDOUT_FILENO) ? name : session);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* The names that --live needs before the program starts. */
struct live_names {
    char trace[PATH_MAX], session[PATH_MAX + 8], log[PATH_MAX + 8];
};

/* Starts --live. Returns 0, or the exit status after a message. */
static int begin_live(const struct arguments *arguments, struct run_child *child,
                      struct live_names *names, struct run_live *live)
{
    const char *slash = strrchr(child->path, '/');
    if (child->trace)
        snprintf(names->trace, sizeof(names->trace), "%s", child->trace);
    else
        snprintf(names->trace, sizeof(names->trace), "mprof.%s.%d.bin",
                 slash ? slash + 1 : child->path, (int)getpid());
    choose_session(arguments, names->trace, names->session, sizeof(names->session));
    snprintf(names->log, sizeof(names->log), "%s.out", names->trace);
    child->trace = names->trace;
    child->log = at_terminal() ? names->log : NULL;
    *live = (struct run_live){.trace = names->trace,
                              .suppressions = arguments->suppressions,
                              .session = names->session,
                              .log = child->log,
                              .force = arguments->force,
                              .browse = at_terminal()};
    if (!arguments->force && access(names->session, F_OK) == 0) {
        say("mprof-run", "%s exists; --force replaces it", names->session);
        return 1;
    }
    if (run_live_begin(live))
        return 0;
    say("mprof-run", "fork: %s", strerror(errno));
    run_live_end(live);
    return 126;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    char library[PATH_MAX], program[PATH_MAX], binary[PATH_MAX], operators[PATH_MAX + 16];
    char sized[PATH_MAX + 16];
    int status = parse(argc, argv, &arguments);
    if (status < 0)
        status = check_places(&arguments, library, program, binary);
    else
        return status;
    if (status != 0)
        return status;
    if (!check_sandbox(&arguments)) {
        execv(program, arguments.program);
        say("mprof-run", "%s: %s", program, strerror(errno));
        return 126;
    }
    /* A reader of a live trace would find holes, so --live compresses only at the end. */
    const bool pack = arguments.compress && !arguments.live;
    if (pack && !add_setting(&arguments, "compress", NULL))
        return 2;
    if (arguments.sized_delete && !is_of_cxx(binary)) {
        say("mprof-run",
            "%s is not linked with the shared library of C++: --sized-delete sees "
            "nothing of it",
            program);
        arguments.sized_delete = false;
    }
    if (arguments.sized_delete && !find_sized(library, sized))
        return 1;
    struct run_child child = {
        .sized = arguments.sized_delete ? sized : NULL,
        .library = library,
        .operators = find_operators(library, binary, operators) ? operators : NULL,
        .trace = arguments.trace,
        .settings = arguments.settings,
        .compress = pack,
        .argv = arguments.program,
        .path = program,
        .watch = arguments.watch,
    };
    const char *what;
    time_t started = time(NULL);
    struct run_live live = {0};
    struct live_names names;
    if (arguments.live) {
        status = begin_live(&arguments, &child, &names, &live);
        if (status != 0)
            return status;
    }
    int error = run_child(&child, &what);
    sibling_traces_end(child.recorded);
    int live_status = arguments.live ? run_live_end(&live) : 0;
    if (error != 0) {
        say("mprof-run", "%s: %s", what, strerror(error));
        return error == ENOENT ? 127 : 126;
    }
    if (!arguments.quiet)
        say_where(child.recorded, started);
    if (run_watch_starts_late(&arguments.watch))
        say_never_began(child.recorded, started);
    if (arguments.compress) {
        compress_one(NULL, child.recorded);
        sibling_traces_each(child.recorded, started, compress_one, NULL);
    }
    if (live_status != 0)
        return live_status;
    if (arguments.open) {
        status = open_session(&arguments, child.recorded);
        if (status != 0)
            return status;
    }
    run_child_end_alike(child.status);
}
