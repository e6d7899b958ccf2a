/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-tui: reads the command line and runs the loop between terminal and browser. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/say.h"
#include "schemas/printable.h"
#include "schemas/trace_begin.h"
#include "session/jobs.h"
#include "session/session.h"
#include "tui/browser/browser.h"
#include "tui/browser/help.h"
#include "tui/browser/script.h"
#include "tui/browser/user_files.h"
#include "tui/screen/cells.h"
#include "tui/screen/line_editor.h"
#include "tui/screen/terminal.h"
#include "tui/screen/theme.h"

/* ---- traces in place of sessions -------------------------------------------------------- */

static const char program[] = "mprof-tui";
static char ingest[] = "mprof-ingest";

/* Returns true if the file begins as a trace does. `about` is set if so. */
static bool is_trace(const char *path, struct stat *about)
{
    /* A pipe that nobody writes to must not stop the browser. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool found =
        file >= 0 && fstat(file, about) == 0 && S_ISREG(about->st_mode) && trace_begins(file);
    if (file >= 0)
        close(file);
    return found;
}

/* Returns the name that mprof-ingest gives a session, NULL if memory is exhausted. */
static char *session_beside(const char *trace)
{
    size_t length = strlen(trace);
    char *session;
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    return asprintf(&session, "%.*s.db", (int)length, trace) < 0 ? NULL : session;
}

/* Asks on the terminal. Enter means yes. */
static bool agrees(const char *trace, const char *session)
{
    char shown[2][PRINTABLE_BYTE_MAX * 1024];
    int first, next;
    printable_copy(shown[0], sizeof(shown[0]), trace);
    printable_copy(shown[1], sizeof(shown[1]), session);
    fprintf(stderr, "%s is a trace. Make the session %s of it? [Y/n] ", shown[0], shown[1]);
    fflush(stderr);
    for (first = next = getchar(); next != '\n' && next != EOF;)
        next = getchar();
    return first == 'y' || first == 'Y' || first == '\n';
}

/* Becomes mprof-ingest: the one beside this program, or else of $PATH. */
static void become_ingest(char *const arguments[])
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    char *slash =
        length > 0 && length < (ssize_t)sizeof(path) ? memrchr(path, '/', (size_t)length) : NULL;
    if (slash && slash + 1 + sizeof(ingest) <= path + sizeof(path)) {
        memcpy(slash + 1, ingest, sizeof(ingest));
        execv(path, arguments);
    }
    execvp(ingest, arguments);
    say(program, "%s: %s", ingest, strerror(errno));
    _exit(127);
}

/* Runs mprof-ingest, which shows its progress and says what is wrong. */
static bool make_session(char *trace, char *session)
{
    char output[] = "-o", end[] = "--";
    char *arguments[] = {ingest, output, session, end, trace, NULL};
    int status;
    const pid_t child = fork();
    if (child == 0)
        become_ingest(arguments);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    if (child < 0)
        say(program, "fork: %s", strerror(errno));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Makes the session of a trace unless it exists. Returns false after a message. */
static bool prepare(char *trace, const struct stat *of_trace, char *session, bool yes)
{
    struct stat of_session;
    if (stat(session, &of_session) == 0) {
        if (of_session.st_mtime >= of_trace->st_mtime)
            return true;
        say(program, "%s is older than the trace: mprof-ingest --force %s makes it again", session,
            trace);
        return false;
    }
    if (!yes && !(isatty(STDIN_FILENO) && isatty(STDERR_FILENO))) {
        say(program, "%s is a trace, not a session: --yes or mprof-ingest makes the session",
            trace);
        return false;
    }
    return (yes || agrees(trace, session)) && make_session(trace, session);
}

/* Returns the session to open for a named file, which the caller frees: the file itself if it is no
 * trace, or the session beside the trace ("NAME.db" for "NAME.bin"). If that session does not
 * exist, mprof-ingest makes it, once the user has agreed (`yes`, or on the terminal). Returns NULL
 * after a message. */
static char *given_trace_session(const char *path, bool yes)
{
    struct stat about;
    if (!is_trace(path, &about))
        return strdup(path);
    char *trace = strdup(path), *session = trace ? session_beside(trace) : NULL;
    if (!session)
        say(program, "out of memory; close other programs");
    const bool good = session && prepare(trace, &about, session, yes);
    free(trace);
    if (!good)
        free(session);
    return good ? session : NULL;
}

/* ---- a program that still runs ---------------------------------------------------------- */

/* Starts mprof-ingest. Its messages go to `said`: the terminal belongs to the browser. */
static pid_t start_follower(char *trace, char *session, bool replace, FILE *said)
{
    char live[] = "--live", quiet[] = "--quiet", output[] = "-o", force[] = "--force", end[] = "--";
    char *arguments[9] = {ingest, live, quiet, output, session};
    size_t count = 5;
    if (replace)
        arguments[count++] = force;
    arguments[count++] = end;
    arguments[count++] = trace;
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends with the browser, also if that is killed */
        if (dup2(fileno(said), STDERR_FILENO) >= 0)
            become_ingest(arguments);
        _exit(127);
    }
    if (child < 0)
        say(program, "fork: %s", strerror(errno));
    return child;
}

static void repeat(FILE *said)
{
    char line[1024];
    rewind(said);
    while (fgets(line, sizeof(line), said))
        fputs(line, stderr);
}

/* Waits for the session. Returns false if mprof-ingest has ended before, and failed. */
static bool wait_for_session(pid_t *child, const char *session, const struct stat *before)
{
    enum { LOOK_MS = 20 };
    struct stat now;
    for (int status;;) {
        const bool is_there = stat(session, &now) == 0 && now.st_size > 0 &&
                              (now.st_ino != before->st_ino || now.st_dev != before->st_dev);
        if (waitpid(*child, &status, WNOHANG) == *child) {
            *child = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (is_there)
            return true;
        poll(NULL, 0, LOOK_MS);
    }
}

static bool follow(char *trace, char *session, bool replace, pid_t *follower)
{
    struct stat about, before = {.st_size = 0};
    if (!is_trace(trace, &about)) {
        say(program, "%s is not a trace: --live shows the trace of a program that still runs",
            trace);
        return false;
    }
    if (stat(session, &before) == 0 && !replace) {
        say(program, "%s exists: --yes replaces it, without --live it is opened", session);
        return false;
    }
    FILE *said = tmpfile();
    pid_t child = said ? start_follower(trace, session, replace, said) : -1;
    const bool good = child > 0 && wait_for_session(&child, session, &before);
    if (!good && said)
        repeat(said);
    if (said)
        fclose(said);
    *follower = good ? child : 0;
    return good;
}

/* Starts mprof-ingest, which follows the trace of a running program, and waits for its session,
 * beside the trace. `replace`: one that exists. Returns the session, which the caller frees, or
 * NULL after a message. given_trace_leave() ends mprof-ingest when the browser has ended: the
 * session then has what was recorded until now. With `follower` 0 it does nothing. */
static char *given_trace_follow(const char *path, bool replace, pid_t *follower)
{
    char *trace = strdup(path), *session = trace ? session_beside(trace) : NULL;
    if (!session)
        say(program, "out of memory; close other programs");
    const bool good = session && follow(trace, session, replace, follower);
    free(trace);
    if (!good)
        free(session);
    return good ? session : NULL;
}

static void given_trace_leave(pid_t follower, const char *session)
{
    int status;
    if (follower <= 0 || waitpid(follower, &status, WNOHANG) != 0)
        return;
    say(program, "%s gets what was recorded until now; Ctrl-C skips that", session);
    kill(follower, SIGTERM);
    while (waitpid(follower, &status, 0) < 0 && errno == EINTR)
        ;
}

/* ---- the command line ------------------------------------------------------------------- */

/* The time that a key waits for its data. After that the screen shows that they are missing. */
enum { WAIT_MS = 20 };

enum exit_status { EXIT_GOOD = 0, EXIT_BAD_INPUT = 1, EXIT_BAD_USAGE = 2 };

struct arguments {
    const char *session, *script;
    const char *process; /* NULL: the one selected by ingest */
    struct browser_options browser;
    bool ascii, yes, fresh, live;
    bool themed;                          /* the user has named a theme, */
    enum theme_kind theme;                /* this one, on the command line */
    char config_error[CONFIG_ERROR_SIZE]; /* "": the configuration is good */
    pid_t follower;                       /* mprof-ingest, with --live; 0: none */
    char *sessions[2];                    /* to open: the session and the other one, or NULL */
    enum stored_graphs_task graphs;
    const char *graph; /* what the task is about */
};

static int complain(int status, const char *what)
{
    say("mprof-tui", "%s", what);
    return status;
}

/* Prints the filter in its printable form, with a mark below the byte that is wrong. */
static void complain_of_filter(const char *option, const char *filter,
                               const struct session_error *error)
{
    char text[1024], before[1024];
    char *start = strndup(filter, (size_t)error->column - 1);
    session_printable(text, sizeof(text), filter);
    session_printable(before, sizeof(before), start ? start : "");
    say("mprof-tui", "%s, column %d: %s", option, error->column, error->message);
    fprintf(stderr, "  %s\n  %*s^\n", text, text_width(before), "");
    free(start);
}

/* Takes "VERB NAME", a task with saved filters or with settings. Returns as take_option() does. */
static int take_task(struct arguments *arguments, enum tui_option option, const char *text)
{
    static const struct {
        const char *verb;
        enum tui_option option;
        enum stored_graphs_task task;
    } tasks[] = {{"list", TUI_OPTION_GRAPH, STORED_GRAPHS_LIST},
                 {"export", TUI_OPTION_GRAPH, STORED_GRAPHS_EXPORT},
                 {"import", TUI_OPTION_GRAPH, STORED_GRAPHS_IMPORT},
                 {"delete", TUI_OPTION_GRAPH, STORED_GRAPHS_DELETE},
                 {"rename", TUI_OPTION_GRAPH, STORED_GRAPHS_RENAME},
                 {"run", TUI_OPTION_GRAPH, STORED_GRAPHS_RUN},
                 {"run-all", TUI_OPTION_GRAPH, STORED_GRAPHS_RUN_ALL},
                 {"list", TUI_OPTION_SETTING, STORED_SETTINGS_LIST},
                 {"add", TUI_OPTION_SETTING, STORED_SETTINGS_ADD},
                 {"delete", TUI_OPTION_SETTING, STORED_SETTINGS_DELETE}};
    const size_t length = strcspn(text, " ");
    const char *name = text + length + (text[length] == ' ');
    if (arguments->graphs != STORED_GRAPHS_NONE)
        return command_line_wrong(&tui_command_line, "one task with graphs or settings at a time");
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        if (tasks[i].option == option && strlen(tasks[i].verb) == length &&
            strncmp(tasks[i].verb, text, length) == 0 &&
            (*name == 0) == (strcmp(tasks[i].verb, "list") == 0))
            arguments->graphs = tasks[i].task;
    arguments->graph = name;
    return arguments->graphs != STORED_GRAPHS_NONE ? -1
           : option == TUI_OPTION_GRAPH
               ? command_line_wrong(&tui_command_line,
                                    "--graph knows list, export NAME, import FILE, delete NAME, "
                                    "rename OLD=NEW, run TEXT and run-all TEXT, not \"%.40s\"",
                                    text)
               : command_line_wrong(
                     &tui_command_line,
                     "--setting knows list, add SETTING and delete SETTING, not \"%.40s\"", text);
}

#define AT(member) offsetof(struct arguments, member)

/* Handles one option. Returns -1 to go on, or an exit status. */
static int take_option(void *context, int option, const char *value)
{
    static const struct command_kept kept[] = {
        {TUI_OPTION_ASCII, AT(ascii)},     {TUI_OPTION_FILTER, AT(browser.filter)},
        {TUI_OPTION_PROCESS, AT(process)}, {TUI_OPTION_VIEW, AT(browser.view)},
        {TUI_OPTION_FRESH, AT(fresh)},     {TUI_OPTION_LIVE, AT(live)},
        {TUI_OPTION_YES, AT(yes)},         {TUI_OPTION_SCRIPT, AT(script)}};
    struct arguments *arguments = context;
    if (command_line_keep(kept, sizeof(kept) / sizeof(*kept), option, value, arguments))
        return -1;
    switch (option) {
    case TUI_OPTION_THEME:
        if (!theme_from_name(value, &arguments->theme))
            return command_line_wrong(
                &tui_command_line,
                "--theme knows dark, light, colour-blind and mono, not \"%.40s\"", value);
        arguments->themed = true;
        break;
    case TUI_OPTION_SIZE:
        if (!script_size(value, &arguments->browser.width, &arguments->browser.height))
            return command_line_wrong(
                &tui_command_line, "--size needs a width and a height of 1 to 1000, as in 80x24");
        break;
    case TUI_OPTION_GRAPH:
    case TUI_OPTION_SETTING:
        return take_task(arguments, (enum tui_option)option, value);
    case TUI_OPTION_PRINT_CONFIG:
        config_print(stdout);
        return EXIT_GOOD;
    case TUI_OPTION_MAN:
        manual_page(stdout);
        return EXIT_GOOD;
    }
    return -1;
}

/* Reads the arguments. Returns -1 to go on, or an exit status. */
static int read_arguments(int count, char **values, struct arguments *arguments)
{
    const struct command_line *line = &tui_command_line;
    const int status = command_line_read(line, count, values, take_option, arguments);
    if (status >= 0)
        return status;
    if (optind == count &&
        (arguments->graphs == STORED_GRAPHS_NONE || arguments->graphs == STORED_GRAPHS_RUN ||
         arguments->graphs == STORED_GRAPHS_RUN_ALL))
        return command_line_wrong(line, "no session named");
    if (count - optind > (arguments->graphs == STORED_GRAPHS_NONE ? 2 : 1))
        return command_line_wrong(line, arguments->graphs == STORED_GRAPHS_NONE
                                            ? "too many sessions named: name one, or two to compare"
                                            : "too many sessions named: name one");
    /* The second of two sessions is browsed, and compared with the first. */
    arguments->session = optind < count ? values[count - 1] : NULL;
    arguments->browser.other = count - optind == 2 ? values[optind] : NULL;
    if (arguments->browser.other && !arguments->browser.view)
        arguments->browser.view = "diff";
    if (arguments->browser.width != 0 && !arguments->script)
        return command_line_wrong(line,
                                  "--size only works with --script; a terminal has its own size");
    return -1;
}

/* Returns true if a session can be opened; NULL always can. Otherwise `error` is set. */
static bool opens(const char *path, struct session_error *error)
{
    struct session *session = path ? session_open(path, error) : NULL;
    const bool good = session || !path;
    session_close(session);
    return good;
}

/* Makes the browser. At a terminal it begins where the user left the session. */
static struct browser *open_browser(const struct arguments *arguments, struct session *session,
                                    struct session_error *error)
{
    struct browser_options options = arguments->browser;
    struct kept_state state = {.found = false};
    char note[KEPT_STATE_NOTE] = "";
    if (!arguments->script && !arguments->fresh)
        kept_state_read(session, &state, note);
    options.state = state.found ? &state : NULL;
    struct browser *browser = browser_new(session, &options, error);
    if (browser) {
        if (note[0])
            browser_complain(browser, note);
        else if (state.found)
            browser_say(browser, "as you left it; --fresh begins with the overview of everything");
    }
    kept_state_clear(&state);
    return browser;
}

/* Opens the session, and a browser that closes it. NULL after a message, with the exit status. */
static struct browser *start(const struct arguments *arguments, int *status)
{
    struct session_error error = {.message = ""};
    struct session *session =
        opens(arguments->browser.other, &error) ? session_open(arguments->session, &error) : NULL;
    uint32_t process = 0;
    const bool found = !session || !arguments->process ||
                       session_find_process(session, arguments->process, &process, &error);
    const bool good = session && found &&
                      (!arguments->process || session_select_process(session, process, &error));
    struct browser *browser = good ? open_browser(arguments, session, &error) : NULL;
    if (browser)
        return browser;
    session_close(session);
    *status = found ? EXIT_BAD_INPUT : EXIT_BAD_USAGE;
    if (error.column > 0 && arguments->browser.filter) {
        complain_of_filter("--filter", arguments->browser.filter, &error);
        *status = EXIT_BAD_USAGE;
    } else
        complain(*status, error.message);
    return NULL;
}

/* Replaces traces by their sessions. Returns false after a message. */
static bool find_sessions(struct arguments *arguments)
{
    const char **named[] = {&arguments->session, &arguments->browser.other};
    for (int i = 0; i < 2; i++) {
        if (!*named[i])
            continue;
        arguments->sessions[i] =
            arguments->live && i == 0
                ? given_trace_follow(*named[i], arguments->yes, &arguments->follower)
                : given_trace_session(*named[i], arguments->yes);
        *named[i] = arguments->sessions[i];
        if (!*named[i])
            return false;
    }
    return true;
}

/* Returns true if the terminal says that its ground is light: COLORFGBG is "0;15", say. */
static bool has_light_ground(void)
{
    const char *grounds = getenv("COLORFGBG");
    const char *last = grounds ? strrchr(grounds, ';') : NULL;
    return last && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
}

/* Chooses a theme for a terminal with so many colours, unless the user has named one. */
static void choose_theme(const struct arguments *arguments, int colors)
{
    const char *no_color = getenv("NO_COLOR");
    if (colors == 0)
        theme_use(THEME_MONO);
    else if (!arguments->themed)
        theme_use(no_color && *no_color                      ? THEME_MONO
                  : !arguments->script && has_light_ground() ? THEME_LIGHT
                                                             : THEME_DARK);
}

static int run_script(struct arguments *arguments)
{
    arguments->browser.wait_ms = -1;
    if (arguments->browser.width == 0) {
        arguments->browser.width = 80;
        arguments->browser.height = 24;
    }
    FILE *script = strcmp(arguments->script, "-") == 0 ? stdin : fopen(arguments->script, "r");
    if (!script) {
        char error[512];
        snprintf(error, sizeof(error), "%s: %s", arguments->script, strerror(errno));
        return complain(EXIT_BAD_INPUT, error);
    }
    int status = EXIT_BAD_INPUT;
    choose_theme(arguments, 256);
    struct grid *grid =
        grid_new(arguments->browser.width, arguments->browser.height, 256, arguments->ascii);
    struct browser *browser = grid ? start(arguments, &status) : NULL;
    char error[256];
    if (browser &&
        script_run(script, arguments->script, browser, grid, stdout, error, sizeof(error)))
        status = EXIT_GOOD;
    else if (browser)
        complain(status, error);
    browser_free(browser);
    grid_free(grid);
    if (script != stdin)
        fclose(script);
    return status;
}

static int run_graphs(const struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    char note[1024] = "";
    struct session *session = arguments->session ? session_open(arguments->session, &error) : NULL;
    const bool good =
        (session || !arguments->session) &&
        stored_graphs_run(session, arguments->graphs, arguments->graph, stdout, note, &error);
    const bool runs =
        arguments->graphs == STORED_GRAPHS_RUN || arguments->graphs == STORED_GRAPHS_RUN_ALL;
    struct session_error ignored;
    const bool parses =
        !session || !runs || session_filter_check(session, arguments->graph, &ignored);
    session_close(session);
    if (note[0] != '\0')
        complain(EXIT_GOOD, note);
    if (!good && error.column > 0 && runs) {
        complain_of_filter("--graph run", arguments->graph, &error);
        return parses ? EXIT_BAD_INPUT : EXIT_BAD_USAGE;
    }
    if (!good && error.column > 0) {
        say("mprof-tui", "%s, column %d: %s", arguments->graph, error.column, error.message);
        return EXIT_BAD_INPUT;
    }
    if (!good)
        return complain(EXIT_BAD_INPUT, error.message);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(EXIT_BAD_INPUT, "standard output: cannot be written");
    return EXIT_GOOD;
}

/* Runs the user's editor if the user has asked for it. */
static void edit(struct terminal *terminal, struct browser *browser)
{
    char error[256];
    uint32_t line;
    char *path = browser_takes_edit(browser, &line);
    if (!path)
        return;
    terminal_pause(terminal);
    const bool good = editor_run(path, line, error, sizeof(error));
    terminal_resume(terminal);
    if (!good)
        browser_complain(browser, error);
    free(path);
}

/* Puts the text that the user has copied into the clipboard and a file, and says where it is. */
static void copy(struct terminal *terminal, struct browser *browser)
{
    char path[256], message[512];
    char *text = browser_takes_copy(browser);
    if (!text)
        return;
    const bool fits = terminal_copy(terminal, text);
    const bool written = copied_file_write(text, path, sizeof(path));
    const int length = (int)strcspn(text, "\n");
    if (written)
        snprintf(message, sizeof(message), "copied%s %s: %.*s",
                 fits ? ", also to" : ", not to the terminal, for which it is too long, but to",
                 path, length, text);
    else
        snprintf(message, sizeof(message), "%s: %.*s",
                 fits ? "copied" : "too long for the terminal's clipboard", length, text);
    if (fits || written)
        browser_say(browser, message);
    else
        browser_complain(browser, message);
    free(text);
}

static void loop(struct terminal *terminal, struct browser *browser, struct grid *grid)
{
    /* Keys that come faster than the screen can be drawn are handled together, up to a limit. */
    enum { TOGETHER = 16 };
    struct event event = {.kind = EVENT_NONE};
    int together = 0;
    do {
        if (event.kind == EVENT_RESIZE && !grid_resize(grid, event.width, event.height))
            return;
        event.more = terminal_pending(terminal) && together < TOGETHER;
        together = event.more ? together + 1 : 0;
        browser_event(browser, &event);
        if (event.more)
            continue;
        edit(terminal, browser);
        copy(terminal, browser);
        if (browser_takes_redraw(browser))
            terminal_redraw(terminal);
        browser_render(browser, grid);
        terminal_show(terminal, grid);
    } while (!browser_finished(browser) &&
             terminal_wait(terminal, browser_patience(browser), session_jobs_descriptor(), &event));
}

static int run_terminal(struct arguments *arguments)
{
    char error[256], note[KEPT_STATE_NOTE];
    /* Errors of the command line must come before the terminal is opened. */
    arguments->browser.width = 80;
    arguments->browser.height = 24;
    arguments->browser.wait_ms = WAIT_MS;
    arguments->browser.hint = first_run();
    int status = EXIT_GOOD;
    struct browser *browser = start(arguments, &status);
    if (!browser)
        return status;
    struct terminal *terminal = terminal_open(arguments->ascii, error);
    if (!terminal) {
        browser_free(browser);
        return complain(EXIT_BAD_INPUT, error);
    }
    choose_theme(arguments, terminal_colors(terminal));
    int width = terminal_width(terminal), height = terminal_height(terminal);
    struct grid *grid =
        grid_new(width, height, terminal_colors(terminal), terminal_ascii(terminal));
    if (grid) {
        browser_event(browser,
                      &(struct event){.kind = EVENT_RESIZE, .width = width, .height = height});
        if (arguments->config_error[0])
            browser_complain(browser, arguments->config_error);
        loop(terminal, browser, grid);
    }
    terminal_close(terminal);
    if (grid && !kept_state_write(browser, note))
        complain(EXIT_GOOD, note);
    browser_free(browser);
    grid_free(grid);
    return grid ? EXIT_GOOD : complain(EXIT_BAD_INPUT, SESSION_OUT_OF_MEMORY);
}

/* Takes the user's configuration. The command line comes first. */
static void configure(struct arguments *arguments)
{
    const bool named = arguments->themed;
    config_load(&arguments->themed, arguments->config_error);
    if (named)
        theme_use(arguments->theme);
    if (arguments->config_error[0] && arguments->script)
        complain(EXIT_GOOD, arguments->config_error);
}

int main(int count, char **values)
{
    struct arguments arguments = {.session = NULL};
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    int status = read_arguments(count, values, &arguments);
    if (status >= 0)
        return status;
    if (arguments.graphs != STORED_GRAPHS_NONE)
        return run_graphs(&arguments);
    configure(&arguments);
    if (find_sessions(&arguments))
        status = arguments.script ? run_script(&arguments) : run_terminal(&arguments);
    given_trace_leave(arguments.follower, arguments.sessions[0]);
    free(arguments.sessions[0]);
    free(arguments.sessions[1]);
    return status < 0 ? EXIT_BAD_INPUT : status;
}
