/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/run/rebuild.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/data/error.h"
#include "session/scan/scan.h"

static char ingest[] = "mprof-ingest";

enum { LOOK_MS = 10 };

/* Starts the program with its messages to `messages`. Returns 0, or why not. */
static int start(pid_t *child, const char *path, int messages)
{
    static char rebuild[] = "--rebuild", quiet[] = "--quiet", end[] = "--";
    char beside[PATH_MAX];
    char *const arguments[] = {ingest, rebuild, quiet, end, (char *)(uintptr_t)path, NULL};
    const ssize_t length = readlink("/proc/self/exe", beside, sizeof(beside));
    char *slash = length > 0 && length < (ssize_t)sizeof(beside)
                      ? memrchr(beside, '/', (size_t)length)
                      : NULL;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    /* The thread that asks may have blocked all signals, and the program may ignore some. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, messages, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO);
    int reason = ENOENT;
    if (slash && slash + 1 + sizeof(ingest) <= beside + sizeof(beside)) {
        memcpy(slash + 1, ingest, sizeof(ingest));
        if (access(beside, X_OK) == 0)
            reason = posix_spawn(child, beside, &files, &attributes, arguments, environ);
    }
    if (reason != 0)
        reason = posix_spawnp(child, ingest, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return reason;
}

/* Reads what the program says until it ends, and kills it when the question is cancelled. */
static void listen_to(const struct session *session, pid_t child, int messages, char *said,
                      size_t size)
{
    struct pollfd wait = {.fd = messages, .events = POLLIN};
    size_t used = 0;
    bool killed = false;
    for (;;) {
        char text[512];
        if (!killed && scan_cancelled(session)) {
            kill(child, SIGKILL);
            killed = true;
        }
        const int ready = poll(&wait, 1, LOOK_MS);
        const ssize_t now = ready > 0 ? read(messages, text, sizeof(text)) : -1;
        if (ready > 0 && now == 0)
            break;
        for (ssize_t i = 0; i < now && used + 1 < size; i++)
            if (text[i] != '\n')
                said[used++] = text[i];
    }
    said[used] = '\0';
}

bool rebuild_run(const struct session *session, const char *path, struct session_error *error)
{
    char said[400] = "";
    int messages[2], status = 0;
    pid_t child;
    if (pipe2(messages, O_CLOEXEC) != 0)
        return session_fail(error, 0, "mprof-ingest cannot be run: %s", strerror(errno));
    int reason = start(&child, path, messages[1]);
    close(messages[1]);
    if (reason == 0) {
        listen_to(session, child, messages[0], said, sizeof(said));
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    close(messages[0]);
    /* posix_spawn may say by this status that there is no such program, as under qemu. */
    if (reason == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        reason = ENOENT;
    if (reason != 0)
        return session_fail(error, 0, "mprof-ingest, which makes the sums, cannot be run: %s",
                            strerror(reason));
    return scan_go_on(session, error) &&
           ((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
            session_fail(error, 0, "%s", said[0] ? said : "mprof-ingest failed"));
}
