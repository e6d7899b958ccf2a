/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the interpreter of unwind tables on damaged tables. It is built with AddressSanitizer and
 * UndefinedBehaviorSanitizer and reads a copy of libc's own tables, with nothing readable after it.
 */
#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/stack/modules.h"
#include "capture/stack/unwind_step.h"
#include "capture/stack/unwind_rule.h"
#include "capture/stack/unwind_table.h"
#include "tests/capture/stacks/unwind_evaluate.h"

struct tables {
    struct unwind_image original, copy;
    uint64_t code_start, code_size, moved; /* code addresses as the copy sees them: + moved */
};

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static int load(void **data)
{
    static struct tables tables;
    struct module_image image;
    Dl_info info;
    assert_int_not_equal(dladdr((void *)qsort, &info), 0);
    assert_true(module_image_read((uint64_t)info.dli_fbase, &image));
    assert_non_null(image.unwind.header);
    tables.original = image.unwind;
    for (size_t i = 0; i < image.segment_count; i++)
        if (image.segments[i].flags & PF_X) {
            tables.code_start = image.load_bias + image.segments[i].address;
            tables.code_size = image.segments[i].size;
        }
    size_t size = (size_t)(image.unwind.end - image.unwind.start);
    uint8_t *copy = malloc(size);
    memcpy(copy, image.unwind.start, size);
    tables.copy =
        (struct unwind_image){copy, copy + size, copy + (image.unwind.header - image.unwind.start)};
    tables.moved = (uint64_t)copy - (uint64_t)image.unwind.start;
    *data = &tables;
    return 0;
}

static int unload(void **data)
{
    struct tables *tables = *data;
    free((void *)tables->copy.start);
    return 0;
}

/* An undamaged copy gives the same rules as the original, and nearly all code has one. */
static void test_copy_is_equal(void **data)
{
    struct tables *tables = *data;
    unsigned found = 0, frames = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t pc = tables->code_start + random_below(tables->code_size);
        struct unwind_row one, two;
        enum unwind_found first = unwind_table_find(&tables->original, pc, &one);
        assert_int_equal(unwind_table_find(&tables->copy, pc + tables->moved, &two), first);
        assert_int_not_equal(first, UNWIND_BAD);
        if (first != UNWIND_FOUND)
            continue;
        found++;
        unwind_rule rule = unwind_rule_pack(&one, pc);
        assert_int_equal(rule, unwind_rule_pack(&two, pc));
        frames += unwind_rule_kind(rule) == UNWIND_RULE_FRAME;
    }
    assert_true(found > 18000);
    assert_true(frames > found / 100 * 95);
}

/* Finds in the copy the entry that describes `pc`, by the sorted table after the header. */
static size_t description_of(const struct tables *tables, uint64_t pc)
{
    const uint8_t *header = tables->copy.header;
    uint32_t count;
    int32_t found[2] = {0}, entry[2];
    memcpy(&count, header + 8, sizeof(count));
    for (uint32_t low = 0, high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        memcpy(entry, header + 12 + middle * 8, sizeof(entry));
        if (entry[0] <= (int64_t)(pc - (uint64_t)header)) {
            memcpy(found, entry, sizeof(found));
            low = middle + 1;
        } else
            high = middle;
    }
    return (size_t)(header + found[1] - tables->copy.start);
}

/* Bytes are damaged in the entry that is asked for, in the header, or anywhere. */
static void test_damage(void **data)
{
    struct tables *tables = *data;
    uint8_t *bytes = (uint8_t *)tables->copy.start;
    size_t size = (size_t)(tables->copy.end - tables->copy.start);
    size_t header = (size_t)(tables->copy.header - tables->copy.start);
    unsigned found[3] = {0};
    for (unsigned i = 0; i < 100000; i++) {
        struct unwind_row row;
        size_t at[4];
        uint8_t was[4];
        uint64_t pc = tables->code_start + tables->moved + random_below(tables->code_size);
        size_t near = description_of(tables, pc);
        if (i % 4 == 1)
            near = header;
        else if (i % 4 == 2)
            near = random_below(size - 64);
        for (unsigned k = 0; k < 4; k++) {
            at[k] = (near + random_below(32)) % size;
            was[k] = bytes[at[k]];
            bytes[at[k]] = (uint8_t)random_below(256);
        }
        for (unsigned k = 0; k < 4; k++) {
            enum unwind_found result = unwind_table_find(&tables->copy, pc + k, &row);
            found[result]++;
            if (result == UNWIND_FOUND) {
                unwind_rule_pack(&row, pc + k);
                unwind_evaluate(&row);
            }
        }
        for (unsigned k = 4; k--;)
            bytes[at[k]] = was[k];
    }
    assert_true(found[UNWIND_FOUND] && found[UNWIND_BAD]);
}

/* Runs one entry of random instructions, in a block that ends with them. */
static void test_random_programs(void **data)
{
    unsigned found = 0;
    for (unsigned i = 0; i < 200000; i++) {
        /* header (20 bytes), common entry (20), description (20 + program) */
        uint8_t program = (uint8_t)(4 + random_below(40));
        size_t size = 20 + 20 + 20 + program;
        uint8_t *image = calloc(1, size);
        const uint8_t header[] = {1, 0x1b, 3, 0x3b, 12, 0, 0, 0, 1, 0, 0, 0, 0, 16, 0, 0, 40};
        const uint8_t common[] = {16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
        const uint8_t entry[] = {(uint8_t)(program + 16), 0, 0, 0, 24, 0, 0, 0};
        memcpy(image, header, sizeof(header));
        memcpy(image + 20, common, sizeof(common));
        memcpy(image + 40, entry, sizeof(entry));
        int32_t begin = 4096 - 48, length = 64;
        memcpy(image + 48, &begin, 4);
        memcpy(image + 52, &length, 4);
        for (unsigned k = 0; k < program + 3u; k++) /* after the empty augmentation data */
            image[57 + k] = (uint8_t)random_below(random_below(2) ? 256 : 48);
        struct unwind_image unwind = {image, image + size, image};
        struct unwind_row row;
        if (unwind_table_find(&unwind, (uint64_t)image + 4096 + random_below(64), &row) ==
            UNWIND_FOUND) {
            found++;
            unwind_rule_pack(&row, 0);
            unwind_evaluate(&row);
        }
        free(image);
    }
    assert_true(found > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_equal),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
