/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same call sites again, with other sizes, cost only arithmetic, because everything is read
 * once. The test asks for the types of its own calls.
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

#include "ingest/types/types.h"

enum { SIZES = 4000, ROUNDS = 3 };

struct packet {
    uint32_t length;
    char text[];
};

static uint64_t load_bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
    load_bias = info->dlpi_addr; /* the program comes first */
    return 1;
}

static struct types_frame called_from;

/* An allocator that notes its caller. */
static __attribute__((noinline)) void *allocate(size_t size)
{
    called_from =
        (struct types_frame){1, (uint64_t)(uintptr_t)__builtin_return_address(0) - 1 - load_bias};
    return malloc(size);
}

static __attribute__((noinline)) void make_packet(size_t size)
{
    struct packet *packet = allocate(sizeof(struct packet) + size);
    packet->length = (uint32_t)size;
    free(packet);
}

static __attribute__((noinline)) void make_numbers(size_t size)
{
    uint64_t *numbers = allocate(size * sizeof(uint64_t));
    numbers[0] = size;
    free(numbers);
}

static struct pair {
    uint64_t key, value;
} *volatile pairs;

/* Returns nothing, but leaves the block in rax. */
static __attribute__((noinline)) void make_pairs(size_t size)
{
    pairs = allocate(size);
}

enum { CALLS = 8 };

/* Makes several calls in one function, in the order of their addresses. */
static __attribute__((noinline)) void make_many(struct types_frame calls[CALLS])
{
    uint16_t *volatile a = allocate(20);
    calls[0] = called_from;
    uint32_t *volatile b = allocate(40);
    calls[1] = called_from;
    uint64_t *volatile c = allocate(80);
    calls[2] = called_from;
    struct packet *volatile d = allocate(sizeof(*d));
    calls[3] = called_from;
    uint16_t *volatile e = allocate(60);
    calls[4] = called_from;
    uint32_t *volatile f = allocate(120);
    calls[5] = called_from;
    uint64_t *volatile g = allocate(240);
    calls[6] = called_from;
    struct packet *volatile h = allocate(sizeof(*h));
    calls[7] = called_from;
    free(a), free(b), free(c), free(d), free(e), free(f), free(g), free(h);
}

static void ask(struct types *types, uint64_t size, struct types_answer *answer)
{
    types_infer(types, &called_from, 1, size, 0, answer);
}

static void test_sites_are_read_once(void **state)
{
    struct symbols_options options = {.debug_dir = NULL};
    struct symbols *symbols = symbols_new(&options);
    struct types *types = types_new(symbols);
    struct types_answer answer;
    dl_iterate_phdr(find_bias, NULL);
    symbols_module(symbols, 1, "/proc/self/exe", NULL, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t size = 1; size <= SIZES; size++) {
            make_packet(size);
            ask(types, sizeof(struct packet) + size, &answer);
            assert_non_null(answer.name);
            assert_string_equal(answer.name, "packet");
            assert_int_equal(answer.count, 1);
            make_numbers(size);
            ask(types, size * sizeof(uint64_t), &answer);
            assert_int_equal(answer.count, size);
        }
    struct types_work work = types_work(types);
    assert_int_equal(work.sites, 2);
    assert_int_equal(work.steps, 2 * SIZES);
    assert_true(work.files <= 1);
    types_free(types);
    symbols_free(symbols);
}

/* The caller of a function that returns nothing is not asked. */
static void test_nothing_is_returned(void **state)
{
    struct symbols_options options = {.debug_dir = NULL};
    struct symbols *symbols = symbols_new(&options);
    struct types *types = types_new(symbols);
    struct types_answer answer;
    dl_iterate_phdr(find_bias, NULL);
    symbols_module(symbols, 1, "/proc/self/exe", NULL, 0);
    make_pairs(10 * sizeof(struct pair));
    const struct types_frame frames[2] = {called_from, {1, called_from.pc + 1}};
    types_infer(types, frames, 2, 10 * sizeof(struct pair), 0, &answer);
    assert_int_equal(types_work(types).steps, 1);
    assert_non_null(answer.name);
    assert_string_equal(answer.name, "pair");
    assert_int_equal(answer.count, 10);
    types_free(types);
    symbols_free(symbols);
}

static const char *asked_at(struct types *types, const struct types_frame *frame)
{
    struct types_answer answer;
    types_infer(types, frame, 1, 480, 0, &answer);
    return answer.name;
}

/* A function is read once for all its calls, and each answer is the same as when asked alone. */
static void test_functions_are_read_once(void **state)
{
    struct symbols_options options = {.debug_dir = NULL};
    struct types_frame calls[CALLS];
    const char *names[CALLS];
    dl_iterate_phdr(find_bias, NULL);
    make_many(calls);
    struct symbols *symbols = symbols_new(&options);
    symbols_module(symbols, 1, "/proc/self/exe", NULL, 0);
    struct types *types = types_new(symbols);
    for (size_t i = 0; i < CALLS; i++)
        names[i] = asked_at(types, &calls[i]);
    assert_int_equal(types_work(types).functions, 1);
    for (size_t i = 0; i < CALLS; i++) {
        struct types *alone = types_new(symbols);
        const char *name = asked_at(alone, &calls[i]);
        assert_true(name == names[i]);
        types_free(alone);
    }
    /* Backwards: facts read about later calls tell nothing about an earlier one. */
    struct types *backwards = types_new(symbols);
    for (size_t i = CALLS; i-- > 0;)
        assert_true(asked_at(backwards, &calls[i]) == names[i]);
    types_free(backwards);
    types_free(types);
    symbols_free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites_are_read_once),
        cmocka_unit_test(test_functions_are_read_once),
        cmocka_unit_test(test_nothing_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
