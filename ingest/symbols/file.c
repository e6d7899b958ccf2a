/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "ingest/cache/depends.h"
#include "ingest/symbols/places.h"

/* More sections of code than any linker writes. Further sections are not symbolized. */
#define CODE_SECTIONS_MAX 65536

void symbols_hexadecimal(char *text, size_t size, const uint8_t *bytes, size_t length)
{
    text[0] = '\0';
    for (size_t i = 0; i < length && 2 * i + 3 <= size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* Each module's files stay open. Leaves some descriptors for the session. */
static bool leaves_enough(int descriptor)
{
    enum { LEFT = 64 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           (rlim_t)descriptor + LEFT < limit.rlim_cur;
}

/* Opens a regular file only, because a trace can name anything. A FIFO must not block. */
static int open_regular(const char *path, char *reason, size_t reason_size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0 && !leaves_enough(descriptor)) {
        close(descriptor);
        descriptor = -1;
        errno = EMFILE;
    }
    if (descriptor < 0) {
        snprintf(reason, reason_size, "cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    struct stat information;
    if (fstat(descriptor, &information) != 0 || !S_ISREG(information.st_mode)) {
        snprintf(reason, reason_size, "%s is not a regular file", path);
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static bool same_build_id(Elf *elf, const char *path, const uint8_t *build_id,
                          size_t build_id_length, char *reason, size_t reason_size)
{
    if (build_id_length == 0)
        return true;
    const void *found = NULL;
    ssize_t length = dwelf_elf_gnu_build_id(elf, &found);
    if (length > 0 && (size_t)length == build_id_length &&
        memcmp(found, build_id, build_id_length) == 0)
        return true;
    char recorded[96], present[96] = "none";
    symbols_hexadecimal(recorded, sizeof(recorded), build_id, build_id_length);
    if (length > 0)
        symbols_hexadecimal(present, sizeof(present), found, (size_t)length);
    snprintf(reason, reason_size,
             "%s changed since the recording: its build-id is %s, recorded was %s", path, present,
             recorded);
    return false;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct symbols_range *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static bool read_code_sections(struct symbols_file *file)
{
    size_t capacity = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            !(header.sh_flags & SHF_ALLOC) || header.sh_size == 0 ||
            header.sh_addr + header.sh_size < header.sh_addr)
            continue;
        if (file->code_count == capacity) {
            if (capacity == CODE_SECTIONS_MAX)
                break;
            capacity = capacity == 0 ? 16 : capacity * 2;
            struct symbols_range *grown = realloc(file->code, capacity * sizeof(*grown));
            if (!grown)
                return false;
            file->code = grown;
        }
        file->code[file->code_count++] =
            (struct symbols_range){header.sh_addr, header.sh_addr + header.sh_size};
    }
    if (file->code_count > 1)
        qsort(file->code, file->code_count, sizeof(*file->code), compare_ranges);
    return true;
}

/* Returns the path along which libdwfl looks for separate debug files. '+' makes it check the CRC
 * of .gnu_debuglink. */
static char *debug_path(const struct symbols_options *options)
{
    const char *directory = options->debug_dir, *sysroot = options->sysroot;
    char *path = NULL;
    if (asprintf(&path, "+:.debug%s%s%s%s%s:/usr/lib/debug", directory ? ":" : "",
                 directory ? directory : "", sysroot ? ":" : "", sysroot ? sysroot : "",
                 sysroot ? "/usr/lib/debug" : "") < 0)
        return NULL;
    return path;
}

/* Returns the bytes of the section after libdw has unpacked it, 0 if it is not packed. */
static uint64_t unpacked_size(Elf *elf, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    GElf_Chdr packed;
    if (!gelf_getshdr(section, &header))
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return !gelf_getchdr(section, &packed) ? 0 : packed.ch_size;
    /* The older form: "ZLIB", then the size in eight bytes, most significant first. */
    const char *name = elf_strptr(elf, names, header.sh_name);
    const Elf_Data *data;
    if (!name || strncmp(name, ".zdebug", 7) != 0 || !(data = elf_rawdata(section, NULL)) ||
        data->d_size < 12)
        return 0;
    uint64_t size = 0;
    for (int i = 4; i < 12; i++)
        size = size << 8 | ((const uint8_t *)data->d_buf)[i];
    return size;
}

/* Returns true if sections unpack to an absurd size. Compilers' output shrinks to a third or a
 * tenth, made-up sections to a thousandth. */
static bool is_bomb(Elf *elf)
{
    static const uint64_t ratio = 32, least = 16 << 20;
    size_t names, file_size;
    uint64_t sum = 0;
    if (elf_getshdrstrndx(elf, &names) != 0 || !elf_rawfile(elf, &file_size))
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        uint64_t size = unpacked_size(elf, section, names);
        if (size > least + ratio * file_size)
            return true;
        sum += size;
    }
    return sum > least + ratio * file_size;
}

/* The number of zstd in ELF headers, which old ones do not name. libelf can unpack it since 0.189.
 */
#define COMPRESSED_BY_ZSTD 2

/* Returns true if debug information is compressed by zstd, and libelf cannot unpack it. */
static bool is_foreign_zstd(Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Chdr packed;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".debug_info") == 0 && header.sh_flags & SHF_COMPRESSED &&
            gelf_getchdr(section, &packed) && packed.ch_type == COMPRESSED_BY_ZSTD)
            return elf_compress(section, 0, 0) < 0;
    }
    return false;
}

/* Returns why the debug information of a file cannot be read, NULL: nothing speaks against it. */
static const char *why_unreadable(Elf *elf)
{
    if (is_bomb(elf))
        return "it is compressed; unpacked it would take more than 32 times its size";
    return is_foreign_zstd(elf)
               ? "it is compressed by zstd; install elfutils 0.189 or newer, or run "
                 "objcopy --decompress-debug-sections on the file"
               : NULL;
}

/* Finds the file as libdwfl does, but checks it before libdw unpacks its sections. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word sum, char **found)
{
    struct symbols_file *file = *user;
    if (file->depends) {
        file->depends->special = false;
        symbols_places_add(&file->options, file->depends, module, name, link);
        if (file->depends->special) { /* libdwfl would not say it */
            file->unreadable = "a FIFO or a device has the name of its debug file; remove that";
            return -1;
        }
    }
    int descriptor = dwfl_standard_find_debuginfo(module, user, name, base, path, link, sum, found);
    if (descriptor < 0)
        return descriptor;
    if (!leaves_enough(descriptor)) {
        close(descriptor);
        return -1;
    }
    Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    const char *unreadable = elf ? why_unreadable(elf) : NULL;
    elf_end(elf);
    if (!unreadable)
        return descriptor;
    close(descriptor);
    ((struct symbols_file *)*user)->unreadable = unreadable;
    return -1;
}

/* Takes ownership of `descriptor` on success. */
static bool open_elf(struct symbols_file *file, const struct symbols_options *options,
                     const char *path, int descriptor)
{
    file->debug_path = debug_path(options);
    file->callbacks = (Dwfl_Callbacks){
        .find_debuginfo = find_debug_file,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &file->debug_path,
    };
    if (!file->debug_path || !(file->dwfl = dwfl_begin(&file->callbacks)))
        return false;
    file->module = dwfl_report_elf(file->dwfl, path, path, descriptor, 0, true);
    if (!file->module)
        return false;
    dwfl_report_end(file->dwfl, NULL, NULL);
    void **user;
    dwfl_module_info(file->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = file;
    return true;
}

bool symbols_file_open(struct symbols_file *file, const struct symbols_options *options,
                       struct cache_depends *depends, const char *path, const uint8_t *build_id,
                       size_t build_id_length, char *reason, size_t reason_size)
{
    memset(file, 0, sizeof(*file));
    int descriptor = open_regular(path, reason, reason_size);
    if (descriptor < 0)
        return false;
    file->options = *options;
    file->depends = depends;
    GElf_Addr elf_bias;
    bool opened = open_elf(file, options, path, descriptor);
    if (opened)
        file->elf = dwfl_module_getelf(file->module, &elf_bias);
    else
        close(descriptor);
    if (!file->elf) {
        snprintf(reason, reason_size, "%s is not a readable ELF file: %s", path, dwfl_errmsg(-1));
    } else if (same_build_id(file->elf, path, build_id, build_id_length, reason, reason_size)) {
        if (read_code_sections(file)) {
            file->unreadable = why_unreadable(file->elf);
            if (!file->unreadable)
                file->dwarf = dwfl_module_getdwarf(file->module, &file->bias);
            if (depends && file->dwarf)
                symbols_places_add_common(options, depends, file->module, file->dwarf);
            return true;
        }
        snprintf(reason, reason_size, "out of memory for the sections of %s", path);
    }
    symbols_file_close(file);
    return false;
}

void symbols_file_close(struct symbols_file *file)
{
    if (file->dwfl)
        dwfl_end(file->dwfl);
    free(file->code);
    free(file->debug_path);
    memset(file, 0, sizeof(*file));
}

const struct symbols_range *symbols_file_code(const struct symbols_file *file, uint64_t address)
{
    size_t low = 0, high = file->code_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->code[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || file->code[low - 1].end <= address)
        return NULL;
    return &file->code[low - 1];
}

struct symbols_bytes symbols_file_section(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) == 0) {
        for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
            GElf_Shdr header;
            const char *name;
            Elf_Data *data;
            if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS &&
                (name = elf_strptr(elf, names, header.sh_name)) && strcmp(name, wanted) == 0 &&
                (data = elf_getdata(section, NULL)) && data->d_buf)
                return (struct symbols_bytes){data->d_buf, data->d_size, header.sh_addr};
        }
    }
    return (struct symbols_bytes){NULL, 0, 0};
}

const Elf_Data *symbols_file_debug_section(Elf *elf, Elf_Scn **section, const char **name)
{
    static const char *const before[] = {".debug_", ".zdebug_"};
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((*section = elf_nextscn(elf, *section))) {
        GElf_Shdr header;
        *name = !gelf_getshdr(*section, &header) ? NULL : elf_strptr(elf, names, header.sh_name);
        for (size_t i = 0; *name && i < sizeof(before) / sizeof(*before); i++) {
            const size_t length = strlen(before[i]);
            if (strncmp(*name, before[i], length) != 0)
                continue;
            const Elf_Data *data = elf_getdata(*section, NULL);
            *name += length;
            if (data)
                return data;
            break;
        }
    }
    return NULL;
}

uint64_t symbols_file_debug_size(Dwarf *dwarf)
{
    Elf_Scn *section = NULL;
    const Elf_Data *data;
    const char *name;
    uint64_t size = 0;
    while ((data = symbols_file_debug_section(dwarf_getelf(dwarf), &section, &name)))
        size += data->d_size;
    return size;
}
