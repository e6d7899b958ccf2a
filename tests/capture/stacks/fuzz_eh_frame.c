/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target of the interpreter of unwind tables. The first byte chooses what the input is:
 * instructions of one entry that is correct otherwise, an .eh_frame that is read in order, or a
 * whole image with its search table. Built by clang with MPROF_FUZZ it is a libFuzzer program;
 * otherwise tests/fuzz_replay.c replays the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/stack/unwind_step.h"
#include "capture/stack/unwind_rule.h"
#include "capture/stack/unwind_table.h"
#include "tests/capture/stacks/unwind_evaluate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The distance from the image's start at which the code of all entries made here begins. */
enum { CODE = 4096, CODE_SIZE = 64 };

static void look_up(const struct unwind_image *image, uint64_t pc)
{
    struct unwind_row row;
    if (unwind_table_find(image, pc, &row) != UNWIND_FOUND)
        return;
    unwind_rule rule = unwind_rule_pack(&row, pc);
    if (unwind_rule_kind(rule) == UNWIND_RULE_MISSING)
        abort(); /* the word that says "not computed yet" */
    unwind_evaluate(&row);
}

/* Makes a search table with one row, a common entry, and an entry that has the input as
 * instructions. */
static void run_program(const uint8_t *data, size_t size)
{
    static const uint8_t header[] = {1, 0x1b, 3, 0x3b, 12, 0, 0, 0, 1, 0, 0, 0, 0, 16, 0, 0, 40};
    static const uint8_t common[] = {16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
    const size_t program = size < 1000 ? size : 1000, whole = 57 + program;
    const int32_t begin = CODE - 48, length = CODE_SIZE;
    const uint32_t entry[] = {(uint32_t)program + 13, 24};
    uint8_t *image = calloc(1, whole);
    if (!image)
        return;
    memcpy(image, header, sizeof(header));
    memcpy(image + 20, common, sizeof(common));
    memcpy(image + 40, entry, sizeof(entry));
    memcpy(image + 48, &begin, 4);
    memcpy(image + 52, &length, 4);
    memcpy(image + 57, data, program); /* after the empty augmentation data */
    const struct unwind_image unwind = {image, image + whole, image};
    for (uint64_t at = 0; at < CODE_SIZE; at += 21)
        look_up(&unwind, (uint64_t)image + CODE + at);
    free(image);
}

/* Puts the input after a header that has no search table. */
static void run_section(const uint8_t *data, size_t size)
{
    static const uint8_t header[] = {1, 0x1b, 0xff, 0xff, 4, 0, 0, 0};
    uint8_t *image = malloc(sizeof(header) + size);
    if (!image)
        return;
    memcpy(image, header, sizeof(header));
    memcpy(image + sizeof(header), data, size);
    const struct unwind_image unwind = {image, image + sizeof(header) + size, image};
    for (uint64_t at = 0; at < 2 * CODE; at += 1000)
        look_up(&unwind, (uint64_t)image + at);
    free(image);
}

static void run_image(const uint8_t *data, size_t size)
{
    uint8_t *image = malloc(size);
    if (!image)
        return;
    memcpy(image, data, size);
    const struct unwind_image unwind = {image, image + size, image};
    for (uint64_t at = 0; at < 2 * CODE; at += 500)
        look_up(&unwind, (uint64_t)image + at);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] % 3 == 0)
        run_program(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        run_section(data + 1, size - 1);
    else
        run_image(data + 1, size - 1);
    return 0;
}
