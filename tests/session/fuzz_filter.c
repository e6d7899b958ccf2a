/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target for the filter parser. With clang and MPROF_FUZZ it is a libFuzzer program; otherwise
 * tests/fuzz_replay.c replays the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct session_error error = {.column = -1};
    bool good = filter_check(text, &error);
    /* A refusal has a reason and a place within the text. */
    if (!good &&
        (error.message[0] == '\0' || error.column < 1 || (size_t)error.column > strlen(text) + 1))
        abort();
    free(text);
    return 0;
}
