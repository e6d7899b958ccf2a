/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/exec_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/os/program_image.h"
#include "capture/os/program_search.h"
#include "capture/os/seccomp/seccomp.h"

static const char preload_name[] = "LD_PRELOAD=";
static const char options_name[] = "MPROF_OPTIONS=";
static const char without_name[] = "without=";
static const char own_name[] = "libmprof.so", sized_name[] = "libmprof_sized.so";

#define PRELOAD_NAME_LENGTH (sizeof(preload_name) - 1)
/* The bytes for the list of all calls. */
#define CALLS_TEXT (REQUIRED_CALLS_TEXT + sizeof(without_name) + 1)

static bool is_preload(const char *entry)
{
    return strncmp(entry, preload_name, PRELOAD_NAME_LENGTH) == 0;
}

/* Returns the next part of the list, and moves `*list` past it. The loader splits the list at
 * spaces and colons. NULL: there are no more. */
static const char *next_part(const char **list, size_t *length)
{
    const char *part = *list;
    if (part) {
        *length = strcspn(part, ": ");
        *list = part[*length] ? part + *length + 1 : NULL;
    }
    return part;
}

static bool part_is(const char *part, size_t length, const char *name)
{
    const size_t size = strlen(name);
    return length >= size && strncmp(part + length - size, name, size) == 0 &&
           (length == size || part[length - size - 1] == '/');
}

static bool part_is_own(const char *part, size_t length)
{
    return part_is(part, length, own_name) || part_is(part, length, sized_name) ||
           part_is(part, length, "libmprof_operators.so") ||
           part_is(part, length, "libmprof_python.so") || part_is(part, length, "libmprof_ecl.so");
}

static bool preloads(const char *entry, const char *name)
{
    const char *list = entry + PRELOAD_NAME_LENGTH, *part;
    size_t length;
    while ((part = next_part(&list, &length)))
        if (part_is(part, length, name))
            return true;
    return false;
}

/* Tells whether the environment preloads the library of that name. */
static bool environment_preloads(char *const envp[], const char *name)
{
    for (; envp && *envp; envp++)
        if (is_preload(*envp) && strlen(*envp) < EXEC_TEXT_MAX && preloads(*envp, name))
            return true;
    return false;
}

/* Returns the number of all entries, the end included. 0 if the recorder is not preloaded. */
static size_t count_entries(char *const envp[])
{
    size_t count = 0;
    if (!environment_preloads(envp, own_name))
        return 0;
    while (envp[count])
        count++;
    return count + 1;
}

/* Opens the file to execute for reading. Returns its descriptor, or a negative errno. */
static int open_program(int directory, const char *path, int flags)
{
    struct stat status;
    char own[32] = "/proc/self/fd/", digits[24];
    if (!*path && (flags & AT_EMPTY_PATH)) {
        if (directory < 0)
            return -EBADF;
        /* Open it again, since the descriptor may not be for reading. */
        digits[sizeof(digits) - 1] = 0;
        const char *number = os_decimal(digits + sizeof(digits) - 1, (uint64_t)directory);
        memcpy(own + strlen(own), number, strlen(number) + 1);
        path = own;
        flags = 0;
    }
    const int descriptor = (int)os_call(SYS_openat, directory, (long)path,
                                        O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                            (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
                                        0, 0, 0);
    if (descriptor >= 0 && os_status(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return descriptor;
    if (descriptor >= 0)
        os_close(descriptor);
    return descriptor < 0 ? descriptor : -EACCES;
}

/* Returns the kind of the program, for a script that of its interpreter. Closes the descriptor. */
static enum program_kind kind_of(int descriptor)
{
    char path[PATH_MAX];
    enum program_kind kind = PROGRAM_DYNAMIC;
    for (int depth = 0; descriptor >= 0 && depth <= PROGRAM_SCRIPTS_MAX; depth++) {
        kind = program_image_read(descriptor);
        const bool script = program_image_interpreter(descriptor, path, sizeof(path));
        os_close(descriptor);
        descriptor = script ? open_program(AT_FDCWD, path, 0) : -ENOENT;
    }
    if (descriptor >= 0)
        os_close(descriptor);
    return kind;
}

/* Chooses the environment; the program's own has this many entries. The result has 0 entries if
 * nothing has to change. Closes the descriptor. */
static struct exec_environment choose(int descriptor, char *const envp[], size_t entries)
{
    const struct exec_environment unrecorded = {.entries = entries, .unrecorded = true};
    struct exec_environment confined = {0};
    const enum program_kind kind = kind_of(descriptor);
    bool possible = true;
    if (kind == PROGRAM_SANITIZED)
        message_line("an executed program is built with a sanitizer and runs unrecorded. Record a "
                     "build without -fsanitize.",
                     NULL);
    else if (kind == PROGRAM_OTHER_LIBC)
        message_line(
            "the C library of an executed program is not glibc: it runs unrecorded. Record a "
            "build for glibc.",
            NULL);
    else {
        /* The options may need one more entry. */
        if (os_is_confined() && required_calls_forbidden(NULL, &possible) > 0)
            confined.entries = entries + 1;
        confined.unsized = kind != PROGRAM_CXX && environment_preloads(envp, sized_name);
        if (confined.unsized && confined.entries == 0)
            confined.entries = entries;
        else if (confined.unsized)
            possible = false; /* two entries would have to change */
        if (possible)
            return confined;
        message_line("the program's own seccomp filter forbids what recording needs; an executed "
                     "program runs unrecorded. Allow these calls in the filter.",
                     NULL);
    }
    return unrecorded;
}

struct exec_environment exec_environment_at(int directory, const char *path, int flags,
                                            char *const envp[])
{
    const size_t count = count_entries(envp);
    return path && count ? choose(open_program(directory, path, flags), envp, count)
                         : (struct exec_environment){0};
}

struct exec_environment exec_environment_of_descriptor(int descriptor, char *const envp[])
{
    return exec_environment_at(descriptor, "", AT_EMPTY_PATH, envp);
}

struct exec_environment exec_environment_of(const char *file, bool search, char *const envp[])
{
    struct program_search places;
    char path[PATH_MAX];
    const size_t count = count_entries(envp);
    int descriptor = -ENOENT;
    if (!file || count == 0)
        return (struct exec_environment){0};
    if (!search)
        return exec_environment_at(AT_FDCWD, file, 0, envp);
    program_search_begin(&places, file);
    while (descriptor < 0 && program_search_next(&places, path, sizeof(path)))
        descriptor = open_program(AT_FDCWD, path, 0);
    return choose(descriptor, envp, count);
}

/* Leaves libraries out of LD_PRELOAD: all of the recorder, or libmprof_sized.so alone. */
static void fill_without(char *const envp[], bool all, char **entries, char *preload)
{
    size_t count = 0, used = PRELOAD_NAME_LENGTH;
    memcpy(preload, preload_name, PRELOAD_NAME_LENGTH);
    for (; *envp; envp++) {
        if (!is_preload(*envp) || strlen(*envp) >= EXEC_TEXT_MAX) {
            entries[count++] = *envp;
            continue;
        }
        const char *list = *envp + PRELOAD_NAME_LENGTH, *part;
        for (size_t length; (part = next_part(&list, &length));) {
            if (!length || (all ? part_is_own(part, length) : part_is(part, length, sized_name)))
                continue;
            if (used > PRELOAD_NAME_LENGTH)
                preload[used++] = ':';
            memcpy(preload + used, part, length);
            used += length;
        }
        preload[used] = 0;
        if (used > PRELOAD_NAME_LENGTH)
            entries[count++] = preload;
    }
    entries[count] = NULL;
}

/* Writes the MPROF_OPTIONS of the next program: `old` (NULL: none) and the forbidden calls. */
static void write_options(const char *old, char *text)
{
    bool possible = true;
    size_t used = sizeof(options_name) - 1;
    memcpy(text, options_name, sizeof(options_name));
    /* The calls that were forbidden before still are: they come with the rest. */
    for (size_t length; old && *old; old += length + (old[length] != 0)) {
        length = strcspn(old, ",");
        if (strncmp(old, without_name, sizeof(without_name) - 1) != 0) {
            memcpy(text + used, old, length);
            used += length;
            text[used++] = ',';
        }
    }
    memcpy(text + used, without_name, sizeof(without_name));
    required_calls_forbidden(text + used + sizeof(without_name) - 1, &possible);
}

static void fill_confined(char *const envp[], char **entries, char *text)
{
    const size_t name = sizeof(options_name) - 1;
    const char *old = NULL;
    size_t count = 0;
    for (; *envp; envp++)
        if (strncmp(*envp, options_name, name) == 0 && strlen(*envp) < EXEC_TEXT_MAX - CALLS_TEXT)
            old = *envp + name;
        else
            entries[count++] = *envp;
    write_options(old, text);
    entries[count++] = text;
    entries[count] = NULL;
}

char *const *exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                                   char **entries, char *text)
{
    if (environment->entries == 0)
        return envp;
    if (environment->unrecorded || environment->unsized)
        fill_without(envp, environment->unrecorded, entries, text);
    else
        fill_confined(envp, entries, text);
    return entries;
}
