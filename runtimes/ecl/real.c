/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/ecl/real.h"

#include <dlfcn.h>

#include "capture/os/c_library.h"
#include "capture/os/os.h"
#include "runtimes/common.h"

static const char *const names[REAL_COUNT] = {
#define REAL_NAME(name) #name,
    REAL_FUNCTIONS(REAL_NAME)
#undef REAL_NAME
};

void *_Atomic real_functions[REAL_COUNT];

void real_library(char name[REAL_LIBRARY_SIZE])
{
    char digits[2][24] = {{0}, {0}};
    common_join(name, REAL_LIBRARY_SIZE, "libecl.so.",
                os_decimal(digits[0] + 23, ECL_VERSION_NUMBER / 10000), ".",
                os_decimal(digits[1] + 23, ECL_VERSION_NUMBER / 100 % 100), NULL);
}

/* A library that a program loads by itself does not come after this one in the order of symbols. */
static void *find_loaded(const char *name)
{
    char library[REAL_LIBRARY_SIZE];
    real_library(library);
    void *handle = c_library_dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? c_library_dlsym(handle, name) : NULL;
    if (handle)
        c_library_dlclose(handle);
    return found;
}

static void *look_up(enum real_function function)
{
    void *found = c_library_dlsym(RTLD_NEXT, names[function]);
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
        char line[128];
        common_join(line, sizeof(line), "mprof: the program calls ", names[function],
                    ", which no library has\n", NULL);
        common_call(SYS_write, 2, (long)line, (long)strlen(line), 0);
        __builtin_trap();
    }
    atomic_store_explicit(&real_functions[function], found, memory_order_release);
    return found;
}

bool real_is_there(void)
{
    return c_library_dlsym(RTLD_NEXT, "ecl_alloc_object") != NULL;
}
