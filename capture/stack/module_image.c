/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/module_image.h"

#include <elf.h>
#include <string.h>

#include "capture/os/os.h"

/* The most program headers that are read. No file has more. */
#define PROGRAM_HEADERS_MAX 64u
#define NOTES_MAX 512u

/* Finds the GNU build-id among the notes of one segment. */
static void notes_read(uint64_t address, uint64_t size, struct module_image *image)
{
    uint8_t notes[NOTES_MAX];
    size_t length = os_copy_memory(address, notes, size < sizeof(notes) ? size : sizeof(notes)),
           at = 0;
    while (length - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof(note));
        size_t name = at + sizeof(note), rest = length - name;
        uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        uint64_t data_size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name_size > rest || data_size > rest - name_size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4) && note.n_descsz <= MODULE_BUILD_ID_MAX) {
            image->build_id_length = note.n_descsz;
            memcpy(image->build_id, notes + name + name_size, note.n_descsz);
            return;
        }
        at = name + name_size + data_size;
    }
}

static void segment_add(const Elf64_Phdr *header, uint64_t start, struct module_image *image)
{
    if (image->segment_count == 0)
        image->load_bias = start - (header->p_vaddr & ~(uint64_t)(ARCH_PAGE_SIZE - 1));
    uint64_t end = image->load_bias + header->p_vaddr + header->p_memsz;
    if (end > image->end)
        image->end = end;
    if (image->segment_count < sizeof(image->segments) / sizeof(image->segments[0]))
        image->segments[image->segment_count++] =
            (struct stack_segment){header->p_vaddr, header->p_memsz, header->p_flags};
}

/* Finds the unwind tables. Their bounds are those of the loaded segment that holds their header. */
static void unwind_bound(uint64_t header, struct module_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        uint64_t start = image->load_bias + image->segments[i].address;
        uint64_t size = image->segments[i].size;
        if (header - start < size && (image->segments[i].flags & PF_R))
            image->unwind = (struct unwind_image){
                (const uint8_t *)start, (const uint8_t *)(start + size), (const uint8_t *)header};
    }
}

bool module_image_read(uint64_t start, struct module_image *image)
{
    Elf64_Ehdr file;
    memset(image, 0, sizeof(*image));
    if (os_copy_memory(start, &file, sizeof(file)) != sizeof(file) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    Elf64_Phdr unwind = {.p_type = PT_NULL}, header;
    unsigned count = file.e_phnum < PROGRAM_HEADERS_MAX ? file.e_phnum : PROGRAM_HEADERS_MAX;
    for (unsigned pass = 0; pass < 2; pass++) /* the bias is known after the first */
        for (unsigned i = 0; i < count; i++) {
            if (os_copy_memory(start + file.e_phoff + i * sizeof(header), &header,
                               sizeof(header)) != sizeof(header))
                return false;
            if (pass == 0 && header.p_type == PT_LOAD)
                segment_add(&header, start, image);
            else if (pass == 0 && header.p_type == PT_GNU_EH_FRAME)
                unwind = header;
            else if (pass == 1 && header.p_type == PT_NOTE && !image->build_id_length)
                notes_read(image->load_bias + header.p_vaddr, header.p_memsz, image);
        }
    if (unwind.p_type == PT_GNU_EH_FRAME)
        unwind_bound(image->load_bias + unwind.p_vaddr, image);
    return image->segment_count > 0;
}
