/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a trace that asks much of its readers: few bytes, much memory or time.
 * usage: hostile_traces WHAT COUNT FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ingest/trace_builder.h"

#define N(number) ((uint64_t)(number))

static uint64_t now = 1000, count;

/* An arena for each block. */
static void arenas(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        lane_extended(lane, TRACE_EXT_ARENA, "wnns", now, i, N(0), "a");
        lane_arena_alloc(lane, ++now, (uint32_t)i, 0x1000 + 16 * i, 16, 1, 0);
    }
}

/* Arenas that lie in each other, and one is reset after each block. */
static void parents(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++)
        lane_extended(lane, TRACE_EXT_ARENA, "wnns", now, i, i % count + 1, "a");
    for (uint64_t i = 1; i <= count; i++) {
        lane_arena_alloc(lane, ++now, (uint32_t)i, 0x1000 + 16 * i, 16, 1, 0);
        lane_extended(lane, TRACE_EXT_ARENA_RESET, "wn", ++now, i);
    }
}

static void map(struct lane *lane, uint64_t page)
{
    lane_extended(lane, TRACE_EXT_MAP, "wnnnnnnns", ++now, page << 13, N(4096), N(3), N(0x22), N(0),
                  N(0), N(0), "");
}

/* Mappings from the last address to the first. */
static void mappings(struct lane *lane)
{
    for (uint64_t i = count; i > 0; i--)
        map(lane, i);
}

/* Each second record changes the protection of all mappings. */
static void protections(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        map(lane, i);
        lane_extended(lane, TRACE_EXT_PROTECT, "wnnnn", ++now, N(1) << 13, count << 13, i % 8,
                      N(0));
    }
}

/* Sizes that no process and no number of a session can have. */
static void sizes(struct lane *lane)
{
    lane_extended(lane, TRACE_EXT_RSS, "wn", ++now, UINT64_MAX);
    lane_extended(lane, TRACE_EXT_RSS, "wn", ++now, UINT64_MAX >> 1);
    lane_extended(lane, TRACE_EXT_RSS, "wn", ++now, N(4096));
    for (uint64_t i = 1; i <= count; i++)
        lane_alloc(lane, ++now, 0x1000 + 16 * i, N(1) << 47, 0);
}

static void module(struct lane *lane, uint64_t id, const char *path)
{
    lane_extended(lane, TRACE_EXT_MODULE, "wnnnnssnnnn", now, id, N(0), N(0x1000), N(0x100000),
                  path, "", N(1), N(0), N(0x100000), N(5));
    lane_node(lane, (uint32_t)id, 0, TRACE_FRAME_RETURN, (uint32_t)id, 0x2000 + id);
    lane_alloc(lane, ++now, 0x1000 + 16 * id, 16, (uint32_t)id);
}

/* Modules that are copies/1, copies/2 ... in the working directory. */
static void modules(struct lane *lane)
{
    char directory[4096], path[4200];
    if (!getcwd(directory, sizeof(directory)))
        abort();
    for (uint64_t i = 1; i <= count; i++) {
        snprintf(path, sizeof(path), "%s/copies/%d", directory, (int)i);
        module(lane, i, path);
    }
}

/* Modules that are the same file by the same path. */
static void twins(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++)
        module(lane, i, "/bin/true");
}

/* Modules that are the same file by other paths. */
static void paths(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        char path[64] = "/bin";
        for (int bit = 0; bit < 16; bit++)
            strcat(path, i >> bit & 1 ? "/." : "//");
        module(lane, i, strcat(path, "/true"));
    }
}

/* Stacks that share all frames but the innermost. */
static void broad(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++)
        lane_node(lane, (uint32_t)i, (uint32_t)i - 1, TRACE_FRAME_RETURN, 0, 0x1000 + i * 4);
    for (uint64_t i = 1; i <= count; i++) {
        lane_node(lane, (uint32_t)(count + i), (uint32_t)count, TRACE_FRAME_RETURN, 0,
                  0x900000 + i * 4);
        lane_alloc(lane, ++now, 0x1000 + 16 * i, 16, (uint32_t)(count + i));
    }
}

/* A stack of each depth, each frame in a function of its own. */
static void staircase(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        lane_node(lane, (uint32_t)i, (uint32_t)i - 1, TRACE_FRAME_RETURN, 0, 0x1000 + i * 4);
        lane_alloc(lane, ++now, 0x1000 + 16 * i, 16, (uint32_t)i);
    }
}

/* The same with one more frame for each stack. */
static void comb(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        lane_node(lane, (uint32_t)i, (uint32_t)i - 1, TRACE_FRAME_RETURN, 0, 0x1000 + i * 4);
        lane_node(lane, (uint32_t)(count + i), (uint32_t)i, TRACE_FRAME_RETURN, 0,
                  0x900000 + i * 4);
        lane_alloc(lane, ++now, 0x1000 + 16 * i, 16, (uint32_t)(count + i));
    }
}

/* A stack of each depth, whose nodes form a circle. */
static void circle(struct lane *lane)
{
    for (uint64_t i = 1; i <= count; i++) {
        lane_node(lane, (uint32_t)i, (uint32_t)(i % count + 1), TRACE_FRAME_RETURN, 0,
                  0x1000 + i * 4);
        lane_alloc(lane, ++now, 0x1000 + 16 * i, 16, (uint32_t)i);
    }
}

static const struct {
    const char *name;
    void (*write)(struct lane *lane);
} kinds[] = {
    {"arenas", arenas},       {"parents", parents},
    {"mappings", mappings},   {"protections", protections},
    {"sizes", sizes},         {"modules", modules},
    {"twins", twins},         {"paths", paths},
    {"broad", broad},         {"circle", circle},
    {"staircase", staircase}, {"comb", comb},
};

int main(int argc, char **argv)
{
    struct lane lane;
    if (argc != 4)
        return 2;
    count = strtoull(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].name, argv[1]) != 0)
            continue;
        struct trace_builder *builder = trace_builder_new(65536, TRACE_CLOCK_NANOSECONDS);
        lane_begin(&lane, builder, 1, now);
        lane_extended(&lane, TRACE_EXT_PROCESS, "nnnssssnnsnns", N(1), N(0), N(0), "/bin/true", "/",
                      "host", "6.1", N(0), N(1), "true", N(0), N(0), "boot");
        kinds[i].write(&lane);
        lane_seal(&lane);
        trace_builder_end(builder, TRACE_STATE_ENDED, now + 10);
        trace_builder_save(builder, argv[3]);
        trace_builder_free(builder);
        return 0;
    }
    return 2;
}
