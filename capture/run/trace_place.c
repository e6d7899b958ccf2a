/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/trace_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/options/trace_name.h"
#include "capture/run/sandbox.h"
#include "cli/say.h"

/*
 * Returns the folder for traces that are named without one. The program runs even if the working
 * directory was deleted or cannot be named. The traces then go to the folder of temporary files.
 */
static const char *trace_folder(char folder[PATH_MAX])
{
    const char *temporary = getenv("TMPDIR");
    if (run_sandbox_allows(SYS_getcwd) && getcwd(folder, PATH_MAX))
        return folder;
    if (!temporary || temporary[0] != '/' || access(temporary, W_OK | X_OK) != 0)
        temporary = "/tmp";
    say("mprof-run", "the working directory no longer has a name: the trace goes to %s", temporary);
    return temporary;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool name_is_taken(const char *trace)
{
    char other[TRACE_NAME_SIZE];
    return access(trace, F_OK) == 0 ||
           (trace_name_folder(trace, other) && access(other, F_OK) == 0);
}

bool trace_place_name(const char *requested, const char *program, pid_t process, char *trace)
{
    char working[PATH_MAX];
    if (requested && requested[0] == '/')
        return snprintf(trace, PATH_MAX, "%s", requested) < PATH_MAX;
    const char *folder = trace_folder(working);
    if (requested)
        return snprintf(trace, PATH_MAX, "%s/%s", folder,
                        folder == working ? requested : last_part(requested)) < PATH_MAX;
    program = last_part(program);
    int length = snprintf(trace, PATH_MAX, "%s/mprof.%s.%d.bin", folder, program, (int)process);
    for (int again = 2; length < PATH_MAX && name_is_taken(trace); again++)
        length = snprintf(trace, PATH_MAX, "%s/mprof.%s.%d.%d.bin", folder, program, (int)process,
                          again);
    return length < PATH_MAX;
}
