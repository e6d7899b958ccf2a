/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the golden traces into the folder that is named: worked.bin, with every record kind, and
 * bad-*.bin, each damaged in one way. The checked-in files are what this program wrote; a test
 * compares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/trace_references.h"
#include "tests/ingest/trace_builder.h"

#define N(number) ((uint64_t)(number))

static const char *folder;

static void save(struct trace_builder *builder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    trace_builder_save(builder, path);
}

/* Thread 1: a program with a library, everything that one thread can do. */
static void first_thread(struct lane *lane, struct trace_builder *builder)
{
    lane_begin(lane, builder, 1, 1000);
    lane_extended(lane, TRACE_EXT_PROCESS, "nnnssssnnsss", N(4242), N(1), N(0), "/opt/worked/bin",
                  "/home/user", "host", "6.1.0", N(0), N(3), "worked", "--name", "it's \"x\"");
    lane_extended(lane, TRACE_EXT_THREAD, "wnns", N(1000), N(1), N(4242), "worked");
    lane_extended(lane, TRACE_EXT_MODULE, "wnnnnssnnnnnnn", N(1000), N(1), N(0x400000), N(0x400000),
                  N(0x410000), "/opt/worked/bin", "\x01\x23\x45\x67", N(2), N(0), N(0x1000), N(4),
                  N(0x1000), N(0xf000), N(5));
    lane_node(lane, 1, 0, TRACE_FRAME_RETURN, 1, 0x1120);
    lane_node(lane, 2, 1, TRACE_FRAME_RETURN, 1, 0x1143);
    lane_extended(lane, TRACE_EXT_CONTINUED, "wnnn", N(1050), N(2), N(0x77), N(2));
    lane_extended(lane, TRACE_EXT_LIVE, "wnnnnnnnnn", N(1050), N(0x404000), N(640), N(2), N(1),
                  N(TRACE_KIND_ALIGNED_ALLOC), N(7), N(500), N(0), N(1));
    lane_extended(lane, TRACE_EXT_LIVE, "wnnnnnnnnn", N(1050), N(0x404400), N(16), N(1), N(3), N(0),
                  N(0), N(90000), N(0), N(1));
    lane_alloc(lane, 1100, 0x4052a0, 32, 2);
    lane_alloc_kind(lane, 1300, 0x4052d0, 32, 2, TRACE_KIND_POSIX_MEMALIGN, 6);
    lane_free(lane, 1400, 0x4052a0);
    lane_realloc(lane, 1500, 1650, 0x4052d0, 0x405300, 100, 1, TRACE_REALLOC_MOVED);
    lane_free_stack(lane, 1700, 0x405300, 2);
    lane_extended(lane, TRACE_EXT_MARK, "ws", N(1700), "load");
    lane_alloc_kind(lane, 1800, 0x405400, 4096, 1, TRACE_KIND_CALLOC, 0);
    lane_realloc(lane, 1850, 1860, 0x405400, 0x405400, 2048, 1, TRACE_REALLOC_IN_PLACE);
    lane_realloc(lane, 1870, 1880, 0x405400, 0, UINT64_C(1) << 46, 1, TRACE_REALLOC_FAILED);
    lane_extended(lane, TRACE_EXT_FAILED, "wnn", N(1880), UINT64_C(1) << 46, N(1));
    lane_free(lane, 1900, 0x7fff0010); /* from before the start */
    lane_node(lane, 3, 0, TRACE_FRAME_DEPTH_LIMIT, 0, 0);
    lane_node(lane, 4, 3, TRACE_FRAME_EXACT, 1, 0x1150);
    lane_node(lane, 5, 0, TRACE_FRAME_UNWIND_END, 0, 0);
    lane_node(lane, 6, 5, TRACE_FRAME_RETURN, 0, 0x7f0000001234);
    lane_alloc(lane, 2000, 0x405800, 1, 4);
    lane_alloc(lane, 2010, 0x405820, 2, 6);
    lane_alloc(lane, 2020, 0x405840, 3, 0);
    lane_extended(lane, TRACE_EXT_SIZED_DELETE, "wnnnn", N(2020), N(0x405820), N(4), N(0), N(2));
    lane_extended(lane, TRACE_EXT_SIZED_DELETE, "wnnnn", N(2020), N(0x7fff0010), N(4), N(0), N(2));
    lane_extended(lane, 99, "s", "a later version's record");
    lane_extended(lane, TRACE_EXT_ARENA, "wnns", N(2030), N(1), N(0), "pool");
    lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", N(2040), N(1), N(0x405400), N(64), N(4),
                  N(2));
    lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", N(2050), N(1), N(0x405440), N(64), N(1),
                  N(2));
    lane_extended(lane, TRACE_EXT_TYPE, "wnnnnnn", N(2055), N(1), N(0x405440), N(1), N(0x3000),
                  N(1), N(64));
    lane_extended(lane, TRACE_EXT_ARENA_FREE, "wnn", N(2060), N(1), N(0x405400));
    lane_extended(lane, TRACE_EXT_ARENA, "wnns", N(2061), N(2), N(1), "part of pool");
    lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnn", N(2062), N(2), N(0x405440), N(16), N(2),
                  N(2));
    lane_extended(lane, TRACE_EXT_ARENA_REALLOC, "wnnnnnn", N(2064), N(2), N(0x405440), N(0x405450),
                  N(24), N(3), N(1));
    lane_extended(lane, TRACE_EXT_ARENA_RESET, "wn", N(2070), N(1));
    lane_arena_alloc(lane, 2070, 1, 0x405400, 48, 3, 2);
    lane_arena_alloc(lane, 2071, 1, 0x405430, 48, 1, 2);
    lane_arena_free(lane, 2071, 1, 0x405400);
    lane_arena_alloc(lane, 2071, 2, 0x405440, 20, 1, 1);
    lane_arena_free(lane, 2071, 1, 0x405430);
    lane_extended(lane, TRACE_EXT_AUTOSAVE, "wn", N(2072), N(2));
    lane_extended(lane, TRACE_EXT_CLOCK, "wn", N(2074), N(5001074));
    lane_extended(lane, TRACE_EXT_MAP, "wnnnnnnns", N(2075), N(0x7f0000000000), N(0x5001), N(3),
                  N(2), N(0x2000), N(2), N(0), "/var/data");
    lane_extended(lane, TRACE_EXT_UNMAP, "wnnnn", N(2076), N(0x7f0000002000), N(0x1000), N(2),
                  N(0x1001));
    lane_extended(lane, TRACE_EXT_UNMAP, "wnn", N(2077), N(0x7f0000000000), N(0x1000));
    lane_extended(lane, TRACE_EXT_MAP, "wnnnnnnns", N(2078), N(0x7f1000000000), N(0x2000), N(0),
                  N(0), N(0), N(1), N(0x7f0000000000), "");
    lane_extended(lane, TRACE_EXT_BYPASS, "wns", N(2079), N(TRACE_BYPASS_LATE),
                  "/opt/game/plugin.so");
    lane_extended(lane, TRACE_EXT_BYPASS, "wns", N(2079), N(TRACE_BYPASS_OTHER),
                  "/opt/game/pool.so");
    lane_extended(lane, TRACE_EXT_PROTECT, "wnnnn", N(2079), N(0x7f0000003000), N(0x1000), N(1),
                  N(2));
    lane_extended(lane, TRACE_EXT_MAPPED, "wnnn", N(2079), N(0x7f5000000000), N(0x20000), N(2));
    lane_extended(lane, TRACE_EXT_MAPPED, "wnnn", N(2079), N(0x7f5000010000), N(0x10000), N(0));
    lane_extended(lane, TRACE_EXT_SUPPRESSIONS, "wnnns", N(2080), N(TRACE_SUPPRESSIONS_TEXT), N(24),
                  N(0), "leak:once\n#\nle");
    lane_extended(lane, TRACE_EXT_SUPPRESSIONS, "wnnns", N(2080), N(TRACE_SUPPRESSIONS_TEXT), N(24),
                  N(14), "ak:twice\n\n");
    lane_extended(lane, TRACE_EXT_SNAPSHOT, "ws", N(2080), "before \"threads\"");
    lane_extended(lane, TRACE_EXT_RSS, "wn", N(2090), N(8192));
    lane_extended(lane, TRACE_EXT_RECORDER_MEMORY, "wnnn", N(2091), N(3), N(0x7f4000000000),
                  N(0x3000));
    lane_extended(lane, TRACE_EXT_RECORDER_MEMORY, "wnnn", N(2091), N(3), N(0), N(0));
    lane_extended(lane, TRACE_EXT_RECORDING, "wn", N(2092), N(0));
    lane_extended(lane, TRACE_EXT_RECORDING, "wn", N(2094), N(1));
    lane_extended(lane, TRACE_EXT_DROPPED, "wnn", N(2096), N(2), N(TRACE_DROP_REENTRANT));
}

/* Thread 1 runs a runtime, whose collector takes two blocks of its heap. The second collection has
 * not ended at the end. */
static void runtime(struct lane *lane)
{
    lane_extended(lane, TRACE_EXT_RUNTIME, "wns", N(2097), N(2), "Toy");
    lane_extended(lane, TRACE_EXT_RUNTIME_NAME, "wnnssn", N(2097), N(2), N(1), "make-list",
                  "list.toy", N(7));
    lane_node(lane, 9, 2, TRACE_FRAME_EXACT, 2, N(1) << TRACE_RUNTIME_LINE_BITS | 12);
    lane_extended(lane, TRACE_EXT_KIND, "wnns", N(2098), N(1), N(2), "cons");
    lane_extended(lane, TRACE_EXT_ARENA, "wnns", N(2098), N(3), N(0), "toy heap");
    for (uint64_t cell = 0; cell < 3; cell++)
        lane_arena_kind(lane, 2100 + cell, 3, 0x600000 + 16 * cell, 16, 9, 1);
    lane_extended(lane, TRACE_EXT_ARENA_ALLOC, "wnnnnnn", N(2103), N(3), N(0x600030), N(16), N(1),
                  N(9), N(1));
    lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", N(2104), N(2), N(1));
    lane_arena_collected(lane, 2105, 3, 0x600000);
    lane_extended(lane, TRACE_EXT_ARENA_FREE, "wnnn", N(2106), N(3), N(0x600010), N(1));
    lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", N(2107), N(2), N(0));
    lane_arena_free(lane, 2108, 3, 0x600020);
    lane_arena_kind(lane, 2109, 3, 0x600000, 16, 9, 1);
    lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", N(2110), N(2), N(1));
    lane_extended(lane, TRACE_EXT_COLLECTION, "wnn", N(2110), N(1), N(1)); /* not a runtime */
}

/* Threads 2 and 3 share a chunk; 2 frees what 1 allocated. */
static void other_threads(struct lane *lane, struct trace_builder *builder)
{
    lane_begin(lane, builder, 2, 1200);
    lane_extended(lane, TRACE_EXT_THREAD, "wnns", N(1200), N(2), N(4243), "helper");
    lane_node(lane, 7, 1, TRACE_FRAME_RETURN, 1, 0x1160);
    lane_alloc(lane, 1250, 0x7e0010, 500, 7);
    lane_free(lane, 2100, 0x405800);
    lane_free(lane, 2110, 0x405800); /* twice */
    lane_extended(lane, TRACE_EXT_THREAD_END, "wn", N(2120), N(2));
    lane_switch(lane, 3, 0, 2200);
    lane_node(lane, 8, 1, TRACE_FRAME_RETURN, 1, 0x1160); /* the same context as 7 */
    lane_alloc(lane, 2210, 0x7e0300, 700, 8);
    lane_alloc(lane, 2220, 0x7e0300, 800, 8); /* overlaps */
    lane_extended(lane, TRACE_EXT_MODULE_END, "wn", N(2230), N(1));
}

/* An observer reads the pages in memory twice, the second time as a delta, and a third time not. */
static void observer(struct lane *lane, struct trace_builder *builder)
{
    lane_begin(lane, builder, TRACE_THREAD_OUTSIDE, 2300);
    lane_extended(lane, TRACE_EXT_MAPPING, "wnnnns", N(2300), N(0x405000), N(0x8000), N(3), N(0),
                  "[heap]");
    lane_extended(lane, TRACE_EXT_MAPPING, "wnnnns", N(2300), N(0x7f2000000000), N(0x3000), N(11),
                  N(0x1000), "/var/data");
    lane_extended(lane, TRACE_EXT_RESIDENT, "wnnnnnnnnnnnnn", N(2302), N(1), N(2), N(3), N(1), N(0),
                  N(0x5000), N(0x5000), N(13), N(0), N(0x4001), N(1), N(0), N(0));
    lane_extended(lane, TRACE_EXT_PAGES, "ws", N(2302),
                  "\x85\x08\x18\x01\x0a\x01\x0b\xf4\xf7\xff\x8f\x7f\x10");
    lane_extended(lane, TRACE_EXT_MAPPING, "wnnnns", N(2310), N(0x7f2000001000), N(0x2000), N(64),
                  N(0), "");
    lane_extended(lane, TRACE_EXT_RESIDENT, "wnnnnnnnnnnnnn", N(2310), N(2), N(0), N(2), N(5), N(1),
                  N(0x4000), N(0x4000), N(11), N(0), N(0), N(0), N(0), N(0));
    lane_extended(lane, TRACE_EXT_PAGES, "ws", N(2310),
                  "\x86\x08\x0c\x04\x08\xf5\xf7\xff\x8f\x7f\x0c");
    lane_extended(lane, TRACE_EXT_NO_RESIDENT, "wn", N(2320), N(TRACE_NO_RESIDENT_RIGHTS));
    lane_extended(lane, TRACE_EXT_LABEL, "ws", N(2320), "service=shop, west");
}

static struct trace_builder *worked(void)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_TSC);
    struct lane lane, other, outside;
    first_thread(&lane, builder);
    runtime(&lane);
    other_threads(&other, builder);
    trace_builder_unused_slot(builder);
    observer(&outside, builder);
    lane_extended(&lane, TRACE_EXT_END, "wn", N(3000), N(TRACE_END_EXIT));
    lane_seal(&lane);
    trace_builder_end(builder, TRACE_STATE_ENDED, 3000);
    return builder;
}

/* worked.bin with the bytes at `offset` replaced; `resum` makes the header's sum right again. */
static void save_changed(const char *name, size_t offset, const void *bytes, size_t length,
                         bool resum)
{
    struct trace_builder *builder = worked();
    memcpy(builder->bytes + offset, bytes, length);
    if (resum) {
        uint64_t sum = trace_sum(builder->bytes, offsetof(struct trace_file_header, header_sum));
        memcpy(builder->bytes + offsetof(struct trace_file_header, header_sum), &sum, 8);
    }
    save(builder, name);
    trace_builder_free(builder);
}

static void save_cut(const char *name, size_t length)
{
    struct trace_builder *builder = worked();
    builder->length = length;
    save(builder, name);
    trace_builder_free(builder);
}

static void save_sequence_gap(void)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, 1000);
    lane_alloc(&lane, 1100, 0x5000, 10, 0);
    lane_switch(&lane, 1, 2, 1200);
    lane_alloc(&lane, 1300, 0x6000, 20, 9); /* node 9 was in the lost part */
    trace_builder_end(builder, TRACE_STATE_RECORDING, 0);
    save(builder, "bad-sequence.bin");
    trace_builder_free(builder);
}

/* The two chunks in each other's place. */
static void save_order(size_t chunk_0, size_t chunk_1)
{
    struct trace_builder *builder = worked();
    uint8_t kept[4096];
    memcpy(kept, builder->bytes + chunk_0, sizeof(kept));
    memcpy(builder->bytes + chunk_0, builder->bytes + chunk_1, sizeof(kept));
    memcpy(builder->bytes + chunk_1, kept, sizeof(kept));
    save(builder, "bad-order.bin");
    trace_builder_free(builder);
}

/* A chunk that is there twice, with a header that is right for the second place. */
static void save_duplicate(size_t chunk_1)
{
    struct trace_builder *builder = worked();
    uint8_t *copy = builder->bytes + chunk_1 + 4096; /* the slot that was never begun */
    const uint32_t slot = 2;
    memcpy(copy, builder->bytes + chunk_1, 4096);
    memcpy(copy + offsetof(struct trace_chunk_header, slot), &slot, 4);
    uint32_t sum = (uint32_t)trace_sum(copy, offsetof(struct trace_chunk_header, header_sum));
    memcpy(copy + offsetof(struct trace_chunk_header, header_sum), &sum, 4);
    save(builder, "bad-duplicate.bin");
    trace_builder_free(builder);
}

/* Cut out of the middle: all that was after it is in the wrong place. */
static void save_missing(size_t chunk_0, size_t chunk_1)
{
    struct trace_builder *builder = worked();
    memmove(builder->bytes + chunk_0, builder->bytes + chunk_1, builder->length - chunk_1);
    builder->length -= chunk_1 - chunk_0;
    save(builder, "bad-missing.bin");
    trace_builder_free(builder);
}

/* Two snapshots, of which the second has no end, beside a thread that allocates. The words are
 * those of the worked bytes. */
static void save_references(void)
{
    static const char end[] = "end";
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct trace_references_words words = {0};
    struct lane lane, outside;
    uint8_t payload[TRACE_EXTENDED_MAX];
    lane_begin(&lane, builder, 1, 1000);
    lane_alloc(&lane, 1100, 0x4052a0, 32, 0);
    lane_begin(&outside, builder, TRACE_THREAD_REFERENCES, 1200);
    lane_payload(&outside, TRACE_EXT_REFERENCES, payload,
                 trace_put_references(payload, &(struct trace_references){.number = 1,
                                                                          .read = 15,
                                                                          .swapped = 4096,
                                                                          .name = "cache",
                                                                          .name_length = 5}));
    lane_payload(&outside, TRACE_EXT_REFERENCES_MAPPING, payload,
                 trace_put_references_mapping(
                     payload, &(struct trace_references_mapping){.number = 1,
                                                                 .start = 0x405000,
                                                                 .end = 0x415000,
                                                                 .protection = 3,
                                                                 .kind = TRACE_REFERENCES_HEAP,
                                                                 .path = "[heap]",
                                                                 .path_length = 6}));
    lane_payload(&outside, TRACE_EXT_REFERENCES_THREAD, payload,
                 trace_put_references_thread(
                     payload, &(struct trace_references_thread){.number = 1,
                                                                .tid = 4242,
                                                                .stack_pointer = 0xfff000,
                                                                .thread_pointer = 0x4150c0,
                                                                .instruction = 0x401120,
                                                                .count = 1,
                                                                .registers = {{3, 0x4052a0}}}));
    trace_references_add(&words, (struct trace_references_word){0x4052a8, 0x4052d0, false});
    trace_references_add(&words, (struct trace_references_word){0x4052d8, 0x405300, false});
    trace_references_add(&words, (struct trace_references_word){0x4052e0, 0x4052a1, true});
    lane_payload(&outside, TRACE_EXT_REFERENCES_WORDS, payload,
                 trace_put_references_words(payload, 1, &words));
    lane_payload(
        &outside, TRACE_EXT_REFERENCES_END, payload,
        trace_put_references_end(
            payload,
            &(struct trace_references_end){
                .number = 1, .words = 3, .bytes = 65536, .stopped_ns = 1000000, .threads = 1}));
    lane_payload(
        &outside, TRACE_EXT_REFERENCES, payload,
        trace_put_references(payload, &(struct trace_references){.number = 2,
                                                                 .reason = TRACE_REFERENCES_AT_END,
                                                                 .read = 15,
                                                                 .name = end,
                                                                 .name_length = 3}));
    lane_seal(&outside);
    lane_free(&lane, 1300, 0x4052a0);
    lane_extended(&lane, TRACE_EXT_END, "wn", N(1400), N(TRACE_END_EXIT));
    lane_seal(&lane);
    trace_builder_end(builder, TRACE_STATE_ENDED, 1400);
    save(builder, "references.bin");
    trace_builder_free(builder);
}

int main(int argc, char **argv)
{
    static const uint8_t png[16] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const size_t chunk_0 = TRACE_FILE_HEADER_SIZE, chunk_1 = chunk_0 + 4096;
    if (argc != 2) {
        fprintf(stderr, "usage: generate FOLDER\n");
        return 2;
    }
    folder = argv[1];
    struct trace_builder *builder = worked();
    save(builder, "worked.bin");
    trace_builder_free(builder);
    save_references();

    save_cut("bad-empty.bin", 0);
    save_cut("bad-header-cut.bin", 100);
    save_changed("bad-png.bin", 0, png, sizeof(png), false);
    save_changed("bad-version.bin", 8, "\x02", 1, true);
    save_changed("bad-chunk-size.bin", 16, "\x01", 1, true);
    save_changed("bad-flag.bin", 20, "\x80", 1, true);
    save_changed("bad-clock.bin", 24, "\x07", 1, true);
    save_changed("bad-header-sum.bin", 32, "\x00", 1, false);

    save_changed("bad-chunk-magic.bin", chunk_1, "XXXX", 4, false);
    save_changed("bad-chunk-slot.bin", chunk_1 + 4, "\x05", 1, false);
    save_changed("bad-commit.bin", chunk_1 + 44, "\xff\xff\xff\xff", 4, false);
    save_changed("bad-record.bin", chunk_1 + 64 + 14, "\0\0\0\0", 4, false);
    save_changed("bad-sum.bin", chunk_0 + 56, "\0\0\0\0", 4, false);
    save_changed("bad-nodes-lost.bin", chunk_0, "\0\0\0\0", 4, false);
    save_cut("bad-cut.bin", chunk_1 + 90);
    save_cut("bad-cut-chunk-header.bin", chunk_1 + 30);
    save_sequence_gap();
    save_order(chunk_0, chunk_1);
    save_duplicate(chunk_1);
    save_missing(chunk_0, chunk_1);
    /* A MARK whose payload is said to have 2^63 bytes. */
    save_changed("bad-length.bin", chunk_1 + 64 + 14,
                 "\x07\x0c\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, false);
    return 0;
}
