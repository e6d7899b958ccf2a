/* SPDX-License-Identifier: BSD-2-Clause */
/* A plug-in that is loaded after the recorder: its constructor allocates before its slots change.
 */
#include <stdlib.h>

static void *kept;

__attribute__((constructor)) static void begin(void)
{
    kept = malloc(9001);
}

__attribute__((destructor)) static void end(void)
{
    free(kept);
}

void *plugin_make(size_t size);
void plugin_drop(void *block);

void *plugin_make(size_t size)
{
    return malloc(size);
}

void plugin_drop(void *block)
{
    free(block);
}
