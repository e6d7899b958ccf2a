/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/run/sibling_program.h"
#include "cli/say.h"
#include "schemas/printable.h"

/* Names the session beside the trace: .bin becomes .db. */
static void name_session(const char *trace, char *session, size_t size)
{
    size_t length = strlen(trace);
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    snprintf(session, size, "%.*s.db", (int)length, trace);
}

static void choose_session(const struct run_arguments *arguments, const char *trace, char *session,
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

int run_session_open(const struct run_arguments *arguments, char *trace)
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

int run_session_begin_viewer(const struct run_arguments *arguments, struct run_child *child,
                             struct run_viewer_names *names, struct run_viewer *viewer)
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
    child->log = at_terminal() && child->argv ? names->log : NULL;
    *viewer = (struct run_viewer){.trace = names->trace,
                                  .suppressions = arguments->suppressions,
                                  .session = names->session,
                                  .log = child->log,
                                  .force = arguments->force,
                                  .browse = at_terminal()};
    if (!arguments->force && access(names->session, F_OK) == 0) {
        say("mprof-run",
            "%s: exists already; replace it with --force, or name another with --session",
            names->session);
        return 1;
    }
    if (run_viewer_begin(viewer))
        return 0;
    say("mprof-run", "no process can be made for mprof-ingest: %s; record without --live",
        strerror(errno));
    run_viewer_end(viewer);
    return 126;
}
