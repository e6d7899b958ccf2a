/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of lines in all their forms, whole and cut short, and memory that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtimes/python/walk.h"
#include "runtimes/python/memory.h"

#define ENTRY(form, units) (unsigned char)(128 | (form) << 3 | ((units)-1))

static const unsigned char all_forms[] = {
    ENTRY(0, 1),
    0x12, /* short: the first line, bytes 0 and 1 */
    ENTRY(11, 2),
    1,
    2, /* the next line, bytes 2 to 5 */
    ENTRY(12, 8),
    1,
    2, /* two lines on, bytes 6 to 21 */
    ENTRY(13, 1),
    3, /* one line back, bytes 22 and 23 */
    ENTRY(14, 1),
    0x48,
    0x01,
    1,
    2, /* 36 lines on, bytes 24 and 25 */
    3,
    ENTRY(15, 1), /* no line, bytes 26 and 27 */
    ENTRY(10, 1),
    5,
    6, /* the line before, bytes 28 and 29 */
};

static void test_forms(void **state)
{
    static const struct {
        ptrdiff_t offset;
        unsigned line;
    } wanted[] = {{-2, 100}, {0, 100},  {2, 101}, {4, 101},  {6, 103}, {20, 103},
                  {22, 102}, {24, 138}, {26, 0},  {28, 138}, {30, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        assert_int_equal(line_table_find(all_forms, sizeof(all_forms), 100, wanted[i].offset),
                         wanted[i].line);
}

/* Each beginning of a table is read without a byte too many: there is no memory after it. */
static void test_cut_short(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t size = 0; size <= sizeof(all_forms); size++) {
        unsigned char *table = pages + page - size;
        memcpy(table, all_forms, size);
        for (ptrdiff_t offset = 0; offset < 32; offset += 2)
            line_table_find(table, size, 100, offset);
        /* A length that leads into the page that cannot be read. */
        assert_int_equal(line_table_find(table, size + 4096, 100, 1000), 0);
    }
    assert_int_equal(line_table_find(pages + page, 10, 100, 0), 0);
    munmap(pages, 2 * page);
}

/* A number that never ends, and a line that leaves the range. */
static void test_nonsense(void **state)
{
    unsigned char table[200];
    (void)state;
    memset(table, 0x7f, sizeof(table));
    table[0] = ENTRY(13, 8);
    line_table_find(table, sizeof(table), 1, 0);
    const unsigned char back[] = {ENTRY(13, 1), 11};
    assert_int_equal(line_table_find(back, sizeof(back), 3, 0), 0);
    assert_int_equal(line_table_find(back, sizeof(back), 7, 0), 2);
}

static void test_memory(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(munmap(pages + 2 * page, page), 0);
    for (size_t i = 0; i < 2 * page; i++)
        pages[i] = (unsigned char)(i * 7);
    assert_true(memory_readable(pages, 2 * page));
    assert_false(memory_readable(pages + 2 * page - 1, 2));
    assert_false(memory_readable((void *)8, 8));
    assert_false(memory_readable((void *)UINTPTR_MAX, 8));
    uint64_t word, wanted;
    memcpy(&wanted, pages + 100, sizeof(wanted));
    assert_true(memory_copy(pages + 100, &word));
    assert_int_equal(word, wanted);
    assert_false(memory_copy(pages + 2 * page - 4, &word));
    munmap(pages, 2 * page);
    assert_false(memory_copy(pages + 100, &word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
