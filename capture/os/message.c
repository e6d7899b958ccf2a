/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "schemas/printable.h"

static struct {
    bool known;
    dev_t device;
    ino_t inode;
} standard_error;

static char *diverted;
static unsigned diverted_size;

void message_init(void)
{
    struct stat status = {0};
    standard_error.known = os_status(2, &status) == 0;
    if (!standard_error.known)
        return;
    standard_error.device = status.st_dev;
    standard_error.inode = status.st_ino;
}

void message_divert(char *buffer, unsigned size)
{
    diverted = buffer;
    diverted_size = size;
}

void message_line(const char *first, ...)
{
    struct stat status = {0};
    char line[1024];
    const size_t room = sizeof(line) - 24;
    size_t used = 0;
    if (!diverted &&
        (!standard_error.known || os_status(2, &status) != 0 ||
         status.st_dev != standard_error.device || status.st_ino != standard_error.inode))
        return;
    for (const char *text = diverted ? "" : "mprof: "; *text; text++)
        line[used++] = *text;
    va_list rest;
    va_start(rest, first);
    for (const char *text = first; text; text = va_arg(rest, const char *))
        used += printable_copy(line + used, room - used, text);
    va_end(rest);
    if (diverted) {
        line[used] = '\0';
        printable_copy(diverted, diverted_size, line);
        return;
    }
    line[used++] = '\n';
    os_call(SYS_write, 2, (long)line, (long)used, 0, 0, 0);
}
