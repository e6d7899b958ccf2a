/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/given_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"
#include "schemas/printable.h"
#include "schemas/trace_begin.h"

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

char *given_trace_session(const char *path, bool yes)
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

char *given_trace_follow(const char *path, bool replace, pid_t *follower)
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

void given_trace_leave(pid_t follower, const char *session)
{
    int status;
    if (follower <= 0 || waitpid(follower, &status, WNOHANG) != 0)
        return;
    say(program, "%s gets what was recorded until now; Ctrl-C skips that", session);
    kill(follower, SIGTERM);
    while (waitpid(follower, &status, 0) < 0 && errno == EINTR)
        ;
}
