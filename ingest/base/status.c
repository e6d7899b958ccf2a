/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "schemas/printable.h"

bool ingest_fail(struct ingest_status *status, enum ingest_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char message[sizeof(status->message)];
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    printable_copy(status->message, sizeof(status->message), message);
    status->code = code;
    return false;
}

bool ingest_fail_memory(struct ingest_status *status, const char *what)
{
    return ingest_fail(status, INGEST_BAD_INPUT,
                       "out of memory for %s; close other programs or use a larger machine", what);
}
