/* SPDX-License-Identifier: BSD-2-Clause */
/* keeper LIBRARY: a function of a library that it loads makes one large allocation and keeps it. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

typedef void *(*keep_function)(size_t size);

static __attribute__((noinline)) int keep_by(keep_function keep)
{
    const char *kept = keep(1988000);
    return kept && kept[0] == 'k' ? 0 : 1;
}

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void *found = !library ? NULL : dlsym(library, "plug_keep");
    return !found ? 2 : keep_by((keep_function)found) + argc - 2; /* no tail call */
}
