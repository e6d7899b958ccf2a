/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/linked.h"

#include <stdint.h>
#include <string.h>

#include "capture/os/elf_symbols.h"
#include "capture/run/libraries.h"

struct search {
    const char *function, *library;
    bool found;
};

static void note_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct search *search = context;
    (void)address;
    (void)size;
    search->found = search->found || strcmp(name, search->function) == 0;
}

static void note_library(void *context, const char *path)
{
    struct search *search = context;
    search->found = search->found || run_library_is(path, search->library);
}

bool run_is_linked(const char *binary, const char *function, const char *library)
{
    struct search search = {function, library, false};
    elf_symbols_of(binary, note_symbol, &search);
    if (!search.found)
        run_libraries(binary, note_library, &search);
    return search.found;
}
