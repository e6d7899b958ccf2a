/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/import/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "schemas/printable.h"

enum { BUFFER = 1 << 17 };

/* Text that a packed file may have: so much, and so much for each of its bytes. */
#define UNPACKED_LEAST (UINT64_C(256) << 20)
#define UNPACKED_RATIO 100

struct lines {
    gzFile gzip; /* plain files, too; NULL: the file is packed by zstd */
    ZSTD_DStream *zstd;
    int descriptor; /* of a zstd file; -1: none */
    char *packed;   /* what was read of a zstd file, BUFFER bytes */
    ZSTD_inBuffer input;
    bool frame_open;    /* the zstd frame goes on */
    const char *damage; /* why no more can be read; NULL: nothing is wrong so far */
    /* The text from `at` to `end` is not given yet. There is room for a zero byte after it. */
    char *text;
    size_t at, end, capacity;
    uint64_t number;
    uint64_t left; /* bytes that may still come */
    uint64_t size; /* of the file */
    char path[512];
};

static const unsigned char zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

static bool open_stream(struct lines *lines, int descriptor)
{
    unsigned char begin[4] = {0};
    if (pread(descriptor, begin, sizeof(begin), 0) == sizeof(begin) &&
        memcmp(begin, zstd_magic, sizeof(begin)) == 0) {
        lines->descriptor = descriptor;
        lines->packed = malloc(BUFFER);
        lines->zstd = ZSTD_createDStream();
        lines->input = (ZSTD_inBuffer){lines->packed, 0, 0};
        return lines->packed && lines->zstd;
    }
    lines->gzip = gzdopen(descriptor, "rb");
    if (!lines->gzip)
        close(descriptor);
    return lines->gzip != NULL;
}

struct lines *lines_open(const char *path, struct ingest_status *status)
{
    struct lines *lines = calloc(1, sizeof(*lines));
    struct stat about;
    if (!lines) {
        ingest_fail_memory(status, "the file to import");
        return NULL;
    }
    lines->descriptor = -1;
    printable_copy(lines->path, sizeof(lines->path), path);
    /* O_NONBLOCK: the open of a FIFO given by mistake must not wait for a writer. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be opened: %s", lines->path,
                    descriptor < 0 ? strerror(errno) : "not a regular file");
        if (descriptor >= 0)
            close(descriptor);
        lines_close(lines);
        return NULL;
    }
    lines->left = UNPACKED_LEAST + UNPACKED_RATIO * (uint64_t)about.st_size;
    lines->size = (uint64_t)about.st_size;
    lines->capacity = BUFFER;
    lines->text = malloc(lines->capacity + 1);
    if (!open_stream(lines, descriptor) || !lines->text) {
        ingest_fail_memory(status, "the file to import");
        lines_close(lines);
        return NULL;
    }
    return lines;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->gzip)
        gzclose(lines->gzip);
    ZSTD_freeDStream(lines->zstd);
    if (lines->descriptor >= 0)
        close(lines->descriptor);
    free(lines->packed);
    free(lines->text);
    free(lines);
}

static size_t read_gzip(struct lines *lines, char *text, size_t size)
{
    int code = Z_OK;
    const int count = gzread(lines->gzip, text, (unsigned)size);
    if (count > 0)
        return (size_t)count;
    gzerror(lines->gzip, &code);
    if (code == Z_BUF_ERROR)
        lines->damage = "the gzip data is cut";
    else if (count < 0)
        lines->damage = code == Z_ERRNO ? strerror(errno) : "the gzip data is damaged";
    return 0;
}

/* Reads more of a zstd file. False at its end. */
static bool refill(struct lines *lines)
{
    ssize_t count;
    do
        count = read(lines->descriptor, lines->packed, BUFFER);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        lines->damage = strerror(errno);
    else if (count == 0 && lines->frame_open)
        lines->damage = "the zstd data is cut";
    lines->input = (ZSTD_inBuffer){lines->packed, count > 0 ? (size_t)count : 0, 0};
    return count > 0;
}

static size_t read_zstd(struct lines *lines, char *text, size_t size)
{
    ZSTD_outBuffer output = {text, size, 0};
    while (output.pos == 0) {
        const size_t before = lines->input.pos;
        const bool more = before < lines->input.size;
        /* A frame may hold back text when all its input is taken. */
        if (!more && !lines->frame_open && !refill(lines))
            break;
        const size_t left = ZSTD_decompressStream(lines->zstd, &output, &lines->input);
        if (ZSTD_isError(left)) {
            lines->damage = "the zstd data is damaged";
            break;
        }
        lines->frame_open = left != 0;
        if (output.pos == 0 && lines->input.pos == lines->input.size && lines->frame_open &&
            !refill(lines))
            break;
    }
    return output.pos;
}

/* Reads more text after what is there. False at the end, or if memory is exhausted. */
static bool read_more(struct lines *lines)
{
    if (lines->damage)
        return false;
    if (lines->at > 0) {
        memmove(lines->text, lines->text + lines->at, lines->end - lines->at);
        lines->end -= lines->at;
        lines->at = 0;
    }
    if (lines->end == lines->capacity) {
        char *text = realloc(lines->text, lines->capacity * 2 + 1);
        if (!text) {
            lines->damage = "out of memory";
            return false;
        }
        lines->text = text;
        lines->capacity *= 2;
    }
    char *room = lines->text + lines->end;
    const size_t size = lines->capacity - lines->end;
    const size_t count = lines->gzip ? read_gzip(lines, room, size) : read_zstd(lines, room, size);
    lines->end += count;
    if (count > lines->left)
        lines->damage =
            "more than 256 MiB and 100 times the size of the file come out of it; if it "
            "can be trusted, unpack it first";
    lines->left -= count <= lines->left ? count : lines->left;
    return count > 0 && !lines->damage;
}

size_t lines_peek(struct lines *lines, const char **text, size_t size)
{
    while (lines->end - lines->at < size && read_more(lines))
        ;
    *text = lines->text + lines->at;
    return lines->end - lines->at < size ? lines->end - lines->at : size;
}

static enum lines_next fail(const struct lines *lines, const char *why,
                            struct ingest_status *status)
{
    ingest_fail(status, INGEST_BAD_INPUT, "%s: line %" PRIu64 ": %s%s", lines->path,
                lines->number + 1, why, strchr(why, ';') ? "" : "; record it again");
    return LINES_FAILED;
}

enum lines_next lines_next(struct lines *lines, char **line, size_t *length,
                           struct ingest_status *status)
{
    size_t looked = 0;
    char *end;
    while (
        !(end = memchr(lines->text + lines->at + looked, '\n', lines->end - lines->at - looked))) {
        looked = lines->end - lines->at;
        if (looked > LINES_LONGEST)
            return fail(lines, "longer than a megabyte", status);
        if (!read_more(lines))
            break;
    }
    if (!end && lines->damage)
        return fail(lines, lines->damage, status);
    if (!end && looked > 0)
        return fail(lines, "the file is cut within this line", status);
    if (!end)
        return LINES_END;
    *end = '\0';
    *line = lines->text + lines->at;
    *length = (size_t)(end - *line);
    lines->at = (size_t)(end + 1 - lines->text);
    lines->number++;
    return LINES_LINE;
}

uint64_t lines_number(const struct lines *lines)
{
    return lines->number;
}

uint64_t lines_size(const struct lines *lines)
{
    return lines->size;
}

const char *lines_path(const struct lines *lines)
{
    return lines->path;
}
