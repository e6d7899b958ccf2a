/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points that start a shell: system, popen and wordexp. The C library's own pass `environ`
 * to the shell, in which the recorder's variables are missing (own_variables.h).
 *
 * The C library still does all of the work, with its signals, cancellation and streams. system and
 * popen get a command that sets the variables and executes the shell again with the program's
 * command: other threads, which may read and change `environ` at any time, see nothing of it. A
 * shell has one exec more and another list of arguments. wordexp has no place for such a command,
 * and no other thread may change the environment while it runs: there the variables are in
 * `environ` during the call, if it can execute a command at all. */
#include <errno.h>
#include <paths.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "capture/entry/names.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/own_variables.h"
#include "capture/record/exec_environment.h"
#include "capture/record/real.h"

NEXT_FUNCTION(system)
NEXT_FUNCTION(popen)
NEXT_FUNCTION(wordexp)
NEXT_FUNCTION(posix_spawn)
NEXT_FUNCTION(posix_spawnp)

/* The kernel's limit for one argument. */
#define COMMAND_MAX ((size_t)32 * 4096)

/* Appends `text` to *to as one word of the shell. With *to NULL it only counts. */
static void put(char **to, size_t *size, const char *text, bool quoted)
{
    static const char quote[] = "'\\''";
    for (; *text; text++) {
        const bool special = quoted && *text == '\'';
        const size_t length = special ? sizeof(quote) - 1 : 1;
        if (*to) {
            memcpy(*to, special ? quote : text, length);
            *to += length;
        }
        *size += length;
    }
}

/* Writes the command to `to`, or only counts if that is NULL. Returns its bytes. */
static size_t put_command(char *to, char *const *entries, const char *command)
{
    static const char *const names[] = {OWN_PRELOAD, OWN_OUTPUT, OWN_OPTIONS};
    size_t size = 1;
    put(&to, &size, "export", false);
    for (; *entries; entries++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
            const char *value = own_variables_value(*entries, names[i]);
            if (!value)
                continue;
            put(&to, &size, " ", false);
            put(&to, &size, names[i], false);
            put(&to, &size, "'", false);
            put(&to, &size, value, true);
            put(&to, &size, "'", false);
        }
    put(&to, &size, ";exec " _PATH_BSHELL " -c '", false);
    put(&to, &size, command, true);
    put(&to, &size, "' sh", false);
    if (to)
        *to = 0;
    return size;
}

/* Returns the command to give to the shell, in pages of `*size` bytes. NULL: the program's own. A
 * command that looks like an option is one for some shells and none for others. */
static ARCH_ALIGNS_STACK char *make_command(const char *command, size_t *size)
{
    if (!command || *command == '-' || *command == '+')
        return NULL;
    const struct exec_environment choice = exec_environment_of(_PATH_BSHELL, false, environ);
    if (choice.entries == 0 || choice.bare)
        return NULL;
    char *entries[choice.entries], text[choice.text_size];
    char *const *envp = exec_environment_fill(&choice, environ, entries, text);
    *size = put_command(NULL, envp, command);
    char *made = *size <= COMMAND_MAX ? os_map(*size) : NULL;
    if (made)
        put_command(made, envp, command);
    return made;
}

ENTRY_POINT int system(const char *command)
{
    __typeof__(system) *next = next_system();
    size_t size;
    /* Without a command the C library asks whether there is a shell: one that ends at once. */
    char *made = make_command(command ? command : "exit 0", &size);
    const int result = next(made ? made : command);
    if (made)
        os_unmap(made, size);
    return command || !made ? result : result == 0;
}

ENTRY_POINT FILE *popen(const char *command, const char *type)
{
    __typeof__(popen) *next = next_popen();
    size_t size;
    char *made = make_command(command, &size);
    FILE *stream = next(made ? made : command, type);
    if (made)
        os_unmap(made, size);
    return stream;
}

/* Takes the variables out of an array that the C library has made from `entries`. */
static void take_out(char **array, char *const *entries, char *const *before)
{
    static char *const none[] = {NULL};
    size_t used = 0;
    before = before ? before : none;
    if (!array)
        return;
    for (size_t i = 0; array[i]; i++) {
        char *entry = array[i];
        size_t at = 0, old = 0;
        while (entries[at] && entries[at] != entry)
            at++;
        while (before[old] && before[old] != entry)
            old++;
        if (!entries[at] || before[old]) { /* the program's own */
            array[used++] = entry;
            continue;
        }
        for (old = 0; before[old]; old++)
            if (own_variables_value(entry, OWN_PRELOAD) &&
                own_variables_value(before[old], OWN_PRELOAD)) {
                array[used++] = before[old];
                break;
            }
    }
    array[used] = NULL;
}

ENTRY_POINT int wordexp(const char *words, wordexp_t *result, int flags)
{
    __typeof__(wordexp) *next = next_wordexp();
    if (!words || (flags & WRDE_NOCMD) || (!strchr(words, '`') && !strstr(words, "$(")))
        return next(words, result, flags);
    const struct exec_environment choice = exec_environment_of(_PATH_BSHELL, false, environ);
    const size_t size = choice.entries * sizeof(char *) + choice.text_size;
    /* Not on the stack: a thread that is cancelled in the call leaves it there. */
    char **entries = choice.entries ? os_map(size) : NULL;
    if (!entries)
        return next(words, result, flags);
    char **const before = environ;
    exec_environment_fill(&choice, before, entries, (char *)(entries + choice.entries));
    environ = entries;
    const int status = next(words, result, flags);
    if (environ == entries)
        environ = before;
    else /* the words have set a variable */
        take_out(environ, entries, before);
    os_unmap(entries, size);
    return status;
}

/* Entry points that start another process: posix_spawn and posix_spawnp. They record nothing, but
 * choose the environment of programs that cannot be recorded. */

static int spawn(bool search, pid_t *process, const char *file,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    int error = errno;
    __typeof__(posix_spawn) *next = search ? next_posix_spawnp() : next_posix_spawn();
    EXEC_ENVIRONMENT_ON_STACK(envp, exec_environment_of(file, search, envp));
    char note[UNRECORDED_NAME_SIZE(exec_choice)];
    pid_t child = 0;
    errno = error;
    const int result = next(process ? process : &child, file, actions, attributes, argv, envp);
    error = errno;
    if (result == 0)
        unrecorded_program_note(&exec_choice, file, argv, process ? *process : child, note);
    errno = error;
    return result;
}

ENTRY_POINT int posix_spawn(pid_t *process, const char *path,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const argv[],
                            char *const envp[])
{
    return spawn(false, process, path, actions, attributes, argv, envp);
}

ENTRY_POINT int posix_spawnp(pid_t *process, const char *file,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const argv[],
                             char *const envp[])
{
    return spawn(true, process, file, actions, attributes, argv, envp);
}
