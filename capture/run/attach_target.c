/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/attach_target.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/os/attach.h"
#include "capture/os/elf_symbols.h"
#include "capture/run/client.h"
#include "schemas/array.h"

#define HEADERS_MAX 64u
#define RECORDER_IN_MEMORY "memfd:libmprof.so" /* attach.c makes it */

/* One line of /proc/PID/maps. */
struct mapping {
    uint64_t start, end, offset;
    bool writable, executable;
    char path[PATH_MAX];
};

bool attach_read(pid_t process, uint64_t address, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)address, size};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool attach_write(pid_t process, uint64_t address, const void *from, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)from, size}, there = {(void *)address, size};
    return process_vm_writev(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static FILE *open_of(pid_t process, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, name);
    return fopen(path, "re");
}

/* Reads the next mapping. `line` is a buffer of getline(). */
static bool next_mapping(FILE *maps, char **line, size_t *room, struct mapping *mapping)
{
    char rights[8];
    int at = 0;
    if (getline(line, room, maps) < 0 ||
        sscanf(*line, "%lx-%lx %7s %lx %*s %*s %n", &mapping->start, &mapping->end, rights,
               &mapping->offset, &at) < 4)
        return false;
    mapping->writable = rights[1] == 'w';
    mapping->executable = rights[2] == 'x';
    snprintf(mapping->path, sizeof(mapping->path), "%.*s", (int)strcspn(*line + at, "\n"),
             *line + at);
    return true;
}

uint64_t attach_stack_room(pid_t process, uint64_t address, uint64_t wanted)
{
    FILE *maps = open_of(process, "maps");
    struct mapping mapping;
    uint64_t below = 0, found = 0;
    char *line = NULL;
    size_t room = 0;
    while (maps && found == 0 && next_mapping(maps, &line, &room, &mapping)) {
        if (address > mapping.start && address <= mapping.end && mapping.writable) {
            found = address - mapping.start;
            /* The kernel makes this one larger as it is used, up to the next mapping. */
            if (strcmp(mapping.path, "[stack]") == 0 && mapping.start - below > wanted)
                found = wanted;
        }
        below = mapping.end;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found < wanted ? found : wanted;
}

struct search {
    struct attach_module *module;
    uint64_t bias;
};

static void take_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct search *search = (struct search *)context;
    struct attach_module *module = search->module;
    const struct {
        const char *name;
        uint64_t *to;
    } wanted[] = {
        {"malloc", &module->malloc},
        {"free", &module->free},
        {"realloc", &module->realloc},
        {"calloc", &module->calloc},
        {"dlopen", &module->dlopen},
        {"dlsym", &module->dlsym},
        {"dlerror", &module->dlerror},
        {"__errno_location", &module->errno_location},
        {"memfd_create", &module->memfd_create},
        {"close", &module->close},
        {"dl_iterate_phdr", &module->dl_iterate_phdr},
        {ATTACH_MAILBOX, &module->mailbox},
        {"_r_debug", &module->loader_state},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (name[0] == wanted[i].name[0] && strcmp(name, wanted[i].name) == 0)
            *wanted[i].to = address + search->bias;
}

/* Stores the distance between addresses in the file and in the process. */
static bool read_bias(pid_t process, uint64_t start, uint64_t *bias)
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[HEADERS_MAX];
    if (!attach_read(process, start, &head, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phnum > HEADERS_MAX ||
        !attach_read(process, start + head.e_phoff, headers, head.e_phnum * sizeof(*headers)))
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD) {
            *bias = start - (headers[i].p_vaddr & ~UINT64_C(4095));
            return true;
        }
    return false;
}

static bool is_named(const char *path, const char *begin)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, begin, strlen(begin)) == 0;
}

static bool is_recorder(const struct attach_module *module)
{
    return is_named(module->path, "libmprof.so") || is_named(module->path, RECORDER_IN_MEMORY);
}

static void read_module(const struct attach_target *target, const char *library,
                        struct attach_module *module)
{
    char path[PATH_MAX + 64];
    struct search search = {module, 0};
    if (module->code == 0 || !read_bias(target->process, module->start, &search.bias))
        return;
    module->is_loader = is_named(module->path, "ld-linux") || is_named(module->path, "ld-2.");
    module->is_libc = is_named(module->path, "libc.so.6") || is_named(module->path, "libc-2.");
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)target->process, module->path);
    if (is_named(module->path, RECORDER_IN_MEMORY))
        snprintf(path, sizeof(path), "%s", library);
    else if (access(path, R_OK) != 0) /* replaced or removed since it was loaded */
        snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)target->process,
                 module->start, module->first_end);
    elf_symbols_of(path, take_symbol, &search);
    if (module->is_loader || is_recorder(module))
        elf_symbols_of_data(path, take_symbol, &search);
    if (module->is_loader)
        module->malloc = module->free = 0;
}

/* Returns a new module at the end. NULL: there is no memory. */
static struct attach_module *add_module(struct attach_target *target, size_t *capacity)
{
    if (!array_grow(&target->modules, capacity, target->count + 1, sizeof(*target->modules)))
        return NULL;
    struct attach_module *module = &target->modules[target->count++];
    memset(module, 0, sizeof(*module));
    return module;
}

static bool read_modules(struct attach_target *target, const char *library)
{
    FILE *maps = open_of(target->process, "maps");
    struct mapping mapping;
    struct attach_module *last = NULL;
    char *line = NULL;
    size_t room = 0, capacity = 0;
    bool good = maps != NULL;
    while (good && next_mapping(maps, &line, &room, &mapping)) {
        if (mapping.path[0] != '/')
            continue;
        if (!last || mapping.offset == 0 || strcmp(last->path, mapping.path) != 0) {
            last = add_module(target, &capacity);
            good = last != NULL;
            if (!good)
                break;
            last->start = mapping.start;
            last->first_end = mapping.end;
            memcpy(last->path, mapping.path, sizeof(last->path));
        }
        last->end = mapping.end;
        if (mapping.executable) {
            last->code = last->code ? last->code : mapping.start;
            last->code_end = mapping.end;
        }
    }
    good = good && feof(maps);
    free(line);
    if (maps)
        fclose(maps);
    for (size_t i = 0; good && i < target->count; i++)
        read_module(target, library, &target->modules[i]);
    return good;
}

/* Finds the byte where injected calls return to, and the code that ends signal handlers. */
static bool read_code(struct attach_target *target, const struct attach_module *libc)
{
    static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    const size_t size = libc->code_end - libc->code;
    uint8_t *code = malloc(size);
    target->incomplete |= !code;
    if (code && attach_read(target->process, libc->code, code, size)) {
        const uint8_t *trap = memchr(code, 0xcc, size);
        const uint8_t *found = memmem(code, size, restorer, sizeof(restorer));
        target->trap = trap ? libc->code + (uint64_t)(trap - code) : 0;
        target->restorer = found ? libc->code + (uint64_t)(found - code) : 0;
    }
    free(code);
    return target->trap != 0;
}

/* Finds the functions that are called in the process. */
static bool choose_functions(struct attach_target *target)
{
    const struct attach_module *libc = NULL;
    target->loading = target->count == 1; /* the kernel has not mapped the loader yet */
    for (size_t i = 0; i < target->count; i++) {
        const struct attach_module *module = &target->modules[i];
        libc = module->is_libc && !libc ? module : libc;
        target->loading |= module->is_loader;
        if (module->is_loader)
            target->loader_state = module->loader_state;
        if (is_recorder(module))
            target->recorder = module;
        else if (module->malloc && module->free && target->allocator_count < ATTACH_ALLOCATORS_MAX)
            target->allocators[target->allocator_count++] = module;
        /* Before glibc 2.34 these were in a library of their own. */
        if (module->is_libc || is_named(module->path, "libdl")) {
            target->dlopen = module->dlopen ? module->dlopen : target->dlopen;
            target->dlsym = module->dlsym ? module->dlsym : target->dlsym;
            target->dlerror = module->dlerror ? module->dlerror : target->dlerror;
        }
    }
    if (!libc)
        return false;
    target->errno_location = libc->errno_location;
    target->memfd_create = libc->memfd_create;
    target->close = libc->close;
    target->dl_iterate_phdr = libc->dl_iterate_phdr;
    const bool good =
        read_code(target, libc) && target->dlopen && target->dlsym && target->errno_location;
    target->loading &= !good;
    return good;
}

/* Returns true if the symbols of the C library could not be read because its file is gone. */
static bool is_libc_hidden(const struct attach_target *target)
{
    for (size_t i = 0; i < target->count; i++)
        if (target->modules[i].is_libc && !target->modules[i].errno_location)
            return strstr(target->modules[i].path, " (deleted)") != NULL;
    return false;
}

long attach_thread_count(pid_t process)
{
    return process_status_number(process, "status", "Threads");
}

char attach_thread_state(pid_t process, pid_t thread)
{
    char name[64], line[512];
    snprintf(name, sizeof(name), "task/%d/stat", (int)thread);
    if (process_read(process, name, line, sizeof(line)) == 0)
        return errno == ENOENT || errno == ESRCH ? 'X' : '?';
    const char *end = strrchr(line, ')');
    return end && end[1] == ' ' ? end[2] : '?';
}

/* Reads the auxiliary vector: each program gets other addresses. Returns its size. */
static size_t read_auxiliary(pid_t process, uint8_t bytes[ATTACH_PROGRAM_MAX])
{
    return process_read(process, "auxv", (char *)bytes, ATTACH_PROGRAM_MAX);
}

bool attach_target_is_same(const struct attach_target *target)
{
    uint8_t now[ATTACH_PROGRAM_MAX];
    return read_auxiliary(target->process, now) == target->program_size &&
           memcmp(now, target->program, target->program_size) == 0;
}

/* Finds out if the program has no interpreter, and if it is of another architecture. */
static void read_program(pid_t process, bool *is_static, bool *is_other)
{
    char path[64];
    Elf64_Ehdr head = {0};
    Elf64_Phdr header;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)process);
    FILE *file = fopen(path, "re");
    *is_static = *is_other = false;
    if (!file)
        return;
    if (fread(&head, sizeof(head), 1, file) == 1) {
        *is_other = head.e_machine != EM_X86_64 || head.e_ident[EI_CLASS] != ELFCLASS64;
        *is_static = !*is_other && fseek(file, (long)head.e_phoff, SEEK_SET) == 0;
        for (unsigned i = 0; *is_static && i < head.e_phnum; i++)
            if (fread(&header, sizeof(header), 1, file) == 1 && header.p_type == PT_INTERP)
                *is_static = false;
    }
    fclose(file);
}

bool attach_target_open(struct attach_target *target, pid_t process, const char *library, char *why,
                        size_t size)
{
    bool is_static, is_other;
    memset(target, 0, sizeof(*target));
    target->process = process;
    const long tracer = process_status_number(process, "status", "TracerPid");
    if (tracer < 0) {
        snprintf(why, size,
                 kill(process, 0) == 0 || errno == EPERM
                     ? "its folder in /proc cannot be read; mount /proc, or run as its user"
                     : "there is no such process");
        return false;
    }
    if (tracer > 0) {
        snprintf(why, size, "process %ld traces it already, a debugger for example; end that first",
                 tracer);
        return false;
    }
    switch (attach_thread_state(process, process)) {
    case 'Z':
    case 'X':
        snprintf(why, size, "it has ended");
        return false;
    case 'T':
    case 't':
        snprintf(why, size, "it is stopped; let it go on first: kill -CONT %d", (int)process);
        return false;
    default:
        break;
    }
    target->program_size = read_auxiliary(process, target->program);
    errno = 0;
    if (!read_modules(target, library) || target->count == 0) {
        target->loading = errno == 0;
        snprintf(why, size,
                 "its memory map cannot be read: %s; run mprof-run as its user or as root",
                 errno ? strerror(errno) : "it is empty");
        return false;
    }
    read_program(process, &is_static, &is_other);
    if (is_other || is_static) {
        snprintf(why, size,
                 is_other ? "it is not a program of x86_64"
                          : "it is a static program, into which no library can be loaded; link it "
                            "with libmprof.a instead");
        return false;
    }
    if (choose_functions(target))
        return true;
    target->loading &= !target->incomplete && !is_libc_hidden(target);
    snprintf(why, size,
             target->incomplete ? "there is no memory to read its C library"
             : is_libc_hidden(target)
                 ? "its C library has been replaced since it began, and only root may read the one "
                   "that it uses; run mprof-run as root, or start the process again"
                 : "it does not run on glibc, for which the recorder is built");
    return false;
}

bool attach_target_is_program(const struct attach_target *target, uint64_t address)
{
    /* Before glibc 2.34 some of these took the loader's locks. */
    static const char *const parts_of_libc[] = {"libpthread", "libdl",  "librt",
                                                "libresolv",  "libnss", "libanl"};
    const struct attach_module *module = attach_target_at(target, address);
    bool is_program =
        module && !module->is_libc && !module->is_loader && !module->malloc && !is_recorder(module);
    for (size_t i = 0; is_program && i < sizeof(parts_of_libc) / sizeof(*parts_of_libc); i++)
        is_program = !is_named(module->path, parts_of_libc[i]);
    return is_program;
}

void attach_target_close(struct attach_target *target)
{
    free(target->modules);
    target->modules = NULL;
    target->count = 0;
}

const struct attach_module *attach_target_at(const struct attach_target *target, uint64_t address)
{
    for (size_t i = 0; i < target->count; i++)
        if (address >= target->modules[i].code && address < target->modules[i].code_end)
            return &target->modules[i];
    return NULL;
}
