/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that name themselves between two blocks, and a library that is opened and closed. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static int name_and_allocate(const char *name, size_t size)
{
    free(malloc(100));
    int failed = pthread_setname_np(pthread_self(), name);
    free(malloc(size));
    return failed;
}

static void *in_thread(void *failed)
{
    *(int *)failed |= name_and_allocate("called-thread", 5001);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int failed = 0;
    if (pthread_create(&thread, NULL, in_thread, &failed) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    failed |= name_and_allocate("called-main", 5002);
    void *self = dlopen(NULL, RTLD_NOW);
    return failed || !self || dlclose(self) != 0;
}
