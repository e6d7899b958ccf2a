/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps records of one size in a separate file until all processes of a run are read:
 * writer_records_begin(), writer_records_add(), then writer_records_read(), writer_records_end().
 */
#ifndef MPROF_INGEST_WRITE_RECORDS_H
#define MPROF_INGEST_WRITE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer_records {
    int descriptor; /* of the file, empty at first; owned by the caller */
    size_t size;    /* of a record */
    char *waiting;  /* not written yet */
    size_t waiting_count;
    uint64_t written;
    int error; /* errno of the first failure, 0: none */
};

/* The number of records that are written at once, and the most that one call reads. */
enum { WRITER_RECORDS_MAX = 8192 };

/* Begins with an empty file. False with `error` set, like the next functions. */
bool writer_records_begin(struct writer_records *records, int descriptor, size_t size);
bool writer_records_add(struct writer_records *records, const void *record);

/* Returns the number of records that were added. */
static inline uint64_t writer_records_count(const struct writer_records *records)
{
    return records->written + records->waiting_count;
}

/* Reads `count` records into `to`, from the one with the index `first` on. They were added before
 * the last call of writer_records_flush(). */
bool writer_records_read(struct writer_records *records, uint64_t first, size_t count, void *to);
bool writer_records_flush(struct writer_records *records);
void writer_records_end(struct writer_records *records);

#endif
