/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/options/trace_name.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/executable_name.h"
#include "capture/os/os.h"
#include "schemas/trace_layout.h"

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
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    return append(name, os_decimal(digits + sizeof(digits) - 1, number));
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
