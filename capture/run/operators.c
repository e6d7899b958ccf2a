/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/operators.h"

#include <stdint.h>
#include <string.h>

#include "capture/os/elf_symbols.h"
#include "capture/run/libraries.h"

struct operators_found {
    bool has_malloc, has_new;
};

static void note_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct operators_found *found = context;
    (void)address;
    (void)size;
    found->has_malloc = found->has_malloc || strcmp(name, "malloc") == 0;
    found->has_new = found->has_new || strcmp(name, "_Znwm") == 0;
}

/* The facts about the program so far. */
struct operators_search {
    bool is_cxx, has_both;
};

static void look(void *context, const char *path)
{
    struct operators_search *search = context;
    struct operators_found found = {0};
    search->is_cxx =
        search->is_cxx || run_library_is(path, "libstdc++.") || run_library_is(path, "libc++.");
    /* Skips the libraries that every program has. */
    if (search->has_both || run_library_is(path, "libc.so") || run_library_is(path, "libm.so") ||
        run_library_is(path, "libstdc++.") || run_library_is(path, "libgcc_s.") ||
        run_library_is(path, "ld-linux"))
        return;
    elf_symbols_of(path, note_symbol, &found);
    search->has_both = found.has_malloc && found.has_new;
}

bool run_operators_are_needed(const char *binary)
{
    struct operators_search search = {0};
    return run_libraries(binary, look, &search) && search.is_cxx && search.has_both;
}
