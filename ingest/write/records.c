/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fail(struct writer_records *records, int error)
{
    if (records->error == 0)
        records->error = error;
    return false;
}

bool writer_records_begin(struct writer_records *records, int descriptor, size_t size)
{
    *records = (struct writer_records){.descriptor = descriptor, .size = size};
    records->waiting = malloc(WRITER_RECORDS_MAX * size);
    return records->waiting || fail(records, ENOMEM);
}

bool writer_records_flush(struct writer_records *records)
{
    const char *bytes = records->waiting;
    size_t left = records->waiting_count * records->size;
    while (left > 0) {
        ssize_t count = write(records->descriptor, bytes, left);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail(records, count < 0 ? errno : EIO);
        bytes += count;
        left -= (size_t)count;
    }
    records->written += records->waiting_count;
    records->waiting_count = 0;
    return true;
}

bool writer_records_add(struct writer_records *records, const void *record)
{
    if (records->waiting_count == WRITER_RECORDS_MAX && !writer_records_flush(records))
        return false;
    memcpy(records->waiting + records->waiting_count++ * records->size, record, records->size);
    return true;
}

bool writer_records_read(struct writer_records *records, uint64_t first, size_t count, void *to)
{
    const size_t size = count * records->size;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(records->descriptor, (char *)to + done, size - done,
                            (off_t)(first * records->size + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(records, got < 0 ? errno : EIO);
        done += (size_t)got;
    }
    return true;
}

void writer_records_end(struct writer_records *records)
{
    free(records->waiting);
    records->waiting = NULL;
}
