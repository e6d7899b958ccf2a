/* SPDX-License-Identifier: BSD-2-Clause */
#include "elsewhere.h"

#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void elsewhere_inner(void (*function)(int), int depth)
{
    function(depth);
    __asm__ volatile("" ::: "memory");
}

/* Calls no function that reports itself, and is called by one: such a stack does not know of it. */
void elsewhere_call(void (*function)(int), int depth)
{
    elsewhere_inner(function, depth);
    __asm__ volatile("" ::: "memory");
}

void elsewhere_strdup(size_t size)
{
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = 0;
    free(strdup(text));
    free(text);
}
