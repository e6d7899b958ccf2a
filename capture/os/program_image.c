/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/program_image.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "capture/os/os.h"

#define SEGMENTS_MAX 64u
#define NOTES_MAX 1024u   /* bytes of a segment of notes that are read */
#define ENTRIES_MAX 4096u /* of the dynamic section; no program has more */

struct program_image {
    int descriptor;
    unsigned count;
    Elf64_Phdr segments[SEGMENTS_MAX];
};

static long image_read_some(int descriptor, uint64_t offset, void *to, size_t size)
{
    return os_call(SYS_pread64, descriptor, (long)to, (long)size, (long)offset, 0, 0);
}

static bool image_read(const struct program_image *image, uint64_t offset, void *to, size_t size)
{
    return image_read_some(image->descriptor, offset, to, size) == (long)size;
}

static const Elf64_Phdr *image_segment(const struct program_image *image, uint32_t type)
{
    for (unsigned i = 0; i < image->count; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

/* Returns the file offset of the byte at `address`, or 0 if the file does not contain it. */
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
    return dynamic && index < ENTRIES_MAX && index < dynamic->p_filesz / sizeof(*entry) &&
           image_read(image, dynamic->p_offset + index * sizeof(*entry), entry, sizeof(*entry)) &&
           entry->d_tag != DT_NULL;
}

static bool name_begins(const char *name, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

/* Returns true if the image needs a library whose name begins in one of these ways; NULL ends them.
 */
static bool image_needs(const struct program_image *image, const char *const *beginnings)
{
    uint64_t strings = 0;
    Elf64_Dyn entry;
    for (unsigned i = 0; image_entry(image, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            strings = image_offset(image, entry.d_un.d_ptr);
    if (strings == 0)
        return false;
    for (unsigned i = 0; image_entry(image, i, &entry); i++) {
        char name[32] = "";
        /* At the end of the file fewer bytes come. The name is still terminated. */
        if (entry.d_tag == DT_NEEDED &&
            image_read_some(image->descriptor, strings + entry.d_un.d_val, name, sizeof(name) - 1) >
                0 &&
            name_begins(name, beginnings))
            return true;
    }
    return false;
}

/* Copies the loader's path to `name`. Returns false if the program names none or cannot be read. */
static bool image_loader(const struct program_image *image, char *name, size_t size)
{
    const Elf64_Phdr *interpreter = image_segment(image, PT_INTERP);
    memset(name, 0, size);
    return interpreter &&
           image_read(image, interpreter->p_offset, name,
                      interpreter->p_filesz < size ? interpreter->p_filesz : size - 1);
}

/* Returns true if the loader is one of uClibc or Android. It has the same name everywhere. */
static bool image_is_of_other_libc(const struct program_image *image)
{
    static const char *const others[] = {"ld-uClibc", "ld64-uClibc", "linker", NULL};
    char name[256];
    if (!image_loader(image, name, sizeof(name)))
        return false;
    const char *slash = strrchr(name, '/');
    return name_begins(slash ? slash + 1 : name, others);
}

/* Returns true for a library. */
static bool image_has_name(const struct program_image *image)
{
    Elf64_Dyn entry;
    for (unsigned i = 0; image_entry(image, i, &entry); i++)
        if (entry.d_tag == DT_SONAME)
            return true;
    return false;
}

static bool image_holds_recorder(const struct program_image *image)
{
    static const char note[] = PROGRAM_NOTE_OF_RECORDER;
    for (unsigned i = 0; i < image->count; i++) {
        char notes[NOTES_MAX];
        if (image->segments[i].p_type != PT_NOTE)
            continue;
        const uint64_t size = image->segments[i].p_filesz;
        const long length = image_read_some(image->descriptor, image->segments[i].p_offset, notes,
                                            size < NOTES_MAX ? size : NOTES_MAX);
        for (long at = 0; at + (long)sizeof(note) <= length; at += 4)
            if (memcmp(notes + at, note, sizeof(note)) == 0)
                return true;
    }
    return false;
}

static bool image_read_segments(struct program_image *image, const Elf64_Ehdr *header)
{
    return image->count <= SEGMENTS_MAX && header->e_phentsize == sizeof(*image->segments) &&
           image_read(image, header->e_phoff, image->segments,
                      image->count * sizeof(*image->segments));
}

static bool image_read_header(int descriptor, Elf64_Ehdr *header)
{
    return image_read_some(descriptor, 0, header, sizeof(*header)) == (long)sizeof(*header) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

static enum program_kind image_kind(int descriptor, const Elf64_Ehdr *header)
{
    static const char *const sanitizers[] = {
        "libasan.so",       "libtsan.so",       "liblsan.so",         "libhwasan.so",
        "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan", NULL};
    static const char *const cxx[] = {"libstdc++.so", "libc++.so", NULL};
    struct program_image image = {.descriptor = descriptor, .count = header->e_phnum};
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
        return PROGRAM_FOREIGN;
    if (!image_read_segments(&image, header))
        return PROGRAM_DYNAMIC;
    if (!image_segment(&image, PT_INTERP) && image_has_name(&image))
        return PROGRAM_DYNAMIC; /* the loader, which is called with a program's name */
    if (!image_segment(&image, PT_INTERP))
        return image_holds_recorder(&image) ? PROGRAM_LINKED : PROGRAM_STATIC;
    return image_is_of_other_libc(&image)    ? PROGRAM_OTHER_LIBC
           : image_needs(&image, sanitizers) ? PROGRAM_SANITIZED
           : image_needs(&image, cxx)        ? PROGRAM_CXX
                                             : PROGRAM_DYNAMIC;
}

enum program_kind program_image_read(int descriptor)
{
    Elf64_Ehdr header;
    return image_read_header(descriptor, &header) ? image_kind(descriptor, &header)
                                                  : PROGRAM_DYNAMIC;
}

bool program_image_raises_rights(int descriptor)
{
    struct stat status;
    struct statfs system = {0};
    uint32_t real_user = 0, user = 0, real_group = 0, group = 0, saved;
    os_call(SYS_getresuid, (long)&real_user, (long)&user, (long)&saved, 0, 0, 0);
    os_call(SYS_getresgid, (long)&real_group, (long)&group, (long)&saved, 0, 0, 0);
    if (real_user != user || real_group != group)
        return true;
    if (os_status(descriptor, &status) != 0)
        return false;
    const bool set =
        ((status.st_mode & S_ISUID) && status.st_uid != user) ||
        ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != group) ||
        (user != 0 &&
         os_call(SYS_fgetxattr, descriptor, (long)"security.capability", 0, 0, 0, 0) > 0);
    return set && os_call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) != 1 &&
           !(os_call(SYS_fstatfs, descriptor, (long)&system, 0, 0, 0, 0) == 0 &&
             ((unsigned long)system.f_flags & ST_NOSUID));
}

bool program_image_interpreter(int descriptor, char *name, size_t size)
{
    char head[257] = ""; /* the kernel reads 256 bytes of a script */
    if (image_read_some(descriptor, 0, head, sizeof(head) - 1) <= 2 || head[0] != '#' ||
        head[1] != '!')
        return false;
    const char *from = head + 2 + strspn(head + 2, " \t");
    const size_t length = strcspn(from, " \t\r\n");
    if (length == 0 || length >= size)
        return false;
    memcpy(name, from, length);
    name[length] = 0;
    return true;
}

bool program_image_loader(int descriptor, char *name, size_t size)
{
    Elf64_Ehdr header;
    struct program_image image = {.descriptor = descriptor};
    if (!image_read_header(descriptor, &header))
        return false;
    image.count = header.e_phnum;
    return image_read_segments(&image, &header) && image_loader(&image, name, size);
}

void program_search_begin(struct program_search *search, const char *name)
{
    const char *folders = getenv("PATH");
    search->name = name;
    search->folders = !*name              ? NULL
                      : strchr(name, '/') ? "" /* one folder without a name: the path as it is */
                      : folders           ? folders
                                          : "/bin:/usr/bin";
}

bool program_search_next(struct program_search *search, char *path, size_t size)
{
    const size_t name = strlen(search->name) + 1;
    while (search->folders) {
        const char *folder = search->folders;
        const size_t length = strcspn(folder, ":"), before = length ? length + 1 : 0;
        search->folders = folder[length] ? folder + length + 1 : NULL;
        if (before + name > size)
            continue;
        memcpy(path, folder, length);
        path[length] = '/';
        memcpy(path + before, search->name, name);
        return true;
    }
    return false;
}
