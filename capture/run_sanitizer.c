#include "capture/run_sanitizer.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 64u
#define ENTRIES_MAX 4096u /* of the dynamic section: more than any program has */

struct program_image {
    int descriptor;
    unsigned count;
    Elf64_Phdr segments[SEGMENTS_MAX];
};

static bool image_read(const struct program_image *image, uint64_t offset, void *to, size_t size)
{
    return pread(image->descriptor, to, size, (off_t)offset) == (ssize_t)size;
}

static const Elf64_Phdr *image_segment(const struct program_image *image, uint32_t type)
{
    for (unsigned i = 0; i < image->count; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

/* Where in the file the byte at `address` lies; 0: nowhere. */
static uint64_t image_offset(const struct program_image *image, uint64_t address)
{
    for (unsigned i = 0; i < image->count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    }
    return 0;
}

static bool image_entry(const struct program_image *image, unsigned index, Elf64_Dyn *entry)
{
    const Elf64_Phdr *dynamic = image_segment(image, PT_DYNAMIC);
    return dynamic && index < ENTRIES_MAX && index < dynamic->p_filesz / sizeof *entry &&
           image_read(image, dynamic->p_offset + index * sizeof *entry, entry, sizeof *entry) &&
           entry->d_tag != DT_NULL;
}

static bool name_is_sanitizer(const char *name)
{
    static const char *const runtimes[] = {
        "libasan.so",       "libtsan.so",       "liblsan.so",        "libhwasan.so",
        "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan"};
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

bool run_sanitizer_is_needed(int descriptor, const Elf64_Ehdr *header)
{
    struct program_image image = {.descriptor = descriptor, .count = header->e_phnum};
    uint64_t strings = 0;
    Elf64_Dyn entry;
    if (image.count > SEGMENTS_MAX || header->e_phentsize != sizeof *image.segments ||
        !image_read(&image, header->e_phoff, image.segments, image.count * sizeof *image.segments))
        return false;
    for (unsigned i = 0; image_entry(&image, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            strings = image_offset(&image, entry.d_un.d_ptr);
    if (strings == 0)
        return false;
    for (unsigned i = 0; image_entry(&image, i, &entry); i++) {
        char name[32] = "";
        /* At the file's end fewer bytes come, and the name is still terminated. */
        if (entry.d_tag == DT_NEEDED &&
            pread(descriptor, name, sizeof name - 1, (off_t)(strings + entry.d_un.d_val)) > 0 &&
            name_is_sanitizer(name))
            return true;
    }
    return false;
}
