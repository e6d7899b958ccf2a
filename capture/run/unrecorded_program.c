/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/unrecorded_program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/trace_codec.h"

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

/* Writes the path in the PROCESS record, which comes first. */
static void read_path(const struct beginning *beginning, char *path, size_t size)
{
    const uint8_t *at = beginning->records, *end = at + beginning->length;
    at += at < end;
    uint64_t value = 0;
    /* Its type, its length, the process, the parent, the parent's trace, the length of the path. */
    for (unsigned i = 0; i < 6; i++)
        if (at >= end || !trace_get_varint(&at, end, &value))
            value = SIZE_MAX;
    if (value > (size_t)(end - at) || value >= size)
        value = 0;
    memcpy(path, at, value);
    path[value] = 0;
}

uint32_t unrecorded_program_read(const char *trace, char *path, size_t size, uint32_t *unnamed)
{
    struct beginning beginning;
    read_beginning_of(trace, &beginning);
    if (unnamed)
        *unnamed = beginning.header.unnamed;
    if (beginning.header.unrecorded && path)
        read_path(&beginning, path, size);
    return beginning.header.unrecorded;
}

bool unrecorded_program_is(const char *trace)
{
    return unrecorded_program_read(trace, NULL, 0, NULL) != TRACE_UNRECORDED_NOT;
}

bool unrecorded_program_runs(int descriptor, pid_t process)
{
    struct beginning beginning;
    struct stat program, executable;
    char path[PATH_MAX], link[64];
    read_beginning(descriptor, &beginning);
    read_path(&beginning, path, sizeof(path));
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)process);
    return stat(path, &program) == 0 && stat(link, &executable) == 0 &&
           program.st_dev == executable.st_dev && program.st_ino == executable.st_ino;
}
