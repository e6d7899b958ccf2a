/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A runtime whose recording pauses, or stops and begins again in another trace, during a
 * collection. usage: runtime_stops pause | stop | none
 */
#include <mprof.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 10, ROUNDS = 3 };

static char cells[CELLS][16];
static void *volatile sink;

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    (void)data;
    *out = (struct mprof_frame){.key = "toy", .check = 1, .line = 5};
    return max > 0;
}

static void name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data;
    strcpy(out->function, key);
}

int main(int argc, char **argv)
{
    static const struct mprof_runtime_calls calls = {frames, name};
    const char *how = argc > 1 ? argv[1] : "none";
    mprof_runtime toy = mprof_runtime_create("toy", &calls, NULL);
    mprof_kind cons = mprof_kind_create(toy, "cons");
    mprof_arena heap = mprof_arena_create("toy", 0);
    for (int round = 0; round < ROUNDS; round++) {
        const int here = round == 1;
        for (int i = 0; i < CELLS; i++)
            mprof_arena_alloc_kind(heap, cells[i], 16, 1, cons);
        free(sink = malloc(1000));
        if (here && *how == 'p')
            mprof_pause();
        if (here && *how == 's')
            mprof_stop();
        mprof_collection(toy, 1);
        for (int i = 0; i < CELLS; i++)
            mprof_collected(heap, cells[i]);
        if (here && *how == 'p')
            mprof_resume();
        if (here && *how == 's')
            mprof_restart("restarted.bin");
        mprof_collection(toy, 0);
    }
    for (int i = 0; i < 3; i++)
        mprof_arena_alloc_kind(heap, cells[i], 16, 1, cons);
    return 0;
}
