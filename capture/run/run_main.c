/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-run: runs a program and records its heap. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/run/arguments.h"
#include "capture/run/child.h"
#include "capture/run/prepare.h"
#include "capture/run/report.h"
#include "capture/run/run_attach.h"
#include "capture/run/session.h"
#include "capture/run/sibling_traces.h"
#include "capture/run/viewer.h"
#include "cli/say.h"

/* Records the program, with --live beside it. Returns 0, or the exit status after a message if the
 * program never ran. `*live_status` gets that of --live. */
static int record(const struct run_arguments *arguments, struct run_child *child, int *live_status)
{
    struct run_viewer viewer = {0};
    struct run_viewer_names names;
    const char *what;
    *live_status = 0;
    if (arguments->live) {
        const int status = run_session_begin_viewer(arguments, child, &names, &viewer);
        if (status != 0)
            return status;
    }
    const int error = run_child(child, &what);
    sibling_traces_end(child->recorded);
    if (arguments->live)
        *live_status = run_viewer_end(&viewer);
    if (error == 0)
        return 0;
    say("mprof-run", "%s: %s", what, strerror(error));
    return error == ENOENT ? 127 : 126;
}

int main(int argc, char **argv)
{
    /* With ulimit -s 64 there is little room on the stack. */
    static struct run_arguments arguments;
    static struct run_places places;
    static struct run_child child;
    int live_status, status = run_arguments_parse(argc, argv, &arguments);
    if (status >= 0)
        return status;
    if (arguments.process != 0)
        return run_attach(&arguments);
    status = run_prepare(&arguments, &places);
    if (status != 0)
        return status;
    if (!run_prepare_sandbox(&arguments)) {
        execv(places.program, arguments.program);
        say("mprof-run", "%s: %s", places.program, strerror(errno));
        return 126;
    }
    /* A reader of a live trace would find holes, so --live compresses only at the end. */
    const bool pack = arguments.compress && !arguments.live;
    if (pack && !run_arguments_add(&arguments, "compress", NULL))
        return 2;
    if (!run_prepare_sized(&arguments, &places) || !run_prepare_plugins(&arguments, &places))
        return 1;
    run_prepare_operators(&places);
    child = (struct run_child){
        .library = places.library,
        .sized = *places.sized ? places.sized : NULL,
        .python = *places.python ? places.python : NULL,
        .ecl = *places.ecl ? places.ecl : NULL,
        .operators = *places.operators ? places.operators : NULL,
        .trace = arguments.trace,
        .settings = arguments.settings,
        .compress = pack,
        .argv = arguments.program,
        .path = places.program,
        .watch = arguments.watch,
        .rotate = arguments.rotate,
        .unattended = !arguments.open,
    };
    const time_t started = time(NULL);
    status = record(&arguments, &child, &live_status);
    if (status != 0)
        return status;
    if (!arguments.quiet)
        run_report(child.recorded, started, !arguments.open && !arguments.live);
    if (run_watch_starts_late(&arguments.watch))
        run_report_never_began(child.recorded, started);
    if (arguments.compress)
        run_compress(child.recorded, started);
    if (live_status != 0)
        return live_status;
    if (arguments.open) {
        status = run_session_open(&arguments, child.recorded);
        if (status != 0)
            return status;
    }
    run_child_end_alike(child.status);
}
