/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/editor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *last_component(const char *path)
{
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

/* Editors that take FILE:LINE after --goto instead of +LINE FILE. */
static bool wants_goto(const char *program)
{
    const char *name = last_component(program);
    return strcmp(name, "code") == 0 || strcmp(name, "codium") == 0;
}

bool editor_words(const char *editor, const char *path, uint32_t line, char **words, char *text,
                  size_t size)
{
    size_t count = 0, used = strlen(editor) + 1;
    char *rest = NULL;
    if (used >= size)
        return false;
    memcpy(text, editor, used);
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (count + 4 > EDITOR_WORDS)
            return false;
        words[count++] = word;
    }
    if (count == 0)
        return false;
    const bool together = wants_goto(words[0]);
    int length = together ? snprintf(text + used, size - used, "%s:%" PRIu32, path, line)
                          : snprintf(text + used, size - used, "+%" PRIu32, line);
    if (length < 0 || (size_t)length >= size - used)
        return false;
    if (together)
        words[count++] = (char *)"--goto";
    words[count++] = text + used;
    used += (size_t)length + 1;
    if (!together) {
        length = snprintf(text + used, size - used, "%s", path);
        if (length < 0 || (size_t)length >= size - used)
            return false;
        words[count++] = text + used;
    }
    words[count] = NULL;
    return true;
}

static const char *users_editor(void)
{
    const char *editor = getenv("VISUAL");
    if (!editor || !editor[strspn(editor, " \t")])
        editor = getenv("EDITOR");
    return editor && editor[strspn(editor, " \t")] ? editor : "vi";
}

/* Starts the editor with the usual signals. Returns an error number. */
static int start(char **words, pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t usual;
    posix_spawnattr_init(&attributes);
    sigemptyset(&usual);
    static const int signals[] = {SIGHUP, SIGINT,  SIGQUIT, SIGTERM, SIGSEGV,
                                  SIGBUS, SIGABRT, SIGFPE,  SIGILL,  SIGTSTP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&usual, signals[i]);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int result = posix_spawnp(child, words[0], NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    return result;
}

bool editor_run(const char *path, uint32_t line, char *error, size_t error_size)
{
    const char *editor = users_editor();
    char text[PATH_MAX + 1024];
    char *words[EDITOR_WORDS];
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t child;
    if (!editor_words(editor, path, line, words, text, sizeof(text))) {
        snprintf(error, error_size, "the editor \"%.80s\" has too many words", editor);
        return false;
    }
    /* Ctrl-C and Ctrl-\ are for the editor. */
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    const int result = start(words, &child);
    int status = 0;
    if (result == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    if (result != 0)
        snprintf(error, error_size, "the editor \"%.80s\" does not start: %s: set EDITOR", words[0],
                 strerror(result));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(error, error_size, "the editor \"%.80s\" does not start: set EDITOR", words[0]);
    return result == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}
