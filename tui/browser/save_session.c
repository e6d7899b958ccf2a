/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/save_session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"

/* A session that is being written. The engine reads the names. */
struct session_writing {
    char *path, *graph;
};

static bool write_selection(struct session *session, struct selection *selection, void *data,
                            struct session_error *error)
{
    const struct session_writing *writing = data;
    (void)session;
    return selection_write(selection, writing->graph, writing->path, error);
}

/* The engine is done with the data: the browser may have forgotten them before. */
static void drop(void *data)
{
    struct session_writing *writing = data;
    free(writing->path);
    free(writing->graph);
    free(writing);
}

void save_session(struct browser *browser, const char *path)
{
    struct exploration *exploration = &browser->exploration;
    struct session_error error = {.message = SESSION_OUT_OF_MEMORY};
    if (browser->writing) {
        exploration_complain(exploration, "another session is being written; Esc gives it up");
        return;
    }
    if (session_recording(exploration->session)) {
        exploration_complain(exploration, "the session is still being recorded: wait for its end");
        return;
    }
    struct session_writing *writing = calloc(1, sizeof(*writing));
    if (writing) {
        writing->path = strdup(path);
        writing->graph = strdup(exploration->filter);
    }
    if (!writing || !writing->path || !writing->graph) {
        if (writing)
            drop(writing);
        exploration_complain(exploration, "%s", error.message);
        return;
    }
    snprintf(browser->written, sizeof(browser->written), "%.200s", path);
    browser->writing =
        session_job_ask(exploration->loader.jobs,
                        &(struct session_question){.kind = SESSION_ASK_CALL,
                                                   .place = UINT_MAX,
                                                   .selection = exploration->selection,
                                                   .call = write_selection,
                                                   .data = writing,
                                                   .release = drop},
                        &error);
    if (!browser->writing)
        exploration_complain(exploration, "%s", error.message);
    else if (browser->wait_ms < 0)
        session_job_wait(browser->writing, -1);
    save_session_look(browser);
}

/* Forgets the job, which ends by itself if it has not yet. */
static void forget(struct browser *browser)
{
    session_job_free(browser->writing);
    browser->writing = NULL;
}

void save_session_look(struct browser *browser)
{
    struct exploration *exploration = &browser->exploration;
    struct session_progress progress;
    if (!browser->writing)
        return;
    const enum session_job_state state = session_job_poll(browser->writing, &progress);
    const struct session_error *error = session_job_error(browser->writing);
    if (state == SESSION_JOB_DONE) {
        exploration_say(exploration, "%s written", browser->written);
    } else if (error) {
        exploration_complain(exploration, "%s", error->message);
    } else if (state <= SESSION_JOB_RUNNING) {
        const unsigned percent =
            progress.total > 0 ? (unsigned)(100 * (uint64_t)progress.done / progress.total) : 0;
        /* Another message stays until the next key. */
        if (!exploration->message[0] || strncmp(exploration->message, "writing ", 8) == 0)
            exploration_say(exploration, "writing %s: %u %% read; Esc gives it up",
                            browser->written, percent);
        return;
    }
    forget(browser);
}

bool save_session_give_up(struct browser *browser)
{
    if (!browser->writing)
        return false;
    forget(browser);
    exploration_say(&browser->exploration, "%s is not written", browser->written);
    return true;
}
