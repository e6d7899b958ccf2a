/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/vdso.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the size of the ELF file. Its table of sections comes last. */
static size_t size_of(const void *image)
{
    const Elf64_Ehdr *header = image;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shoff == 0)
        return 0;
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

int symbols_vdso_copy(void)
{
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    size_t size = !image ? 0 : size_of(image);
    int descriptor = size == 0 ? -1 : memfd_create("vdso", MFD_CLOEXEC);
    if (descriptor < 0)
        return -1;
    if (write(descriptor, image, size) == (ssize_t)size)
        return descriptor;
    close(descriptor);
    return -1;
}
