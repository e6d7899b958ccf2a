/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/theme.h"

/* The position of "rest" in a legend. */
#define REST (SESSION_COLORS - 1)

bool exploration_init(struct exploration *exploration, struct session *session,
                      struct session_error *error)
{
    *exploration = (struct exploration){
        .session = session,
        .renewals = 1,
        .loader = {.deadline_ms = -1},
        .color_by = SESSION_COLOR_FUNCTION,
        .moment_ns = session_peak_ns(session),
        .wish_view = VIEW_SAME,
        .about = session_sampled(session) ? "~" : "",
    };
    exploration->loader.jobs = session_jobs_start(session, error);
    return exploration->loader.jobs != NULL;
}

/* Gives up the filter that is coming. */
static void forget_coming(struct exploration *exploration)
{
    struct coming_filter *coming = &exploration->coming;
    session_job_free(coming->job);
    session_jobs_stop(coming->jobs);
    session_close(coming->newer);
    free(coming->text);
    *coming = (struct coming_filter){.job = NULL};
}

void exploration_close(struct exploration *exploration)
{
    forget_coming(exploration);
    session_job_free(exploration->asked_newer);
    load_clear(&exploration->loader, &exploration->legend_load);
    load_clear(&exploration->loader, &exploration->peak_load);
    load_clear(&exploration->loader, &exploration->sought_load);
    load_clear(&exploration->loader, &exploration->worst_holes.load);
    selection_free(exploration->selection);
    free(exploration->filter);
    free(exploration->wish_filter);
    free(exploration->wish_answer);
    free(exploration->source_path);
    free(exploration->edit_path);
    session_jobs_stop(exploration->loader.jobs);
}

/* ---- legend and peak -------------------------------------------------------------------- */

struct legend_data {
    struct {
        uint64_t generation, by;
    } request;
    struct session_legend legend;
};

static bool run_legend(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct legend_data *legend = data;
    (void)session;
    (void)error;
    selection_legend(selection, (enum session_color_by)legend->request.by, &legend->legend);
    return true;
}

struct peak_data {
    uint64_t selections; /* the request */
    uint64_t bytes, ns;
};

static bool run_peak(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct peak_data *peak = data;
    (void)session;
    (void)error;
    peak->bytes = selection_peak_bytes(selection);
    peak->ns = selection_peak_ns(selection);
    return true;
}

void exploration_assign(struct exploration *exploration, unsigned kind,
                        const struct session_legend *legend, uint8_t slots[SESSION_COLORS])
{
    const char *labels[REST];
    const size_t count = legend->count < REST ? legend->count : REST;
    for (size_t i = 0; i < SESSION_COLORS; i++)
        slots[i] = (uint8_t)i;
    for (size_t i = 0; i < count; i++)
        labels[i] = legend->entry[i].label;
    category_colors_assign(&exploration->colors, kind, labels, count, REST, slots);
}

static void take_legend(struct exploration *exploration, const struct session_legend *legend)
{
    exploration->legend = *legend;
    exploration->legend_generation = exploration->generation;
    exploration_assign(exploration, (unsigned)exploration->color_by, &exploration->legend,
                       exploration->slots);
}

/* ---- the selected allocation in a newer state ------------------------------------------- */

struct sought_data {
    uint64_t request[3]; /* exploration.sought */
    uint64_t id;
};

static bool run_sought(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct sought_data *sought = data;
    (void)selection;
    (void)error;
    sought->id = session_allocation_at(session, sought->request[2], sought->request[1]);
    return true;
}

/* Remembers the selected allocation by what it keeps: its ids may be other ones in a newer state.
 */
static void seek_allocation(struct exploration *exploration)
{
    struct session_allocation block;
    struct session_error ignored;
    exploration->sought.renewals = exploration->renewals + 1;
    if (exploration->allocation == 0 && exploration->sought.ns != 0)
        return; /* it is still being sought */
    exploration->sought.ns = 0;
    if (exploration->allocation == 0 ||
        !session_allocation(exploration->session, exploration->allocation, &block, &ignored))
        return;
    exploration->sought.address = block.address;
    exploration->sought.ns = block.alloc_ns;
}

static void take_sought(struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(exploration->sought), sizeof(struct sought_data),
                                          run_sought, NULL};
    enum { WAIT_MS = 25 }; /* the views show it without a frame that has nothing */
    struct loader *loader = &exploration->loader;
    if (exploration->sought.ns == 0)
        return;
    if (loader->deadline_ms >= 0 && loader->deadline_ms < loader_now_ms() + WAIT_MS)
        loader->deadline_ms = loader_now_ms() + WAIT_MS;
    const struct sought_data *data =
        exploration_get(exploration, &exploration->sought_load, &kind, &exploration->sought);
    if (!data)
        return;
    exploration->allocation = data->id;
    exploration->sought.ns = 0;
}

void exploration_load_legend(struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct legend_data *)0)->request),
                                          sizeof(struct legend_data), run_legend, NULL};
    const uint64_t wanted[2] = {exploration->generation, (uint64_t)exploration->color_by};
    if (exploration->legend_generation == exploration->generation)
        return;
    const struct legend_data *legend =
        exploration_get(exploration, &exploration->legend_load, &kind, wanted);
    if (legend)
        take_legend(exploration, &legend->legend);
    else
        exploration->legend.count = 0;
}

bool exploration_load_peak(struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct peak_data), run_peak,
                                          NULL};
    if (exploration->peak_known)
        return false;
    const struct peak_data *peak =
        exploration_get(exploration, &exploration->peak_load, &kind, &exploration->selections);
    if (!peak)
        return false;
    exploration->peak_known = true;
    exploration->peak_bytes = peak->bytes;
    exploration->peak_ns = peak->ns;
    /* The user has asked for it while it was not known, and has not gone elsewhere since. */
    if (exploration->peak_wanted && exploration->moment_ns == exploration->peak_asked_ns)
        exploration->moment_ns = peak->ns;
    exploration->peak_wanted = false;
    return true;
}

void *exploration_get(struct exploration *exploration, struct load *load,
                      const struct load_kind *kind, const void *request)
{
    struct loader *loader = &exploration->loader;
    void *data = load_get(loader, load, kind, exploration->selection, request);
    /* An old state of a recording cannot be read to its end once there is a newer one, which is
     * asked for the same data. */
    const bool old = exploration->asked_newer || exploration->coming.newer;
    if (loader->error.message[0] && !(old && session_recording(exploration->session)))
        exploration_complain(exploration, "%s", loader->error.message);
    loader->error.message[0] = 0;
    return data;
}

/* ---- filters ---------------------------------------------------------------------------- */

/* Makes the newer state of the session the present one. */
static void take_newer(struct exploration *exploration)
{
    struct coming_filter *coming = &exploration->coming;
    struct session *before = exploration->session, *newer = coming->newer;
    /* Functions keep their ids, except when ingest makes the session again after the program's
     * end. */
    if (exploration->has_function &&
        strcmp(session_function_name(before, exploration->function),
               session_function_name(newer, exploration->function)) != 0)
        exploration->has_function = false;
    exploration->has_stack = false;
    /* A moment at the end stays at the end. */
    if (exploration->moment_ns + 1 >= session_duration_ns(before))
        exploration->moment_ns = session_duration_ns(newer) ? session_duration_ns(newer) - 1 : 0;
    loader_cancel(&exploration->loader);
    session_job_free(exploration->asked_newer);
    exploration->asked_newer = NULL;
    selection_free(exploration->selection);
    exploration->selection = NULL;
    session_jobs_stop(exploration->loader.jobs);
    seek_allocation(exploration);
    exploration->allocation = exploration->to_memory = 0;
    session_close(before);
    exploration->session = newer;
    exploration->loader.jobs = coming->jobs;
    exploration->renewals++;
    exploration->renewed_ms = loader_now_ms();
    coming->newer = NULL;
    coming->jobs = NULL;
}

/* Makes the filter that was coming the active one. */
static void take_filter(struct exploration *exploration)
{
    struct coming_filter *coming = &exploration->coming;
    struct selection *selection = selection_share(session_job_answer(coming->job)->selection);
    session_job_free(coming->job);
    coming->job = NULL;
    if (coming->newer)
        take_newer(exploration);
    selection_free(exploration->selection);
    free(exploration->filter);
    exploration->selection = selection;
    exploration->filter = coming->text;
    coming->text = NULL;
    enum session_color_by asked = selection_color_by(selection);
    if (asked != SESSION_COLOR_NONE)
        exploration->color_by = asked;
    else if (strstr(exploration->filter, "color "))
        exploration->color_by = SESSION_COLOR_NONE;
    else if (exploration->color_by == SESSION_COLOR_NONE)
        exploration->color_by = SESSION_COLOR_FUNCTION;
    exploration->generation++;
    exploration->selections++;
    exploration->peak_known = false;
    exploration->peak_bytes = exploration->peak_ns = 0;
    const struct session_warning *warnings;
    if (selection_warnings(selection, &warnings) > 0 && warnings[0].column > 0)
        exploration_complain(exploration, "column %d: %s", warnings[0].column, warnings[0].message);
    else if (selection_warnings(selection, &warnings) > 0)
        exploration_say(exploration, "%s", warnings[0].message);
}

/* Takes the coming filter if it has an answer, or gives it up if it has failed. Returns false with
 * `error` set then. */
static bool check_coming(struct exploration *exploration, struct session_error *error)
{
    struct coming_filter *coming = &exploration->coming;
    if (!coming->job)
        return true;
    switch (loader_wait(&exploration->loader, coming->job)) {
    case SESSION_JOB_DONE:
        take_filter(exploration);
        return true;
    case SESSION_JOB_FAILED:
        *error = *session_job_error(coming->job);
        forget_coming(exploration);
        return false;
    default:
        return true;
    }
}

/* Asks `jobs` for the selection of `text`, a copy that belongs to the coming filter from now on. */
static bool ask_filter(struct exploration *exploration, struct session_jobs *jobs, char *text,
                       struct session_error *error)
{
    struct coming_filter *coming = &exploration->coming;
    coming->text = text;
    if (!text)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    else
        coming->job = session_job_ask(
            jobs, &(struct session_question){.kind = SESSION_ASK_SELECTION, .text = text}, error);
    if (!coming->job)
        forget_coming(exploration);
    return coming->job != NULL;
}

bool exploration_filter(struct exploration *exploration, const char *text,
                        struct session_error *error)
{
    if (!session_filter_check(exploration->session, text, error))
        return false;
    forget_coming(exploration);
    return ask_filter(exploration, exploration->loader.jobs, strdup(text), error) &&
           check_coming(exploration, error);
}

void exploration_keep_filter(struct exploration *exploration)
{
    forget_coming(exploration);
}

const char *exploration_wanted_filter(const struct exploration *exploration)
{
    return exploration->coming.text ? exploration->coming.text : exploration->filter;
}

static bool check_newer(struct exploration *exploration, struct session_error *error)
{
    struct session_job *job = exploration->asked_newer;
    if (!job)
        return true;
    const enum session_job_state state = loader_wait(&exploration->loader, job);
    if (state <= SESSION_JOB_RUNNING)
        return true;
    struct session *newer = session_job_take_newer(job);
    if (state == SESSION_JOB_FAILED)
        *error = *session_job_error(job);
    session_job_free(job);
    exploration->asked_newer = NULL;
    if (!newer)
        return state != SESSION_JOB_FAILED;
    /* A filter that was coming runs on the newer state. */
    char *text = exploration->coming.text;
    exploration->coming.text = NULL;
    forget_coming(exploration);
    exploration->coming.newer = newer;
    exploration->coming.jobs = session_jobs_start(newer, error);
    if (exploration->coming.jobs)
        return ask_filter(exploration, exploration->coming.jobs,
                          text ? text : strdup(exploration->filter), error);
    free(text);
    forget_coming(exploration);
    return false;
}

bool exploration_update(struct exploration *exploration, struct session_error *error)
{
    bool good = check_newer(exploration, error) && check_coming(exploration, error);
    take_sought(exploration);
    return good;
}

bool exploration_waits(const struct exploration *exploration)
{
    return exploration->coming.job || exploration->loader.waiting ||
           (exploration->beside && exploration->beside->waiting);
}

bool exploration_select_process(struct exploration *exploration, uint32_t id,
                                struct session_error *error)
{
    /* Nobody may ask the session for anything while its process changes. The engine drops the
     * questions that it has, so this takes as long as the change alone. */
    loader_cancel(&exploration->loader);
    forget_coming(exploration);
    struct session_job *job = session_job_ask(
        exploration->loader.jobs,
        &(struct session_question){.kind = SESSION_ASK_PROCESS, .process = id}, error);
    if (!job)
        return false;
    const bool good = session_job_wait(job, -1) == SESSION_JOB_DONE;
    if (!good && session_job_error(job))
        *error = *session_job_error(job);
    session_job_free(job);
    if (!good)
        return false;
    exploration->moment_ns = session_peak_ns(exploration->session);
    exploration->renewals++;
    return exploration_filter(exploration, exploration->filter, error);
}

bool exploration_renew(struct exploration *exploration, struct session_error *error)
{
    if (exploration->asked_newer || exploration->coming.newer)
        return true;
    exploration->asked_newer = session_job_ask(
        exploration->loader.jobs, &(struct session_question){.kind = SESSION_ASK_NEWER}, error);
    return exploration->asked_newer && exploration_update(exploration, error);
}

void exploration_color_by(struct exploration *exploration, enum session_color_by color_by)
{
    exploration->color_by = color_by;
    exploration->generation++;
}

char *exploration_pending(char *out, const struct exploration *exploration)
{
    const int percent = loader_progress(&exploration->loader);
    if (percent > 0)
        snprintf(out, PENDING_SIZE, "counting … %d %% read", percent);
    else
        snprintf(out, PENDING_SIZE, "counting …");
    return out;
}

bool exploration_go_to_peak(struct exploration *exploration)
{
    exploration->peak_wanted = !exploration->peak_known;
    exploration->peak_asked_ns = exploration->moment_ns;
    if (exploration->peak_known)
        exploration->moment_ns = exploration->peak_ns;
    else
        exploration_say(exploration, "the peak is still being looked for");
    return exploration->peak_known;
}

static const char *const color_names[] = {
    [SESSION_COLOR_NONE] = "filter's own", [SESSION_COLOR_FUNCTION] = "function",
    [SESSION_COLOR_THREAD] = "thread",     [SESSION_COLOR_SIZE] = "size",
    [SESSION_COLOR_AGE] = "age",           [SESSION_COLOR_TYPE] = "type",
    [SESSION_COLOR_MODULE] = "module",     [SESSION_COLOR_LIFETIME] = "lifetime",
    [SESSION_COLOR_USER] = "user",         [SESSION_COLOR_OWNER] = "owner",
    [SESSION_COLOR_KIND] = "kind",
};

const char *color_by_name(enum session_color_by color_by)
{
    return color_names[color_by];
}

bool color_by_from_name(const char *name, enum session_color_by *color_by)
{
    for (size_t i = 1; i < sizeof(color_names) / sizeof(color_names[0]); i++) {
        if (strcmp(color_names[i], name) == 0) {
            *color_by = (enum session_color_by)i;
            return true;
        }
    }
    return false;
}

struct cell_style legend_category(const struct session_legend *legend, const uint8_t *slots,
                                  const struct grid *grid, size_t position)
{
    const int fixed = position < legend->count ? legend->entry[position].color : -1;
    return theme_category(grid, position < REST ? slots[position] : REST, REST, fixed);
}

uint32_t legend_pattern(const uint8_t *slots, size_t position)
{
    return theme_pattern(position < REST ? slots[position] : REST);
}

struct cell_style exploration_category(const struct exploration *exploration,
                                       const struct grid *grid, size_t position)
{
    return legend_category(&exploration->legend, exploration->slots, grid, position);
}

uint32_t exploration_pattern(const struct exploration *exploration, size_t position)
{
    return legend_pattern(exploration->slots, position);
}

static void say(struct exploration *exploration, bool error, const char *format, va_list arguments)
{
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(exploration->message, sizeof(exploration->message), format, arguments);
    exploration->message_is_error = error;
}

void exploration_say(struct exploration *exploration, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(exploration, false, format, arguments);
    va_end(arguments);
}

void exploration_complain(struct exploration *exploration, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(exploration, true, format, arguments);
    va_end(arguments);
}

char *filter_quote(char *out, size_t size, const char *name)
{
    size_t length = 0;
    out[0] = 0;
    if (size < strlen(name) * 2 + 3)
        return out;
    out[length++] = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            out[length++] = '\\';
        out[length++] = *name;
    }
    out[length++] = '"';
    out[length] = 0;
    return out;
}

char *filter_quoted(const char *name)
{
    const size_t size = 2 * strlen(name) + 3;
    char *out = malloc(size);
    return out ? filter_quote(out, size, name) : NULL;
}
