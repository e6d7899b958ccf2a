/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/file.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/cache.h"
#include "ingest/base/output_file.h"

/* Writes the bytes, as many as there is room for, as text of two digits each. */
static void symbols_hexadecimal(char *text, size_t size, const uint8_t *bytes, size_t length)
{
    text[0] = '\0';
    for (size_t i = 0; i < length && 2 * i + 3 <= size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* Finds the file of common debug information (dwz). Its name may be relative to the file that names
 * it. Otherwise its build-id tells where it is. */
static void find_common(const struct symbols_file *file, struct symbols_paths *paths)
{
    const char *name, *from = paths->debug.path ? paths->debug.path : paths->module.path;
    const void *build_id;
    ssize_t length = file->dwarf ? dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id) : 0;
    if (length <= 1)
        return;
    symbols_hexadecimal(paths->common.build_id, sizeof(paths->common.build_id), build_id,
                        (size_t)length);
    const char *slash = name[0] == '/' ? NULL : strrchr(from, '/');
    snprintf(paths->common_path, sizeof(paths->common_path), "%.*s%s",
             slash ? (int)(slash + 1 - from) : 0, from, name);
    if (access(paths->common_path, R_OK) != 0)
        snprintf(paths->common_path, sizeof(paths->common_path),
                 "/usr/lib/debug/.build-id/%.2s/%s.debug", paths->common.build_id,
                 paths->common.build_id + 2);
    paths->common.path = paths->common_path;
}

bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const uint8_t *bytes;
    GElf_Addr address;
    memset(paths, 0, sizeof(*paths));
    if (!file)
        return false;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &paths->module.path,
                     &paths->debug.path);
    if (!paths->module.path || strncmp(paths->module.path, "/proc/", 6) == 0)
        return false;
    int length = dwfl_module_build_id(file->module, &bytes, &address);
    if (length > 0)
        symbols_hexadecimal(paths->module.build_id, sizeof(paths->module.build_id), bytes,
                            (size_t)length);
    memcpy(paths->debug.build_id, paths->module.build_id, sizeof(paths->debug.build_id));
    find_common(file, paths);
    return true;
}

static const char *text_of(Dwarf_Die *die, unsigned name, unsigned older_name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) || dwarf_attr(die, older_name, &attribute)
               ? dwarf_formstring(&attribute)
               : NULL;
}

/* Tries the places in libdw's order. `from` is the file that names the split file. */
static void find_split(const char *from, const char *folder, struct symbols_split *split)
{
    const char *slash = strrchr(from, '/');
    int from_length = !slash ? 0 : (int)(slash + 1 - from);
    const char *name = split->name;
    bool below = folder && folder[0] != '/';
    if (name[0] == '/') {
        snprintf(split->path, sizeof(split->path), "%s", name);
        return;
    }
    snprintf(split->path, sizeof(split->path), "%.*s%s", from_length, from, name);
    if (access(split->path, R_OK) != 0)
        snprintf(split->path, sizeof(split->path), "%.*s%s/%s", below ? from_length : 0, from,
                 !folder ? "." : folder, name);
}

void symbols_paths_split(struct symbols *symbols, uint32_t id,
                         void (*found)(void *context, const struct symbols_split *split),
                         void *context)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const char *module = NULL, *debug = NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    struct symbols_split split;
    if (!file || !file->dwarf)
        return;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &module, &debug);
    const char *from = debug ? debug : module;
    while (from && dwarf_get_units(file->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        split.name =
            type == DW_UT_skeleton ? text_of(&die, DW_AT_dwo_name, DW_AT_GNU_dwo_name) : NULL;
        if (!split.name || *split.name == '\0')
            continue;
        find_split(from, text_of(&die, DW_AT_comp_dir, DW_AT_comp_dir), &split);
        found(context, &split);
    }
}

/* ---- places --------------------------------------------------------------------------------- */

/* The places where libdwfl and libdw look for separate debug files: a superset of what
 * dwfl_standard_find_debuginfo() does with the path of folders below. */

/* The folders of the debug files of a whole system. */
struct roots {
    const char *paths[3];
    size_t count;
    char *below; /* that of the sysroot, or NULL */
};

static bool find_roots(const struct symbols_options *options, struct cache_depends *depends,
                       struct roots *roots)
{
    *roots = (struct roots){.paths = {"/usr/lib/debug"}, .count = 1};
    if (options->debug_dir)
        roots->paths[roots->count++] = options->debug_dir;
    if (!options->sysroot)
        return true;
    if (asprintf(&roots->below, "%s/usr/lib/debug", options->sysroot) < 0) {
        roots->below = NULL;
        depends->unknown = true;
        return false;
    }
    roots->paths[roots->count++] = roots->below;
    return true;
}

/* Adds ROOT/.build-id/ab/cdef.debug. */
static void add_build_id(struct cache_depends *depends, const struct roots *roots,
                         const uint8_t *id, size_t length)
{
    char name[160];
    if (length < 2 || length > 64)
        return;
    symbols_hexadecimal(name, sizeof(name), id + 1, length - 1);
    for (size_t i = 0; i < roots->count; i++) {
        cache_depends_add_path(depends, "%s/.build-id/%02x/%s.debug", roots->paths[i], id[0], name);
        cache_depends_add_path(depends, "%s/.build-id/%02x/%s", roots->paths[i], id[0], name);
    }
}

/* Adds the names that a debug file may have in a folder. */
static void add_names(struct cache_depends *depends, const char *folder, const char *base,
                      const char *link)
{
    cache_depends_add_path(depends, "%s/%s", folder, base);
    cache_depends_add_path(depends, "%s/%s.debug", folder, base);
    if (!link)
        return;
    cache_depends_add_path(depends, "%s/%s", folder, link);
    cache_depends_add_path(depends, "%s/%s", folder, basename(link));
    cache_depends_add_path(depends, "%s/.dwz/%s", folder, basename(link));
}

static void add_file(struct cache_depends *depends, const struct roots *roots, const char *path,
                     const char *link)
{
    const char *base = basename(path);
    char *folder = strndup(path, base == path ? 0 : (size_t)(base - path - 1)), *below = NULL;
    if (!folder || asprintf(&below, "%s/.debug", base == path ? "." : folder) < 0) {
        depends->unknown = true;
        free(folder);
        return;
    }
    if (link && link[0] == '/')
        cache_depends_add(depends, link);
    add_names(depends, base == path ? "." : folder, base, link);
    add_names(depends, below, base, link);
    free(below);
    for (size_t i = 0; i < roots->count; i++) {
        add_names(depends, roots->paths[i], base, link);
        /* The file's folder below the root, then without its first parts. */
        for (const char *part = folder; part && *part; part = strchr(part, '/')) {
            part += *part == '/';
            if (*part == '\0' || asprintf(&below, "%s/%s", roots->paths[i], part) < 0)
                break;
            add_names(depends, below, base, link);
            free(below);
        }
    }
    free(folder);
}

static void add_paths(struct cache_depends *depends, const struct roots *roots, const char *path,
                      const char *link)
{
    char *real = realpath(path, NULL);
    add_file(depends, roots, path, link);
    if (real && strcmp(real, path) != 0)
        add_file(depends, roots, real, link);
    free(real);
}

/* Adds the places for the debug file of `module`, whose own file is `path`. `link` is the name that
 * it gives, or NULL. */
static void add_places(const struct symbols_file *file, Dwfl_Module *module, const char *path,
                       const char *link)
{
    struct cache_depends *depends = file->depends;
    struct roots roots;
    const unsigned char *id;
    GElf_Addr address;
    if (!find_roots(&file->options, depends, &roots))
        return;
    const int length = dwfl_module_build_id(module, &id, &address);
    if (length > 0)
        add_build_id(depends, &roots, id, (size_t)length);
    /* The vdso's copy has no folder. */
    if (path && strncmp(path, "/proc/", strlen("/proc/")) != 0)
        add_paths(depends, &roots, path, link);
    free(roots.below);
}

/* Adds the places for the file that dwz made of what several debug files have in common. */
static void add_common_places(const struct symbols_file *file)
{
    struct cache_depends *depends = file->depends;
    struct roots roots;
    const char *link = NULL, *own_file = NULL, *debug_file = NULL;
    const void *id = NULL;
    if (!find_roots(&file->options, depends, &roots))
        return;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &own_file, &debug_file);
    if (debug_file)
        cache_depends_add(depends, debug_file);
    const ssize_t length = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &link, &id);
    if (length > 0) {
        add_build_id(depends, &roots, id, (size_t)length);
        if (own_file)
            add_paths(depends, &roots, own_file, link);
        if (debug_file)
            add_paths(depends, &roots, debug_file, link);
    }
    free(roots.below);
}

/* ---- file ---------------------------------------------------------------------------------- */

/* More sections of code than any linker writes. Further sections are not symbolized. */
#define CODE_SECTIONS_MAX 65536

/* Each module's files stay open. Leaves some descriptors for the session. */
static bool leaves_enough(int descriptor)
{
    enum { LEFT = 64 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           (rlim_t)descriptor + LEFT < limit.rlim_cur;
}

/* Opens a regular file only, because a trace can name anything. A FIFO must not block. */
static int open_regular(const char *path, struct cache_depends *depends, char *reason,
                        size_t reason_size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0 && !leaves_enough(descriptor)) {
        close(descriptor);
        descriptor = -1;
        errno = EMFILE;
    }
    if (descriptor < 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            depends->unknown = true; /* a limit of this process */
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

static bool read_code_sections(struct symbols_file *file)
{
    size_t capacity = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            !(header.sh_flags & SHF_ALLOC) || header.sh_size == 0 ||
            header.sh_addr + header.sh_size < header.sh_addr)
            continue;
        if (file->code_count == CODE_SECTIONS_MAX)
            break;
        if (!ARRAY_GROW(file->code, file->code_count, capacity))
            return false;
        file->code[file->code_count++] =
            (struct symbols_range){header.sh_addr, header.sh_addr + header.sh_size};
    }
    if (file->code_count > 1)
        qsort(file->code, file->code_count, sizeof(*file->code), compare_uint64);
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

/* ---- debuginfod ---------------------------------------------------------------------------- */

/* A server that sends less than this in the time that libdebuginfod allows is asked no more.
 * libdebuginfod itself asks it three times for each module. */
#define SLOW_BYTES 100000
#define SLOW_SECONDS 90
/* So is one that sends more than this: no debug information is so large. */
#define ANSWER_MOST ((long)16 << 30)

static const char *why_asked_no_more; /* NULL: servers are asked */

/* The progress of one question to debuginfod. */
struct answer {
    const volatile sig_atomic_t *interrupted;
    long bytes; /* at `since` */
    time_t since;
};

struct debuginfod_functions {
    void (*set_progress)(debuginfod_client *client,
                         int (*progress)(debuginfod_client *, long, long));
    void (*set_user_data)(debuginfod_client *client, void *data);
    void *(*user_data)(debuginfod_client *client);
};

/* libdw loads the library when it needs it, and so does this. */
static const struct debuginfod_functions *debuginfod(void)
{
    static struct debuginfod_functions functions;
    void *library = functions.user_data ? NULL : dlopen("libdebuginfod.so.1", RTLD_LAZY);
    if (library) {
        *(void **)&functions.set_progress = dlsym(library, "debuginfod_set_progressfn");
        *(void **)&functions.set_user_data = dlsym(library, "debuginfod_set_user_data");
        *(void **)&functions.user_data = dlsym(library, "debuginfod_get_user_data");
    }
    return functions.set_progress && functions.set_user_data && functions.user_data ? &functions
                                                                                    : NULL;
}

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Called about once a second while a server answers. Returns 0 to wait on. */
static int wait_on(debuginfod_client *client, long bytes, long whole)
{
    struct answer *answer = debuginfod()->user_data(client);
    const char *text = getenv("DEBUGINFOD_TIMEOUT");
    const long seconds = text && atol(text) > 0 ? atol(text) : SLOW_SECONDS;
    /* Another attempt begins again. */
    if (bytes < answer->bytes || bytes - answer->bytes >= SLOW_BYTES) {
        answer->bytes = bytes;
        answer->since = now_s();
    }
    if (now_s() - answer->since >= seconds)
        why_asked_no_more = "no server of DEBUGINFOD_URLS answered in time; set DEBUGINFOD_TIMEOUT "
                            "to more seconds, or leave DEBUGINFOD_URLS empty";
    if (bytes > ANSWER_MOST || whole > ANSWER_MOST)
        why_asked_no_more = "a server of DEBUGINFOD_URLS sends more than 16 GiB for one module; "
                            "leave that server out";
    return why_asked_no_more || (answer->interrupted && *answer->interrupted);
}

/* Returns what dwfl_standard_find_debuginfo() does. */
static int ask_everywhere(struct symbols_file *file, Dwfl_Module *module, void **user,
                          const char *name, Dwarf_Addr base, const char *path, const char *link,
                          GElf_Word sum, char **found)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    debuginfod_client *client = servers && *servers ? dwfl_get_debuginfod_client(file->dwfl) : NULL;
    struct answer answer = {file->options.interrupted, 0, now_s()};
    if (client && debuginfod()) {
        debuginfod()->set_user_data(client, &answer);
        debuginfod()->set_progress(client, wait_on);
    }
    int descriptor = dwfl_standard_find_debuginfo(module, user, name, base, path, link, sum, found);
    if (client && debuginfod())
        debuginfod()->set_progress(client, NULL);
    if (descriptor < 0 && why_asked_no_more)
        file->unreadable = why_asked_no_more;
    return descriptor;
}

/* Finds the file as libdwfl does, but checks it before libdw unpacks its sections. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word sum, char **found)
{
    struct symbols_file *file = *user;
    file->depends->special = false;
    add_places(file, module, name, link);
    if (file->depends->special) { /* libdwfl would not say it */
        file->unreadable = "a FIFO or a device has the name of its debug file; remove that";
        return -1;
    }
    int descriptor = ask_everywhere(file, module, user, name, base, path, link, sum, found);
    if (descriptor < 0)
        return descriptor;
    if (!leaves_enough(descriptor)) {
        file->depends->unknown = true;
        close(descriptor);
        return -1;
    }
    Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    const char *unreadable = elf ? why_unreadable(elf) : NULL;
    elf_end(elf);
    if (!unreadable)
        return descriptor;
    close(descriptor);
    file->unreadable = unreadable;
    return -1;
}

/* Takes ownership of `descriptor` on success. */
static bool open_elf(struct symbols_file *file, const char *path, int descriptor)
{
    file->debug_path = debug_path(&file->options);
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
    int descriptor = open_regular(path, depends, reason, reason_size);
    if (descriptor < 0)
        return false;
    file->options = *options;
    file->depends = depends;
    GElf_Addr elf_bias;
    bool opened = open_elf(file, path, descriptor);
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
            if (file->dwarf)
                add_common_places(file);
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
    size_t low = 0;
    ARRAY_BISECT(low, file->code_count, file->code[middle].start <= address);
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

/* Opens files of debug information for libdw, which has no call that takes them from us: so this
 * file defines open(). Files to be read are opened without waiting, because libdw would wait for a
 * FIFO with the name of one. In split files (.dwo) libdw reads only the first of the sections that
 * have one name, but gcc writes one for the unit of each type (-fdebug-types-section): it gets a
 * copy in which neighbours of one name are one section. */

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
    if (copy < 0 || write_whole(copy, bytes, size) == 0)
        return copy;
    close(copy);
    return -1;
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
