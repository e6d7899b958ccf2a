/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/run/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schemas/new_file.h"
#include "session/data/error.h"

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
    if (!named && draft->made)
        unlink(draft->name);
    free(draft->path);
    free(draft->name);
    *draft = (struct draft){.made = false};
    return named || !keep;
}
