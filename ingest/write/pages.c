/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are written at once. It is a multiple of each page size. */
enum { BUFFER_SIZE = 1 << 20 };

/* Places in the header of the file, which is the start of page 1. */
enum {
    HEADER_PAGE_SIZE = 16,
    HEADER_CHANGE_COUNTER = 24,
    HEADER_PAGES = 28,
    HEADER_VALID_FOR = 92, /* the change counter that HEADER_PAGES belongs to */
    HEADER_SIZE = 100
};

static bool fail(struct writer_pages *pages, int error)
{
    if (pages->error == 0)
        pages->error = error;
    return false;
}

static bool write_all(struct writer_pages *pages, const uint8_t *bytes, size_t length,
                      uint64_t offset)
{
    while (length > 0) {
        ssize_t n = pwrite(pages->descriptor, bytes, length, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(pages, n < 0 ? errno : ENOSPC);
        bytes += n;
        length -= (size_t)n;
        offset += (size_t)n;
    }
    return true;
}

static bool read_header(struct writer_pages *pages, uint8_t *header)
{
    ssize_t n = pread(pages->descriptor, header, HEADER_SIZE, 0);
    return n == HEADER_SIZE || fail(pages, n < 0 ? errno : EINVAL);
}

bool writer_pages_open(struct writer_pages *pages, int descriptor, uint32_t lock_byte)
{
    uint8_t header[HEADER_SIZE];
    struct stat about;
    *pages = (struct writer_pages){.descriptor = descriptor};
    if (!read_header(pages, header))
        return false;
    pages->page_size = (size_t)header[HEADER_PAGE_SIZE] << 8 | header[HEADER_PAGE_SIZE + 1];
    if (pages->page_size == 1)
        pages->page_size = 65536;
    pages->count = writer_get32(header + HEADER_PAGES);
    if (fstat(descriptor, &about) != 0)
        return fail(pages, errno);
    if (pages->page_size < 512 || (pages->page_size & (pages->page_size - 1)) != 0 ||
        pages->count == 0 || (uint64_t)about.st_size != (uint64_t)pages->count * pages->page_size)
        return fail(pages, EINVAL);
    pages->lock_page = lock_byte / (uint32_t)pages->page_size + 1;
    pages->next = writer_pages_behind(pages, pages->count);
    pages->buffer = malloc(BUFFER_SIZE);
    return pages->buffer || fail(pages, ENOMEM);
}

static bool flush(struct writer_pages *pages)
{
    bool good = write_all(pages, pages->buffer, pages->buffered, pages->buffer_offset);
    pages->buffered = 0;
    return good;
}

uint32_t writer_pages_behind(const struct writer_pages *pages, uint32_t number)
{
    return number + 1 == pages->lock_page ? number + 2 : number + 1;
}

uint32_t writer_pages_append(struct writer_pages *pages, const uint8_t *page)
{
    uint64_t offset = (uint64_t)(pages->next - 1) * pages->page_size;
    if (pages->error != 0)
        return 0;
    if (pages->next >= UINT32_MAX - 2) {
        fail(pages, EFBIG);
        return 0;
    }
    /* The skipped page of the locks becomes a hole in the file. */
    if ((pages->buffered + pages->page_size > BUFFER_SIZE ||
         pages->buffer_offset + pages->buffered != offset) &&
        !flush(pages))
        return 0;
    if (pages->buffered == 0)
        pages->buffer_offset = offset;
    memcpy(pages->buffer + pages->buffered, page, pages->page_size);
    pages->buffered += pages->page_size;
    pages->count = pages->next;
    pages->next = writer_pages_behind(pages, pages->next);
    return pages->count;
}

bool writer_pages_replace(struct writer_pages *pages, uint32_t number, const uint8_t *page)
{
    return pages->error == 0 &&
           write_all(pages, page, pages->page_size, (uint64_t)(number - 1) * pages->page_size);
}

bool writer_pages_close(struct writer_pages *pages)
{
    uint8_t header[HEADER_SIZE];
    if (pages->buffer && pages->error == 0 && flush(pages) && read_header(pages, header)) {
        uint32_t counter = writer_get32(header + HEADER_CHANGE_COUNTER) + 1;
        writer_put32(header + HEADER_CHANGE_COUNTER, counter);
        writer_put32(header + HEADER_PAGES, pages->count);
        writer_put32(header + HEADER_VALID_FOR, counter);
        write_all(pages, header, HEADER_SIZE, 0);
    }
    free(pages->buffer);
    pages->buffer = NULL;
    return pages->error == 0;
}

uint8_t *writer_put_varint(uint8_t *at, uint64_t value)
{
    uint8_t groups[9];
    unsigned count = 0;
    if (value >> 56 != 0) { /* nine bytes, of which the last one holds eight bits */
        groups[count++] = (uint8_t)value;
        for (value >>= 8; count < 9; value >>= 7)
            groups[count++] = (uint8_t)(value | 0x80);
    } else {
        groups[count++] = (uint8_t)(value & 0x7f);
        for (value >>= 7; value != 0; value >>= 7)
            groups[count++] = (uint8_t)(value | 0x80);
    }
    while (count > 0)
        *at++ = groups[--count];
    return at;
}
