/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/graphs.h"
#include "tui/browser/browser_state.h"
#include "tui/keys/action_names.h"
#include "tui/keys/user_keys.h"
#include "tui/screen/key_names.h"
#include "tui/screen/theme.h"

enum { SIZE_MOST = 65536 };

struct reading {
    bool *themed;
    char problem[300]; /* of the present line; "": none */
};

/* Writes text from outside in its printable form. Returns `out`. */
static const char *printable(char *out, size_t size, const char *text)
{
    session_printable(out, size, text);
    return out;
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Cuts the next word off. Returns NULL if there is none. */
static char *next_word(char **rest)
{
    char *word;
    while ((word = strsep(rest, " \t")) && !*word)
        continue;
    return word;
}

static void read_theme(struct reading *reading, char *rest)
{
    enum theme_kind kind;
    const char *name = next_word(&rest);
    if (!name || !theme_from_name(name, &kind) || next_word(&rest)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected theme dark, light, colour-blind or mono");
        return;
    }
    theme_use(kind);
    *reading->themed = true;
}

static void read_hide(struct reading *reading, char *rest)
{
    struct session_error error = {.message = ""};
    while (rest && (*rest == ' ' || *rest == '\t'))
        rest++;
    if (!rest || !*rest)
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected hide and a namespace, class, module or function");
    else if (!session_hide_always(rest, &error))
        snprintf(reading->problem, sizeof(reading->problem), "%.250s", error.message);
}

static void read_key(struct reading *reading, char *rest)
{
    struct user_key key = {.view = VIEWS};
    char shown[100], names[200];
    const char *name = next_word(&rest), *action = next_word(&rest), *view = next_word(&rest);
    if (!name || !action || next_word(&rest)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected key, its name, an action, and perhaps a view");
    } else if (!(key.key = key_from_name(name))) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected a key such as J, Ctrl-J, PgDn or Space, not \"%s\"",
                 printable(shown, sizeof(shown), name));
    } else if (!action_from_name(action, &key.action)) {
        snprintf(reading->problem, sizeof(reading->problem),
                 "expected an action of those that --print-config lists, not \"%s\"",
                 printable(shown, sizeof(shown), action));
    } else if (view && (key.view = browser_find_view(view, true)) == VIEW_SAME) {
        snprintf(reading->problem, sizeof(reading->problem), "expected a view of %s, not \"%s\"",
                 browser_view_names(names, sizeof(names)), printable(shown, sizeof(shown), view));
    } else if (!user_keys_bind(&key)) {
        snprintf(reading->problem, sizeof(reading->problem), "expected at most %d keys",
                 USER_KEYS_MOST);
    }
}

static void read_line(struct reading *reading, char *line)
{
    static const struct {
        const char *name;
        void (*read)(struct reading *reading, char *rest);
    } kinds[] = {{"theme", read_theme}, {"hide", read_hide}, {"key", read_key}};
    char shown[100], *rest = line;
    reading->problem[0] = 0;
    /* Blanks and a carriage return at the end mean nothing. */
    for (size_t length = strlen(line); length > 0 && strchr(" \t\r", line[length - 1]);)
        line[--length] = 0;
    if (line[strspn(line, " \t")] == '#')
        return;
    const char *word = next_word(&rest);
    if (!word)
        return;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, word) == 0) {
            kinds[i].read(reading, rest);
            return;
        }
    }
    snprintf(reading->problem, sizeof(reading->problem), "expected theme, hide or key, not \"%s\"",
             printable(shown, sizeof(shown), word));
}

/* ---- file ------------------------------------------------------------------------------- */

/* Writes the file's path. Returns false if the environment names no folder. */
static bool find_path(char *out, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = -1;
    if (config && *config == '/')
        length = snprintf(out, size, "%s/mprof/tui.conf", config);
    else if (home && *home == '/')
        length = snprintf(out, size, "%s/.config/mprof/tui.conf", home);
    return length >= 0 && (size_t)length < size;
}

/* Returns the text, malloc()ed; NULL with `why` if it cannot be read, "" if there is no file. */
static char *read_file(const char *path, const char **why)
{
    struct stat about;
    *why = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
        return NULL;
    }
    char *text = malloc(SIZE_MOST + 1);
    size_t size = 0;
    ssize_t count = 0;
    if (!text)
        *why = SESSION_OUT_OF_MEMORY;
    else if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        *why = "is not a regular file";
    while (
        !**why && size < SIZE_MOST &&
        ((count = read(file, text + size, SIZE_MOST - size)) > 0 || (count < 0 && errno == EINTR)))
        size += count > 0 ? (size_t)count : 0;
    if (!**why && count < 0)
        *why = strerror(errno);
    else if (!**why && size == SIZE_MOST)
        *why = "is longer than 64 KiB";
    close(file);
    if (**why) {
        free(text);
        return NULL;
    }
    text[size] = 0;
    return text;
}

bool config_load(bool *themed, char error[CONFIG_ERROR_SIZE])
{
    struct reading reading = {.themed = themed};
    char path[4096], shown[200];
    const char *why;
    error[0] = 0;
    if (!find_path(path, sizeof(path)))
        return true;
    session_printable(shown, sizeof(shown), path);
    char *text = read_file(path, &why);
    if (!text) {
        if (*why)
            snprintf(error, CONFIG_ERROR_SIZE, "%s: %s", shown, why);
        return !*why;
    }
    int number = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        read_line(&reading, line);
        if (reading.problem[0] && !error[0])
            snprintf(error, CONFIG_ERROR_SIZE, "%s:%d: %s", shown, number, reading.problem);
    }
    free(text);
    return !error[0];
}

/* ---- the default one -------------------------------------------------------------------- */

static void print_binding(FILE *out, const struct key_binding *binding, const char *view)
{
    const char *action = action_name(binding->action);
    char name[KEY_NAME_SIZE];
    for (size_t i = 0; action && i < KEYS_MOST && binding->keys[i]; i++)
        fprintf(out, "#key %s %s%s%s\n", key_spelling(binding->keys[i], name), action,
                *view ? " " : "", view);
}

static void print_keys(FILE *out)
{
    fputs(
        "\n# Keys: key KEY ACTION binds a key in all views that know the action, and\n"
        "# key KEY ACTION VIEW in one view. The action none takes a key's meaning away. Keys are\n"
        "# single characters, Space, Enter, Tab, Shift-Tab, Esc, Backspace, Delete, Up, Down,\n"
        "# Left, Right, PgUp, PgDn, Home, End, and Ctrl-A to Ctrl-Z.\n\n# In all views:\n",
        out);
    for (size_t i = 0; i < shared_keys.count; i++)
        print_binding(out, &shared_keys.bindings[i], "");
    for (int i = 0; i < VIEWS; i++) {
        const struct view_ops *view = browser_view((enum view_number)i);
        if (!view || view->keys.count == 0)
            continue;
        fprintf(out, "\n# In %s:\n", view->name);
        for (size_t k = 0; k < view->keys.count; k++)
            print_binding(out, &view->keys.bindings[k], view->name);
    }
}

void config_print(FILE *out)
{
    fputs("# Configuration of mprof-tui, as it is without this file.\n"
          "# Its place is $XDG_CONFIG_HOME/mprof/tui.conf, or ~/.config/mprof/tui.conf.\n\n"
          "# The colours: dark, light, colour-blind or mono. --theme comes first.\n"
          "#theme dark\n\n"
          "# Code that is not your own, beside what is hidden by default (libc, std, boost, …):\n"
          "# a namespace, class, module or function, in all sessions.\n"
          "#hide vendor\n",
          out);
    print_keys(out);
}
