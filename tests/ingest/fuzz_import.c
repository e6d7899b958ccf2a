/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the import: any file is refused in one line, or becomes a trace that ingest can
 * read without damage. Built by clang with MPROF_FUZZ, this is a libFuzzer program; otherwise
 * tests/fuzz_replay.c replays the corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/trace/import.h"
#include "tests/ingest/replay_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct imported *imported)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", imported->descriptor);
    struct replayed *replayed = replay_file(path);
    if (!replayed->good || replayed->scan.damaged_bytes != 0 ||
        replayed->totals.allocations != replayed->row_count)
        abort();
    replayed_free(replayed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct imported imported;
    char path[64];
    const int descriptor = memfd_create("import", MFD_CLOEXEC);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    if (!import_file(path, "/tmp/session.db", NULL, &imported, &status)) {
        if (status.code == INGEST_OK || strchr(status.message, '\n') || imported.descriptor >= 0)
            abort();
    } else if (imported.descriptor >= 0)
        check(&imported);
    imported_free(&imported);
    close(descriptor);
    return 0;
}
