#include "capture/run_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "capture/program_image.h"

#define SCRIPT_DEPTH 4 /* interpreters that are scripts themselves: the kernel's own limit */

static bool program_is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* As execvp: a name with a slash is a path, any other is looked for in PATH. */
static enum run_program_verdict program_find(const char *name, char *path)
{
    const char *folders = getenv("PATH");
    bool seen = false;
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        if (!program_is_file(path))
            return RUN_PROGRAM_NOT_FOUND;
        return access(path, X_OK) == 0 ? RUN_PROGRAM_GOOD : RUN_PROGRAM_NOT_EXECUTABLE;
    }
    if (!*name)
        return RUN_PROGRAM_NOT_FOUND;
    for (const char *folder = folders ? folders : "/bin:/usr/bin"; folder;) {
        size_t length = strcspn(folder, ":");
        int written =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
        if (written > 0 && written < PATH_MAX && program_is_file(path)) {
            if (access(path, X_OK) == 0)
                return RUN_PROGRAM_GOOD;
            seen = true;
        }
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    return seen ? RUN_PROGRAM_NOT_EXECUTABLE : RUN_PROGRAM_NOT_FOUND;
}

static bool program_changes_identity(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static enum run_program_verdict program_check_elf(int descriptor, const Elf64_Ehdr *header)
{
    static const enum run_program_verdict verdicts[] = {[PROGRAM_DYNAMIC] = RUN_PROGRAM_GOOD,
                                                        [PROGRAM_STATIC] = RUN_PROGRAM_STATIC,
                                                        [PROGRAM_FOREIGN] = RUN_PROGRAM_FOREIGN,
                                                        [PROGRAM_SANITIZED] = RUN_PROGRAM_SANITIZED,
                                                        [PROGRAM_OTHER_LIBC] =
                                                            RUN_PROGRAM_OTHER_LIBC};
    return verdicts[program_image_kind(descriptor, header)];
}

/* "#! interpreter argument": the interpreter into `path`. */
static bool program_interpreter(char *line, char *path)
{
    char *from = line + 2 + strspn(line + 2, " \t");
    from[strcspn(from, " \t\r\n")] = 0;
    if (!*from)
        return false;
    snprintf(path, PATH_MAX, "%s", from);
    return true;
}

static enum run_program_verdict program_check_file(const char *start, char *path)
{
    char head[256];
    snprintf(path, PATH_MAX, "%s", start);
    for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) /* it may be run without being read: let the kernel say */
            return program_changes_identity(path) ? RUN_PROGRAM_SETUID : RUN_PROGRAM_GOOD;
        ssize_t length = read(descriptor, head, sizeof head - 1);
        enum run_program_verdict verdict = RUN_PROGRAM_GOOD;
        bool script = false;
        head[length > 0 ? length : 0] = 0;
        if (length >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0) {
            Elf64_Ehdr header;
            memcpy(&header, head, sizeof header);
            verdict = program_check_elf(descriptor, &header);
        } else
            script = length > 2 && head[0] == '#' && head[1] == '!';
        close(descriptor);
        if (!script)
            return verdict == RUN_PROGRAM_GOOD && program_changes_identity(path)
                       ? RUN_PROGRAM_SETUID
                       : verdict;
        if (!program_interpreter(head, path))
            return RUN_PROGRAM_GOOD;
    }
    return RUN_PROGRAM_GOOD;
}

enum run_program_verdict run_program_check(const char *name, char *path, char *binary)
{
    enum run_program_verdict verdict = program_find(name, path);
    return verdict == RUN_PROGRAM_GOOD ? program_check_file(path, binary) : verdict;
}

const char *run_program_explain(enum run_program_verdict verdict)
{
    switch (verdict) {
    case RUN_PROGRAM_NOT_FOUND:
        return "there is no such program";
    case RUN_PROGRAM_NOT_EXECUTABLE:
        return "this file is not executable";
    case RUN_PROGRAM_STATIC:
        return "statically linked, so nothing can be preloaded; link it with libmprof.a to record "
               "it";
    case RUN_PROGRAM_SETUID:
        return "runs with other rights than yours (setuid, setgid or capabilities), so nothing is "
               "preloaded; record a copy without them, or as their user";
    case RUN_PROGRAM_SANITIZED:
        return "built with a sanitizer, which brings its own malloc and lets no library come "
               "before "
               "it; record a build without -fsanitize";
    case RUN_PROGRAM_OTHER_LIBC:
        return "its C library is not glibc, which the recorder needs";
    case RUN_PROGRAM_FOREIGN:
        return "not a 64-bit x86 program, which is what this library records";
    default:
        return "can be recorded";
    }
}
