/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/browse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/stacking.h"

/* The position of "rest" in a legend. */
#define REST (SESSION_COLORS - 1)

/* Returns the colouring of a session at first. A timeline by user takes a pass over the
 * allocations, one by function has the sums of ingest. */
static enum session_color_by first_coloring(const struct session *session)
{
    return session_allocation_count(session) <= BROWSE_PASS_MOST ? SESSION_COLOR_USER
                                                                 : SESSION_COLOR_FUNCTION;
}

bool browse_init(struct browse *browse, struct session *session, struct session_error *error)
{
    *browse = (struct browse){
        .session = session,
        .renewals = 1,
        .loader = {.deadline_ms = -1},
        .color_by = first_coloring(session),
        .moment_ns = session_peak_ns(session),
        .request_view = VIEW_SAME,
        .about = session_sampled(session) ? "~" : "",
    };
    browse->loader.jobs = session_jobs_start(session, error);
    return browse->loader.jobs != NULL;
}

/* Gives up the filter that is coming. */
static void forget_coming(struct browse *browse)
{
    struct coming_filter *coming = &browse->coming;
    session_job_free(coming->job);
    session_jobs_stop(coming->jobs);
    session_close(coming->newer);
    free(coming->text);
    *coming = (struct coming_filter){.job = NULL};
}

void browse_close(struct browse *browse)
{
    forget_coming(browse);
    session_job_free(browse->asked_newer);
    LOADS_CLEAR(&browse->loader, &browse->legend_load, &browse->peak_load, &browse->sought_load,
                &browse->worst_holes.load);
    selection_free(browse->selection);
    FREE_ALL(browse->filter, browse->request_filter, browse->request_answer, browse->source_path,
             browse->edit_path);
    session_jobs_stop(browse->loader.jobs);
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
    peak->bytes = selection_peak_bytes(selection);
    peak->ns = selection_peak_ns(selection);
    return true;
}

void browse_assign(struct browse *browse, unsigned kind, const struct session_legend *legend,
                   uint8_t slots[SESSION_COLORS])
{
    const char *labels[REST];
    const size_t count = legend->count < REST ? legend->count : REST;
    for (size_t i = 0; i < SESSION_COLORS; i++)
        slots[i] = (uint8_t)i;
    for (size_t i = 0; i < count; i++)
        labels[i] = legend->entry[i].label;
    category_colors_assign(&browse->colors, kind, labels, count, REST, slots);
}

static void take_legend(struct browse *browse, const struct session_legend *legend)
{
    browse->legend = *legend;
    browse->legend_generation = browse->generation;
    browse_assign(browse, (unsigned)browse->color_by, &browse->legend, browse->slots);
}

/* ---- the selected allocation in a newer state ------------------------------------------- */

struct sought_data {
    uint64_t request[3]; /* browse.sought */
    uint64_t id;
};

static bool run_sought(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct sought_data *sought = data;
    sought->id = session_allocation_at(session, sought->request[2], sought->request[1]);
    return true;
}

/* Remembers the selected allocation by what it keeps: its ids may be other ones in a newer state.
 */
static void seek_allocation(struct browse *browse)
{
    struct session_allocation block;
    struct session_error ignored;
    browse->sought.renewals = browse->renewals + 1;
    if (browse->allocation == 0 && browse->sought.ns != 0)
        return; /* it is still being sought */
    browse->sought.ns = 0;
    if (browse->allocation == 0 ||
        !session_allocation(browse->session, browse->allocation, &block, &ignored))
        return;
    browse->sought.address = block.address;
    browse->sought.ns = block.alloc_ns;
}

static void take_sought(struct browse *browse)
{
    static const struct load_kind kind = {sizeof(browse->sought), sizeof(struct sought_data),
                                          run_sought, NULL};
    enum { WAIT_MS = 25 }; /* the views show it without a frame that has nothing */
    struct loader *loader = &browse->loader;
    if (browse->sought.ns == 0)
        return;
    if (loader->deadline_ms >= 0 && loader->deadline_ms < loader_now_ms() + WAIT_MS)
        loader->deadline_ms = loader_now_ms() + WAIT_MS;
    const struct sought_data *data =
        browse_get(browse, &browse->sought_load, &kind, &browse->sought);
    if (!data)
        return;
    browse->allocation = data->id;
    browse->sought.ns = 0;
}

void browse_load_legend(struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(legend_data, run_legend, NULL);
    const uint64_t wanted[2] = {browse->generation, (uint64_t)browse->color_by};
    if (browse->legend_generation == browse->generation)
        return;
    const struct legend_data *legend = browse_get(browse, &browse->legend_load, &kind, wanted);
    if (legend)
        take_legend(browse, &legend->legend);
    else
        browse->legend.count = 0;
}

bool browse_load_peak(struct browse *browse)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct peak_data), run_peak,
                                          NULL};
    if (browse->peak_known)
        return false;
    const struct peak_data *peak =
        browse_get(browse, &browse->peak_load, &kind, &browse->selections);
    if (!peak)
        return false;
    browse->peak_known = true;
    browse->peak_bytes = peak->bytes;
    browse->peak_ns = peak->ns;
    /* The user has asked for it while it was not known, and has not gone elsewhere since. */
    if (browse->peak_wanted && browse->moment_ns == browse->peak_asked_ns)
        browse->moment_ns = peak->ns;
    browse->peak_wanted = false;
    return true;
}

void *browse_get(struct browse *browse, struct load *load, const struct load_kind *kind,
                 const void *request)
{
    struct loader *loader = &browse->loader;
    void *data = load_get(loader, load, kind, browse->selection, request);
    /* An old state of a recording cannot be read to its end once there is a newer one, which is
     * asked for the same data. */
    const bool old = browse->asked_newer || browse->coming.newer;
    if (loader->error.message[0] && !(old && session_recording(browse->session)))
        browse_complain(browse, "%s", loader->error.message);
    loader->error.message[0] = 0;
    return data;
}

/* ---- filters ---------------------------------------------------------------------------- */

/* Makes the newer state of the session the present one. */
static void take_newer(struct browse *browse)
{
    struct coming_filter *coming = &browse->coming;
    struct session *before = browse->session, *newer = coming->newer;
    /* Functions keep their ids unless ingest makes the session again after the end. */
    if (browse->has_function && strcmp(session_function_name(before, browse->function),
                                       session_function_name(newer, browse->function)) != 0)
        browse->has_function = false;
    /* A moment at the end stays at the end. */
    if (browse->moment_ns + 1 >= session_duration_ns(before))
        browse->moment_ns = session_duration_ns(newer) ? session_duration_ns(newer) - 1 : 0;
    loader_cancel(&browse->loader);
    session_job_free(browse->asked_newer);
    browse->asked_newer = NULL;
    selection_free(browse->selection);
    browse->selection = NULL;
    session_jobs_stop(browse->loader.jobs);
    seek_allocation(browse);
    browse->allocation = browse->to_memory = browse->to_holders = 0;
    session_close(before);
    browse->session = newer;
    browse->loader.jobs = coming->jobs;
    browse->renewals++;
    browse->renewed_ms = loader_now_ms();
    coming->newer = NULL;
    coming->jobs = NULL;
}

/* Makes the filter that was coming the active one. */
static void take_filter(struct browse *browse)
{
    struct coming_filter *coming = &browse->coming;
    struct selection *selection = selection_share(session_job_answer(coming->job)->selection);
    session_job_free(coming->job);
    coming->job = NULL;
    if (coming->newer)
        take_newer(browse);
    selection_free(browse->selection);
    free(browse->filter);
    browse->selection = selection;
    browse->filter = coming->text;
    coming->text = NULL;
    enum session_color_by asked = selection_color_by(selection);
    if (asked != SESSION_COLOR_NONE)
        browse->color_by = asked;
    else if (strstr(browse->filter, "color "))
        browse->color_by = SESSION_COLOR_NONE;
    else if (browse->color_by == SESSION_COLOR_NONE)
        browse->color_by = first_coloring(browse->session);
    browse->generation++;
    browse->selections++;
    browse->peak_known = false;
    browse->peak_bytes = browse->peak_ns = 0;
    const struct session_warning *warnings;
    if (selection_warnings(selection, &warnings) > 0 && warnings[0].column > 0)
        browse_complain(browse, "column %d: %s", warnings[0].column, warnings[0].message);
    else if (selection_warnings(selection, &warnings) > 0)
        browse_say(browse, "%s", warnings[0].message);
}

/* Takes the coming filter if it has an answer, or gives it up if it has failed. Returns false with
 * `error` set then. */
static bool check_coming(struct browse *browse, struct session_error *error)
{
    struct coming_filter *coming = &browse->coming;
    if (!coming->job)
        return true;
    switch (loader_wait(&browse->loader, coming->job)) {
    case SESSION_JOB_DONE:
        take_filter(browse);
        return true;
    case SESSION_JOB_FAILED:
        *error = *session_job_error(coming->job);
        forget_coming(browse);
        return false;
    default:
        return true;
    }
}

/* Asks `jobs` for the selection of `text`, a copy that belongs to the coming filter from now on. */
static bool ask_filter(struct browse *browse, struct session_jobs *jobs, char *text,
                       struct session_error *error)
{
    struct coming_filter *coming = &browse->coming;
    coming->text = text;
    if (!text)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    else
        coming->job = session_job_ask(
            jobs, &(struct session_question){.kind = SESSION_ASK_SELECTION, .text = text}, error);
    if (!coming->job)
        forget_coming(browse);
    return coming->job != NULL;
}

bool browse_filter(struct browse *browse, const char *text, struct session_error *error)
{
    if (!session_filter_check(browse->session, text, error))
        return false;
    forget_coming(browse);
    return ask_filter(browse, browse->loader.jobs, strdup(text), error) &&
           check_coming(browse, error);
}

void browse_keep_filter(struct browse *browse)
{
    forget_coming(browse);
}

const char *browse_wanted_filter(const struct browse *browse)
{
    return browse->coming.text ? browse->coming.text : browse->filter;
}

static bool check_newer(struct browse *browse, struct session_error *error)
{
    struct session_job *job = browse->asked_newer;
    if (!job)
        return true;
    const enum session_job_state state = loader_wait(&browse->loader, job);
    if (state <= SESSION_JOB_RUNNING)
        return true;
    struct session *newer = session_job_take_newer(job);
    if (state == SESSION_JOB_FAILED)
        *error = *session_job_error(job);
    session_job_free(job);
    browse->asked_newer = NULL;
    if (!newer)
        return state != SESSION_JOB_FAILED;
    /* A filter that was coming runs on the newer state. */
    char *text = browse->coming.text;
    browse->coming.text = NULL;
    forget_coming(browse);
    browse->coming.newer = newer;
    browse->coming.jobs = session_jobs_start(newer, error);
    if (browse->coming.jobs)
        return ask_filter(browse, browse->coming.jobs, text ? text : strdup(browse->filter), error);
    free(text);
    forget_coming(browse);
    return false;
}

bool browse_update(struct browse *browse, struct session_error *error)
{
    bool good = check_newer(browse, error) && check_coming(browse, error);
    take_sought(browse);
    return good;
}

bool browse_waits(const struct browse *browse)
{
    return browse->coming.job || browse->loader.waiting ||
           (browse->beside && browse->beside->waiting);
}

bool browse_select_process(struct browse *browse, uint32_t id, struct session_error *error)
{
    /* Nobody may ask the session for anything while its process changes. The engine drops the
     * questions that it has, so this takes as long as the change alone. */
    loader_cancel(&browse->loader);
    forget_coming(browse);
    struct session_job *job = session_job_ask(
        browse->loader.jobs, &(struct session_question){.kind = SESSION_ASK_PROCESS, .process = id},
        error);
    if (!job)
        return false;
    const bool good = session_job_wait(job, -1) == SESSION_JOB_DONE;
    if (!good && session_job_error(job))
        *error = *session_job_error(job);
    session_job_free(job);
    if (!good)
        return false;
    browse->moment_ns = session_peak_ns(browse->session);
    browse->renewals++;
    return browse_filter(browse, browse->filter, error);
}

bool browse_renew(struct browse *browse, struct session_error *error)
{
    if (browse->asked_newer || browse->coming.newer)
        return true;
    browse->asked_newer = session_job_ask(
        browse->loader.jobs, &(struct session_question){.kind = SESSION_ASK_NEWER}, error);
    return browse->asked_newer && browse_update(browse, error);
}

void browse_color_by(struct browse *browse, enum session_color_by color_by)
{
    browse->color_by = color_by;
    browse->generation++;
}

void browse_tell_process(const struct browse *browse, const struct area *area, int x, int y,
                         uint64_t process)
{
    const struct session_process *processes;
    const size_t count = session_processes(browse->session, &processes);
    if (browse->filter[0])
        x += area_text(area, x, y, theme_style(THEME_WARNING), " · not filtered");
    for (size_t i = 0; count > 1 && i < count; i++)
        if (processes[i].id == process)
            area_print(area, x, y, theme_style(THEME_STRONG), " · of %.40s (%" PRId64 ")",
                       basename(processes[i].program), processes[i].pid);
}

char *browse_pending(char *out, const struct browse *browse)
{
    const int percent = loader_progress(&browse->loader);
    if (percent > 0)
        snprintf(out, PENDING_SIZE, "counting … %d %% read", percent);
    else
        snprintf(out, PENDING_SIZE, "counting …");
    return out;
}

bool browse_go_to_peak(struct browse *browse)
{
    browse->peak_wanted = !browse->peak_known;
    browse->peak_asked_ns = browse->moment_ns;
    if (browse->peak_known)
        browse->moment_ns = browse->peak_ns;
    else
        browse_say(browse, "the peak is still being looked for");
    return browse->peak_known;
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

const char *color_by_words(enum session_color_by color_by)
{
    return color_by == SESSION_COLOR_USER ? "your code" : color_names[color_by];
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

struct cell_style browse_category(const struct browse *browse, const struct grid *grid,
                                  size_t position)
{
    return legend_category(&browse->legend, browse->slots, grid, position);
}

uint32_t browse_pattern(const struct browse *browse, size_t position)
{
    return legend_pattern(browse->slots, position);
}

static void say(struct browse *browse, bool error, const char *format, va_list arguments)
{
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(browse->message, sizeof(browse->message), format, arguments);
    browse->message_is_error = error;
}

void browse_say(struct browse *browse, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(browse, false, format, arguments);
    va_end(arguments);
}

void browse_complain(struct browse *browse, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(browse, true, format, arguments);
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

/* ---- requests of a view to the browser -------------------------------------------------- */

void browse_replace(struct browse *browse, const char *filter)
{
    free(browse->request_filter);
    browse->request_filter = strdup(filter);
}

char *browse_allocations(const struct browse *browse)
{
    struct session_error error;
    const char *filter = browse->filter[0] ? browse->filter : "all";
    const bool groups =
        session_stacking_check(browse->session, filter, SESSION_STACKING_GROUPS, &error);
    char *text = NULL;
    return asprintf(&text, "%s%s", filter, groups ? " | ungroup" : "") < 0 ? NULL : text;
}

bool browse_put_allocations(const struct browse *browse, char *out, size_t size)
{
    char *text = browse->filter[0] ? browse_allocations(browse) : strdup("");
    const bool fits = text && strlen(text) < size;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    free(text);
    return fits;
}

char *browse_narrowed(const struct browse *browse, const char *step)
{
    char *text = NULL, *base = browse_allocations(browse);
    if (base && asprintf(&text, "%s | %s", base, step) < 0)
        text = NULL;
    free(base);
    return text;
}

void browse_narrow(struct browse *browse, const char *step)
{
    char *text = browse_narrowed(browse, step);
    if (!text)
        return;
    free(browse->request_filter);
    browse->request_filter = text;
}

void browse_show(struct browse *browse, enum view_number view)
{
    browse->request_view = view;
}

void browse_show_holders(struct browse *browse, uint64_t allocation)
{
    browse->allocation = browse->to_holders = allocation;
    browse_show(browse, VIEW_RETAINED);
}

void browse_query(struct browse *browse, const char *statement)
{
    browse->request_sql = statement;
    browse_show(browse, VIEW_SQL);
}

void browse_open_function(struct browse *browse, uint32_t function)
{
    uint32_t line;
    const char *file = session_function_file(browse->session, function, &line);
    if (*file)
        browse_open_source(browse, file, line);
    else
        browse_complain(browse, "the source of %.200s is not known",
                        session_function_name(browse->session, function));
}

void browse_open_source(struct browse *browse, const char *path, uint32_t line)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    free(browse->source_path);
    browse->source_path = copy;
    browse->source_line = line;
    browse->source_live = false;
    browse_show(browse, VIEW_SOURCE);
}

void browse_edit(struct browse *browse, const char *path, uint32_t line)
{
    free(browse->edit_path);
    browse->edit_path = strdup(path);
    browse->edit_line = line;
}

void browse_ask(struct browse *browse, const char *prompt, const char *before, const char *text)
{
    free(browse->request_answer);
    browse->request_answer = strdup(text);
    browse->request_prompt = prompt;
    browse->request_before = before;
}

void browse_list(struct browse *browse, const char *step)
{
    browse_narrow(browse, step);
    browse_show(browse, VIEW_ALLOCATIONS);
}
