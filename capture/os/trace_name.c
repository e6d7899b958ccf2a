/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/trace_name.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "schemas/trace_layout.h"

/* A script's name is executed too, and another folder may have become the current one: so the file
 * is compared with what the kernel loaded. */
static bool is_loaded(const char *path)
{
    ElfW(Ehdr) header;
    const int file = os_open_read(path);
    if (file < 0)
        return false;
    const bool whole = os_read(file, &header, sizeof(header)) == (long)sizeof(header);
    os_close(file);
    return whole && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_phnum == getauxval(AT_PHNUM) &&
           (getauxval(AT_ENTRY) - header.e_entry) % getauxval(AT_PAGESZ) == 0;
}

static size_t executed_name(char *path, size_t size)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    size_t used = 0;
    if (!name)
        return 0;
    if (name[0] != '/') {
        const long length = os_call(SYS_getcwd, (long)path, (long)size - 1, 0, 0, 0, 0);
        if (length <= 1 || path[0] != '/') /* its length counts the NUL */
            return 0;
        used = (size_t)length - 1;
        if (used > 1)
            path[used++] = '/';
    }
    const size_t length = strnlen(name, size);
    if (used + length >= size)
        return 0;
    memcpy(path + used, name, length + 1);
    return is_loaded(path) ? used + length : 0;
}

size_t executable_name(char *path, size_t size)
{
    const long length = os_read_link("/proc/self/exe", path, size);
    if (length > 0)
        return (size_t)length;
    const size_t executed = executed_name(path, size);
    path[executed] = 0;
    return executed;
}

static bool append(char *name, const char *text)
{
    size_t used = strlen(name), length = strlen(text);
    if (used + length >= TRACE_NAME_SIZE)
        return false;
    memcpy(name + used, text, length + 1);
    return true;
}

static bool append_number(char *name, uint64_t number)
{
    return append(name, OS_DECIMAL(number));
}

static const char *program_name(char *path, size_t size)
{
    if (executable_name(path, size) == 0)
        return "program";
    char *deleted = strstr(path, " (deleted)");
    if (deleted)
        *deleted = 0;
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool trace_name_base(const char *path, char *name)
{
    static char program[TRACE_NAME_SIZE]; /* one thread at a time begins a trace */
    name[0] = 0;
    if (!path || path[0] != '/') {
        long length = os_call(SYS_getcwd, (long)name, TRACE_NAME_SIZE - 1, 0, 0, 0, 0);
        /* For a directory outside the root the kernel says "(unreachable)/…". */
        if (length <= 0 || name[0] != '/')
            return false;
        if (name[1] && !append(name, "/"))
            return false;
    }
    if (path && *path)
        return append(name, path);
    return append(name, "mprof.") && append(name, program_name(program, sizeof(program))) &&
           append(name, ".") && append_number(name, (uint64_t)os_process_id()) &&
           append(name, ".bin");
}

bool trace_name_folder(const char *base, char *name)
{
    name[0] = 0;
    return append(name, base) && append(name, TRACE_FOLDER);
}

bool trace_name_attempt(const char *base, int pid, unsigned attempt, bool in_folder, char *name)
{
    name[0] = 0;
    if (attempt == 0)
        return append(name, base);
    if (in_folder ? !trace_name_folder(base, name) : !append(name, base))
        return false;
    if (!append(name, in_folder ? "/" : ".") || !append_number(name, (uint64_t)pid))
        return false;
    return attempt == 1 || (append(name, ".") && append_number(name, attempt));
}

bool disk_space_look(int descriptor, struct disk_space_limit limit, struct disk_space *space)
{
    struct statfs about;
    *space = (struct disk_space){0, 0};
    if (limit.bytes == 0 || os_call(SYS_fstatfs, descriptor, (long)&about, 0, 0, 0, 0) != 0 ||
        about.f_blocks == 0)
        return false;
    const uint64_t block = (uint64_t)(about.f_frsize ? about.f_frsize : about.f_bsize);
    /* Blocks first, since bytes times a hundred may not fit. */
    const uint64_t part = about.f_blocks * limit.percent / 100 * block;
    space->available = about.f_bavail * block;
    space->must_stay_free = part < limit.bytes ? part : limit.bytes;
    return true;
}

const char *disk_space_text(uint64_t bytes, char text[DISK_SPACE_TEXT])
{
    static const char *const units[] = {" KiB", " MiB", " GiB", " TiB"};
    char *end = text + DISK_SPACE_TEXT - sizeof(" KiB");
    uint64_t count = bytes >> 10;
    unsigned unit = 0;
    for (; count >= 10240 && unit < 3; unit++)
        count >>= 10;
    memcpy(end, units[unit], sizeof(" KiB"));
    return os_decimal(end, count);
}
