/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_decode FILE: reads from standard input the addresses at which the instructions of FILE
 * begin, in hexadecimal and in order ("-" where a run of code ends). Compares the length of each
 * instruction with the distance to the next. Prints the differences; exit status 1 if there are
 * any.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/symbols/symbols.h"
#include "ingest/types/flow/decode.h"

#define SHOWN_MAX 20

struct figures {
    unsigned long instructions, wrong;
};

static void check(const struct symbols_file *file, uint64_t address, uint64_t next,
                  struct figures *figures)
{
    struct decode_instruction instruction = {.length = 0};
    size_t size = 0;
    const uint8_t *code = types_code(file, address, &size);
    figures->instructions++;
    if (code && types_decode_branch(code, size, address, &instruction) &&
        instruction.length == next - address && types_decode(code, size, address, &instruction) &&
        instruction.length == next - address)
        return;
    if (figures->wrong++ >= SHOWN_MAX)
        return;
    printf("0x%llx: %u bytes, not %llu:", (unsigned long long)address, instruction.length,
           (unsigned long long)(next - address));
    for (uint64_t i = 0; code && i < next - address && i < size; i++)
        printf(" %02x", code[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct symbols_options options = {.debug_dir = NULL};
    struct symbols *symbols = argc == 2 ? symbols_new(&options) : NULL;
    if (!symbols) {
        fprintf(stderr, "usage: check_decode FILE <ADDRESSES\n");
        return 2;
    }
    symbols_module(symbols, 1, argv[1], NULL, 0);
    const struct symbols_file *file = symbols_module_file(symbols, 1);
    struct figures figures = {0, 0};
    char line[64];
    uint64_t last = 0;
    while (file && fgets(line, sizeof(line), stdin)) {
        uint64_t address = line[0] == '-' ? 0 : strtoull(line, NULL, 16);
        if (last != 0 && address != 0)
            check(file, last, address, &figures);
        last = address;
    }
    symbols_free(symbols);
    printf("%lu instructions, %lu decoded to another length\n", figures.instructions,
           figures.wrong);
    return figures.instructions == 0 || figures.wrong > 0;
}
