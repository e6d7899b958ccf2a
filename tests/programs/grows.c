/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose resident set grows by a known amount, and stays so until it has been seen.
 * usage: grows TRACE | grows FOLDER/
 * With a slash at the end the trace is what this process itself writes into that folder: PID.2,
 * where it was forked and then executed, or PID. Waits until another process has taken a second
 * slot of the trace, touches 64 MiB, and waits until the chunk of that process has grown.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "schemas/trace_layout.h"

#define SIZE ((size_t)64 << 20)

/* The outside observer's chunk, NULL while there is none. */
static volatile struct trace_chunk_header *find_outside(int descriptor, uint32_t slots)
{
    for (uint32_t slot = 0; slot < slots; slot++) {
        off_t at = TRACE_FILE_HEADER_SIZE + (off_t)slot * TRACE_CHUNK_SIZE_DEFAULT;
        struct trace_chunk_header *chunk = mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor, at);
        if (chunk == MAP_FAILED)
            return NULL;
        if (chunk->magic == TRACE_CHUNK_MAGIC && chunk->thread == TRACE_THREAD_OUTSIDE)
            return chunk;
        munmap(chunk, 4096);
    }
    return NULL;
}

static void wait_for_more(volatile struct trace_chunk_header *chunk, uint32_t bytes)
{
    uint32_t before = chunk->commit;
    while (chunk->commit < before + bytes)
        sched_yield();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s", argv[1]);
    if (path[strlen(path) - 1] == '/') {
        snprintf(path, sizeof path, "%s%d.2", argv[1], (int)getpid());
        if (access(path, R_OK) != 0)
            path[strlen(path) - 2] = 0;
    }
    int descriptor = open(path, O_RDONLY);
    volatile struct trace_file_header *header =
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor, 0);
    volatile struct trace_chunk_header *chunk = NULL;
    if (descriptor < 0 || header == MAP_FAILED)
        return 1;
    while (!chunk) {
        chunk = find_outside(descriptor, header->chunk_count);
        sched_yield();
    }
    char *block = malloc(SIZE);
    if (!block)
        return 1;
    memset(block, 1, SIZE);
    wait_for_more(chunk, 60);
    free(block);
    wait_for_more(chunk, 60);
    return 0;
}
