/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that locks its memory: now and in future, now alone, or as pages are touched. Prints
 * how much is locked and resident, in KiB, after that and after four threads have run.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void show(void)
{
    char line[200];
    long locked = 0, resident = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "VmLck:", 6) == 0)
            locked = atol(line + 6);
        if (strncmp(line, "VmRSS:", 6) == 0)
            resident = atol(line + 6);
    }
    if (file)
        fclose(file);
    printf("%ld %ld\n", locked, resident);
}

static void *work(void *unused)
{
    for (int i = 0; i < 20000; i++)
        free(malloc(100 + (size_t)i % 9));
    return unused;
}

int main(int argc, char **argv)
{
    const int flags = argc > 1 ? atoi(argv[1]) : MCL_CURRENT | MCL_FUTURE;
    /* A mapping that is touched only by being locked, and one between without access. */
    char *hole = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *block = mmap(NULL, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char there[768];
    unsigned in = 0;
    if (hole == MAP_FAILED || block == MAP_FAILED)
        return 1;
    free(malloc(10));
    if (mlockall(flags) != 0) {
        perror("mlockall");
        return 77;
    }
    mincore(block, 3 << 20, there);
    for (unsigned i = 0; i < 768; i++)
        in += there[i] & 1;
    printf("%u\n", in);
    show();
    /* One after the other: how many arenas the C library makes does not depend on the times. */
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    block = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    in = 0;
    if (block != MAP_FAILED)
        mincore(block, 1 << 20, there);
    for (unsigned i = 0; i < 256; i++)
        in += there[i] & 1;
    printf("%u\n", in);
    show();
    printf("%d %d\n", munlockall(), mlockall(64));
    return 0;
}
