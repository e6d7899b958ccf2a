/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/ecl/real.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const names[REAL_COUNT] = {
#define REAL_NAME(name) #name,
    REAL_FUNCTIONS(REAL_NAME)
#undef REAL_NAME
};

void *_Atomic real_functions[REAL_COUNT];

void real_library(char name[REAL_LIBRARY_SIZE])
{
    snprintf(name, REAL_LIBRARY_SIZE, "libecl.so.%d.%d", ECL_VERSION_NUMBER / 10000,
             ECL_VERSION_NUMBER / 100 % 100);
}

/* A library that a program loads by itself does not come after this one in the order of symbols. */
static void *find_loaded(const char *name)
{
    char library[REAL_LIBRARY_SIZE];
    real_library(library);
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

static void *look_up(enum real_function function)
{
    void *found = dlsym(RTLD_NEXT, names[function]);
    return found ? found : find_loaded(names[function]);
}

void real_find_all(void)
{
    for (unsigned function = 0; function < REAL_COUNT; function++)
        if (!atomic_load(&real_functions[function]))
            atomic_store(&real_functions[function], look_up((enum real_function)function));
}

void *real_find(enum real_function function)
{
    void *found = look_up(function);
    if (!found) {
        dprintf(STDERR_FILENO, "mprof: the program calls %s, which no library has\n",
                names[function]);
        abort();
    }
    atomic_store_explicit(&real_functions[function], found, memory_order_release);
    return found;
}

bool real_is_there(void)
{
    return dlsym(RTLD_NEXT, "ecl_alloc_object") != NULL;
}
