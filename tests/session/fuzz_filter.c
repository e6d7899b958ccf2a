/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target for the filter parser. With clang and MPROF_FUZZ it is a libFuzzer program; otherwise
 * tests/fuzz_replay.c replays the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/tree.h"
#include "session/session.h"

/* Saved filters that a text may use: good ones, wrong ones, some that use each other. */
static char *find_stored(void *context, const char *name, const char **origin)
{
    static const char *const stored[][2] = {
        {"stored", "where size > 1M"},
        {"twice", "once(A) = live at A; twice(A) = once(A) + once(A + 1s);"},
        {"wrong", "all | where sise > 1"},
        {"loop", "pool - all"},
        {"pool", "loop | top 1"},
        {"empty", ""},
    };
    *origin = "shipped";
    for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
        if (strcmp(stored[i][0], name) == 0)
            return strdup(stored[i][1]);
    }
    return NULL;
}

static void check_error(const char *text, bool good, const struct session_error *error)
{
    /* A refusal has a reason and a place within the text. */
    if (!good && (error->message[0] == '\0' || error->column < 1 ||
                  (size_t)error->column > strlen(text) + 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const struct filter_names names = {.find = find_stored};
    struct session_error error = {.column = -1};
    check_error(text, filter_check(text, &error), &error);
    error = (struct session_error){.column = -1};
    struct filter_graph *graph = filter_parse_named(text, &names, &error);
    check_error(text, graph != NULL, &error);
    filter_graph_free(graph);
    error = (struct session_error){.column = -1};
    check_error(text, filter_check_stored("stored", text, &names, &error), &error);
    free(text);
    return 0;
}
