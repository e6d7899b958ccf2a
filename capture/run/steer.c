/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/steer.h"

#include <time.h>

#include "capture/os/clock.h"

/* Seconds that a request stays before others may ask, and seconds that they have for it. */
#define ASKED_TIME 0.3
#define REST_TIME 0.02
/* Seconds that the program has to end the recording itself in its next heap call. */
#define SEAL_TIME 0.1

double run_steer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void run_steer_end(struct run_steer *steer, struct client *client)
{
    if (steer->asked)
        client_withdraw(client);
    steer->asked = false;
}

static void look(struct run_steer *steer, struct client *client, double now)
{
    enum trace_answer answer;
    if (client_look(client, &answer) != CLIENT_WAITING)
        steer->asked = false;
    else if (now > steer->asked_at + ASKED_TIME) {
        run_steer_end(steer, client);
        steer->rest_until = now + REST_TIME;
    }
}

/* Carries out a stop that no heap call has taken. */
static void seal(struct run_steer *steer, struct client *client)
{
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    const struct clock_pair end = clock_read_pair();
    if (client_seal(client, end.ticks, end.monotonic_ns))
        steer->asked = false;
}

void run_steer_step(struct run_steer *steer, struct client *client, enum run_wanted wanted,
                    double now)
{
    const struct trace_file_header *header = client->header;
    const bool recording = header->state == TRACE_STATE_RECORDING;
    const bool due = wanted == RUN_WANTED_STOP ||
                     (wanted == RUN_WANTED_RECORD && header->paused == TRACE_PAUSED_FROM_START);
    if (wanted == RUN_WANTED_STOP && steer->stop_at == 0)
        steer->stop_at = now;
    if (steer->asked && steer->asked_for != wanted)
        run_steer_end(steer, client); /* the request is out of date */
    if (steer->asked)
        look(steer, client, now);
    else if (due && recording && now >= steer->rest_until) {
        steer->asked =
            client_ask(client,
                       wanted == RUN_WANTED_STOP ? TRACE_REQUEST_STOP : TRACE_REQUEST_RESUME,
                       NULL) == CLIENT_WAITING;
        steer->asked_for = wanted;
        steer->asked_at = now;
    }
    if (wanted == RUN_WANTED_STOP && recording && client->writable &&
        now > steer->stop_at + SEAL_TIME)
        seal(steer, client);
}
