/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/import/import.h"

#include <string.h>
#include <unistd.h>

#include "ingest/import/heaptrack.h"

/* Returns true if the text is a heap profile: sums of stacks, without events. */
static bool is_profile(const char *text, size_t length)
{
    static const char *const begins[] = {"heap profile:", "heap_v2/", "--- symbol", "--- heap",
                                         "--- profile"};
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (length >= strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    /* pprof's message begins with sample_type (field 1, a short message with the numbers of two
     * strings, of which the first is field 1 or 2) or with string_table (field 6, first ""). */
    if (length >= 4 && bytes[0] == 0x32 && bytes[1] == 0)
        return true;
    return length >= 4 && bytes[0] == 0x0a && bytes[1] >= 2 && bytes[1] <= 22 &&
           (bytes[2] == 0x08 || bytes[2] == 0x10);
}

bool import_file(const char *path, const char *session, const volatile sig_atomic_t *interrupted,
                 struct imported *imported, struct ingest_status *status)
{
    struct ingest_status unreadable = {INGEST_OK, ""};
    struct lines *lines = lines_open(path, &unreadable);
    const char *text;
    char *line;
    size_t line_length;
    bool good = true;
    *imported = (struct imported){.descriptor = -1};
    if (!lines)
        return true;
    const size_t length = lines_peek(lines, &text, 32);
    if (length == 0)
        good = lines_next(lines, &line, &line_length, status) != LINES_FAILED;
    else if (heaptrack_is(text, length))
        good = heaptrack_read(lines, session, interrupted, imported, status);
    else if (is_profile(text, length))
        good = ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: a heap profile has sums of stacks and no events, so no session can "
                           "be made of it; look at it with go tool pprof or jeprof",
                           lines_path(lines));
    lines_close(lines);
    if (!good)
        imported_free(imported);
    return good;
}

void imported_free(struct imported *imported)
{
    if (imported->descriptor >= 0)
        close(imported->descriptor);
    imported->descriptor = -1;
    import_names_free(imported->names);
    imported->names = NULL;
}
