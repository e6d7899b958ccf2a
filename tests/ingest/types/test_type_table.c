/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of a session's stacks are those that the rules give for each stack and size alone. The
 * rules are asked once for the frames that decide, not once for each stack and size. The stacks'
 * frames are the test's own functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>

#include "tests/ingest/replay_fixture.h"

enum { START = 1000, STACKS = 64, SIZES = 300, MODULE = 1 };

struct head {
    struct head *next;
    uint64_t kind;
};
struct circle {
    struct head head;
    double x, y, radius;
};
struct label {
    struct head head;
    const char *text;
    uint64_t length, color;
};

static uint64_t load_bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
    load_bias = info->dlpi_addr; /* the program comes first */
    return 1;
}

#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - load_bias)

/* The return addresses of the calls, as in the ELF file. */
static uint64_t in_make, in_use;
static void *volatile bytes;
static struct circle *volatile circle;
static struct label *volatile label;

static __attribute__((noinline)) void *allocate(size_t size)
{
    in_make = CALLER;
    return malloc(size);
}

/* Makes objects of all kinds. For a block of the head's size this function decides the type, for
 * others its caller. */
static __attribute__((noinline)) struct head *make(size_t size)
{
    struct head *made = allocate(size);
    in_use = CALLER;
    made->next = NULL;
    made->kind = size;
    return made;
}

static __attribute__((noinline)) void use_circle(size_t size)
{
    struct circle *made = (struct circle *)make(size);
    made->radius = 1;
    circle = made;
}

static __attribute__((noinline)) void use_label(size_t size)
{
    struct label *made = (struct label *)make(size);
    made->length = 1;
    label = made;
}

static __attribute__((noinline)) void make_bytes(size_t size)
{
    bytes = allocate(size);
}

/* Makes a recording of `count` stacks, which are nodes 1 to `count`, of two or three frames
 * each. */
static struct replayed *replay_stacks(const uint64_t (*frames)[3], uint32_t count)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    uint32_t number = count;
    lane_begin(&lane, builder, 1, START);
    lane_extended(&lane, TRACE_EXT_MODULE, "wnnnnssn", (uint64_t)START, (uint64_t)MODULE,
                  (uint64_t)0, (uint64_t)0, UINT64_C(1) << 30, "/proc/self/exe", "", (uint64_t)0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t outer = 0;
        for (size_t k = 3; k-- > 1;) {
            if (frames[i][k] == 0)
                continue;
            lane_node(&lane, ++number, outer, TRACE_FRAME_RETURN, MODULE, frames[i][k]);
            outer = number;
        }
        lane_node(&lane, i + 1, outer, TRACE_FRAME_RETURN, MODULE, frames[i][0]);
    }
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    return replayed;
}

/* Returns the name that the rules alone give for the stack with those frames. */
static const char *name_by_rules(struct types *types, struct symbols *symbols,
                                 const uint64_t frames[3], uint64_t size)
{
    struct types_frame shown[3];
    struct types_answer answer;
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if (frames[i] != 0)
            shown[count++] =
                (struct types_frame){symbols_file_number(symbols, MODULE), frames[i] - 1};
    types_infer(types, shown, count, size, TRACE_KIND_MALLOC, &answer);
    return answer.confidence >= TYPES_INFERRED ? answer.name : NULL;
}

static const char *name_by_table(struct replayed *replayed, uint32_t node, uint64_t size)
{
    uint32_t stack = stacks_find(&replayed->stacks, node);
    struct type_answer answer = type_table_find(&replayed->types, stack, size, TRACE_KIND_MALLOC);
    if (answer.type == 0)
        type_table_unknown(&replayed->types, stack, size);
    return answer.type == 0 ? NULL : replayed->types.rows[answer.type].name;
}

/* Stacks that differ only in an outer frame, which is asked for some sizes and not for others. */
static void test_other_sizes_ask_further_out(void **state)
{
    uint64_t frames[2][3] = {{0}};
    use_circle(sizeof(struct circle));
    frames[0][0] = in_make, frames[0][1] = in_use;
    use_label(sizeof(struct label));
    frames[1][0] = in_make, frames[1][1] = in_use;
    struct replayed *replayed = replay_stacks((const uint64_t(*)[3])frames, 2);
    for (uint32_t i = 1; i <= 2; i++)
        assert_string_equal(name_by_table(replayed, i, sizeof(struct head)), "head");
    assert_string_equal(name_by_table(replayed, 1, sizeof(struct circle)), "circle");
    assert_string_equal(name_by_table(replayed, 2, sizeof(struct label)), "label");
    assert_int_equal(sizeof(struct circle), sizeof(struct label));
    for (uint32_t i = 1; i <= 2; i++)
        assert_string_equal(name_by_table(replayed, i, sizeof(struct head)), "head");
    struct types *types = types_new(replayed->symbols);
    for (uint64_t size = 1; size <= 120; size++)
        for (uint32_t i = 0; i < 2; i++) {
            const char *name = name_by_table(replayed, i + 1, size);
            const char *alone = name_by_rules(types, replayed->symbols, frames[i], size);
            assert_true((!name) == (!alone));
            if (name)
                assert_string_equal(name, alone);
        }
    types_free(types);
    replayed_free(replayed);
}

/* A function decides alone, so the number of its callers must not matter. */
static void test_rules_are_asked_once_for_a_size(void **state)
{
    uint64_t frames[STACKS][3] = {{0}};
    make_bytes(64);
    for (uint32_t i = 0; i < STACKS; i++)
        frames[i][0] = in_make, frames[i][1] = in_make + 1 + i, frames[i][2] = in_make + 100;
    struct replayed *replayed = replay_stacks((const uint64_t(*)[3])frames, STACKS);
    for (uint64_t size = 1; size <= SIZES; size++)
        for (uint32_t i = 1; i <= STACKS; i++)
            name_by_table(replayed, i, size);
    assert_in_range(replayed->types.questions, 1, STACKS + SIZES);
    /* Blocks that no rule can name are still told apart by their stack. */
    assert_null(name_by_table(replayed, 1, 1));
    assert_int_equal(replayed->types.unknown_count, STACKS * TYPE_TABLE_UNKNOWN_SIZES);
    replayed_free(replayed);
}

static int find_addresses(void **state)
{
    dl_iterate_phdr(find_bias, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_sizes_ask_further_out),
        cmocka_unit_test(test_rules_are_asked_once_for_a_size),
    };
    return cmocka_run_group_tests(tests, find_addresses, NULL);
}
