/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/libraries.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/elf_symbols.h"
#include "capture/os/program_image.h"

/* Finds the loader that the file names. Returns false unless that loader knows --list, because
 * another one might run the program. */
static bool find_loader(const char *binary, char loader[PATH_MAX])
{
    static const char known[] = "/ld-linux-x86-64.so.2";
    int descriptor = open(binary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool named = program_image_loader(descriptor, loader, PATH_MAX);
    const char *name = named ? strrchr(loader, '/') : NULL;
    close(descriptor);
    return name && strcmp(name, known) == 0;
}

/* Returns the standard output of `loader --list binary`, or NULL if that cannot be started. */
static FILE *list_libraries(const char *loader, const char *binary, pid_t *process)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    *process = fork();
    if (*process == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 &&
            dup2(nothing, STDERR_FILENO) >= 0)
            execl(loader, loader, "--list", binary, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *list = *process > 0 ? fdopen(ends[0], "r") : NULL;
    if (!list) {
        close(ends[0]);
        if (*process > 0)
            waitpid(*process, NULL, 0);
    }
    return list;
}

/* Returns the path in "  name => /path (0x…)" or "  /path (0x…)", or NULL. */
static char *path_of(char *line)
{
    char *path = strchr(line, '/');
    char *end = path ? strstr(path, " (0x") : NULL;
    char *arrow = path ? strstr(path, " => ") : NULL;
    if (arrow)
        path = arrow + 4;
    if (!end)
        return NULL;
    *end = 0;
    return path;
}

/* The last list: paths, each with a line feed after it. */
static struct {
    char *binary, *paths;
} last;

/* Sets the paths of `last`. Returns false if they cannot be told. */
static bool read_list(const char *binary)
{
    char loader[PATH_MAX], line[PATH_MAX + 256];
    pid_t process;
    size_t size;
    FILE *list = find_loader(binary, loader) ? list_libraries(loader, binary, &process) : NULL;
    FILE *paths = list ? open_memstream(&last.paths, &size) : NULL;
    while (paths && fgets(line, sizeof(line), list)) {
        const char *path = path_of(line);
        if (path)
            fprintf(paths, "%s\n", path);
    }
    if (list) {
        fclose(list);
        waitpid(process, NULL, 0);
    }
    /* Without memory a stream has an error, or no text. */
    const bool whole = paths && !ferror(paths);
    return paths && fclose(paths) == 0 && whole && last.paths;
}

bool run_libraries(const char *binary, void (*note)(void *context, const char *path), void *context)
{
    if (!last.binary || strcmp(last.binary, binary) != 0) {
        free(last.binary);
        free(last.paths);
        last.paths = NULL;
        last.binary = read_list(binary) ? strdup(binary) : NULL;
    }
    if (!last.binary)
        return false;
    for (const char *at = last.paths, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        char path[PATH_MAX + 256];
        snprintf(path, sizeof(path), "%.*s", (int)(end - at), at);
        note(context, path);
    }
    return true;
}

bool run_library_is(const char *path, const char *beginning)
{
    const char *name = strrchr(path, '/');
    return name && strncmp(name + 1, beginning, strlen(beginning)) == 0;
}

/* ---- one function or library ------------------------------------------------------------ */

struct search {
    const char *function, *library;
    bool found;
};

static void note_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct search *search = context;
    (void)address;
    (void)size;
    search->found = search->found || strcmp(name, search->function) == 0;
}

static void note_library(void *context, const char *path)
{
    struct search *search = context;
    search->found = search->found || run_library_is(path, search->library);
}

bool run_is_linked(const char *binary, const char *function, const char *library)
{
    struct search search = {function, library, false};
    elf_symbols_of(binary, note_symbol, &search);
    if (!search.found)
        run_libraries(binary, note_library, &search);
    return search.found;
}
