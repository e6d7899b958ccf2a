/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_packed SESSION PLAIN: compares a session, read by its packed arrays and straight from its
 * file, with a copy that has no such arrays and a write-ahead log, which is read through SQLite.
 * Prints the first difference; exit status 1 if there is one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/session_state.h"

static struct session_error error;

static void stop(const char *what, uint64_t where)
{
    printf("%s %" PRIu64 " %s\n", what, where, error.message);
    exit(1);
}

static void same(bool good, const char *what, uint64_t where)
{
    if (!good)
        stop(what, where);
}

/* Checks the bounds of the frees against the values. */
static void check_frees(const struct column_store *store, uint32_t chunk,
                        const struct column_view *began, const struct column_view *life)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t row = 0; row < life->rows; row++) {
        const uint64_t lived = column_view_at(life, row);
        const uint64_t freed = column_view_at(began, row) + lived - 1;
        first = lived != 0 && freed < first ? freed : first;
        last = lived == 0 || last == UINT64_MAX ? UINT64_MAX : freed > last ? freed : last;
    }
    same(first == column_store_first_free(store, chunk), "first free of chunk", chunk);
    same(last == column_store_last_free(store, chunk), "last free of chunk", chunk);
}

static void compare_columns(struct session *packed, struct session *plain)
{
    struct column_store *a = packed->columns, *b = plain->columns;
    struct column_reader *left = column_reader_new(a, &error);
    struct column_reader *right = column_reader_new(b, &error);
    same(column_store_rows(a) == column_store_rows(b), "rows", column_store_rows(a));
    same(column_store_chunks(a) == column_store_chunks(b), "chunks", column_store_chunks(a));
    for (uint32_t chunk = 0; chunk < column_store_chunks(a); chunk++) {
        struct column_view views[COLUMN_TOTAL], other;
        for (int i = 0; i < COLUMN_TOTAL; i++) {
            struct column_view *view = &views[i];
            same(column_reader_get(left, chunk, (enum column)i, view, &error) &&
                     column_reader_get(right, chunk, (enum column)i, &other, &error),
                 "chunk", chunk);
            same(view->rows == other.rows && view->width == other.width && view->min == other.min &&
                     view->max == other.max,
                 "directory of chunk", chunk);
            same(view->width == 0 ||
                     memcmp(view->data, other.data, (size_t)view->rows * view->width) == 0,
                 "data of chunk", chunk);
        }
        check_frees(a, chunk, &views[COLUMN_ALLOC_NS], &views[COLUMN_LIFE_NS]);
        same(column_store_first_free(b, chunk) <= column_store_first_free(a, chunk),
             "presumed first free of chunk", chunk);
        same(column_store_last_free(b, chunk) >= column_store_last_free(a, chunk),
             "presumed last free of chunk", chunk);
    }
    same(column_store_reads(a).direct > 0, "direct reads", 0);
    same(column_store_reads(a).by_sqlite == 0, "reads by SQLite", column_store_reads(a).by_sqlite);
    same(column_store_reads(b).direct == 0, "direct reads of a log", 0);
    column_reader_free(left);
    column_reader_free(right);
}

static bool same_place(const struct stack_frame *a, const struct stack_frame *b)
{
    return a->pc == b->pc && a->function == b->function && a->module == b->module &&
           a->file == b->file && a->line == b->line && a->inlined == b->inlined &&
           a->bare == b->bare;
}

static void compare_stacks(struct session *packed, struct session *plain)
{
    struct stacks *a = &packed->stacks, *b = &plain->stacks;
    same(a->count == b->count && a->count > 1, "stacks", a->count);
    same(a->frame_count == b->frame_count && a->frame_count > 1, "frames", a->frame_count);
    for (uint32_t id = 0; id < a->frame_count; id++)
        same(same_place(&a->frame_table[id], &b->frame_table[id]), "frame", id);
    for (uint32_t id = 0; id < a->count; id++) {
        same(a->function[id] == b->function[id] && a->call_site[id] == b->call_site[id] &&
                 a->state[id] == b->state[id] && a->runtime[id] == b->runtime[id],
             "stack", id);
    }
    const uint32_t *some, middle = a->count / 2;
    const size_t count = stacks_frames_of(a, middle, &some, &error);
    same(stacks_frames(b, &error), "frames by SQLite", 0);
    uint32_t node = stacks_node(b, middle);
    same(count == stacks_depth(b, node), "frames of one stack", count);
    for (size_t i = 0; i < count; i++, node = stacks_caller(b, node))
        same(some[i] == stacks_frame(b, node), "frames of one stack", i);
    same(stacks_frames(a, &error), "frames from the file", 0);
    size_t frames = 0;
    for (uint32_t id = 0; id < a->count; id++) {
        same(stacks_node(a, id) == stacks_node(b, id), "nodes", id);
        for (node = stacks_node(a, id); node != 0; node = stacks_caller(a, node), frames++)
            same(stacks_frame(a, node) == stacks_frame(b, node) &&
                     stacks_caller(a, node) == stacks_caller(b, node),
                 "frames of stacks", id);
    }
    same(frames > a->count, "number of frames", frames);
    same(!a->all.by_sqlite && b->all.by_sqlite, "ways of reading", 0);
}

int main(int argc, char **argv)
{
    struct session *packed = argc == 3 ? session_open(argv[1], &error) : NULL;
    struct session *plain = packed ? session_open(argv[2], &error) : NULL;
    if (!plain) {
        fprintf(stderr, "usage: check_packed SESSION PLAIN: %s\n", error.message);
        return 2;
    }
    const struct column_reads reads = column_store_reads(packed->columns);
    same(reads.direct + reads.by_sqlite == 0, "chunks read at the opening", reads.direct);
    compare_columns(packed, plain);
    compare_stacks(packed, plain);
    session_close(packed);
    session_close(plain);
    return 0;
}
