/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/linked_allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two messages of each, without their first letters: so mprof's own programs do not have them. */
static const struct {
    const char *name;
    struct {
        char first;
        const char *rest;
    } messages[2];
} allocators[] = {
    {"jemalloc",
     {{'<', "jemalloc>: Malformed conf string"}, {'<', "jemalloc>: Error in munmap()"}}},
    {"mimalloc", {{'m', "imalloc: warning: "}, {'m', "imalloc: error: "}}},
    {"tcmalloc", {{'B', "ytes in page heap freelist"}, {'B', "ytes in central cache freelist"}}},
};

/* More constants than any program has: a damaged file may name the same ones often. */
#define CONSTANTS_MAX (UINT64_C(1) << 30)

struct bytes {
    const uint8_t *at;
    size_t size;
};

static bool has(struct bytes bytes, char first, const char *rest)
{
    const size_t length = strlen(rest);
    const uint8_t *found;
    while ((found = memmem(bytes.at, bytes.size, rest, length))) {
        if (found > bytes.at && found[-1] == (uint8_t)first)
            return true;
        bytes.size -= (size_t)(found + 1 - bytes.at);
        bytes.at = found + 1;
    }
    return false;
}

static const char *find(struct bytes file, bool stripped)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file.at;
    if (file.size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % _Alignof(Elf64_Shdr) != 0 || header->e_shoff > file.size ||
        header->e_shnum > (file.size - header->e_shoff) / sizeof(Elf64_Shdr))
        return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file.at + header->e_shoff);
    for (unsigned i = 0; stripped && i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            return NULL;
    uint64_t read = 0;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_type != SHT_PROGBITS || section->sh_flags & (SHF_WRITE | SHF_EXECINSTR) ||
            !(section->sh_flags & SHF_ALLOC) || section->sh_offset > file.size ||
            section->sh_size > file.size - section->sh_offset ||
            section->sh_size > CONSTANTS_MAX - read)
            continue;
        read += section->sh_size;
        const struct bytes constants = {file.at + section->sh_offset, section->sh_size};
        for (size_t k = 0; k < sizeof(allocators) / sizeof(*allocators); k++)
            if (has(constants, allocators[k].messages[0].first, allocators[k].messages[0].rest) &&
                has(constants, allocators[k].messages[1].first, allocators[k].messages[1].rest))
                return allocators[k].name;
    }
    return NULL;
}

const char *linked_allocator(const char *path, bool stripped)
{
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *found = NULL;
    struct stat about;
    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        const size_t size = (size_t)about.st_size;
        void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) {
            found = find((struct bytes){at, size}, stripped);
            munmap(at, size);
        }
    }
    close(file);
    return found;
}
