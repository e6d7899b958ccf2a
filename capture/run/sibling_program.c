/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/sibling_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/os/executable_name.h"
#include "cli/say.h"

bool sibling_program_folder(char *folder)
{
    char name[PATH_MAX];
    /* A sandbox may allow readlink, which every shell needs, and kill for readlinkat, which
     * executable_name() uses. */
    const ssize_t length = readlink("/proc/self/exe", name, sizeof(name) - 1);
    if (length > 0)
        name[length] = 0;
    else if (executable_name(name, sizeof(name)) == 0)
        return false;
    /* If /proc is missing, the name may lead through links. That of a deleted file leads
     * nowhere. */
    if (!realpath(name, folder))
        memcpy(folder, name, sizeof(name));
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

_Noreturn void sibling_program_become(const char *name, char *const argv[])
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    if (sibling_program_folder(folder)) {
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        execv(path, argv);
        say("mprof-run", "%s: cannot be run: %s; install it beside mprof-run", path,
            strerror(errno));
    }
    _exit(127);
}

int sibling_program_run(const char *name, char *const argv[])
{
    int status;
    pid_t process = fork();
    if (process == 0)
        sibling_program_become(name, argv);
    if (process < 0)
        return 127;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
