/* SPDX-License-Identifier: BSD-2-Clause */
/* The readings of pages in memory, and what ingest has made of them: session/residency.h. */
#include "session/residency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_coding.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "residencies_sql.h"
#include "residency_sums_sql.h"

/* ---- classes ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
} classes[RESIDENCY_CLASSES] = {
    [RESIDENCY_LIVE_RESIDENT] = {"live_resident", "live, resident"},
    [RESIDENCY_HEADERS] = {"headers", "headers, rounding"},
    [RESIDENCY_HOLES] = {"holes_resident", "holes beside live blocks"},
    [RESIDENCY_FREE_PAGES] = {"free_pages", "free whole pages"},
    [RESIDENCY_STACKS] = {"stacks", "stacks"},
    [RESIDENCY_FILES] = {"files", "files"},
    [RESIDENCY_ARENAS] = {"arenas", "arenas of the program"},
    [RESIDENCY_OTHER_ANONYMOUS] = {"other_anonymous", "other anonymous"},
    [RESIDENCY_RECORDER] = {"recorder", "the recorder"},
    [RESIDENCY_INHERITED] = {"inherited", "inherited by a fork"},
    [RESIDENCY_UNATTRIBUTED] = {"unattributed", "unattributed"},
    [RESIDENCY_LIVE_UNTOUCHED] = {"live_untouched", "live, never touched"},
    [RESIDENCY_LIVE_SWAPPED] = {"live_swapped", "live, swapped out"},
    [RESIDENCY_ZERO_PAGE] = {"zero_page", "zero page"},
    [RESIDENCY_HUGETLB] = {"hugetlb", "hugetlb pages"},
};

const char *session_residency_class_name(enum session_residency_class class)
{
    return classes[class].name;
}

const char *session_residency_class_title(enum session_residency_class class)
{
    return classes[class].title;
}

static bool damaged(const struct session *session, const char *table, struct session_error *error)
{
    return session_fail(error, 0, "%s: table %s is damaged; ingest the trace again",
                        database_path(session->database), table);
}

enum session_residency_class session_residency_find_class(const char *name)
{
    int i = 0;
    while (i < RESIDENCY_CLASSES && strcmp(classes[i].name, name) != 0)
        i++;
    return (enum session_residency_class)i;
}

static bool read_class_name(const struct session *session, const char *name,
                            enum session_residency_class *class, struct session_error *error)
{
    *class = name ? session_residency_find_class(name) : RESIDENCY_CLASSES;
    return *class < RESIDENCY_CLASSES || damaged(session, "residency_class", error);
}

/* ---- moments ---------------------------------------------------------------------------- */

struct residencies {
    struct session_residency *rows; /* by process and time */
    size_t count, capacity;
    char why[256];
    uint32_t why_of; /* the process that it is about + 1; 0: not asked */
};

void residencies_free(struct residencies *residencies)
{
    if (!residencies)
        return;
    FREE_ALL(residencies->rows, residencies);
}

static bool read_moment(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct residencies *all = session->residencies;
    if (!ARRAY_GROW(all->rows, all->count, all->capacity))
        return session_fail_memory(error, "the resident sets");
    struct session_residency *moment = &all->rows[all->count];
    *moment = (struct session_residency){.id = (uint32_t)database_number(row, 0),
                                         .zero_known = database_number(row, 8) != 0,
                                         .has_pss = !database_is_null(row, 11),
                                         .has_lazy_free = !database_is_null(row, 12),
                                         .has_cgroup = !database_is_null(row, 13),
                                         .has_limit = !database_is_null(row, 14)};
    uint64_t process = 0, ignored;
    uint64_t *const numbers[] = {&process,
                                 &moment->ns,
                                 &moment->end_ns,
                                 &moment->rss_before,
                                 &moment->rss_after,
                                 &moment->present,
                                 &moment->swapped,
                                 &ignored,
                                 &moment->coarse,
                                 &moment->live_huge,
                                 &moment->pss,
                                 &moment->lazy_free,
                                 &moment->cgroup_bytes,
                                 &moment->cgroup_limit};
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(*numbers)); i++)
        if (!database_natural(session->database, row, i + 1, "table residency", numbers[i], error))
            return false;
    if (database_number(row, 0) < 0 || database_number(row, 0) > UINT32_MAX || process == 0 ||
        process > session->processes.count)
        return damaged(session, "residency", error);
    moment->process = (uint32_t)process;
    const char **texts[] = {&moment->reason, &moment->mark, &moment->allocator};
    for (int i = 0; i < 3; i++) {
        const char *text = database_text(row, 15 + i);
        *texts[i] = names_keep(&session->names, text ? text : "", error);
        if (!*texts[i])
            return false;
    }
    all->count++;
    return true;
}

static struct session_residency *moment_of(const struct residencies *all, int64_t id)
{
    /* Ids ascend with the order of the rows; a session from elsewhere may do as it likes. */
    size_t low = 0;
    ARRAY_BISECT(low, all->count, all->rows[middle].id < id);
    if (low < all->count && all->rows[low].id == id)
        return &all->rows[low];
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].id == id)
            return &all->rows[i];
    return NULL;
}

static bool read_class(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct session_residency *moment = moment_of(session->residencies, database_number(row, 0));
    enum session_residency_class class;
    if (!moment)
        return damaged(session, "residency_class", error);
    return read_class_name(session, database_text(row, 1), &class, error) &&
           database_natural(session->database, row, 2, "table residency_class",
                            &moment->bytes[class], error);
}

static bool read_moments(struct session *session, struct session_error *error)
{
    bool has;
    return database_has_table(session->database, "residency", &has, error) &&
           (!has ||
            (database_each(session->database, residencies_sql, read_moment, session, error) &&
             database_each(session->database, residency_sums_sql, read_class, session, error)));
}

static struct residencies *all_moments(struct session *session, struct session_error *error)
{
    if (session->residencies)
        return session->residencies;
    if (!(session->residencies = calloc(1, sizeof(*session->residencies))))
        return session_fail_memory_null(error, "the resident sets");
    if (!read_moments(session, error)) {
        residencies_free(session->residencies);
        session->residencies = NULL;
    }
    return session->residencies;
}

bool residencies_of(struct session *session, uint32_t process,
                    const struct session_residency **moments, size_t *count,
                    struct session_error *error)
{
    const struct residencies *all = all_moments(session, error);
    size_t from = 0, to = 0;
    if (!all)
        return false;
    if (process == 0) {
        to = all->count;
    } else {
        ARRAY_BISECT(from, all->count, all->rows[middle].process < process);
        to = from;
        ARRAY_BISECT(to, all->count, all->rows[middle].process <= process);
    }
    *moments = all->rows + from;
    *count = to - from;
    return true;
}

bool session_residencies(struct session *session, const struct session_residency **moments,
                         size_t *count, struct session_error *error)
{
    return residencies_of(session, session->processes.selected, moments, count, error);
}

bool session_reads_residency(struct session *session, bool *known, struct session_error *error)
{
    const struct session_residency *moments;
    size_t count = 0;
    const bool good = session_residencies(session, &moments, &count, error);
    *known = good && count > 0;
    return good;
}

static bool read_why(void *context, const struct database_row *row, struct session_error *error)
{
    struct residencies *all = context;
    char text[160];
    session_printable(text, sizeof(text), database_text(row, 0) ? database_text(row, 0) : "");
    snprintf(all->why, sizeof(all->why), "the pages in memory were not read: %s", text);
    return true;
}

const char *session_residency_why(struct session *session)
{
    struct residencies *all = all_moments(session, NULL);
    const uint32_t process = session->processes.selected;
    bool has = false;
    char sql[160];
    if (!all)
        return "the resident sets cannot be read";
    if (all->why_of == process + 1)
        return all->why;
    snprintf(all->why, sizeof(all->why),
             "no pages in memory were read: record with mprof-run, not with --residency=off");
    snprintf(sql, sizeof(sql),
             "SELECT why FROM residency_missing WHERE %" PRIu32 " IN (0, process_id) LIMIT 1",
             process);
    if (database_has_table(session->database, "residency_missing", &has, NULL) && has)
        database_each(session->database, sql, read_why, all, NULL);
    all->why_of = process + 1;
    return all->why;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

size_t session_residency_nearest(const struct session_residency *moments, size_t count, uint64_t ns)
{
    size_t nearest = 0;
    for (size_t i = 1; i < count; i++)
        if (distance(moments[i].ns, ns) <= distance(moments[nearest].ns, ns))
            nearest = i;
    return nearest;
}

size_t session_residency_largest(const struct session_residency *moments, size_t count)
{
    size_t largest = 0;
    for (size_t i = 1; i < count; i++)
        if (moments[i].present > moments[largest].present)
            largest = i;
    return largest;
}

/* ---- advice ----------------------------------------------------------------------------- */

/* The switches of the allocators: mallopt(3), jemalloc(3), tcmalloc's and mimalloc's manuals. */
static const struct {
    const char *allocator, *pages, *holes;
} switches[] = {
    {"glibc", "malloc_trim(0) or MALLOC_TRIM_THRESHOLD_=131072",
     "MALLOC_ARENA_MAX=2 lets threads fill each other's"},
    {"jemalloc", "MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0",
     "move blocks, as redis' activedefrag"},
    {"tcmalloc", "ReleaseFreeMemory() or TCMALLOC_RELEASE_RATE=10",
     "free the blocks that pin them"},
    {"mimalloc", "mi_collect(true) or MIMALLOC_PURGE_DELAY=0", "free the blocks that pin them"},
};

/* Returns true if the process has threads beside the first one, and so maybe several arenas. */
static bool has_threads(const struct session *session, uint32_t process)
{
    size_t threads = 0;
    for (uint32_t id = 0; id < session->names.thread.count; id++)
        threads += session->names.thread_process[id] == process;
    return threads > 1;
}

const char *session_residency_advice(const struct session *session,
                                     const struct session_residency *moment,
                                     char out[SESSION_RESIDENCY_ADVICE])
{
    const uint64_t tenth = moment->present / 10, *bytes = moment->bytes;
    const bool pages = bytes[RESIDENCY_FREE_PAGES] >= bytes[RESIDENCY_HOLES];
    const uint64_t most = pages ? bytes[RESIDENCY_FREE_PAGES] : bytes[RESIDENCY_HOLES];
    out[0] = 0;
    if (tenth == 0)
        return out;
    for (size_t i = 0; most >= tenth && i < sizeof(switches) / sizeof(*switches); i++)
        if (strcmp(switches[i].allocator, moment->allocator) == 0)
            snprintf(out, SESSION_RESIDENCY_ADVICE, "%s: %s (%s)",
                     pages ? "free pages stay" : "holes stay",
                     pages ? switches[i].pages
                     : i == 0 && !has_threads(session, moment->process)
                         ? "free or gather the blocks that pin them"
                         : switches[i].holes,
                     moment->allocator);
    if (!out[0] && moment->live_huge >= tenth)
        snprintf(out, SESSION_RESIDENCY_ADVICE,
                 "huge pages, touched or not: set transparent_hugepage/enabled to madvise");
    return out;
}

/* ---- parts ------------------------------------------------------------------------------ */

struct parts {
    const struct session *session;
    struct session_residency_part *parts;
    size_t count, capacity;
};

static bool read_part(void *context, const struct database_row *row, struct session_error *error)
{
    struct parts *parts = context;
    struct session_residency_part part = {.detail = NULL};
    const struct database *database = parts->session->database;
    if (!read_class_name(parts->session, database_text(row, 0), &part.class, error) ||
        !database_natural(database, row, 2, "table residency_class", &part.bytes, error) ||
        !database_natural(database, row, 3, "table residency_class", &part.blocks, error))
        return false;
    const char *detail = database_text(row, 1);
    if (!ARRAY_GROW(parts->parts, parts->count, parts->capacity) ||
        !(part.detail = strdup(detail ? detail : "")))
        return session_fail_memory(error, "the resident set");
    parts->parts[parts->count++] = part;
    return true;
}

ARRAY_ORDER(compare_parts, struct session_residency_part,
            ORDER(a->class, b->class) ?: ORDER(b->bytes, a->bytes) ?: strcmp(a->detail, b->detail))

bool session_residency_parts(struct session *session, const struct session_residency *moment,
                             struct session_residency_part **parts, size_t *count,
                             struct session_error *error)
{
    struct parts reading = {.session = session};
    char sql[160];
    snprintf(
        sql, sizeof(sql),
        "SELECT class, detail, bytes, blocks FROM residency_class WHERE residency_id = %" PRIu32,
        moment->id);
    const bool good = database_each(session->database, sql, read_part, &reading, error);
    if (!good) {
        session_residency_parts_free(reading.parts, reading.count);
        reading = (struct parts){.count = 0};
    }
    if (reading.count > 0)
        qsort(reading.parts, reading.count, sizeof(*reading.parts), compare_parts);
    *parts = reading.parts;
    *count = reading.count;
    return good;
}

void session_residency_parts_free(struct session_residency_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(parts[i].detail);
    free(parts);
}

/* ---- groups ----------------------------------------------------------------------------- */

struct grouping {
    struct session *session;
    enum session_residency_by by;
    const uint32_t *frames; /* the user's, by stack */
    struct session_residency_group *groups;
    size_t count, capacity;
};

static uint32_t group_of(const struct grouping *grouping, uint64_t stack, uint64_t type)
{
    const struct session *session = grouping->session;
    switch (grouping->by) {
    case SESSION_RESIDENCY_TYPE:
        return session->names.type_first[type];
    case SESSION_RESIDENCY_SITE:
        return session->stacks.function[stack];
    default:
        return session->stacks.frame_table[grouping->frames[stack]].function;
    }
}

static bool read_group(void *context, const struct database_row *row, struct session_error *error)
{
    struct grouping *grouping = context;
    struct session *session = grouping->session;
    struct session_residency_group group = {.id = 0};
    uint64_t stack = 0, type = 0;
    uint64_t *const numbers[] = {
        &stack,           &type,          &group.live_bytes, &group.live_count, &group.resident,
        &group.untouched, &group.swapped, &group.headers,    &group.pinned,     &group.pinned_pages,
        &group.last_owned};
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(*numbers)); i++)
        if (!database_natural(session->database, row, i, "table residency_stack", numbers[i],
                              error))
            return false;
    if (stack >= session->stacks.count || type >= session->names.type.count)
        return damaged(session, "residency_stack", error);
    group.id = group_of(grouping, stack, type);
    if (!ARRAY_GROW(grouping->groups, grouping->count, grouping->capacity))
        return session_fail_memory(error, "the resident set");
    grouping->groups[grouping->count++] = group;
    return true;
}

static void add_group(struct session_residency_group *to,
                      const struct session_residency_group *from)
{
    to->live_bytes += from->live_bytes;
    to->live_count += from->live_count;
    to->resident += from->resident;
    to->untouched += from->untouched;
    to->swapped += from->swapped;
    to->headers += from->headers;
    to->pinned += from->pinned;
    to->pinned_pages += from->pinned_pages;
    to->last_owned += from->last_owned;
}

/* Compares what groups are about. Functions of one name are one, but 0 is none. */
static int compare_names(const void *left, const void *right, void *context)
{
    const struct session_residency_group *a = left, *b = right;
    const struct grouping *grouping = context;
    if (grouping->by == SESSION_RESIDENCY_TYPE || a->id == 0 || b->id == 0 || a->id == b->id)
        return a->id < b->id ? -1 : a->id > b->id;
    return strcmp(session_function_name(grouping->session, a->id),
                  session_function_name(grouping->session, b->id));
}

ARRAY_ORDER(compare_live, struct session_residency_group,
            ORDER(b->live_bytes, a->live_bytes) ?: ORDER(a->id, b->id))

static void merge_groups(struct grouping *grouping, struct session_residency_group *total)
{
    struct session_residency_group *rows = grouping->groups;
    size_t used = 0;
    *total = (struct session_residency_group){.id = 0};
    if (grouping->count == 0)
        return;
    qsort_r(rows, grouping->count, sizeof(*rows), compare_names, grouping);
    for (size_t i = 0; i < grouping->count; i++) {
        add_group(total, &rows[i]);
        if (used > 0 && compare_names(&rows[used - 1], &rows[i], grouping) == 0) {
            rows[used - 1].id = rows[i].id < rows[used - 1].id ? rows[i].id : rows[used - 1].id;
            add_group(&rows[used - 1], &rows[i]);
        } else {
            rows[used++] = rows[i];
        }
    }
    grouping->count = used;
    qsort(rows, used, sizeof(*rows), compare_live);
}

bool session_residency_groups(struct session *session, const struct session_residency *moment,
                              enum session_residency_by by, struct session_residency_group **rows,
                              size_t *count, struct session_residency_group *total,
                              struct session_error *error)
{
    struct grouping grouping = {.session = session, .by = by};
    char sql[256];
    *rows = NULL;
    *count = 0;
    if (by == SESSION_RESIDENCY_USER && !user_frames(session, &grouping.frames, error))
        return false;
    snprintf(sql, sizeof(sql),
             "SELECT stack_id, type_id, live_bytes, live_count, resident, untouched, swapped, "
             "headers, pinned, pinned_pages, last_owned FROM residency_stack "
             "WHERE residency_id = %" PRIu32,
             moment->id);
    if (!database_each(session->database, sql, read_group, &grouping, error)) {
        free(grouping.groups);
        return false;
    }
    merge_groups(&grouping, total);
    *rows = grouping.groups;
    *count = grouping.count;
    return true;
}

/* ---- pages ------------------------------------------------------------------------------ */

struct pages {
    const struct session *session;
    struct session_page_run *runs;
    size_t count, capacity;
    uint64_t page_size, end; /* end: of the last run */
};

static bool read_pages(void *context, const struct database_row *row, struct session_error *error)
{
    struct pages *pages = context;
    size_t length;
    const uint8_t *at = database_bytes(row, 0, &length), *end = at + length;
    uint64_t page = 0; /* the one after the run before */
    const uint64_t most = UINT64_MAX / pages->page_size;
    while (at < end) {
        uint64_t gap, code;
        if (!trace_get_varint(&at, end, &gap) || !trace_get_varint(&at, end, &code) ||
            (code & 7) > SESSION_PAGE_HUGETLB || gap > most - page ||
            code >> 3 > most - page - gap || (page + gap) * pages->page_size < pages->end)
            return damaged(pages->session, "residency_run", error);
        const uint64_t first = page + gap;
        page = first + (code >> 3);
        if (!ARRAY_GROW(pages->runs, pages->count, pages->capacity))
            return session_fail_memory(error, "the pages");
        pages->end = page * pages->page_size;
        pages->runs[pages->count++] = (struct session_page_run){
            first * pages->page_size, pages->end, (enum session_page_state)(code & 7)};
    }
    return true;
}

bool session_residency_pages(struct session *session, const struct session_residency *moment,
                             struct session_page_run **runs, size_t *count,
                             struct session_error *error)
{
    const int64_t page_size = session_meta_number(session, "page_size");
    struct pages pages = {.session = session,
                          .page_size = page_size > 0 ? (uint64_t)page_size : 4096};
    char sql[128];
    snprintf(sql, sizeof(sql),
             "SELECT data FROM residency_run WHERE residency_id = %" PRIu32 " ORDER BY position",
             moment->id);
    const bool good = database_each(session->database, sql, read_pages, &pages, error);
    if (!good) {
        free(pages.runs);
        pages = (struct pages){.count = 0};
    }
    *runs = pages.runs;
    *count = pages.count;
    return good;
}

uint64_t session_pages_resident(const struct session_page_run *runs, size_t count, uint64_t start,
                                uint64_t end)
{
    uint64_t bytes = 0;
    size_t i = 0;
    ARRAY_BISECT(i, count, runs[middle].end <= start);
    for (; i < count && runs[i].start < end; i++) {
        const uint64_t from = runs[i].start > start ? runs[i].start : start;
        const uint64_t to = runs[i].end < end ? runs[i].end : end;
        if (runs[i].state == SESSION_PAGE_PRESENT || runs[i].state == SESSION_PAGE_HUGE)
            bytes += to - from;
    }
    return bytes;
}
