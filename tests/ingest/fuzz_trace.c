/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the trace reader and the replay. Input that begins with the magic is a trace file.
 * Any other input is the records of one chunk, whose header is corrected, so that the fuzzer does
 * not have to guess sums. Built by clang with MPROF_FUZZ, this is a libFuzzer program; otherwise it
 * replays the golden traces.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/ingest/replay_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct trace_builder *wrap(const uint8_t *data, size_t size)
{
    struct trace_builder *builder = trace_builder_new(65536, TRACE_CLOCK_TSC);
    struct lane lane;
    size_t room = 65536 - TRACE_CHUNK_HEADER_SIZE;
    uint8_t *chunk;
    lane_begin(&lane, builder, 1, 1000);
    chunk = builder->bytes + TRACE_FILE_HEADER_SIZE;
    size = size < room ? size : room;
    memcpy(chunk + TRACE_CHUNK_HEADER_SIZE, data, size);
    uint32_t commit = (uint32_t)(TRACE_CHUNK_HEADER_SIZE + size);
    memcpy(chunk + offsetof(struct trace_chunk_header, commit), &commit, 4);
    trace_builder_end(builder, TRACE_STATE_RECORDING, 100000);
    return builder;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_builder *builder = NULL;
    char path[64];
    int descriptor = memfd_create("trace", MFD_CLOEXEC);
    if (size < 8 || memcmp(data, TRACE_MAGIC, 8) != 0) {
        builder = wrap(data, size);
        data = builder->bytes;
        size = builder->length;
    }
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    struct replayed *replayed = replay_file(path);
    if (!replayed->good && replayed->status.message[0] == '\0')
        abort();
    if (replayed->good && replayed->totals.allocations > replayed->row_count)
        abort();
    replayed_free(replayed);
    close(descriptor);
    if (builder)
        trace_builder_free(builder);
    return 0;
}
