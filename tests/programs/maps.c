/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps, moves and unmaps memory in a known way, and says at the end what is mapped: lines
 * "ADDRESS SIZE PROTECTION" of what its own calls left.
 * usage: maps FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static int failed;

static char *map(void *address, size_t pages, int protection, int flags, int descriptor, off_t at)
{
    char *memory = mmap(address, pages * PAGE, protection, flags, descriptor, at);
    failed += memory == MAP_FAILED;
    return memory;
}

static void say(const char *memory, size_t pages, const char *protection)
{
    printf("%ju %zu %s\n", (uintmax_t)(uintptr_t)memory, pages * PAGE, protection);
}

static void *in_thread(void *argument)
{
    failed += munmap((char *)argument + 4 * PAGE, 2 * PAGE) != 0;
    return NULL;
}

static __attribute__((noinline)) void unmap_touched(char *memory)
{
    failed += munmap(memory, 6 * PAGE) != 0;
}

/* Two of six pages are written to before all are unmapped elsewhere. */
static __attribute__((noinline)) void unmapped_by(void (*unmap)(char *))
{
    char *memory = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    failed += memory == MAP_FAILED;
    memory[0] = memory[4 * PAGE] = 1;
    unmap(memory);
    failed += memory == NULL; /* what comes after the call keeps it from being a jump */
}

int main(int argc, char **argv)
{
    const int read_write = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    if (argc < 2)
        return 2;
    /* A hole in the middle, made by another thread: two pieces are left. */
    char *holed = map(NULL, 10, read_write, anonymous, -1, 0);
    pthread_t thread;
    failed += pthread_create(&thread, NULL, in_thread, holed) != 0;
    pthread_join(thread, NULL);
    say(holed, 4, "rw-");
    say(holed + 6 * PAGE, 4, "rw-");
    /* A file, mapped over the beginning of an anonymous mapping; a length that is not a whole
     * number of pages. */
    int descriptor = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    failed += descriptor < 0 || ftruncate(descriptor, (off_t)(20 * PAGE)) != 0;
    char *under = map(NULL, 8, PROT_NONE, anonymous, -1, 0);
    char *file =
        mmap(under, 2 * PAGE + 1, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, (off_t)(3 * PAGE));
    failed += file != under;
    say(file, 3, "r--");
    say(under + 3 * PAGE, 5, "---");
    close(descriptor);
    /* Grown, and so perhaps moved; then shrunk. */
    char *grown = map(NULL, 5, read_write, anonymous, -1, 0);
    grown = mremap(grown, 5 * PAGE, 500 * PAGE, MREMAP_MAYMOVE);
    failed += grown == MAP_FAILED;
    grown = mremap(grown, 500 * PAGE, 7 * PAGE, 0);
    failed += grown == MAP_FAILED;
    say(grown, 7, "rw-");
    /* The protection of a part is changed, of some of it back again, and of some to what it is. */
    char *changed = map(NULL, 9, read_write, anonymous, -1, 0);
    failed += mprotect(changed + 2 * PAGE, 5 * PAGE - 1, PROT_READ) != 0;
    failed += mprotect(changed + 3 * PAGE, PAGE, read_write) != 0;
    failed += mprotect(changed, 2 * PAGE, read_write) != 0;
    failed += mprotect(changed + 6 * PAGE, 2 * PAGE, PROT_READ | PROT_EXEC) != 0;
    failed += munmap(changed + 8 * PAGE, PAGE) != 0;
    say(changed, 2, "rw-");
    say(changed + 2 * PAGE, 1, "r--");
    say(changed + 3 * PAGE, 1, "rw-");
    say(changed + 4 * PAGE, 2, "r--");
    say(changed + 6 * PAGE, 1, "r-x");
    say(changed + 7 * PAGE, 1, "r-x");
    unmapped_by(unmap_touched);
    /* Gone as a whole; calls that fail change nothing. */
    char *gone = map(NULL, 3, read_write, anonymous, -1, 0);
    failed += munmap(gone, 3 * PAGE) != 0;
    failed += munmap(holed + 1, PAGE) == 0 ||
              mmap(NULL, 0, PROT_READ, anonymous, -1, 0) != MAP_FAILED ||
              mremap(gone, PAGE, 2 * PAGE, 0) != MAP_FAILED;
    /* A block of the heap is not a mapping of the program's, large as it is. */
    char *block = malloc(8 << 20);
    failed += block == NULL;
    free(block);
    return failed;
}
