/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "schemas/printable.h"

#undef session_fail
#undef session_fail_memory

bool session_fail(struct session_error *error, int column, const char *format, ...)
{
    if (!error)
        return false;
    va_list arguments;
    va_start(arguments, format);
    char message[sizeof(error->message)];
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    printable_copy(error->message, sizeof(error->message), message);
    error->column = column;
    return false;
}

bool session_fail_memory(struct session_error *error, const char *what)
{
    return session_fail(error, 0, "out of memory for %s; close other programs or filter more",
                        what);
}

size_t session_printable(char *out, size_t size, const char *text)
{
    return printable_copy(out, size, text);
}
