/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/explore/worst_holes.h"

struct moment_data {
    struct {
        uint64_t renewals, ns;
    } request;
    struct session_use use;
};

/* Returns the moments in the order of time, so that each question starts from the one before. The
 * peak takes its place among them. */
static uint64_t moment_of(const struct session *session, size_t at)
{
    const uint64_t from = session_start_ns(session);
    const uint64_t step = (session_duration_ns(session) - from) / (WORST_HOLES_STEPS + 1);
    const uint64_t peak = session_peak_ns(session);
    size_t before = 0;
    while (before < WORST_HOLES_STEPS && from + step * (before + 1) < peak)
        before++;
    return at < before ? from + step * (at + 1) : at == before ? peak : from + step * at;
}

static bool run_moment(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct moment_data *moment = data;
    const uint64_t ns = moment->request.ns;
    const bool good = selection_use_over_time(selection, ns, 0, UINT64_MAX, SESSION_HOLE_LEAST,
                                              &moment->use, error);
    if (ns == moment_of(session, WORST_HOLES_STEPS))
        selection_use_over_time_end(selection);
    return good;
}

bool worst_holes_prevail(const struct session_use *use)
{
    return use->hole_bytes > use->selected_bytes + use->filtered_bytes;
}

static bool is_worse(const struct session_use *use, const struct session_use *than)
{
    if (worst_holes_prevail(use) != worst_holes_prevail(than))
        return worst_holes_prevail(use);
    return use->hole_bytes > than->hole_bytes;
}

bool worst_holes_get(struct exploration *exploration, uint64_t *ns, const struct session_use **use)
{
    static const struct load_kind kind = {sizeof(((struct moment_data *)0)->request),
                                          sizeof(struct moment_data), run_moment, NULL};
    struct session *session = exploration->session;
    struct worst_holes *worst = &exploration->worst_holes;
    *use = NULL;
    if (session_sampled(session) || session_meta_number(session, "made_up_addresses"))
        return true;
    if (worst->renewals != exploration->renewals) {
        worst->renewals = exploration->renewals;
        worst->done = 0;
        worst->use = (struct session_use){.hole_bytes = 0};
    }
    for (; worst->done <= WORST_HOLES_STEPS; worst->done++) {
        const struct moment_data wanted = {
            .request = {exploration->renewals, moment_of(session, worst->done)}};
        const struct moment_data *moment =
            exploration_get(exploration, &worst->load, &kind, &wanted.request);
        if (!moment)
            return false;
        if (is_worse(&moment->use, &worst->use)) {
            worst->use = moment->use;
            worst->ns = wanted.request.ns;
        }
    }
    *ns = worst->ns;
    *use = worst->use.hole_count > 0 ? &worst->use : NULL;
    return true;
}

void worst_holes_leave(struct exploration *exploration)
{
    load_clear(&exploration->loader, &exploration->worst_holes.load);
}
