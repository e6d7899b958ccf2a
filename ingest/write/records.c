/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/whole.h"

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
    const int error =
        write_whole(records->descriptor, records->waiting, records->waiting_count * records->size);
    if (error != 0)
        return fail(records, error);
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
    const size_t done = read_whole(records->descriptor, to, size, first * records->size);
    return done == size || fail(records, done == SIZE_MAX ? errno : EIO);
}

void writer_records_end(struct writer_records *records)
{
    free(records->waiting);
    records->waiting = NULL;
}
