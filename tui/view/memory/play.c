/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plays memory over time, and steps through it. The frame of the next moment is loaded by a second
 * grid while the screen keeps the one before, so nothing flickers. A play keeps its speed: if a
 * frame comes late, the next one is further away in time.
 */
#include <stdlib.h>

#include "tui/view/memory/grid.h"

enum {
    TIME_STEPS = 200, /* steps of [ and ] through a session */
    FRAME_MS = 100,   /* between two frames, at least */
    LATE_MS = 5000,   /* a frame that came later is not a reason for a longer step */
    PLAY_MS = 20000,  /* for a whole session at speed 1 */
    FASTEST = 6,
    SLOWEST = -6
};

static uint64_t last_moment(const struct exploration *exploration)
{
    const uint64_t duration = session_duration_ns(exploration->session);
    return duration > 0 ? duration - 1 : 0;
}

/* Wants the moment so many ns later or earlier than the one that is wanted already. */
static void want(struct memory_grid *grid, const struct exploration *exploration, uint64_t ns,
                 bool later)
{
    struct memory_play *play = &grid->play;
    const uint64_t now = play->wanted && play->from_ns == exploration->moment_ns
                             ? play->wanted_ns
                             : exploration->moment_ns;
    const uint64_t last = last_moment(exploration);
    if (later)
        play->wanted_ns = now < last && ns < last - now ? now + ns : last;
    else
        play->wanted_ns = now > ns ? now - ns : 0;
    play->from_ns = exploration->moment_ns;
    play->wanted = play->wanted_ns != exploration->moment_ns;
}

/* Wants the moment one step later or earlier. */
static void step_time(struct memory_grid *grid, const struct exploration *exploration, bool later)
{
    const uint64_t step = session_duration_ns(exploration->session) / TIME_STEPS;
    want(grid, exploration, step > 0 ? step : 1, later);
}

static void say_speed(const struct memory_grid *grid, struct exploration *exploration)
{
    char speed[MEMORY_SPEED_SIZE];
    exploration_say(exploration, "playing %s · ( slower, ) faster, ←→ earlier, later, space stops",
                    memory_speed(grid, speed));
}

char *memory_speed(const struct memory_grid *grid, char *out)
{
    const int speed = grid->play.speed;
    snprintf(out, MEMORY_SPEED_SIZE, "×%s%d", speed < 0 ? "1/" : "",
             1 << (speed < 0 ? -speed : speed));
    return out;
}

bool memory_act_on_play(struct memory_grid *grid, struct exploration *exploration,
                        enum action action)
{
    struct memory_play *play = &grid->play;
    const bool scrubs = play->playing && (action == ACTION_LEFT || action == ACTION_RIGHT);
    switch (action) {
    case ACTION_PLAY:
        play->playing = !play->playing;
        play->chosen_ms = 0;
        if (play->playing && exploration->moment_ns >= last_moment(exploration) &&
            !session_recording(exploration->session))
            exploration->moment_ns = session_start_ns(exploration->session);
        if (play->playing)
            say_speed(grid, exploration);
        else
            exploration_say(exploration, "stopped");
        play->wanted = false;
        return true;
    case ACTION_SLOWER:
    case ACTION_FASTER:
        play->speed += action == ACTION_FASTER ? play->speed < FASTEST : -(play->speed > SLOWEST);
        say_speed(grid, exploration);
        return true;
    case ACTION_STEP_BACK:
    case ACTION_STEP_FORWARD:
        play->playing = false;
        step_time(grid, exploration, action == ACTION_STEP_FORWARD);
        return true;
    default:
        if (scrubs)
            step_time(grid, exploration, action == ACTION_RIGHT);
        if (scrubs)
            play->shown_ms = 0; /* at once */
        return scrubs;
    }
}

/* Chooses the moment of the next frame. */
static void choose(struct memory_grid *grid, struct exploration *exploration)
{
    struct memory_play *play = &grid->play;
    const int64_t now = loader_now_ms();
    int64_t took = play->chosen_ms > 0 ? now - play->chosen_ms : FRAME_MS;
    took = took < FRAME_MS ? FRAME_MS : took < LATE_MS ? took : LATE_MS;
    double ns = (double)session_duration_ns(exploration->session) * (double)took / PLAY_MS;
    ns = play->speed < 0 ? ns / (1 << -play->speed) : ns * (1 << play->speed);
    play->chosen_ms = now;
    want(grid, exploration, ns >= 1 ? (uint64_t)ns : 1, true);
    /* A recording goes on. */
    if (!play->wanted && !session_recording(exploration->session)) {
        play->playing = false;
        exploration_say(exploration, "the end");
    }
}

/* Loads the frame at the wanted moment into the second grid. Returns false if it is not complete.
 */
static bool load_ahead(struct memory_grid *grid, struct exploration *exploration,
                       const struct view_input *input)
{
    struct memory_grid *ahead = grid->play.ahead;
    const struct memory_frame_loads loads = ahead->frame;
    const uint64_t shown = exploration->moment_ns;
    *ahead = *grid;
    ahead->frame = loads;
    ahead->play.ahead = NULL;
    exploration->moment_ns = grid->play.wanted_ns;
    memory_load_regions(ahead, exploration);
    memory_fit(ahead, input);
    memory_place_cursor(ahead);
    if (ahead->regions_known && ahead->map.region_count > 0)
        memory_load(ahead, exploration);
    exploration->moment_ns = shown;
    return ahead->regions_known &&
           (ahead->map.region_count == 0 || (ahead->cells && ahead->use && ahead->details_known));
}

void memory_play(struct memory_grid *grid, struct exploration *exploration,
                 const struct view_input *input)
{
    struct memory_play *play = &grid->play;
    /* Somebody has gone to another moment. */
    if (play->from_ns != exploration->moment_ns)
        play->wanted = false;
    if (play->playing && !play->wanted)
        choose(grid, exploration);
    const int64_t now = loader_now_ms();
    if (play->wanted && load_ahead(grid, exploration, input) &&
        (!play->playing || now >= play->shown_ms + FRAME_MS)) {
        struct memory_frame_loads *shown = &grid->frame, *next = &play->ahead->frame;
        load_swap(&exploration->loader, &shown->regions, &next->regions);
        load_swap(&exploration->loader, &shown->cells, &next->cells);
        load_swap(&exploration->loader, &shown->use, &next->use);
        load_swap(&exploration->loader, &shown->details, &next->details);
        exploration->moment_ns = play->wanted_ns;
        play->wanted = false;
        play->shown_ms = play->playing ? now : 0;
        if (play->playing)
            choose(grid, exploration);
        if (play->wanted)
            load_ahead(grid, exploration, input);
    }
    exploration->wake_ms = play->playing ? play->shown_ms + FRAME_MS : 0;
    if (play->playing && exploration->wake_ms <= now)
        exploration->wake_ms = now + FRAME_MS;
}

void memory_stop(struct memory_grid *grid)
{
    grid->play.playing = grid->play.wanted = false;
}

void memory_leave(void *view, struct exploration *exploration)
{
    struct memory_grid *grid = view;
    if (grid->play.wanted && !grid->play.playing && grid->play.from_ns == exploration->moment_ns)
        exploration->moment_ns = grid->play.wanted_ns;
    memory_stop(grid);
}
