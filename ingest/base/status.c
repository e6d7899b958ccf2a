/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/status.h"

#include <inttypes.h>
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

/* So many blocks may be live, and so many for each byte of the file. */
enum { LIVE_LEAST = 2 << 20, LIVE_EACH_BYTE = 2 };

bool ingest_check_live(uint64_t live, uint64_t size, const char *path, struct ingest_status *status)
{
    return live <= LIVE_LEAST || (live - LIVE_LEAST) / LIVE_EACH_BYTE <= size ||
           ingest_fail(status, INGEST_BAD_INPUT,
                       "%s: %" PRIu64 " blocks are live at once, in a file of %" PRIu64
                       " bytes; if it can be trusted, unpack it first, or record it again without "
                       "--compress",
                       path, live, size);
}
