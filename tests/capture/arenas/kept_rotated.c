/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A runtime whose trace is rotated after a collection: what the collection has left stays known.
 * Before each step the program makes blocks of the heap until a byte comes.
 */
#include <mprof.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { OLD = 10, LATER = 5 };

static char cells[64][64], other_cells[5][64];
static void *volatile sink;
static unsigned used;
static mprof_runtime toy, other;
static mprof_arena heap, others;
static mprof_kind cons;

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    (void)data, (void)out, (void)max;
    return 0;
}

static void name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data, (void)key, (void)out;
}

static void make(unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++)
        mprof_arena_alloc_kind(heap, cells[used++], size, 1, cons);
}

static void wait_for_byte(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;
    (void)!write(STDOUT_FILENO, "\n", 1);
    while (poll(&input, 1, 1) == 0)
        free(sink = malloc(100));
    (void)!read(STDIN_FILENO, &byte, 1);
}

static const struct mprof_runtime_calls calls = {frames, name};

/* Begins the first collection of another runtime, which takes two blocks and does not end yet. */
static void begin_first(void)
{
    other = mprof_runtime_create("other", &calls, NULL);
    others = mprof_arena_create("others", 0);
    for (unsigned i = 0; i < 5; i++)
        mprof_arena_alloc(others, other_cells[i], 32, 1);
    mprof_collection(other, 1);
    mprof_collected(others, other_cells[0]);
    mprof_collected(others, other_cells[1]);
    mprof_arena_alloc(others, other_cells[0], 48, 1);
}

int main(void)
{
    toy = mprof_runtime_create("toy", &calls, NULL);
    cons = mprof_kind_create(toy, "cons");
    heap = mprof_arena_create("cells", 0);
    mprof_collection(toy, 1); /* takes nothing */
    mprof_collection(toy, 0);
    make(OLD, 160);
    mprof_collection(toy, 1);
    make(3, 240); /* while it goes on */
    for (unsigned i = 0; i < 4; i++)
        mprof_collected(heap, cells[i]);
    mprof_collection(toy, 0);
    make(LATER, 320);
    wait_for_byte();
    make(2, 480);
    mprof_arena_free(heap, cells[4]);
    begin_first();
    wait_for_byte();
    mprof_collection(other, 0);
    mprof_collection(toy, 1); /* does not end in this trace */
    make(3, 640);
    wait_for_byte();
    mprof_collected(heap, cells[OLD]);
    mprof_collection(toy, 0);
    make(1, 560);
    return 0;
}
