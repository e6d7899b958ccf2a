/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/sibling_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "capture/run/client.h"
#include "schemas/trace_codec.h"
#include "schemas/trace_layout.h"

/* The header of a trace, and the beginning of its records. */
struct beginning {
    struct trace_file_header header;
    uint8_t records[2048];
    size_t length;
};

/* Reads an open trace. For another file the header is empty. */
static void read_beginning(int file, struct beginning *beginning)
{
    *beginning = (struct beginning){.length = 0};
    if (pread(file, &beginning->header, sizeof(beginning->header), 0) !=
            (ssize_t)sizeof(beginning->header) ||
        memcmp(beginning->header.magic, TRACE_MAGIC, sizeof(beginning->header.magic)) != 0) {
        beginning->header = (struct trace_file_header){0};
        return;
    }
    const ssize_t length = pread(file, beginning->records, sizeof(beginning->records),
                                 TRACE_FILE_HEADER_SIZE + TRACE_CHUNK_HEADER_SIZE);
    beginning->length = length > 0 ? (size_t)length : 0;
}

static void read_beginning_of(const char *trace, struct beginning *beginning)
{
    const int file = open(trace, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    read_beginning(file, beginning);
    if (file >= 0)
        close(file);
}

/* Writes the path in the PROCESS record, which comes before all records that are not extended. */
static void read_path(const struct beginning *beginning, char *path, size_t size)
{
    const uint8_t *at = beginning->records, *end = at + beginning->length;
    uint64_t value = 0, type = 0, length = 0;
    *path = 0;
    while (at < end && *at == TRACE_EXTENDED) {
        at++;
        if (!trace_get_varint(&at, end, &type) || !trace_get_varint(&at, end, &length))
            return;
        if (type == TRACE_EXT_PROCESS)
            break;
        at = length < (size_t)(end - at) ? at + length : end;
    }
    /* The process, the parent, the parent's trace, the length of the path. */
    for (unsigned i = 0; i < 4; i++)
        if (type != TRACE_EXT_PROCESS || !trace_get_varint(&at, end, &value))
            return;
    if (value > (size_t)(end - at) || value >= size)
        return;
    memcpy(path, at, value);
    path[value] = 0;
}

void trace_program_read(const char *trace, struct trace_program *program)
{
    struct beginning beginning;
    read_beginning_of(trace, &beginning);
    *program = (struct trace_program){.process = (pid_t)beginning.header.pid,
                                      .start_ns = beginning.header.start_monotonic_ns,
                                      .unrecorded = beginning.header.unrecorded,
                                      .unnamed = beginning.header.unnamed};
    read_path(&beginning, program->path, sizeof(program->path));
}

bool unrecorded_program_is(const char *trace)
{
    struct trace_program program;
    trace_program_read(trace, &program);
    return program.unrecorded != TRACE_UNRECORDED_NOT;
}

bool unrecorded_program_runs(int descriptor, pid_t process)
{
    struct beginning beginning;
    char path[PATH_MAX], link[64];
    read_beginning(descriptor, &beginning);
    read_path(&beginning, path, sizeof(path));
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)process);
    return client_is_same_file(path, link);
}

bool sibling_traces_is_name(const char *name)
{
    /* Other files in the folder (a session, a part of one) are not traces. */
    return *name >= '1' && *name <= '9' && strspn(name, "0123456789.") == strlen(name);
}

void sibling_traces_begin(const char *trace)
{
    char folder[TRACE_NAME_SIZE];
    if (trace_name_folder(trace, folder))
        mkdir(folder, 0700);
}

/* Returns true if the end of a name is that of a complete trace of a rotation: .rN. */
static bool is_rotated_end(const char *end)
{
    return end[0] == '.' && end[1] == 'r' && end[2] >= '1' && end[2] <= '9' &&
           end[2 + strspn(end + 2, "0123456789")] == 0;
}

/* Returns true if the name is one that a recorder gives to a trace in the folder. */
static bool is_recorded_name(const char *name)
{
    const char *end = strstr(name, ".r");
    return *name >= '1' && *name <= '9' &&
           (sibling_traces_is_name(name) ||
            (end && is_rotated_end(end) &&
             strspn(name, "0123456789.") == (size_t)(end - name) + 1));
}

static size_t each_of(const char *trace, time_t since, bool (*wanted)(const char *name),
                      void (*each)(void *context, const char *trace), void *context)
{
    char folder[TRACE_NAME_SIZE], path[TRACE_NAME_SIZE + 256];
    struct dirent **entries;
    const int count =
        trace_name_folder(trace, folder) ? scandir(folder, &entries, NULL, versionsort) : -1;
    for (int i = 0; i < count; i++) {
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (wanted(entries[i]->d_name) && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_mtime >= since)
            each(context, path);
        free(entries[i]);
    }
    if (count < 0)
        return 0;
    free(entries);
    return (size_t)count;
}

size_t sibling_traces_each(const char *trace, time_t since,
                           void (*each)(void *context, const char *trace), void *context)
{
    return each_of(trace, since, sibling_traces_is_name, each, context);
}

enum file_kind { NO_TRACE, NOT_BEGUN, TRACE };

/* Looks whether the file is a trace. If a process ends as its trace begins, the file is empty, or
 * its header consists of zeros. */
static enum file_kind kind_of(const char *path)
{
    static const char zeros[TRACE_FILE_HEADER_SIZE];
    char begin[TRACE_FILE_HEADER_SIZE + 1];
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, begin, sizeof(begin));
    if (file >= 0)
        close(file);
    if (length == 0 || (length == sizeof(zeros) && memcmp(begin, zeros, sizeof(zeros)) == 0))
        return NOT_BEGUN;
    const ssize_t magic = sizeof(TRACE_MAGIC) - 1;
    return length >= magic && memcmp(begin, TRACE_MAGIC, (size_t)magic) == 0 ? TRACE : NO_TRACE;
}

/* A process that still runs may just be about to begin. */
static void remove_not_begun(void *context, const char *path)
{
    const pid_t process = (pid_t)strtol(strrchr(path, '/') + 1, NULL, 10);
    if (kind_of(path) == NOT_BEGUN && kill(process, 0) != 0 && errno == ESRCH)
        unlink(path);
}

void sibling_traces_end(const char *trace)
{
    char folder[TRACE_NAME_SIZE];
    if (kind_of(trace) == NOT_BEGUN)
        unlink(trace);
    sibling_traces_each(trace, 0, remove_not_begun, NULL);
    if (trace_name_folder(trace, folder))
        rmdir(folder);
}

static void count_trace(void *context, const char *path)
{
    *(size_t *)context += kind_of(path) != NO_TRACE;
}

static void remove_one(void *context, const char *path)
{
    unlink(path);
}

/* A file with a trace's name may belong to someone else. So this removes all files or none. */
bool sibling_traces_remove(const char *trace)
{
    char folder[TRACE_NAME_SIZE];
    struct stat status;
    size_t traces = 0;
    if (!trace_name_folder(trace, folder) || lstat(folder, &status) != 0)
        return false;
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    if (each_of(trace, 0, is_recorded_name, count_trace, &traces) > traces + 2) { /* "." and ".." */
        errno = ENOTEMPTY;
        return false;
    }
    each_of(trace, 0, is_recorded_name, remove_one, NULL);
    return rmdir(folder) == 0 || errno == ENOENT;
}

void sibling_traces_remove_rotated(const char *trace)
{
    char folder[PATH_MAX], path[PATH_MAX + 256];
    struct dirent **entries;
    snprintf(folder, sizeof(folder), "%s", trace);
    char *slash = strrchr(folder, '/');
    const char *base = slash ? trace + (slash - folder) + 1 : trace;
    if (slash)
        slash[slash == folder] = 0;
    const int count = scandir(slash ? folder : ".", &entries, NULL, NULL);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", slash ? folder : ".", name);
        if (strncmp(name, base, strlen(base)) == 0 && is_rotated_end(name + strlen(base)) &&
            lstat(path, &status) == 0 && S_ISREG(status.st_mode) && kind_of(path) == TRACE)
            unlink(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* The latest trace of one process. */
struct latest {
    pid_t process;
    uint64_t start_ns;
    char path[PATH_MAX];
};

static void look_for_latest(void *context, const char *path)
{
    struct latest *latest = context;
    struct client client;
    const char *name = strrchr(path, '/');
    /* The names in the folder begin with the number of the process. */
    if (*latest->path && (!name || strtol(name + 1, NULL, 10) != (long)latest->process))
        return;
    if (client_open(&client, path) != CLIENT_GOOD)
        return;
    if ((pid_t)client.header->pid == latest->process &&
        client.header->start_monotonic_ns >= latest->start_ns) {
        latest->start_ns = client.header->start_monotonic_ns;
        snprintf(latest->path, sizeof(latest->path), "%s", path);
    }
    client_close(&client);
}

void sibling_traces_note_outcome(const char *trace, pid_t process, int status)
{
    struct latest latest = {.process = process};
    struct client client;
    look_for_latest(&latest, trace);
    sibling_traces_each(trace, 0, look_for_latest, &latest);
    if (*latest.path && client_open(&client, latest.path) == CLIENT_GOOD) {
        client_note_outcome(&client, status);
        client_close(&client);
    }
}

struct summing {
    struct sibling_traces_sum *sum;
    long first, last; /* processes: of the first trace, and of the previous one */
};

/* Returns false if the program runs without the recorder, or there is no trace. */
static bool add_bytes(struct sibling_traces_sum *sum, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || unrecorded_program_is(path))
        return false;
    sum->traces++;
    sum->bytes += (uint64_t)status.st_blocks * 512;
    return true;
}

static void add_one(void *context, const char *path)
{
    struct summing *summing = context;
    const long process = strtol(strrchr(path, '/') + 1, NULL, 10);
    if (!add_bytes(summing->sum, path))
        return;
    /* In the order of numbers, the traces of one process come one after another. */
    if (process != summing->first && process != summing->last)
        summing->sum->processes++;
    summing->last = process;
}

void sibling_traces_sum(const char *trace, time_t since, struct sibling_traces_sum *sum)
{
    struct client client;
    struct summing summing = {.sum = sum};
    *sum = (struct sibling_traces_sum){0};
    add_bytes(sum, trace);
    if (sum->traces > 0)
        sum->processes = 1;
    enum client_status status = client_open(&client, trace);
    if (status == CLIENT_GOOD || status == CLIENT_FINISHED) {
        summing.first = (long)client.header->pid;
        client_close(&client);
    }
    if (sibling_traces_each(trace, since, add_one, &summing) == 0 && errno != ENOENT)
        sum->error = errno;
}
