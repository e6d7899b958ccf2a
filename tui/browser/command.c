/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/array.h"
#include "schemas/new_file.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/help.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"

/* A session that is being written. The engine reads the names. */
struct session_writing {
    char *path, *graph;
};

static bool write_selection(struct session *session, struct selection *selection, void *data,
                            struct session_error *error)
{
    const struct session_writing *writing = data;
    return selection_write(selection, writing->graph, writing->path, error);
}

/* The engine is done with the data: the browser may have forgotten them before. */
static void drop(void *data)
{
    struct session_writing *writing = data;
    FREE_ALL(writing->path, writing->graph, writing);
}

static void save_session(struct browser *browser, const char *path)
{
    struct browse *browse = &browser->browse;
    struct session_error error = {.message = SESSION_OUT_OF_MEMORY};
    if (browser->writing) {
        browse_complain(browse, "another session is being written; Esc gives it up");
        return;
    }
    if (session_recording(browse->session)) {
        browse_complain(browse, "the session is still being recorded: wait for its end");
        return;
    }
    struct session_writing *writing = calloc(1, sizeof(*writing));
    if (writing) {
        writing->path = strdup(path);
        writing->graph = strdup(browse->filter);
    }
    if (!writing || !writing->path || !writing->graph) {
        if (writing)
            drop(writing);
        browse_complain(browse, "%s", error.message);
        return;
    }
    snprintf(browser->written, sizeof(browser->written), "%.200s", path);
    browser->writing = session_job_ask(browse->loader.jobs,
                                       &(struct session_question){.kind = SESSION_ASK_CALL,
                                                                  .place = UINT_MAX,
                                                                  .selection = browse->selection,
                                                                  .call = write_selection,
                                                                  .data = writing,
                                                                  .release = drop},
                                       &error);
    if (!browser->writing)
        browse_complain(browse, "%s", error.message);
    else if (browser->wait_ms < 0)
        session_job_wait(browser->writing, -1);
    save_session_look(browser);
}

/* Forgets the job, which ends by itself if it has not yet. */
static void forget(struct browser *browser)
{
    session_job_free(browser->writing);
    browser->writing = NULL;
}

void save_session_look(struct browser *browser)
{
    struct browse *browse = &browser->browse;
    struct session_progress progress;
    if (!browser->writing)
        return;
    const enum session_job_state state = session_job_poll(browser->writing, &progress);
    const struct session_error *error = session_job_error(browser->writing);
    if (state == SESSION_JOB_DONE) {
        browse_say(browse, "%s written", browser->written);
    } else if (error) {
        browse_complain(browse, "%s", error->message);
    } else if (state <= SESSION_JOB_RUNNING) {
        const unsigned percent =
            progress.total > 0 ? (unsigned)(100 * (uint64_t)progress.done / progress.total) : 0;
        /* Another message stays until the next key. */
        if (!browse->message[0] || strncmp(browse->message, "writing ", 8) == 0)
            browse_say(browse, "writing %s: %u %% read; Esc gives it up", browser->written,
                       percent);
        return;
    }
    forget(browser);
}

bool save_session_give_up(struct browser *browser)
{
    if (!browser->writing)
        return false;
    forget(browser);
    browse_say(&browser->browse, "%s is not written", browser->written);
    return true;
}

/* ---- saving ----------------------------------------------------------------------------- */

static bool fail(struct browser *browser, const char *path, const char *why)
{
    browse_complain(&browser->browse, "%.200s: %s", path, why);
    return false;
}

/* ---- contents --------------------------------------------------------------------------- */

static bool write_screen(struct browser *browser, FILE *out, bool svg)
{
    struct grid *grid = grid_new(browser->width, browser->height, 256, false);
    if (!grid)
        return false;
    browser_render(browser, grid);
    if (svg)
        grid_dump_svg(grid, out);
    else
        grid_dump_text(grid, out);
    grid_free(grid);
    return true;
}

/* Returns false after a message. */
static bool write_as(struct browser *browser, const char *path, FILE *out)
{
    const struct view_ops *view = browser_view(browser->current);
    const char *ending = strrchr(path, '.');
    const bool csv = ending && strcmp(ending, ".csv") == 0;
    const bool json = ending && strcmp(ending, ".json") == 0;
    const bool svg = ending && strcmp(ending, ".svg") == 0;
    if (!csv && !json && !svg && !(ending && strcmp(ending, ".txt") == 0))
        return fail(browser, path, "end the name in .csv, .json, .txt, .svg or .db");
    if (!csv && !json)
        return write_screen(browser, out, svg) || fail(browser, path, SESSION_OUT_OF_MEMORY);
    if (!view->table)
        return fail(browser, path, "this view has no rows; .txt and .svg write the screen");
    browser->browse.message[0] = 0;
    if (view->table(browser->views[browser->current], &browser->browse, out,
                    csv ? TABLE_CSV : TABLE_JSON))
        return true;
    return browser->browse.message[0] ? false
                                      : fail(browser, path, "there are no rows to write yet");
}

/* ---- file ------------------------------------------------------------------------------- */

/* Allows a file that does not exist, and with `replace` a regular one. */
static bool check_target(struct browser *browser, const char *path, bool replace)
{
    struct stat about;
    if (lstat(path, &about) != 0)
        return errno == ENOENT || fail(browser, path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail(browser, path, "is there and is not a regular file");
    return replace || fail(browser, path, "is there already; :w! replaces it");
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t now = write(file, text, size);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        text += now;
        size -= (size_t)now;
    }
    return true;
}

/* Writes beside the target and renames: what is there stays until the new file is whole. */
static bool put_file(struct browser *browser, const char *path, bool replace, const char *text,
                     size_t size)
{
    char part[4200];
    if (snprintf(part, sizeof(part), "%s.part.%ld", path, (long)getpid()) >= (int)sizeof(part))
        return fail(browser, path, "the name is too long");
    const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return fail(browser, path, strerror(errno));
    bool good = write_all(file, text, size);
    int reason = errno;
    if (close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && !(replace ? rename(part, path) == 0 : new_file_name(part, path))) {
        good = false;
        reason = errno;
    }
    if (!good)
        unlink(part);
    return good || fail(browser, path, strerror(reason));
}

/* Writes the rows of the current view (PATH.csv, PATH.json) or the screen (PATH.txt, PATH.svg). A
 * file that exists is replaced only with `replace`, and only a regular one; it gets its name when
 * it is whole. Says in the footer what became of it. */
static void save_view(struct browser *browser, const char *path, bool replace)
{
    char *text = NULL, size_text[FORMAT_SIZE];
    size_t size = 0;
    if (!*path) {
        browse_complain(&browser->browse, "name a file: :w FILE.csv|json|txt|svg|db");
        return;
    }
    if (!check_target(browser, path, replace))
        return;
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".db") == 0) {
        save_session(browser, path);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        fail(browser, path, SESSION_OUT_OF_MEMORY);
        return;
    }
    bool good = write_as(browser, path, out);
    if (fclose(out) != 0 && good)
        good = fail(browser, path, SESSION_OUT_OF_MEMORY);
    if (good && put_file(browser, path, replace, text, size))
        browse_say(&browser->browse, "%.200s written, %s", path, format_size(size_text, size));
    free(text);
}

static void run_filter(struct browser *browser, const char *argument)
{
    struct session_error error = {.message = ""};
    if (!browser_filter(browser, argument, &error))
        browse_complain(&browser->browse, "column %d: %s", error.column, error.message);
}

static void run_view(struct browser *browser, const char *argument)
{
    char names[200];
    enum view_number found = browser_find_view(argument, false);
    if (found != VIEW_SAME)
        browser_go(browser, found, false);
    else
        browse_complain(&browser->browse, "views are %s, not \"%s\"",
                        browser_view_names(names, sizeof(names)), argument);
}

static void run_color(struct browser *browser, const char *argument)
{
    struct browse *browse = &browser->browse;
    enum session_color_by color_by;
    if (!color_by_from_name(argument, &color_by)) {
        browse_complain(browse,
                        "colours go by function, thread, size, age, type, module, user, owner, "
                        "lifetime or kind, not by \"%s\"",
                        argument);
        return;
    }
    browse_color_by(browse, color_by);
    browser_act(browser, &(struct view_input){.action = ACTION_REFRESH});
}

static void run_stack(struct browser *browser, const char *argument)
{
    if (browser->current != VIEW_TIMELINE)
        browser_go(browser, VIEW_TIMELINE, true);
    browser_act(browser, &(struct view_input){.action = ACTION_STACK_BY, .text = argument});
}

static void run_theme(struct browser *browser, const char *argument)
{
    struct browse *browse = &browser->browse;
    enum theme_kind theme;
    if (!theme_from_name(argument, &theme)) {
        browse_complain(browse, "themes are dark, light, colour-blind and mono, not \"%s\"",
                        argument);
        return;
    }
    theme_use(theme);
    browse_say(browse, "theme %s", theme_name(theme));
}

static void run_goto(struct browser *browser, const char *argument)
{
    if (!browser_view(browser->current)->asks)
        browse_complain(&browser->browse,
                        "goto works in the timeline (a time) and the memory grid (an address)");
    else
        browser_act(browser, &(struct view_input){.action = ACTION_GOTO, .text = argument});
}

static void run_search(struct browser *browser, const char *argument)
{
    browser_search(browser, argument);
}

static void run_help(struct browser *browser, const char *argument)
{
    help_open(browser);
}

static void run_keys(struct browser *browser, const char *argument)
{
    if (!help_open_keys(browser))
        browse_say(&browser->browse,
                   "you have bound no keys; mprof-tui --print-config shows the way");
}

static void run_quit(struct browser *browser, const char *argument)
{
    browser->finished = true;
}

static void run_process(struct browser *browser, const char *argument)
{
    struct session_error error = {.message = ""};
    if (!browser_select_process(browser, argument, &error))
        browse_complain(&browser->browse, "%s", error.message);
}

static void run_write(struct browser *browser, const char *argument)
{
    save_view(browser, argument, false);
}

static void run_replace(struct browser *browser, const char *argument)
{
    save_view(browser, argument, true);
}

static const struct command commands[] = {
    {.name = "filter",
     .kind = ARGUMENT_FILTER,
     .argument = "TEXT",
     .description = "use this filter; without TEXT let everything through",
     .run = run_filter},
    {.name = "view",
     .kind = ARGUMENT_VIEW,
     .argument = "NAME",
     .description = "go to a view",
     .run = run_view},
    {.name = "color",
     .kind = ARGUMENT_COLOR,
     .argument = "FIELD",
     .description =
         "colour by function, thread, size, age, type, module, user, owner, lifetime or kind",
     .run = run_color},
    {.name = "stack",
     .kind = ARGUMENT_STACKING,
     .whole = true,
     .argument = "FIELDS",
     .description = "stack the timeline by fields (caller, or type, thread) or by the filter's "
                    "groups; without FIELDS by colour",
     .run = run_stack},
    {.name = "theme",
     .kind = ARGUMENT_THEME,
     .whole = true,
     .argument = "NAME",
     .description = "use other colours: dark, light, colour-blind, or mono, which has patterns",
     .run = run_theme},
    {.name = "goto",
     .kind = ARGUMENT_MOMENT,
     .argument = "PLACE",
     .description = "to a time (timeline) or an address (memory grid)",
     .run = run_goto},
    {.name = "process",
     .kind = ARGUMENT_PROCESS,
     .argument = "NAME|PID|all",
     .description = "show another process of the run, or the sum of all",
     .run = run_process},
    {.name = "search",
     .kind = ARGUMENT_FUNCTION,
     .argument = "NAME",
     .description = "find a function",
     .run = run_search},
    {.name = "graph",
     .kind = ARGUMENT_GRAPH,
     .argument = "NAME",
     .description = "use a saved filter as the filter",
     .run = run_filter},
    {.name = "w",
     .kind = ARGUMENT_FILE,
     .argument = "FILE",
     .description =
         "write the rows (FILE.csv, .json), the screen (.txt, .svg) or a session of what is "
         "selected (.db) to a new file",
     .run = run_write},
    {.name = "w!",
     .kind = ARGUMENT_FILE,
     .argument = "FILE",
     .description = "do the same, and replace the file if it is there",
     .run = run_replace},
    {.name = "help", .argument = "", .description = "explain the keys", .run = run_help},
    {.name = "keys",
     .argument = "",
     .description = "list the keys that you have bound",
     .run = run_keys},
    {.name = "quit", .argument = "", .description = "quit", .run = run_quit},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *command_table(size_t *count)
{
    *count = COMMANDS;
    return commands;
}

const struct command *command_find(const char *word, size_t length)
{
    const struct command *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strncmp(commands[i].name, word, length) != 0)
            continue;
        if (commands[i].name[length] == 0)
            return &commands[i];
        if (commands[i].whole)
            continue;
        found = &commands[i];
        matches++;
    }
    return matches == 1 ? found : NULL;
}

void command_run(struct browser *browser, const char *line)
{
    char word[64];
    line += strspn(line, " ");
    const size_t length = strcspn(line, " ");
    const char *argument = line + length + strspn(line + length, " ");
    if (length == 0)
        return;
    snprintf(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), line);
    const struct command *found = command_find(line, length);
    enum view_number view = browser_find_view(word, true);
    if (view == VIEW_SAME && !found)
        view = browser_find_view(word, false);
    if (view != VIEW_SAME)
        browser_go(browser, view, true);
    else if (found)
        found->run(browser, argument);
    else
        browse_complain(&browser->browse, "no command \"%.40s\"; ? lists them", word);
}
