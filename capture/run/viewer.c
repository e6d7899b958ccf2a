/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/viewer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/run/sibling_program.h"
#include "cli/say.h"

enum { LOOK_MS = 20 };

static bool has_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size > 0;
}

static void wait_a_little(void)
{
    poll(NULL, 0, LOOK_MS);
}

/* Waits for the program to begin its trace. If that never happens, the caller ends this process. */
static _Noreturn void become_ingest(const struct run_viewer *viewer)
{
    char name[] = "mprof-ingest", option[] = "--live", quiet[] = "--quiet", output[] = "-o",
         force[] = "--force", suppressions[] = "--suppressions=program", end[] = "--";
    char *session = strdup(viewer->session), *trace = strdup(viewer->trace);
    char *argv[10] = {name, option, quiet, output, session};
    size_t count = 5;
    if (viewer->force)
        argv[count++] = force;
    if (viewer->suppressions)
        argv[count++] = suppressions;
    argv[count++] = end;
    argv[count++] = trace;
    while (!has_bytes(viewer->trace))
        wait_a_little();
    if (session && trace)
        sibling_program_become(name, argv);
    say("mprof-run", "there is no memory to run mprof-ingest");
    _exit(127);
}

/* Returns true if the file exists and is not the earlier one. */
static bool is_new(const char *path, const struct stat *before)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_size > 0 &&
           (now.st_ino != before->st_ino || now.st_dev != before->st_dev);
}

/* Opens the session as soon as it exists. `ended`: a pipe that mprof-ingest holds open. */
static _Noreturn void browse(const struct run_viewer *viewer, int ended, const struct stat *before,
                             pid_t parent)
{
    char name[] = "mprof-tui", *session = strdup(viewer->session);
    char *argv[] = {name, session, NULL};
    struct pollfd hung_up = {.fd = ended};
    while (!is_new(viewer->session, before))
        if (poll(&hung_up, 1, LOOK_MS) > 0 && !is_new(viewer->session, before))
            _exit(1); /* mprof-ingest has said why */
    int status = session ? sibling_program_run(name, argv) : 127;
    /* While mprof-ingest still runs, so does the program. */
    if (poll(&hung_up, 1, 0) == 0 && getppid() == parent)
        say("mprof-run",
            viewer->log
                ? "the program is still running, its output is in %2$s; Ctrl-C ends it, "
                  "mprof-tui %1$s opens the session again"
                : "the recording goes on; Ctrl-C ends it, mprof-tui %1$s opens the session again",
            viewer->session, viewer->log);
    _exit(status);
}

bool run_viewer_begin(struct run_viewer *viewer)
{
    int ends[2];
    struct stat before = {0};
    pid_t parent = getpid();
    viewer->ingest = viewer->browser = -1;
    if (stat(viewer->session, &before) != 0)
        memset(&before, 0, sizeof(before));
    if (pipe(ends) != 0)
        return false;
    viewer->ingest = fork();
    if (viewer->ingest == 0) {
        close(ends[0]);
        become_ingest(viewer);
    }
    if (viewer->ingest > 0 && viewer->browse) {
        viewer->browser = fork();
        if (viewer->browser == 0) {
            close(ends[1]);
            browse(viewer, ends[0], &before, parent);
        }
    }
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return viewer->ingest > 0 && (!viewer->browse || viewer->browser > 0);
}

static int end_of(pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_viewer_end(struct run_viewer *viewer)
{
    int status = 0, shown = 0;
    if (viewer->ingest > 0) {
        if (!has_bytes(viewer->trace))
            kill(viewer->ingest, SIGTERM);
        status = end_of(viewer->ingest);
    }
    if (viewer->browser > 0)
        shown = end_of(viewer->browser);
    return status ? status : shown;
}
