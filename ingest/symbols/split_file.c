/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files of debug information for libdw, which has no call that takes them from us: so this
 * file defines open(). Files to be read are opened without waiting, because libdw would wait for a
 * FIFO with the name of one. In split files (.dwo) libdw reads only the first of the sections that
 * have one name, but gcc writes one for the unit of each type (-fdebug-types-section): it gets a
 * copy in which neighbours of one name are one section.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header of the C library may define open() itself. */
int split_file_open(const char *path, int flags, ...) __asm__("open")
    __attribute__((visibility("default")));

/* Returns the headers of the sections of a file of this machine's class, NULL: there are none. */
static Elf64_Shdr *find_sections(char *bytes, uint64_t size, uint64_t *count)
{
    Elf64_Ehdr header;
    if (size < sizeof(header))
        return NULL;
    memcpy(&header, bytes, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        header.e_shoff > size - sizeof(Elf64_Shdr))
        return NULL;
    Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(bytes + header.e_shoff);
    *count = header.e_shnum != 0 ? header.e_shnum : sections[0].sh_size;
    return *count <= (size - header.e_shoff) / sizeof(Elf64_Shdr) ? sections : NULL;
}

/* Joins each section with those of its name that follow it in the table and in the file. Returns
 * false if there are none. */
static bool join_sections(char *bytes, uint64_t size)
{
    uint64_t count = 0;
    bool joined = false;
    Elf64_Shdr *sections = find_sections(bytes, size, &count), *first = sections;
    for (uint64_t i = 1; sections && i < count; i++) {
        Elf64_Shdr *next = &sections[i];
        if (next->sh_name == first->sh_name && next->sh_type == SHT_PROGBITS &&
            first->sh_type == SHT_PROGBITS &&
            ((next->sh_flags | first->sh_flags) & SHF_COMPRESSED) == 0 &&
            next->sh_offset - first->sh_offset == first->sh_size && next->sh_offset <= size &&
            next->sh_size <= size - next->sh_offset) {
            first->sh_size += next->sh_size;
            next->sh_name = 0;
            joined = true;
        } else {
            first = next;
        }
    }
    return joined;
}

static int write_copy(const char *bytes, size_t size)
{
    const int copy = memfd_create("dwo", MFD_CLOEXEC);
    for (size_t done = 0; copy >= 0 && done < size;) {
        const ssize_t written = write(copy, bytes + done, size - done);
        if (written <= 0) {
            close(copy);
            return -1;
        }
        done += (size_t)written;
    }
    return copy;
}

/* Returns a file with joined sections in place of this one, or this one. */
static int join(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0)
        return file;
    const size_t size = (size_t)about.st_size;
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return file;
    const int copy = join_sections(bytes, size) ? write_copy(bytes, size) : -1;
    munmap(bytes, size);
    if (copy >= 0)
        close(file);
    return copy >= 0 ? copy : file;
}

int split_file_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    const bool is_read = (flags & O_ACCMODE) == O_RDONLY;
    const int file = openat(AT_FDCWD, path, is_read ? flags | O_NONBLOCK : flags, mode);
    const size_t length = file < 0 ? 0 : strlen(path);
    const bool is_split = length > 4 && strcmp(path + length - 4, ".dwo") == 0;
    return is_split && is_read ? join(file) : file;
}
