/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/gzip.h"

#include <stdlib.h>
#include <zlib.h>

/* 15 bits of window, and 16 for the head of gzip. Profiles are lists of small numbers: level 4
 * takes a third of the time of the default level 6 and leaves 3 % more. */
enum { LEVEL = 4, WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, BUFFER_SIZE = 64 * 1024 };

struct gzip {
    FILE *out;
    z_stream stream;
    unsigned char buffer[BUFFER_SIZE];
};

struct gzip *gzip_begin(FILE *out)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));
    if (!gzip)
        return NULL;
    gzip->out = out;
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

/* Compresses the input until it is used up; with Z_FINISH until the stream is complete. */
static void pump(struct gzip *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = BUFFER_SIZE;
        deflate(&gzip->stream, flush);
        fwrite(gzip->buffer, 1, BUFFER_SIZE - gzip->stream.avail_out, gzip->out);
    } while (gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size > 0) {
        const uInt part = size > BUFFER_SIZE ? BUFFER_SIZE : (uInt)size;
        gzip->stream.next_in = (Bytef *)next; /* zlib only reads */
        gzip->stream.avail_in = part;
        pump(gzip, Z_NO_FLUSH);
        next += part;
        size -= part;
    }
}

void gzip_end(struct gzip *gzip)
{
    if (!gzip)
        return;
    pump(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    free(gzip);
}
