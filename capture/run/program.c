/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "capture/os/program_image.h"
#include "capture/os/program_search.h"

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static enum run_program_verdict find_program(const char *name, char *path)
{
    struct program_search search;
    bool seen = false;
    program_search_begin(&search, name);
    while (program_search_next(&search, path, PATH_MAX))
        if (is_file(path)) {
            if (access(path, X_OK) == 0)
                return RUN_PROGRAM_GOOD;
            seen = true;
        }
    return seen            ? RUN_PROGRAM_NOT_EXECUTABLE
           : is_file(name) ? RUN_PROGRAM_NOT_IN_PATH
                           : RUN_PROGRAM_NOT_FOUND;
}

static bool changes_identity(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static enum run_program_verdict check_file(const char *start, char *path)
{
    static const enum run_program_verdict verdicts[] = {
        [PROGRAM_DYNAMIC] = RUN_PROGRAM_GOOD,         [PROGRAM_CXX] = RUN_PROGRAM_GOOD,
        [PROGRAM_STATIC] = RUN_PROGRAM_STATIC,        [PROGRAM_LINKED] = RUN_PROGRAM_GOOD,
        [PROGRAM_FOREIGN] = RUN_PROGRAM_FOREIGN,      [PROGRAM_SANITIZED] = RUN_PROGRAM_SANITIZED,
        [PROGRAM_OTHER_LIBC] = RUN_PROGRAM_OTHER_LIBC};
    snprintf(path, PATH_MAX, "%s", start);
    for (int depth = 0; depth < PROGRAM_SCRIPTS_MAX; depth++) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) /* the kernel may run a file that cannot be read: let it say */
            return changes_identity(path) ? RUN_PROGRAM_SETUID : RUN_PROGRAM_GOOD;
        enum run_program_verdict verdict = verdicts[program_image_read(descriptor)];
        const bool script = program_image_interpreter(descriptor, path, PATH_MAX);
        close(descriptor);
        if (!script)
            return verdict == RUN_PROGRAM_GOOD && changes_identity(path) ? RUN_PROGRAM_SETUID
                                                                         : verdict;
    }
    return RUN_PROGRAM_GOOD;
}

enum run_program_verdict run_program_check(const char *name, char *path, char *binary)
{
    enum run_program_verdict verdict = find_program(name, path);
    return verdict == RUN_PROGRAM_GOOD ? check_file(path, binary) : verdict;
}

const char *run_program_explain(enum run_program_verdict verdict)
{
    switch (verdict) {
    case RUN_PROGRAM_NOT_FOUND:
        return "there is no such program; name a file or a program in PATH";
    case RUN_PROGRAM_NOT_IN_PATH:
        return "is in this folder but not in PATH; write ./ before its name";
    case RUN_PROGRAM_NOT_EXECUTABLE:
        return "not executable; chmod +x makes it so, if it is a program";
    case RUN_PROGRAM_STATIC:
        return "statically linked, so nothing can be preloaded; link it with libmprof.a to record "
               "it";
    case RUN_PROGRAM_SETUID:
        return "runs with other rights than yours (setuid, setgid or capabilities), so nothing is "
               "preloaded; record a copy without them, or run it as the user who has them";
    case RUN_PROGRAM_SANITIZED:
        return "built with a sanitizer, which has its own malloc and must come before other "
               "libraries; record a build without -fsanitize";
    case RUN_PROGRAM_OTHER_LIBC:
        return "its C library is not glibc, which the recorder needs; record a build for glibc";
    case RUN_PROGRAM_FOREIGN:
        return "not a 64-bit x86 program, the only kind that can be recorded here; record a build "
               "for "
               "x86-64";
    default:
        return "can be recorded";
    }
}
