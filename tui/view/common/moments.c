/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/moments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "tui/screen/format.h"

static bool run(struct session *session, struct selection *selection, void *data,
                struct session_error *error)
{
    struct growth_data *growth = data;
    return selection_growth(selection, growth->request.from, growth->request.to,
                            (enum session_growth_by)growth->request.by, &growth->rows,
                            &growth->count, &growth->total, error);
}

const struct growth_data *growth_get(struct browse *browse, struct load *load, uint64_t from_ns,
                                     uint64_t to_ns, enum session_growth_by by)
{
    static const struct load_kind kind = LOAD_ROWS(growth_data, run, rows);
    const struct growth_data wanted = {
        .request = {browse->selections, from_ns, to_ns, (uint64_t)by}};
    return browse_get(browse, load, &kind, &wanted.request);
}

ARRAY_ORDER(by_bytes, struct session_growth,
            ORDER(b->after.bytes, a->after.bytes) ?: ORDER(a->id, b->id))

void growth_sort_live(const struct growth_data *growth)
{
    if (growth->count > 0)
        qsort(growth->rows, growth->count, sizeof(*growth->rows), by_bytes);
}

/* Only the thread of the views calls this. */
static const char *size_name(uint32_t exponent)
{
    static char names[65][2 * FORMAT_SIZE + 8];
    char least[FORMAT_SIZE], most[FORMAT_SIZE];
    format_size(most, UINT64_C(1) << (exponent & 63));
    if (exponent <= SESSION_SMALLEST_SIZE)
        snprintf(names[exponent], sizeof(*names), "up to %s", most);
    else if (exponent == 64)
        snprintf(names[exponent], sizeof(*names), "above %s",
                 format_size(least, UINT64_C(1) << 63));
    else
        snprintf(names[exponent], sizeof(*names), "%s – %s",
                 format_size(least, UINT64_C(1) << (exponent - 1)), most);
    return names[exponent];
}

const char *growth_name(const struct session *session, enum session_growth_by by, uint32_t id)
{
    if (by == SESSION_GROWTH_TYPE)
        return session_type_name(session, id);
    if (by == SESSION_GROWTH_SIZE)
        return size_name(id);
    if (id == 0)
        return by == SESSION_GROWTH_USER ? "no own code" : "unknown function";
    return session_function_name(session, id);
}

/* Returns true if nine tenths of the bytes are of no known type, as in programs without debug
 * information. */
static bool few_types(const struct session *session, const struct growth_data *types)
{
    uint64_t unknown = 0;
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(session_type_name(session, types->rows[i].id), SESSION_UNKNOWN_TYPE) == 0)
            unknown += types->rows[i].after.bytes;
    return unknown > types->total.after.bytes - types->total.after.bytes / 10;
}

const struct growth_data *live_by_type_get(struct browse *browse, struct load loads[2], uint64_t ns,
                                           enum session_growth_by *by)
{
    const struct growth_data *live = growth_get(browse, &loads[0], ns, ns, SESSION_GROWTH_TYPE);
    *by = live && few_types(browse->session, live) ? SESSION_GROWTH_SIZE : SESSION_GROWTH_TYPE;
    return *by == SESSION_GROWTH_SIZE ? growth_get(browse, &loads[1], ns, ns, *by) : live;
}

char *growth_text(char *out, int64_t net)
{
    char size[FORMAT_SIZE];
    const uint64_t bytes = net < 0 ? 0 - (uint64_t)net : (uint64_t)net;
    snprintf(out, FORMAT_SIZE, "%s%s", net < 0 ? "−" : "+", format_size_short(size, bytes));
    return out;
}

bool split_times(const char *text, char *from, char *to, size_t size)
{
    const char *middle = strstr(text, "..");
    size_t skip = 2;
    if (!middle) {
        middle = strchr(text, ',');
        skip = 1;
    }
    if (!middle)
        middle = strchr(text + strspn(text, " "), ' ');
    if (!middle || (size_t)(middle - text) >= size || strlen(middle + skip) >= size)
        return false;
    snprintf(from, size, "%.*s", (int)(middle - text), text);
    snprintf(to, size, "%s", middle + skip);
    return to[strspn(to, " ")] != 0;
}

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

bool worst_holes_get(struct browse *browse, uint64_t *ns, const struct session_use **use)
{
    static const struct load_kind kind = LOAD_KIND(moment_data, run_moment, NULL);
    struct session *session = browse->session;
    struct worst_holes *worst = &browse->worst_holes;
    *use = NULL;
    if (session_sampled(session) || session_meta_number(session, "made_up_addresses"))
        return true;
    if (worst->renewals != browse->renewals) {
        worst->renewals = browse->renewals;
        worst->done = 0;
        worst->use = (struct session_use){.hole_bytes = 0};
    }
    for (; worst->done <= WORST_HOLES_STEPS; worst->done++) {
        const struct moment_data wanted = {
            .request = {browse->renewals, moment_of(session, worst->done)}};
        const struct moment_data *moment = browse_get(browse, &worst->load, &kind, &wanted.request);
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

void worst_holes_leave(struct browse *browse)
{
    load_clear(&browse->loader, &browse->worst_holes.load);
}
