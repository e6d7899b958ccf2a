/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbolize [--debug-dir DIR] FILE: reads hexadecimal addresses from standard input, one per line.
 * For each it prints "0xADDRESS" and then, innermost first, a line with the function and one with
 * "file:line" ("??:0"), as addr2line -a -i -f -C does. The status goes to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/symbols.h"

static void print_frames(const struct symbols_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s\n%s:%u\n", frames[i].function, frames[i].file ? frames[i].file : "??",
               frames[i].line);
        if (frames[i].inlined != (i + 1 < count))
            printf("wrong inlined flag\n");
    }
}

int main(int argc, char **argv)
{
    struct symbols_options options = {.debug_dir = NULL};
    int at = 1;
    if (argc > 3 && strcmp(argv[1], "--debug-dir") == 0) {
        options.debug_dir = argv[2];
        at = 3;
    }
    if (at + 1 != argc) {
        fprintf(stderr, "usage: symbolize [--debug-dir DIR] FILE <ADDRESSES\n");
        return 2;
    }
    struct symbols *symbols = symbols_new(&options);
    if (!symbols)
        return 1;
    symbols_module(symbols, 1, argv[at], NULL, 0);
    fprintf(stderr, "%s\n", symbols_status(symbols, 1));
    char line[64];
    while (fgets(line, sizeof(line), stdin)) {
        struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
        uint64_t pc = strtoull(line, NULL, 16);
        printf("0x%016llx\n", (unsigned long long)pc);
        print_frames(frames, symbols_lookup(symbols, 1, pc, frames));
    }
    symbols_free(symbols);
    return 0;
}
