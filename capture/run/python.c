/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/python.h"

#include <stdint.h>
#include <string.h>

#include "capture/os/elf_symbols.h"
#include "capture/run/libraries.h"

static void note_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    bool *found = context;
    (void)address;
    (void)size;
    *found = *found || strcmp(name, "Py_GetVersion") == 0;
}

static void note_library(void *context, const char *path)
{
    bool *found = context;
    *found = *found || run_library_is(path, "libpython");
}

bool run_python_is_linked(const char *binary)
{
    bool found = false;
    elf_symbols_of(binary, note_symbol, &found);
    if (!found)
        run_libraries(binary, note_library, &found);
    return found;
}
