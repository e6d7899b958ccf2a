/* SPDX-License-Identifier: BSD-2-Clause */
/* A program with a malloc of its own, which a preloaded library does not get to see. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static unsigned char memory[1 << 20];
static size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);

void *malloc(size_t size)
{
    size_t at = used;
    used += (size + 31) & ~(size_t)15;
    return used <= sizeof memory ? memory + at : NULL;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* never given out twice, so still zero */
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    if (moved && block)
        memmove(moved, block, size);
    return moved;
}

void free(void *block)
{
    (void)block;
}

int main(void)
{
    void *volatile block = malloc(100);
    free(block);
    return block ? (int)(write(1, "ran\n", 4) != 4) : 1;
}
