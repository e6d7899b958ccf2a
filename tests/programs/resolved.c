/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates before any constructor has run: in resolvers of indirect functions and in
 * .preinit_array. The blocks are resized and freed later. With RESOLVER it is a library with an
 * indirect function, with CALLER one that calls that. The loader relocates both before a recorder
 * that is loaded before them, and runs the resolver in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int resolved_number(void);
int resolved_call(void);
void resolved_blocks(char **small, char **large);

#ifdef RESOLVER

static char *resolved_block, *resolved_large;

void resolved_blocks(char **small, char **large)
{
    *small = resolved_block;
    *large = resolved_large;
}

static int number(void)
{
    return 7;
}

__attribute__((used)) static int (*choose(void))(void)
{
    char *block = calloc(10, 10);
    free(malloc(20));
    for (int i = 0; block && i < 100; i++)
        if (block[i])
            block = NULL;
    if (block)
        block = realloc(block, 3000);
    if (block)
        memset(block, 'b', 3000);
    resolved_block = block;
    resolved_large = malloc(1000000);
    if (resolved_large)
        memset(resolved_large, 'l', 1000000);
    return number;
}

int resolved_number(void) __attribute__((ifunc("choose")));

#elif defined(CALLER)

static int (*const volatile number)(void) = resolved_number;

int resolved_call(void)
{
    return number();
}

#else

static void *volatile own_block, *volatile early_block;

static int one(void)
{
    return 1;
}

__attribute__((used)) static int (*choose(void))(void)
{
    own_block = malloc(1234);
    return one;
}

static int pick(void) __attribute__((ifunc("choose")));

static void early(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    early_block = malloc(2345);
    free(early_block);
}
__attribute__((section(".preinit_array"), used)) static void (*const before)(int, char **) = early;

int main(void)
{
    char *resolved_block, *resolved_large;
    int wrong = 0;
    resolved_blocks(&resolved_block, &resolved_large);
    for (int i = 0; i < 1000; i++)
        free(malloc(5000));
    free(own_block);
    resolved_block = realloc(resolved_block, 4000);
    for (int i = 0; i < 3000; i++)
        wrong += !resolved_block || resolved_block[i] != 'b';
    for (int i = 0; i < 1000000; i++)
        wrong += !resolved_large || resolved_large[i] != 'l';
    free(resolved_block);
    free(resolved_large);
    printf("%d %d %d\n", pick(), resolved_call(), wrong);
    return wrong != 0;
}

#endif
