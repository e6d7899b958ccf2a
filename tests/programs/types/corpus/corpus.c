/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the cases and writes what they state into the trace. */
#include "corpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/mprof.h"

volatile unsigned long corpus_one = 1, corpus_few = 5;
const volatile void *volatile corpus_sink;

static struct corpus_case *cases;

void corpus_add(struct corpus_case *added)
{
    added->next = cases;
    cases = added;
}

static void state(const char *how, const volatile void *address, const char *type,
                  unsigned long count)
{
    char text[512];
    snprintf(text, sizeof text, "%s|%lu|%lu|%s", how, (unsigned long)(uintptr_t)address, count,
             type);
    mprof_mark(text);
}

void corpus_is(const volatile void *address, const char *type, unsigned long count)
{
    state("is", address, type, count);
}

void corpus_known(const volatile void *address, const char *type, unsigned long count)
{
    state("known", address, type, count);
}

void *corpus_take(unsigned long size)
{
    void *taken = malloc(size);
    if (taken == NULL)
        abort();
    return taken;
}

int main(void)
{
    for (struct corpus_case *at = cases; at != NULL; at = at->next) {
        char text[128];
        snprintf(text, sizeof text, "case|%s", at->name);
        mprof_mark(text);
        at->run();
    }
    mprof_mark("end|");
    return 0;
}
