/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/opened.h"

#include <stdlib.h>

#include "session/data/error.h"

static bool is_present(const struct opened *opened, const struct stat *now)
{
    const struct stat *then = &opened->about;
    return then->st_dev == now->st_dev && then->st_ino == now->st_ino &&
           then->st_size == now->st_size && then->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           then->st_mtim.tv_nsec == now->st_mtim.tv_nsec && !session_has_newer(opened->session);
}

static struct opened *open_file(const char *path, const struct stat *about,
                                struct session_error *error)
{
    struct opened *opened = malloc(sizeof(*opened));
    if (!opened) {
        session_fail_memory(error, "the session");
        return NULL;
    }
    *opened = (struct opened){.about = *about, .users = 1};
    opened->session = session_open(path, error);
    if (opened->session)
        return opened;
    free(opened);
    return NULL;
}

struct opened *opened_take(struct opened **current, const char *path, struct session_error *error)
{
    struct stat now = {.st_ino = 0};
    if (!path || !*path) {
        session_fail(error, 0,
                     "the database has no file: open a session made by mprof-ingest, as main");
        return NULL;
    }
    if (stat(path, &now) != 0 || !*current || !is_present(*current, &now)) {
        struct opened *opened = open_file(path, &now, error);
        if (!opened)
            return NULL;
        opened_drop(*current);
        *current = opened;
    }
    (*current)->users++;
    return *current;
}

void opened_drop(struct opened *opened)
{
    if (!opened || --opened->users > 0)
        return;
    session_close(opened->session);
    free(opened);
}
