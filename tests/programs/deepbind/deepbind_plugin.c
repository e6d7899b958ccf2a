/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin that deepbind.c loads: a module that takes memory in each way in which one can be
 * bound to malloc. The constructor takes a block of 7001 bytes. Built several times, with other
 * options of the linker.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Addresses in data: read-only after the start, and writable. */
static void *(*const makers[])(size_t) = {malloc};
static void (*dropper)(void *) = free;
static void *first;
static pthread_t workers[4];
static volatile long calls[4];
static volatile int stop;

void *plugin_make(size_t size);
void plugin_drop(void *block);
char *plugin_text(size_t size);
void *plugin_open(int mode);
long plugin_work(int command);

__attribute__((constructor)) static void plugin_begin(void)
{
    first = malloc(7001);
    free(first);
    if (getenv("PLUGIN_WORKS"))
        plugin_work('b');
}

void *plugin_make(size_t size)
{
    void *(*const volatile *maker)(size_t) = makers;
    void *block = size % 2 ? malloc(size) : (*maker)(size);
    return block ? realloc(block, size + 10) : block;
}

void plugin_drop(void *block)
{
    void (*volatile * drop)(void *) = &dropper;
    if ((size_t)block % 32)
        (*drop)(block);
    else
        free(block);
}

/* A block of the C library's own, which the caller frees. */
char *plugin_text(size_t size)
{
    char *text = malloc(size + 1), *copy;
    memset(text, 'x', size);
    text[size] = 0;
    copy = strdup(text);
    free(text);
    return copy;
}

/* Found by the run path of this module only, from which the call must come: it is not a jump. */
void *plugin_open(int mode)
{
    void *volatile opened = dlopen("deepbind_other.so", mode);
    return opened;
}

static void *worker(void *argument)
{
    const long number = (long)argument;
    while (!stop) {
        free(malloc(6000));
        calls[number]++;
    }
    for (int i = 0; i < 1000; i++)
        free(malloc(6001));
    return NULL;
}

/* 'b' begins the threads, 'c' counts what they have done, 'e' has each take the last blocks. */
long plugin_work(int command)
{
    long sum = 0;
    if (command == 'e')
        stop = 1;
    for (long i = 0; i < 4; i++) {
        if (command == 'b')
            pthread_create(&workers[i], NULL, worker, (void *)i);
        else if (command == 'e')
            pthread_join(workers[i], NULL);
        sum += calls[i];
    }
    return sum;
}
