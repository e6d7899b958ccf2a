#include "ingest/status.h"

#include <stdarg.h>
#include <stdio.h>

bool ingest_fail(struct ingest_status *status, enum ingest_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status->message, sizeof status->message, format, arguments);
    va_end(arguments);
    status->code = code;
    return false;
}

bool ingest_fail_memory(struct ingest_status *status, const char *what)
{
    return ingest_fail(status, INGEST_BAD_INPUT,
                       "memory is exhausted (for %s): close other programs or use a larger machine",
                       what);
}
