/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/bench/read_rate.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

enum { READ_BYTES = 256 << 10, READS_MOST = 4000, CORES_MOST = 16 };

/* The part of a file that one thread reads: each so many-th piece. */
struct reader {
    pthread_t thread;
    int file;
    size_t first, step;
    uint64_t bytes, sum;
};

static void *read_pieces(void *argument)
{
    struct reader *reader = argument;
    uint64_t *words = malloc(READ_BYTES);
    for (size_t piece = reader->first; words && piece < READS_MOST; piece += reader->step) {
        const ssize_t got = pread(reader->file, words, READ_BYTES, (off_t)piece * READ_BYTES);
        if (got <= 0)
            break;
        reader->bytes += (uint64_t)got;
        for (size_t i = 0; i < (size_t)got / sizeof(*words); i++)
            reader->sum += words[i];
    }
    free(words);
    return NULL;
}

double read_rate(const char *path)
{
    struct reader readers[CORES_MOST];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t cores = online < 1 ? 1 : online > CORES_MOST ? CORES_MOST : (size_t)online;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const double began = now_ms();
    uint64_t bytes = 0, sum = 0;
    size_t started = 0;
    for (; file >= 0 && started < cores; started++) {
        readers[started] = (struct reader){.file = file, .first = started, .step = cores};
        if (pthread_create(&readers[started].thread, NULL, read_pieces, &readers[started]) != 0)
            break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(readers[i].thread, NULL);
        bytes += readers[i].bytes;
        sum += readers[i].sum;
    }
    const double rate = (double)bytes / (now_ms() - began);
    if (file >= 0)
        close(file);
    /* The sum is used, so that compilers do not leave it out. */
    return sum == 1 ? rate + 1e-9 : rate;
}
