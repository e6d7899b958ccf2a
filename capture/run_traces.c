#include "capture/run_traces.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/outside.h"

bool run_traces_is_beside(const char *base, const char *name)
{
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return false;
    /* PID or PID.N: what else begins so (a session, a part of one) is no trace. */
    const char *rest = name + length + 1;
    return *rest && strspn(rest, "0123456789.") == strlen(rest);
}

size_t run_traces_beside(const char *trace, time_t since,
                         void (*each)(void *context, const char *trace), void *context)
{
    char folder[PATH_MAX], path[PATH_MAX + 256];
    struct dirent **entries;
    snprintf(folder, sizeof folder, "%s", trace);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return 0;
    const char *base = trace + (slash - folder) + 1;
    slash[slash == folder] = 0;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct stat status;
        int length =
            snprintf(path, sizeof path, "%.*s%s", (int)(base - trace), trace, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path &&
            run_traces_is_beside(base, entries[i]->d_name) && stat(path, &status) == 0 &&
            status.st_mtime >= since)
            each(context, path);
        free(entries[i]);
    }
    if (count < 0)
        return 0;
    free(entries);
    return (size_t)count;
}

void run_traces_last(const char *trace, time_t since, char last[TRACE_NAME_SIZE])
{
    struct outside outside;
    struct stat status;
    char next[TRACE_NAME_SIZE];
    snprintf(last, TRACE_NAME_SIZE, "%s", trace);
    if (outside_open(&outside, trace) != OUTSIDE_GOOD)
        return;
    const int process = (int)outside.header->pid;
    outside_close(&outside);
    for (unsigned attempt = 1; trace_name_attempt(trace, process, attempt, next) &&
                               stat(next, &status) == 0 && status.st_mtime >= since;
         attempt++)
        memcpy(last, next, sizeof next);
}
