/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/ingest/replay_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct row_batch *keep_rows(void *context, struct row_batch *full)
{
    static struct row_batch batch; /* large, so it is static; only one run at a time */
    struct replayed *replayed = context;
    if (!full)
        return &batch;
    replayed->rows =
        realloc(replayed->rows, (replayed->row_count + full->rows) * sizeof(*replayed->rows));
    for (size_t row = 0; row < full->rows; row++)
        for (unsigned column = 0; column < COLUMN_TOTAL; column++)
            replayed->rows[replayed->row_count + row][column] = full->column[column][row];
    replayed->row_count += full->rows;
    return full;
}

static bool run(struct replayed *replayed, const char *path)
{
    static const struct symbols_options options = {.debug_dir = NULL};
    struct row_sink sink = {replayed, keep_rows, 0};
    struct trace_event event;
    replayed->file = trace_file_open(path, &replayed->status);
    if (!replayed->file || !trace_scan(&replayed->scan, replayed->file, &replayed->status) ||
        !(replayed->symbols = symbols_new(&options)) ||
        !stacks_init(&replayed->stacks, &replayed->scan, replayed->symbols) ||
        !type_table_init(&replayed->types, &replayed->stacks, replayed->symbols, NULL) ||
        !replay_init(&replayed->replay, replayed->file, &replayed->scan, &replayed->stacks,
                     &replayed->totals, &replayed->types, sink, &replayed->status) ||
        !totals_begin_stage(&replayed->totals))
        return false;
    struct merge *merge = merge_new(replayed->file, &replayed->status);
    bool good = merge != NULL;
    while (good && merge_next(merge, &event, &replayed->status))
        good = replay_event(&replayed->replay, &event, &replayed->status);
    merge_free(merge);
    return good && replayed->status.code == INGEST_OK &&
           replay_finish(&replayed->replay, &replayed->status);
}

struct replayed *replay_file(const char *path)
{
    struct replayed *replayed = calloc(1, sizeof(*replayed));
    replayed->good = run(replayed, path);
    if (!problems_join(&replayed->problems, &replayed->scan.problems) ||
        !problems_join(&replayed->problems, &replayed->replay.problems))
        abort();
    return replayed;
}

struct replayed *replay_built(struct trace_builder *builder)
{
    char path[64];
    snprintf(path, sizeof(path), "replayed.%d.bin", (int)getpid());
    trace_builder_end(builder, TRACE_STATE_ENDED, UINT64_C(1) << 40);
    trace_builder_save(builder, path);
    trace_builder_free(builder);
    struct replayed *replayed = replay_file(path);
    unlink(path);
    return replayed;
}

void replayed_free(struct replayed *replayed)
{
    replay_free(&replayed->replay);
    problems_free(&replayed->problems);
    totals_free_memory(&replayed->totals);
    type_table_free(&replayed->types);
    stacks_free(&replayed->stacks);
    if (replayed->symbols)
        symbols_free(replayed->symbols);
    trace_scan_free(&replayed->scan);
    trace_file_close(replayed->file);
    free(replayed->rows);
    free(replayed);
}
