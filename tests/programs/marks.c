/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that tells the recorder what it does, through mprof.h. usage: marks
 * Ends with 0 whether it is recorded or not.
 */
#include <stdlib.h>

#include "capture/mprof.h"

int main(void)
{
    void *kept = malloc(3000), *resized = malloc(3001), *moved_in_pause;
    mprof_mark("begin");
    free(malloc(3002));
    mprof_pause();
    mprof_pause();
    void *unseen = malloc(3003);
    free(kept);
    moved_in_pause = realloc(resized, 90000);
    mprof_resume();
    free(malloc(3004));
    mprof_snapshot("steady");
    free(unseen);
    free(moved_in_pause);
    mprof_mark(NULL);
    return 0;
}
