/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/given_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"
#include "schemas/printable.h"
#include "schemas/trace_layout.h"

static const char program[] = "mprof-tui";
static char ingest[] = "mprof-ingest";

/* Tells whether the file begins as a trace does. `about` is set if so. */
static bool is_trace(const char *path, struct stat *about)
{
    char magic[sizeof(TRACE_MAGIC) - 1];
    /* A pipe that nobody writes to must not stop the browser. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool found = file >= 0 && fstat(file, about) == 0 && S_ISREG(about->st_mode) &&
                       pread(file, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
                       memcmp(magic, TRACE_MAGIC, sizeof(magic)) == 0;
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
static void run_ingest(char *trace, char *session)
{
    char output[] = "-o", end[] = "--", path[PATH_MAX];
    char *arguments[] = {ingest, output, session, end, trace, NULL};
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
    int status;
    const pid_t child = fork();
    if (child == 0)
        run_ingest(trace, session);
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
        say(program, "out of memory");
    const bool good = session && prepare(trace, &about, session, yes);
    free(trace);
    if (!good)
        free(session);
    return good ? session : NULL;
}
