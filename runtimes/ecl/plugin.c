/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmprof_ecl.so: hands the functions of ECL, and the blocks of its heap with their types, over to
 * the recorder. mprof-run --ecl preloads it.
 *
 * ECL calls its allocator and the collector by symbols that this library has, too (allocate.c).
 */
#include <dlfcn.h>
#include <string.h>

#include "runtimes/common.h"
#include "runtimes/ecl/plugin.h"
#include "runtimes/ecl/record.h"
#include "runtimes/ecl/walk.h"

/* Returns true if the library is of the version that the headers are of. Writes its name. */
static bool version_fits(char library[REAL_LIBRARY_SIZE])
{
    Dl_info about;
    real_library(library);
    return dladdr(REAL(ecl_alloc_object), &about) && about.dli_fname &&
           strstr(about.dli_fname, library);
}

void plugin_begin(void)
{
    static const struct mprof_runtime_calls calls = {ecl_frames, ecl_name};
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    char library[REAL_LIBRARY_SIZE], why[128];
    if (!MPROF_HAS(collection) || atomic_flag_test_and_set(&begun))
        return;
    if (!version_fits(library)) {
        common_join(why, sizeof(why), "this mprof was built with the headers of ", library, NULL);
        common_say_none("Lisp functions and types", why);
        return;
    }
    const mprof_runtime runtime = mprof_runtime_create("ECL", &calls, NULL);
    if (runtime != 0)
        record_begin(runtime);
}

__attribute__((constructor)) static void begin(void)
{
    if (real_is_there())
        plugin_begin();
}
