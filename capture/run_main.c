/* mprof-run: runs a program and records its heap. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/options.h"
#include "capture/run_child.h"
#include "capture/run_live.h"
#include "capture/run_operators.h"
#include "capture/run_own.h"
#include "capture/run_program.h"
#include "capture/run_sandbox.h"
#include "capture/run_traces.h"

struct arguments {
    const char *trace;
    const char *session;
    bool force, open, live, quiet, compress;
    bool without_stacks, waits_for_call;
    char settings[1024];
    struct run_watch watch;
    char **program;
};

static const char usage_text[] =
    "usage: mprof-run [OPTIONS] [--] PROGRAM [ARGS…]\n"
    "\n"
    "Runs PROGRAM, records every allocation and free into a trace, and ends as PROGRAM ends.\n"
    "Its children, and programs that it executes, record beside it as TRACE.PID.\n"
    "\n"
    "  -o, --output TRACE    the trace (default: mprof.PROGRAM.PID.bin)\n"
    "  --force               replace TRACE, and SESSION, where they exist\n"
    "  --open                afterwards ingest the trace and open the browser\n"
    "  --live                with --open: do so while the program runs; its output goes to\n"
    "                        TRACE.out then\n"
    "  --session FILE        the session that --open makes (default: TRACE with .db)\n"
    "  --unwind HOW          how stacks are taken: auto (default), fp, eh, instrument (the\n"
    "                        program is built with -finstrument-functions) or off\n"
    "  --depth N             frames kept of each stack (default: all)\n"
    "  --clock HOW           exact (default): read for every event; fast: for every few\n"
    "  --free-stacks         take the stacks of frees too\n"
    "  --follow WHAT         all (default), fork, exec or none: whether forked children and\n"
    "                        programs that are executed record too\n"
    "  --max-size SIZE       stop recording when a trace has SIZE bytes (K, M, G behind it)\n"
    "  --mmap                record mmap, munmap, mremap and mprotect too, apart\n"
    "                        from the heap\n"
    "  --compress            write the trace compressed; it takes a second core, not the "
    "program's\n"
    "  --sample SIZE         record a sample only, one point in SIZE bytes on average\n"
    "  --start-on WHAT       record nothing before: signal (SIGUSR2 to mprof-run), file:PATH (it\n"
    "                        is there), rss>SIZE, live>SIZE (more is allocated and not freed),\n"
    "                        allocs>N, mark:NAME (such a mark is set), call:SYMBOL (the first\n"
    "                        allocation in that function or what it calls), call (the program\n"
    "                        calls mprof_resume())\n"
    "  --start-after SECONDS record nothing in the first SECONDS\n"
    "  --stop-on WHAT        stop recording for good then; as for --start-on\n"
    "  --duration SECONDS    stop recording when it has gone on so long\n"
    "  --quiet               do not say where the trace is\n"
    "  --help, --version\n";

enum {
    OPTION_FORCE = 256,
    OPTION_OPEN,
    OPTION_LIVE,
    OPTION_SESSION,
    OPTION_UNWIND,
    OPTION_DEPTH,
    OPTION_CLOCK,
    OPTION_FREE_STACKS,
    OPTION_FOLLOW,
    OPTION_MAX_SIZE,
    OPTION_COMPRESS,
    OPTION_MMAP,
    OPTION_SAMPLE,
    OPTION_START_ON,
    OPTION_START_AFTER,
    OPTION_STOP_ON,
    OPTION_DURATION,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"open", no_argument, NULL, OPTION_OPEN},
    {"live", no_argument, NULL, OPTION_LIVE},
    {"session", required_argument, NULL, OPTION_SESSION},
    {"unwind", required_argument, NULL, OPTION_UNWIND},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"clock", required_argument, NULL, OPTION_CLOCK},
    {"free-stacks", no_argument, NULL, OPTION_FREE_STACKS},
    {"follow", required_argument, NULL, OPTION_FOLLOW},
    {"max-size", required_argument, NULL, OPTION_MAX_SIZE},
    {"mmap", no_argument, NULL, OPTION_MMAP},
    {"compress", no_argument, NULL, OPTION_COMPRESS},
    {"sample", required_argument, NULL, OPTION_SAMPLE},
    {"start-on", required_argument, NULL, OPTION_START_ON},
    {"start-after", required_argument, NULL, OPTION_START_AFTER},
    {"stop-on", required_argument, NULL, OPTION_STOP_ON},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

/* Adds "key=value" to what the library is told; false where the library would not take it. */
static bool add_setting_of(struct arguments *arguments, const char *option, const char *key,
                           const char *value)
{
    struct options parsed;
    char one[OPTIONS_SYMBOL + 32], bad[64];
    int length = snprintf(one, sizeof one, "%s%s%s", key, value ? "=" : "", value ? value : "");
    if (length < 0 || (size_t)length >= sizeof one || strchr(one, ',') ||
        !options_parse(one, &parsed, bad, sizeof bad)) {
        fprintf(stderr, "mprof-run: --%s does not take \"%s\"; see mprof-run --help\n", option,
                value ? value : "");
        return false;
    }
    size_t used = strlen(arguments->settings);
    snprintf(arguments->settings + used, sizeof arguments->settings - used, "%s%s", used ? "," : "",
             one);
    return true;
}

/* Where the library's name of it is the option's. */
static bool add_setting(struct arguments *arguments, const char *key, const char *value)
{
    return add_setting_of(arguments, key, key, value);
}

/* --start-on and --stop-on. */
static bool set_condition(struct arguments *arguments, int option, const char *text)
{
    bool start = option == OPTION_START_ON;
    struct run_watch *watch = &arguments->watch;
    struct run_condition *condition = start ? &watch->start_on : &watch->stop_on;
    arguments->waits_for_call |= strncmp(text, "call:", strlen("call:")) == 0;
    if (run_condition_parse(text, condition))
        return condition->kind != RUN_CONDITION_INSIDE ||
               add_setting_of(arguments, start ? "start-on" : "stop-on", start ? "start" : "stop",
                              text);
    fprintf(stderr, "mprof-run: --%s does not take \"%s\"; see mprof-run --help\n",
            start ? "start-on" : "stop-on", text);
    return false;
}

/* --start-after and --duration. */
static bool set_time(struct arguments *arguments, int option, const char *text)
{
    bool after = option == OPTION_START_AFTER;
    struct run_watch *watch = &arguments->watch;
    if (run_watch_seconds(text, after ? &watch->start_after : &watch->duration))
        return true;
    fprintf(stderr, "mprof-run: --%s: \"%s\" is no number of seconds above 0\n",
            after ? "start-after" : "duration", text);
    return false;
}

/* -1 to go on, otherwise the exit status. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    while ((option = getopt_long(argc, argv, "+o:h", long_options, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case 'o':
            arguments->trace = optarg;
            good = *optarg != 0;
            break;
        case OPTION_FORCE:
            arguments->force = true;
            break;
        case OPTION_OPEN:
            arguments->open = true;
            break;
        case OPTION_LIVE:
            arguments->live = true;
            break;
        case OPTION_SESSION:
            arguments->session = optarg;
            break;
        case OPTION_UNWIND:
            good = add_setting(arguments, "unwind", optarg);
            arguments->without_stacks = strcmp(optarg, "off") == 0;
            break;
        case OPTION_DEPTH:
            good = add_setting(arguments, "depth", optarg);
            break;
        case OPTION_CLOCK:
            good = add_setting(arguments, "clock", optarg);
            break;
        case OPTION_FREE_STACKS:
            good = add_setting(arguments, "free-stacks", NULL);
            break;
        case OPTION_FOLLOW:
            good = add_setting(arguments, "follow", optarg);
            break;
        case OPTION_MAX_SIZE:
            good = add_setting(arguments, "max-size", optarg);
            break;
        case OPTION_MMAP:
            good = add_setting(arguments, "mmap", NULL);
            break;
        case OPTION_COMPRESS:
            arguments->compress = true;
            break;
        case OPTION_SAMPLE:
            good = add_setting(arguments, "sample", optarg);
            break;
        case OPTION_START_ON:
        case OPTION_STOP_ON:
            good = set_condition(arguments, option, optarg);
            break;
        case OPTION_START_AFTER:
        case OPTION_DURATION:
            good = set_time(arguments, option, optarg);
            break;
        case OPTION_QUIET:
            arguments->quiet = true;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(usage_text, stdout);
            return 0;
        case OPTION_VERSION:
            puts("mprof-run " MPROF_VERSION);
            return 0;
        default:
            fputs(usage_text, stderr);
            return 2;
        }
        if (!good)
            return 2;
    }
    if (arguments->live && !arguments->open) {
        fputs("mprof-run: --live goes with --open\n", stderr);
        return 2;
    }
    if (arguments->without_stacks && arguments->waits_for_call) {
        fputs("mprof-run: call:SYMBOL is seen by stacks: it does not go with --unwind=off\n",
              stderr);
        return 2;
    }
    if (optind >= argc) {
        fputs(usage_text, stderr);
        return 2;
    }
    if (arguments->watch.start_on.kind != RUN_CONDITION_NONE && arguments->watch.start_after > 0) {
        fputs("mprof-run: --start-on and --start-after exclude each other\n", stderr);
        return 2;
    }
    if (run_watch_starts_late(&arguments->watch) &&
        arguments->watch.start_on.kind != RUN_CONDITION_INSIDE)
        add_setting(arguments, "start",
                    run_watch_decides_start(&arguments->watch) ? "run" : "wait");
    arguments->program = argv + optind;
    return -1;
}

static bool find_library(char *library)
{
    char folder[PATH_MAX];
    static const char *const places[] = {"/../lib/libmprof.so", "/libmprof.so"};
    if (run_own_folder(folder))
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
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

/* 0, or the exit status after a message. */
static int check_places(const struct arguments *arguments, char *library, char *program,
                        char *binary)
{
    if (!find_library(library)) {
        fprintf(stderr,
                "mprof-run: libmprof.so is neither beside this program nor in "
                "%s; install it there\n",
                MPROF_LIBRARY_FOLDER);
        return 1;
    }
    if (strpbrk(library, " :")) {
        fprintf(stderr,
                "mprof-run: %s: the loader takes no blank or colon in a preloaded library's path; "
                "move the installation\n",
                library);
        return 1;
    }
    enum run_program_verdict verdict = run_program_check(arguments->program[0], program, binary);
    if (verdict != RUN_PROGRAM_GOOD) {
        fprintf(stderr, "mprof-run: %s: %s\n", arguments->program[0], run_program_explain(verdict));
        return verdict == RUN_PROGRAM_NOT_FOUND        ? 127
               : verdict == RUN_PROGRAM_NOT_EXECUTABLE ? 126
                                                       : 1;
    }
    struct stat about;
    if (arguments->trace && lstat(arguments->trace, &about) == 0) {
        if (!S_ISREG(about.st_mode)) {
            fprintf(stderr,
                    "mprof-run: %s is no regular file, and only regular files are replaced; name "
                    "another trace with -o\n",
                    arguments->trace);
            return 1;
        }
        if (!arguments->force) {
            fprintf(stderr, "mprof-run: %s exists; --force replaces it\n", arguments->trace);
            return 1;
        }
        if (unlink(arguments->trace) != 0) {
            fprintf(stderr, "mprof-run: cannot replace %s: %s\n", arguments->trace,
                    strerror(errno));
            return 1;
        }
    }
    return 0;
}

/* False, after a message, where the sandbox lets nothing be recorded. */
static bool check_sandbox(struct arguments *arguments)
{
    char without[OPTIONS_WITHOUT * 4];
    run_sandbox_look();
    const char *call = run_sandbox_forbids_recording();
    if (call) {
        fprintf(stderr,
                "mprof-run: the sandbox around it ends programs for the call %s, which recording "
                "needs; "
                "%s runs unrecorded. Allow it there.\n",
                call, arguments->program[0]);
        return false;
    }
    run_sandbox_without(without, sizeof without);
    return !*without || add_setting(arguments, "without", without);
}

/* The library of the C++ operators, which lies beside the recorder. False: it is not needed or
 * there. */
static bool find_operators(const char *library, const char *binary, char operators[PATH_MAX + 16])
{
    const char *slash = strrchr(library, '/');
    snprintf(operators, PATH_MAX + 16, "%.*s/libmprof_operators.so", (int)(slash - library),
             library);
    /* The standard library's streams of descriptors call fcntl. */
    return run_sandbox_allows(SYS_fcntl) && access(operators, R_OK) == 0 &&
           run_operators_are_needed(binary);
}

static void count_one(void *context, const char *trace)
{
    (void)trace;
    ++*(size_t *)context;
}

/* Whether the trace is of a program that never came to where it was to begin. */
static bool never_began(const char *trace)
{
    struct outside outside;
    if (outside_open(&outside, trace) != OUTSIDE_GOOD)
        return false;
    bool never = outside.header->paused == TRACE_PAUSED_FROM_START;
    outside_close(&outside);
    return never;
}

/* Said also where nothing else is to be. */
static void say_never_began(const char *trace, time_t since)
{
    size_t more = 0;
    run_traces_beside(trace, since, count_one, &more);
    if (more == 0 && never_began(trace))
        fputs("mprof-run: nothing was recorded: what --start-on or --start-after wait for did not "
              "happen\n",
              stderr);
}

static void say_where(const char *trace, time_t since)
{
    struct stat status;
    size_t more = 0;
    if (stat(trace, &status) != 0) {
        fprintf(stderr, "mprof-run: no trace was written to %s\n", trace);
        return;
    }
    run_traces_beside(trace, since, count_one, &more);
    if (more > 0)
        fprintf(stderr, "mprof-run: recorded %s, and %zu of other processes as %s.PID\n", trace,
                more, trace);
    else
        fprintf(stderr, "mprof-run: recorded %s\n", trace);
}

/* The session beside the trace: .bin becomes .db. */
static void name_session(const char *trace, char *session, size_t size)
{
    size_t length = strlen(trace);
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    snprintf(session, size, "%.*s.db", (int)length, trace);
}

/* Compresses one trace in its place; what cannot be stays as it is, and why is said. */
static void compress_one(void *context, const char *trace)
{
    char ingest_name[] = "mprof-ingest", option[] = "--compress", quiet[] = "--quiet", end[] = "--";
    char *path = strdup(trace);
    char *ingest[] = {ingest_name, option, quiet, end, path, NULL};
    (void)context;
    if (path && access(path, F_OK) == 0)
        run_own(ingest_name, ingest);
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

static int open_session(const struct arguments *arguments, const char *first, time_t since)
{
    char session[PATH_MAX + 8], trace[TRACE_NAME_SIZE];
    choose_session(arguments, first, session, sizeof session);
    if (!arguments->live)
        run_traces_last(first, since, trace);
    if (!arguments->live && !arguments->quiet && strcmp(trace, first) != 0)
        fprintf(stderr, "mprof-run: it became another program: opening %s\n", trace);
    char ingest_name[] = "mprof-ingest", output[] = "-o", force[] = "--force";
    char *ingest[] = {ingest_name, trace, output, session, arguments->force ? force : NULL, NULL};
    int status = arguments->live ? 0 : run_own(ingest_name, ingest);
    if (status != 0)
        return status;
    if (at_terminal()) {
        char browser_name[] = "mprof-tui";
        char *browser[] = {browser_name, session, NULL};
        return arguments->live ? 0 : run_own(browser_name, browser);
    }
    printf("%s\n", session);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* What --live needs to know before the program is there. */
struct live_names {
    char trace[PATH_MAX], session[PATH_MAX + 8], log[PATH_MAX + 8];
};

/* 0, or the exit status after a message. */
static int begin_live(const struct arguments *arguments, struct run_child *child,
                      struct live_names *names, struct run_live *live)
{
    const char *slash = strrchr(child->path, '/');
    if (child->trace)
        snprintf(names->trace, sizeof names->trace, "%s", child->trace);
    else
        snprintf(names->trace, sizeof names->trace, "mprof.%s.%d.bin",
                 slash ? slash + 1 : child->path, (int)getpid());
    choose_session(arguments, names->trace, names->session, sizeof names->session);
    snprintf(names->log, sizeof names->log, "%s.out", names->trace);
    child->trace = names->trace;
    child->log = at_terminal() ? names->log : NULL;
    *live = (struct run_live){.trace = names->trace,
                              .session = names->session,
                              .log = child->log,
                              .force = arguments->force,
                              .browse = at_terminal()};
    if (!arguments->force && access(names->session, F_OK) == 0) {
        fprintf(stderr, "mprof-run: %s exists; --force replaces it\n", names->session);
        return 1;
    }
    if (run_live_begin(live))
        return 0;
    fprintf(stderr, "mprof-run: fork: %s\n", strerror(errno));
    run_live_end(live);
    return 126;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    char library[PATH_MAX], program[PATH_MAX], binary[PATH_MAX], operators[PATH_MAX + 16];
    int status = parse(argc, argv, &arguments);
    if (status < 0)
        status = check_places(&arguments, library, program, binary);
    else
        return status;
    if (status != 0)
        return status;
    if (!check_sandbox(&arguments)) {
        execv(program, arguments.program);
        fprintf(stderr, "mprof-run: %s: %s\n", program, strerror(errno));
        return 126;
    }
    /* Who reads the trace meanwhile would find holes: then it is compressed at the end only. */
    const bool pack = arguments.compress && !arguments.live;
    if (pack && !add_setting(&arguments, "compress", NULL))
        return 2;
    struct run_child child = {
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
    int live_status = arguments.live ? run_live_end(&live) : 0;
    if (error != 0) {
        fprintf(stderr, "mprof-run: %s: %s\n", what, strerror(error));
        return error == ENOENT ? 127 : 126;
    }
    if (!arguments.quiet)
        say_where(child.recorded, started);
    if (run_watch_starts_late(&arguments.watch))
        say_never_began(child.recorded, started);
    if (arguments.compress) {
        compress_one(NULL, child.recorded);
        run_traces_beside(child.recorded, started, compress_one, NULL);
    }
    if (live_status != 0)
        return live_status;
    if (arguments.open) {
        status = open_session(&arguments, child.recorded, started);
        if (status != 0)
            return status;
    }
    run_child_end_alike(child.status);
}
