/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the part go to a draft, with all tables of the whole session. Then mprof-ingest makes
 * the draft's sums, and the draft gets its name.
 *
 * Ids of a session's rows are dense, so the part counts its own from 1. The id of a row is the
 * number of rows of the part up to it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schemas/new_file.h"
#include "session/store/error.h"
#include "session/store/part_file.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/part.h"

int draft_begin(struct draft *draft, const char *path, struct session_error *error)
{
    *draft = (struct draft){.path = strdup(path)};
    if (!draft->path || asprintf(&draft->name, "%s.%ld.part", path, (long)getpid()) < 0) {
        draft->name = NULL;
        session_fail_memory(error, "a file");
        return -1;
    }
    if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        session_fail(error, 0, "there is already a file \"%.200s\": write never replaces one",
                     path);
        return -1;
    }
    const int descriptor =
        open(draft->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0)
        session_fail(error, 0, "cannot write \"%.200s\": %s", draft->name, strerror(errno));
    draft->made = descriptor >= 0;
    return descriptor;
}

/* Writes the file to the disk: its name must not reach it before its rows. */
static bool sync_draft(const struct draft *draft)
{
    const int descriptor = open(draft->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool good = descriptor >= 0 && fsync(descriptor) == 0;
    const int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = reason;
    return good;
}

bool draft_end(struct draft *draft, bool keep, struct session_error *error)
{
    const bool named =
        keep && draft->made && sync_draft(draft) && new_file_name(draft->name, draft->path);
    if (keep && !named)
        session_fail(error, 0, "cannot write \"%.200s\": %s", draft->path, strerror(errno));
    if (!named && draft->made && draft->name)
        unlink(draft->name);
    free(draft->path);
    free(draft->name);
    *draft = (struct draft){.made = false};
    return named || !keep;
}

/* ---- rebuilding ------------------------------------------------------------------------- */

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

/* Runs `mprof-ingest --rebuild` on the file `path`: the program beside this one, or else that of
 * $PATH. It is killed when the question of `session` is cancelled. Returns false with `error` set:
 * the file may then be half made. */
static bool rebuild_run(const struct session *session, const char *path,
                        struct session_error *error)
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

struct part {
    struct part_file *file;
    const struct row_set *set;
    uint64_t *before; /* by chunk: rows of the part before it */
};

static uint64_t rows_up_to(const void *context, uint64_t id)
{
    const struct part *part = context;
    const uint64_t rows = (uint64_t)part->set->chunks * COLUMN_CHUNK_ROWS;
    return row_set_rank(part->set, part->before, id < rows ? id : rows);
}

static bool has_row(const void *context, uint64_t id)
{
    const struct part *part = context;
    const uint64_t row = id - 1;
    return row < (uint64_t)part->set->chunks * COLUMN_CHUNK_ROWS &&
           row_set_has(part->set->words, row);
}

static bool put_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct part *part = context;
    struct column_view views[COLUMN_TOTAL];
    uint64_t values[COLUMN_TOTAL];
    if (row_set_chunk_empty(part->set, chunk))
        return true;
    for (int column = 0; column < COLUMN_TOTAL; column++)
        if (!scan_column(worker, chunk, (enum column)column, &views[column], error))
            return false;
    ROW_SET_EACH(row_set_chunk(part->set, chunk), row)
    {
        for (int column = 0; column < COLUMN_TOTAL; column++)
            values[column] = column_view_at(&views[column], row);
        if (!part_file_put(part->file, (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1, values,
                           error))
            return false;
    }
    return true;
}

static bool fill(struct session *session, struct part *part, const char *graph, const char *draft,
                 struct session_error *error)
{
    const struct part_rows rows = {rows_up_to, has_row, part};
    void *contexts[] = {part};
    part->file = part_file_open(session, &rows, draft, error);
    /* One thread takes the chunks in their order, and stops at the first row that has no room. */
    const bool good = part->file &&
                      scan_chunks(session, part->set->chunks, put_chunk, contexts, 1, error) &&
                      part_file_finish(part->file, graph, error);
    part_file_close(part->file);
    return good;
}

/* Removes what SQLite may have left beside the draft. */
static void remove_journal(const char *draft)
{
    char *journal;
    if (asprintf(&journal, "%s-journal", draft) < 0)
        return;
    unlink(journal);
    free(journal);
}

bool part_write(struct session *session, const struct row_set *set, const char *graph,
                const char *path, struct session_error *error)
{
    struct part part = {.set = set};
    struct draft draft;
    if (session_meta_number(session, "unfinished") != 0)
        return session_fail(error, 0,
                            "%.200s is still being recorded: write a session when it has ended",
                            session_path(session));
    const int descriptor = draft_begin(&draft, path, error);
    if (descriptor >= 0)
        close(descriptor);
    const bool good = descriptor >= 0 && (part.before = row_set_counts(set, error)) &&
                      fill(session, &part, graph, draft.name, error) &&
                      rebuild_run(session, draft.name, error);
    if (!good && draft.made)
        remove_journal(draft.name);
    free(part.before);
    return draft_end(&draft, good, error) && good;
}
