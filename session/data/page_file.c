/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Places in the header of the file. */
enum { HEADER_SIZE = 100, HEADER_PAGE_SIZE = 16, HEADER_RESERVED = 20, USABLE_LEAST = 480 };

static bool read_header(struct page_file *file)
{
    uint8_t header[HEADER_SIZE];
    struct stat about;
    if (fstat(file->descriptor, &about) != 0 ||
        pread(file->descriptor, header, sizeof(header), 0) != sizeof(header))
        return false;
    const uint32_t size = page_get16(header + HEADER_PAGE_SIZE);
    file->page_size = size == 1 ? 65536 : size;
    if (file->page_size < 512 || (file->page_size & (file->page_size - 1)) != 0)
        return false;
    file->usable = file->page_size - header[HEADER_RESERVED];
    const uint64_t pages = (uint64_t)about.st_size / file->page_size;
    file->pages = pages > UINT32_MAX ? UINT32_MAX : (uint32_t)pages;
    return file->usable >= USABLE_LEAST;
}

bool page_file_open(struct page_file *file, const char *path)
{
    *file = (struct page_file){.descriptor = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->descriptor >= 0 && read_header(file))
        return true;
    page_file_close(file);
    return false;
}

void page_file_close(struct page_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

bool page_file_read(const struct page_file *file, uint32_t number, uint32_t count, uint8_t *pages)
{
    const size_t length = (size_t)count * file->page_size;
    ssize_t n;
    if (number == 0 || number > file->pages || count > file->pages - number + 1)
        return false;
    do {
        n = pread(file->descriptor, pages, length, (off_t)(number - 1) * file->page_size);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)length;
}

const uint8_t *page_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t read = 0;
    for (int i = 0; at < end && i < 9; i++) {
        const uint8_t byte = *at++;
        read = i == 8 ? read << 8 | byte : read << 7 | (byte & 0x7f);
        if (i == 8 || (byte & 0x80) == 0) {
            *value = read;
            return at;
        }
    }
    return NULL;
}
