/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/ingest/replay_bytes.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "schemas/session_ids.h"

struct replayed *replay_bytes(const uint8_t *bytes, size_t length, uint64_t size)
{
    char path[64];
    int descriptor = memfd_create("trace", MFD_CLOEXEC);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, length), length);
    assert_int_equal(ftruncate(descriptor, (off_t)size), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    struct replayed *replayed = replay_file(path);
    close(descriptor);
    return replayed;
}

void assert_sound(const struct replayed *replayed, const char *what, size_t where)
{
    const struct totals *totals = &replayed->totals;
    uint64_t rows = 0, live = 0, stack_bytes = 0;
    if (!replayed->good) {
        if (replayed->status.code != INGEST_BAD_INPUT || replayed->status.message[0] == '\0')
            fail_msg("%s %zu: refused without a reason", what, where);
        return;
    }
    for (size_t i = 0; i < replayed->row_count; i++) {
        rows += replayed->rows[i][COLUMN_ARENA] == 0;
        live += replayed->rows[i][COLUMN_ARENA] == 0 && replayed->rows[i][COLUMN_LIFE_NS] == 0;
        assert_true(replayed->rows[i][COLUMN_STACK] < replayed->stacks.count);
    }
    for (size_t i = 0; i < replayed->stacks.count; i++)
        stack_bytes += stack_usages_of(&replayed->totals.stacks, i).bytes;
    const struct trace_scan *scan = &replayed->scan;
    for (size_t i = 0; i < scan->threads.count; i++)
        assert_true(session_id_possible(scan->threads.rows[i].number, scan->threads.count));
    for (size_t i = 0; i < scan->module_count; i++)
        assert_true(session_id_possible(scan->modules[i].id, scan->module_count));
    for (size_t i = 0; i < replayed->replay.arena_count; i++)
        assert_true(
            session_id_possible(replayed->replay.arenas[i].id, replayed->replay.arena_count));
    if (rows != totals->allocations || live != totals->live_count || stack_bytes != totals->bytes ||
        totals->frees + totals->live_count + replayed->problems.counts[PROBLEM_OVERLAP] <
            totals->allocations)
        fail_msg("%s %zu: the sums do not agree", what, where);
}
