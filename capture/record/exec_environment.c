/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/exec_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/os/own_variables.h"
#include "capture/os/program_image.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/os/trace_name.h"
#include "capture/record/file.h"
#include "capture/record/process_record.h"

static const char without_name[] = "without=";

#define PRELOAD_NAME_LENGTH (sizeof(OWN_PRELOAD) - 1)
/* The bytes for the list of all calls, and the name of its variable. */
#define CALLS_TEXT (REQUIRED_CALLS_TEXT + sizeof(without_name) + sizeof(OWN_OPTIONS))
/* The entries that may be added, and the end. */
#define ADDED_MAX 4u
#define ANY_LENGTH ((size_t)1 << 30)

/* Returns the value of the variable ("NAME="), or NULL. The last one counts, as for the loader. */
static const char *value_in(char *const envp[], const char *name)
{
    const char *found = NULL;
    for (; envp && *envp; envp++) {
        const char *value = own_variables_value(*envp, name);
        found = value ? value : found;
    }
    return found;
}

static size_t count_entries(char *const envp[])
{
    size_t count = 0;
    while (envp && envp[count])
        count++;
    return count;
}

/* Opens the file to execute for reading. Returns its descriptor, or a negative errno. */
static int open_program(int directory, const char *path, int flags)
{
    struct stat status;
    char own[32] = "/proc/self/fd/";
    if (!*path && (flags & AT_EMPTY_PATH)) {
        if (directory < 0)
            return -EBADF;
        /* Open it again, since the descriptor may not be for reading. */
        const char *number = OS_DECIMAL((uint64_t)directory);
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

/* Writes the path of an open file, as far as it fits. */
static void name_of(int descriptor, char name[EXEC_PROGRAM_MAX])
{
    char link[32] = "/proc/self/fd/";
    const char *number = OS_DECIMAL((uint64_t)descriptor);
    memcpy(link + strlen(link), number, strlen(number) + 1);
    if (os_read_link(link, name, EXEC_PROGRAM_MAX) < 0)
        name[0] = 0;
}

/* Returns the kind of the program, for a script that of its interpreter, and writes its path.
 * Closes the descriptor. */
static enum program_kind kind_of(int descriptor, char program[EXEC_PROGRAM_MAX], bool *rights)
{
    char path[PATH_MAX];
    enum program_kind kind = PROGRAM_DYNAMIC;
    for (int depth = 0; descriptor >= 0 && depth <= PROGRAM_SCRIPTS_MAX; depth++) {
        kind = program_image_read(descriptor);
        const bool script = program_image_interpreter(descriptor, path, sizeof(path));
        if (!script) {
            name_of(descriptor, program);
            *rights = program_image_raises_rights(descriptor);
        }
        os_close(descriptor);
        descriptor = script ? open_program(AT_FDCWD, path, 0) : -ENOENT;
    }
    if (descriptor >= 0)
        os_close(descriptor);
    return kind;
}

/* Returns true if the loader, which will have this root folder and these rights, can read all of
 * the recorder's libraries in the list. */
static bool is_reachable(const char *list)
{
    char path[PATH_MAX];
    const char *part;
    for (size_t length; (part = own_variables_next(&list, NULL, true, &length));) {
        if (length >= sizeof(path) || !memchr(part, '/', length))
            continue;
        memcpy(path, part, length);
        path[length] = 0;
        const long result = os_call(SYS_faccessat, AT_FDCWD, (long)path, R_OK, 0, 0, 0);
        if (result == -ENOENT || result == -EACCES || result == -ENOTDIR)
            return false;
    }
    return true;
}

/* Returns why nothing of the program can be recorded. Sets *bare and says so in one line if the
 * recorder has to be left out. `possible`: filters allow what recording needs. */
static enum trace_unrecorded judge(enum program_kind kind, bool rights, const char *libraries,
                                   bool possible, bool *bare)
{
    static const struct {
        enum trace_unrecorded reason;
        const char *line;
    } kinds[] = {
        [PROGRAM_STATIC] = {TRACE_UNRECORDED_STATIC, NULL},
        [PROGRAM_FOREIGN] = {TRACE_UNRECORDED_FOREIGN,
                             "an executed program is not a 64-bit x86 program: it runs unrecorded, "
                             "and so does what it executes. Record a build for x86-64."},
        [PROGRAM_SANITIZED] = {TRACE_UNRECORDED_SANITIZED,
                               "an executed program is built with a sanitizer and runs "
                               "unrecorded. Record a build without -fsanitize."},
        [PROGRAM_OTHER_LIBC] =
            {TRACE_UNRECORDED_OTHER_LIBC,
             "the C library of an executed program is neither glibc nor musl: it "
             "runs unrecorded. Record a build for one of them."},
    };
    enum trace_unrecorded reason = TRACE_UNRECORDED_NOT;
    const char *line = NULL;
    if (kind == PROGRAM_LINKED)
        return TRACE_UNRECORDED_NOT;
    if (kind < sizeof(kinds) / sizeof(*kinds)) {
        reason = kinds[kind].reason;
        line = kinds[kind].line;
    }
    if (!reason && rights) {
        reason = TRACE_UNRECORDED_RIGHTS;
    } else if (!reason && !is_reachable(libraries)) {
        reason = TRACE_UNRECORDED_UNREACHABLE;
        line = "an executed program cannot read the recorder's library in its root folder or with "
               "its rights: it runs unrecorded. Install mprof where that program can read it.";
    } else if (!reason && !possible) {
        reason = TRACE_UNRECORDED_CONFINED;
        line = "the program's own seccomp filter forbids what recording needs; an executed "
               "program runs unrecorded. Allow these calls in the filter.";
    }
    if (line)
        message_line(line, NULL);
    *bare = line != NULL;
    return reason;
}

static bool is_active(char *const envp[])
{
    const char *preload = value_in(envp, OWN_PRELOAD);
    return own_variables.preload || own_variables.output || own_variables.options ||
           (preload && own_variables_has(preload, OWN_LIBRARY));
}

/* Chooses the environment. Closes the descriptor. */
static struct exec_environment choose(int descriptor, char *const envp[])
{
    struct exec_environment environment = {.entries = count_entries(envp) + ADDED_MAX,
                                           .preload = value_in(envp, OWN_PRELOAD)};
    const char *own = own_variables.preload, *libraries = environment.preload;
    bool rights = false, possible = true;
    const enum program_kind kind = kind_of(descriptor, environment.program, &rights);
    if (!libraries || !own_variables_has(libraries, OWN_LIBRARY))
        libraries = own ? own + PRELOAD_NAME_LENGTH : NULL;
    const bool confined = os_is_confined() && required_calls_forbidden(NULL, &possible) > 0;
    if (libraries) {
        environment.reason = judge(kind, rights, libraries, possible, &environment.bare);
        environment.unsized = kind != PROGRAM_CXX;
    }
    environment.text_size = PRELOAD_NAME_LENGTH + (own ? strlen(own) : 0) +
                            (environment.preload ? strlen(environment.preload) : 0) + 2;
    if (confined && !environment.bare) {
        environment.options = value_in(envp, OWN_OPTIONS);
        if (!environment.options)
            environment.options =
                own_variables.options ? own_variables.options + sizeof(OWN_OPTIONS) - 1 : "";
        environment.text_size += strlen(environment.options) + CALLS_TEXT;
    }
    return environment;
}

ARCH_ALIGNS_STACK struct exec_environment exec_environment_at(int directory, const char *path,
                                                              int flags, char *const envp[])
{
    return path && is_active(envp) ? choose(open_program(directory, path, flags), envp)
                                   : (struct exec_environment){0};
}

ARCH_ALIGNS_STACK struct exec_environment exec_environment_of_descriptor(int descriptor,
                                                                         char *const envp[])
{
    return envp ? exec_environment_at(descriptor, "", AT_EMPTY_PATH, envp)
                : (struct exec_environment){0};
}

ARCH_ALIGNS_STACK struct exec_environment exec_environment_of(const char *file, bool search,
                                                              char *const envp[])
{
    struct program_search places;
    char path[PATH_MAX];
    int descriptor = -ENOENT;
    if (!search || !file || !is_active(envp))
        return exec_environment_at(AT_FDCWD, file, 0, envp);
    program_search_begin(&places, file);
    while (descriptor < 0 && program_search_next(&places, path, sizeof(path)))
        descriptor = open_program(AT_FDCWD, path, 0);
    return choose(descriptor, envp);
}

/* Appends a text of at most `most` bytes. Another thread may be changing it. */
static char *append(char *to, const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    memcpy(to, text, length);
    to[length] = 0;
    return to + length;
}

/* Writes the LD_PRELOAD of the next program to *to and moves that past it. NULL: it has none. */
static char *write_preload(const struct exec_environment *environment, char **to)
{
    const char *own = own_variables.preload ? own_variables.preload + PRELOAD_NAME_LENGTH : NULL;
    const char *theirs = environment->preload;
    const size_t room = environment->text_size - PRELOAD_NAME_LENGTH - 2 - (own ? strlen(own) : 0);
    char *const entry = *to, *const list = append(entry, OWN_PRELOAD, ANY_LENGTH), *end = list;
    if (own && !environment->bare && !(theirs && own_variables_has(theirs, OWN_LIBRARY))) {
        end = append(end, own, ANY_LENGTH);
        if (theirs)
            end = append(end, ":", 1);
    } else if (!theirs) {
        return NULL;
    }
    if (theirs)
        end = append(end, theirs, room);
    *to = end + 1;
    if (environment->bare
            ? !own_variables_select(list, NULL, false, list)
            : environment->unsized && !own_variables_select(list, OWN_SIZED_LIBRARY, false, list))
        return NULL;
    return entry;
}

/* Writes the MPROF_OPTIONS of the next program: the old ones and the forbidden calls. */
static char *write_options(const char *old, size_t size, char *text)
{
    bool possible = true;
    char *end = append(text, OWN_OPTIONS, ANY_LENGTH), *const most = text + size - CALLS_TEXT;
    /* The calls that were forbidden before still are: they come with the rest. */
    for (size_t length; *old; old += length + (old[length] != 0)) {
        length = strcspn(old, ",");
        if (strncmp(old, without_name, sizeof(without_name) - 1) == 0)
            continue;
        if (length + 1 > (size_t)(most - end) + sizeof(OWN_OPTIONS))
            break;
        end = append(append(end, old, length), ",", 1);
    }
    end = append(end, without_name, ANY_LENGTH);
    required_calls_forbidden(end, &possible);
    return text;
}

char *const *exec_environment_fill(const struct exec_environment *environment, char *const envp[],
                                   char **entries, char *text)
{
    char *const text_end = text + environment->text_size;
    if (environment->entries == 0)
        return envp;
    char *preload = write_preload(environment, &text);
    char *options = (char *)(uintptr_t)own_variables.options;
    char *output = (char *)(uintptr_t)own_variables.output;
    if (environment->options)
        options = write_options(environment->options, (size_t)(text_end - text), text);
    size_t count = 0;
    /* Another thread may be adding entries. */
    for (size_t i = 0; i < environment->entries - ADDED_MAX && envp[i]; i++) {
        const char *value = own_variables_value(envp[i], OWN_PRELOAD);
        char *entry = envp[i];
        if (value && value == environment->preload) {
            entry = preload;
            preload = NULL;
        } else if (own_variables_value(entry, OWN_OUTPUT)) {
            output = NULL;
        } else if (own_variables_value(entry, OWN_OPTIONS)) {
            entry = environment->options ? options : entry;
            options = NULL;
        }
        if (entry)
            entries[count++] = entry;
    }
    char *const added[] = {preload, output, options};
    for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
        if (added[i])
            entries[count++] = added[i];
    entries[count] = NULL;
    return entries;
}

#define WORDS_MAX 128u

static bool is_wanted;

void unrecorded_program_want(bool wanted)
{
    is_wanted = wanted;
}

void unrecorded_program_note_self(const char *output, bool first)
{
    static char path[TRACE_NAME_SIZE], name[TRACE_NAME_SIZE]; /* one thread begins a recording */
    const char *words[WORDS_MAX + 1];
    if (!is_wanted || !output)
        return;
    executable_name(path, sizeof(path));
    process_record_words(words, WORDS_MAX);
    unrecorded_make(&(struct unrecorded){.base = trace_file_base(output),
                                         .first = first,
                                         .process = os_process_id(),
                                         .parent = (int)os_call(SYS_getppid, 0, 0, 0, 0, 0, 0),
                                         .path = path,
                                         .words = words,
                                         .reason = TRACE_UNRECORDED_OWN_ALLOCATOR},
                    name);
}

ARCH_ALIGNS_STACK void unrecorded_program_note(const struct exec_environment *environment,
                                               const char *path, char *const argv[], int process,
                                               char *name)
{
    const int own = os_process_id();
    name[0] = 0;
    if (!is_wanted || !environment->reason)
        return;
    const struct unrecorded program = {
        .base = trace_file_base(NULL),
        .process = process ? process : own,
        .parent = process ? own : (int)os_call(SYS_getppid, 0, 0, 0, 0, 0, 0),
        .path = environment->program[0] ? environment->program : path,
        .words = (const char *const *)argv,
        .reason = environment->reason};
    if (!program.base[0] || !program.path || !unrecorded_make(&program, name)) {
        name[0] = 0;
        trace_file_count_unnamed();
    }
}

void unrecorded_program_undo(const char *name)
{
    if (name[0])
        os_call_retry(SYS_unlink, (long)name, 0, 0, 0);
}
