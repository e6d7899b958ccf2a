/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_estimate SESSION [FILTERS]: random filters, each estimated from the stored sample and
 * answered exactly. Prints the times and relative errors, sorted by error, and how often the right
 * number lies within two standard errors. The session must have a sample.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "session/table/sample_estimate.h"

enum { FILTERS_MOST = 1000 };

struct outcome {
    char text[200];
    double share, count_error, bytes_error, estimate_ms, exact_ms;
    bool within;
};

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void make_filter(const struct session *session, char *text, size_t size)
{
    const uint64_t end = session_duration_ns(session), from = draw(end);
    const uint64_t span = end / (10 + draw(90)), life = UINT64_C(1) << (10 + draw(24));
    const uint64_t bytes = UINT64_C(1) << (3 + draw(10));
    switch (draw(7)) {
    case 0:
        snprintf(text, size, "all | where size >= %llu", (unsigned long long)bytes);
        break;
    case 1:
        snprintf(text, size, "all | where alloc_time in %lluns..%lluns", (unsigned long long)from,
                 (unsigned long long)(from + span));
        break;
    case 2:
        snprintf(text, size, "all | where lifetime < %lluns", (unsigned long long)life);
        break;
    case 3:
        snprintf(text, size, "all | where lifetime > %lluns and size < %llu",
                 (unsigned long long)life, (unsigned long long)bytes * 2);
        break;
    case 4:
        snprintf(text, size, "live at %lluns", (unsigned long long)from);
        break;
    case 5:
        snprintf(text, size, "live at %lluns | where size > %llu", (unsigned long long)from,
                 (unsigned long long)bytes / 2);
        break;
    default:
        snprintf(text, size, "all | where size in %llu..%llu", (unsigned long long)bytes,
                 (unsigned long long)(bytes + bytes / 4));
    }
}

static double relative(uint64_t estimate, uint64_t exact)
{
    return exact == 0 ? (double)(estimate != 0) : fabs((double)estimate / (double)exact - 1);
}

static bool measure(struct session *session, struct outcome *outcome)
{
    struct session_error error;
    struct selection_estimate estimate;
    bool known = false;
    double before = now_ms();
    bool good = selection_estimate(session, outcome->text, &estimate, &known, &error);
    outcome->estimate_ms = now_ms() - before;
    before = now_ms();
    struct selection *exact = good && known ? selection_new(session, outcome->text, &error) : NULL;
    outcome->exact_ms = now_ms() - before;
    if (!exact) {
        fprintf(stderr, "%s: %s\n", outcome->text, good ? "no estimate" : error.message);
        return false;
    }
    const uint64_t count = selection_allocations(exact), bytes = selection_bytes(exact);
    outcome->share = (double)count / (double)session_allocation_count(session);
    outcome->count_error = relative(estimate.allocations, count);
    outcome->bytes_error = relative(estimate.bytes, bytes);
    outcome->within = fabs((double)estimate.bytes - (double)bytes) <= 2 * estimate.bytes_error + 1;
    selection_free(exact);
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return a->bytes_error < b->bytes_error ? -1 : a->bytes_error > b->bytes_error;
}

int main(int argc, char **argv)
{
    static struct outcome outcomes[FILTERS_MOST];
    struct session_error error = {.column = 0};
    struct session *session = argc > 1 ? session_open(argv[1], &error) : NULL;
    size_t count = argc > 2 ? (size_t)atoi(argv[2]) : 50, within = 0, small = 0;
    if (!session) {
        fprintf(stderr, "%s\n", argc > 1 ? error.message : "usage: bench_estimate SESSION [N]");
        return argc > 1 ? 1 : 2;
    }
    count = count < FILTERS_MOST ? count : FILTERS_MOST;
    for (size_t i = 0; i < count; i++) {
        make_filter(session, outcomes[i].text, sizeof(outcomes[i].text));
        if (!measure(session, &outcomes[i]))
            return 1;
        within += outcomes[i].within;
        small += outcomes[i].count_error < 0.03 && outcomes[i].bytes_error < 0.03;
    }
    qsort(outcomes, count, sizeof(*outcomes), compare);
    printf("%9s %9s %9s %9s %9s\n", "share", "count", "bytes", "ms", "exact ms");
    for (size_t i = 0; i < count; i++)
        printf("%8.3f%% %8.2f%% %8.2f%% %9.1f %9.1f  %s\n", outcomes[i].share * 100,
               outcomes[i].count_error * 100, outcomes[i].bytes_error * 100,
               outcomes[i].estimate_ms, outcomes[i].exact_ms, outcomes[i].text);
    printf("errors under 3 %%: %zu of %zu; within two standard errors: %zu\n", small, count,
           within);
    session_close(session);
    return 0;
}
