/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
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

/* Live blocks may take so much memory, and so much for each byte of the file that is large. */
enum { LIVE_LEAST = 480 << 20, LARGE_FILE = 4 << 20, LIVE_EACH_BYTE = 128 };

bool ingest_check_live(uint64_t live, uint64_t bytes, uint64_t size, const char *path,
                       struct ingest_status *status)
{
    const uint64_t large = size > LARGE_FILE ? size - LARGE_FILE : 0;
    return bytes <= LIVE_LEAST || (bytes - LIVE_LEAST) / LIVE_EACH_BYTE <= large ||
           ingest_fail(status, INGEST_BAD_INPUT,
                       "%s: %" PRIu64 " blocks are live at once, in a file of %" PRIu64
                       " bytes; if it can be trusted, unpack it first, or record it again without "
                       "--compress",
                       path, live, size);
}

/* ---- problems ------------------------------------------------------------------------------ */

const char *problem_name(enum problem_kind kind)
{
    static const char *const names[PROBLEM_KINDS] = {
        [PROBLEM_DAMAGE] = "damage",
        [PROBLEM_MISSING_CHUNK] = "missing chunk",
        [PROBLEM_CLOCK] = "clock",
        [PROBLEM_UNMATCHED_FREE] = "unmatched free",
        [PROBLEM_DOUBLE_FREE] = "double free",
        [PROBLEM_MISMATCHED_FREE] = "mismatched free",
        [PROBLEM_WRONG_SIZE] = "wrong size",
        [PROBLEM_OVERLAP] = "overlap",
        [PROBLEM_ORPHANED_STACK] = "orphaned stack",
        [PROBLEM_DROPPED] = "dropped",
        [PROBLEM_IMPOSSIBLE_SIZE] = "impossible size",
        [PROBLEM_FAILED] = "failed allocation",
        [PROBLEM_RECORD] = "unusable record",
        [PROBLEM_SUPPRESSIONS] = "lost suppressions",
        [PROBLEM_UNRECORDED] = "program not recorded",
        [PROBLEM_DEBUG] = "unreadable debug information",
    };
    return names[kind];
}

struct problem *problems_add(struct problems *problems, enum problem_kind kind, const char *format,
                             ...)
{
    va_list arguments;
    if (problems->counts[kind]++ >= PROBLEMS_KEPT_PER_KIND ||
        !ARRAY_RESERVE(problems->kept, problems->kept_count, problems->capacity))
        return NULL;
    struct problem *problem = &problems->kept[problems->kept_count++];
    problem->kind = kind;
    problem->ns = problem->address = problem->thread = problem->byte_offset = PROBLEM_NONE;
    va_start(arguments, format);
    vsnprintf(problem->detail, sizeof(problem->detail), format, arguments);
    va_end(arguments);
    return problem;
}

bool problems_join(struct problems *sum, const struct problems *later)
{
    uint64_t seen[PROBLEM_KINDS];
    if (!array_reserve(&sum->kept, &sum->capacity, sum->kept_count + later->kept_count + 1,
                       sizeof(*sum->kept)))
        return false;
    memcpy(seen, sum->counts, sizeof(seen));
    for (size_t i = 0; i < later->kept_count; i++)
        if (seen[later->kept[i].kind]++ < PROBLEMS_KEPT_PER_KIND)
            sum->kept[sum->kept_count++] = later->kept[i];
    for (size_t kind = 0; kind < PROBLEM_KINDS; kind++)
        sum->counts[kind] += later->counts[kind];
    return true;
}

void problems_free(struct problems *problems)
{
    free(problems->kept);
    *problems = (struct problems){0};
}
