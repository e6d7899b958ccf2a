/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin that called.c loads. */
#include <stdlib.h>

void *plugin_called(size_t size);

/* The write after the call keeps the function on the stack while malloc runs. */
void *plugin_called(size_t size)
{
    static volatile int calls;
    void *block = malloc(size);
    calls++;
    return block;
}
