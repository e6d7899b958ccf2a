/*
 * The same call sites again, with other sizes, cost arithmetic: what was read is read once. The
 * test asks for the types of its own calls.
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

#include "ingest/types.h"

enum { SIZES = 4000, ROUNDS = 3 };

struct packet {
    uint32_t length;
    char text[];
};

static uint64_t load_bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    load_bias = info->dlpi_addr; /* the program comes first */
    return 1;
}

static struct types_frame called_from;

/* An allocator that writes down who called it. */
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

static void ask(struct types *types, uint64_t size, struct types_answer *answer)
{
    types_infer(types, &called_from, 1, size, 0, answer);
}

static void test_sites_are_read_once(void **state)
{
    struct symbols_options options = {NULL, NULL};
    struct symbols *symbols = symbols_new(&options);
    struct types *types = types_new(symbols);
    struct types_answer answer;
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
