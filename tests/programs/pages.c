/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory whose place in the ledger of the resident set is known part by part. Arguments: MiB that
 * are never touched, touched, held by pins, freed in whole pages, on the stack of each thread, read
 * of a file, anonymous, and only read; the number of threads; "trim" or "stay". It prints the free
 * bytes of the allocator and, after a trim, by how much the resident set shrank. */
#include <alloca.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE 4096u

static pthread_barrier_t ready;
static size_t stack_bytes;
static void *volatile kept[1024];
static volatile char sum;

static void touch(volatile char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += PAGE)
        bytes[i] = 1;
}

static void look(const volatile char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += PAGE)
        sum = (char)(sum + bytes[i]);
}

static void *map(size_t size, int flags, int file)
{
    void *memory =
        mmap(NULL, size, PROT_READ | (flags & MAP_ANONYMOUS ? PROT_WRITE : 0), flags, file, 0);
    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

/* Blocks of 1000 bytes go, and one of 24 bytes stays after each fourth of them. */
static void make_holes(size_t bytes)
{
    const size_t count = bytes / 1008, room = count * sizeof(void *);
    void **blocks = map(room, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
        if (i % 4 == 3) {
            void *volatile pin = malloc(24);
            memset(pin, 1, 24);
        }
    }
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
    munmap(blocks, room);
}

static void make_whole_pages(size_t bytes)
{
    const size_t count = bytes / 100000;
    static void *blocks[4096];
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(100000);
        memset(blocks[i], 1, 100000);
    }
    kept[0] = malloc(5000); /* below the top */
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
}

static void *deep(void *unused)
{
    (void)unused;
    free(malloc(100)); /* so that the recorder knows the thread */
    touch(alloca(stack_bytes), stack_bytes);
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
    return NULL;
}

static size_t resident(void)
{
    size_t size = 0, pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%zu %zu", &size, &pages) != 2)
        exit(1);
    fclose(statm);
    return pages * PAGE;
}

static void read_file(size_t bytes)
{
    const int file = open("pages.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    static char block[MIB];
    memset(block, 1, sizeof(block));
    for (size_t i = 0; i < bytes; i += sizeof(block))
        if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block))
            exit(1);
    look(map(bytes, MAP_SHARED, file), bytes);
}

int main(int count, char **words)
{
    size_t mib[8];
    if (count != 11)
        return 2;
    for (int i = 0; i < 8; i++)
        mib[i] = strtoul(words[i + 1], NULL, 10) * MIB;
    const unsigned threads = (unsigned)strtoul(words[9], NULL, 10);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    kept[1] = malloc(mib[0]);
    kept[999] = malloc(mib[7]);
    for (size_t i = 0; i < mib[1] / MIB; i++) {
        kept[i + 2] = malloc(MIB);
        memset(kept[i + 2], 1, MIB);
    }
    make_holes(mib[2]);
    make_whole_pages(mib[3]);
    stack_bytes = mib[4];
    pthread_attr_t large;
    pthread_barrier_init(&ready, NULL, threads + 1);
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, stack_bytes + MIB);
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &large, deep, NULL) != 0)
            return 1;
    }
    pthread_barrier_wait(&ready);
    read_file(mib[5]);
    touch(map(mib[6], MAP_PRIVATE | MAP_ANONYMOUS, -1), mib[6]);
    look(kept[999], mib[7]);
    usleep(100000);
    const size_t before = resident(), free_bytes = mallinfo2().fordblks;
    if (strcmp(words[10], "trim") == 0)
        malloc_trim(0);
    printf("%zu %zu\n", free_bytes, before - resident());
    return 0;
}
