/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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
