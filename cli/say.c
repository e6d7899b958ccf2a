/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "schemas/printable.h"

void say(const char *program, const char *format, ...)
{
    const int error = errno;
    char message[4096], text[PRINTABLE_BYTE_MAX * sizeof(message)];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    printable_copy(text, sizeof(text), message);
    fprintf(stderr, "%s: %s\n", program, text);
    errno = error;
}

void privileges_give_up(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L);
}
