/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_replay FILE...: feeds each file to the fuzz target, whole and, if small, cut at
 * every length.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    static uint8_t data[1 << 16];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        size_t size = fread(data, 1, sizeof(data), file);
        fclose(file);
        for (size_t cut = size > 300 ? size : 0; cut <= size; cut++)
            LLVMFuzzerTestOneInput(data, cut);
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 2;
}
