/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose dlsym allocates, as some C libraries' does: the recorder asks it for the real
 * malloc and gets a request for memory instead of an answer. The blocks are resized and freed
 * later, when the real allocator is known.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *blocks[64];
static unsigned count;

void *dlsym(void *handle, const char *name)
{
    if (count + 3 <= 64) {
        blocks[count++] = calloc(3, 40);
        blocks[count++] = malloc(50);
        blocks[count++] = realloc(NULL, 60);
    }
    void *(*next)(void *, const char *) =
        (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    /* RTLD_NEXT means "after the caller", which is this program now; the C library is. */
    return next(handle == RTLD_NEXT ? RTLD_NEXT : handle, name);
}

int main(void)
{
    static const char zeros[120];
    unsigned used = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!blocks[i] || (i % 3 == 0 && memcmp(blocks[i], zeros, sizeof zeros) != 0))
            return 1;
        memset(blocks[i], 'a' + (int)(i % 26), 50);
        used++;
    }
    for (unsigned i = 0; i < count; i++) {
        if (i % 2 == 0)
            blocks[i] = realloc(blocks[i], 5000);
        for (unsigned k = 0; k < 50; k++)
            if (((char *)blocks[i])[k] != (char)('a' + (int)(i % 26)))
                return 2;
        free(blocks[i]);
    }
    printf("%u\n", used);
    return used > 0 ? 0 : 3;
}
