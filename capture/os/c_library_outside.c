/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of c_library.h for programs other than the recorded one. */
#include "capture/os/c_library.h"

#include <dlfcn.h>

int c_library_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    return pthread_key_create(key, destroy);
}

int c_library_set_specific(pthread_key_t key, const void *value)
{
    return pthread_setspecific(key, value);
}

int c_library_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

#ifndef MPROF_STATIC

void *c_library_find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool c_library_ends_thread_at(uint64_t pc)
{
    return false;
}

void *c_library_dlopen(const char *file, int mode)
{
    return dlopen(file, mode);
}

int c_library_dlclose(void *handle)
{
    return dlclose(handle);
}

void *c_library_dlsym(void *handle, const char *name)
{
    return dlsym(handle, name);
}

#endif
