/* SPDX-License-Identifier: BSD-2-Clause */
/* A plug-in that allocates; stress.c loads and unloads it. */
#include <stdlib.h>

void *plugin_allocate(size_t size);
void plugin_release(void *block);

void *plugin_allocate(size_t size)
{
    return malloc(size);
}

void plugin_release(void *block)
{
    free(block);
}
