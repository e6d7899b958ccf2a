/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/unhooked_report.h"

#include <stdatomic.h>
#include <string.h>

#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/record/thread_room.h"

#define REPORTS_MAX 256u
#define PATH_SHARE 1024u
#define FUNCTION_SHARE 64u
#define LINE_SHARE 800u

/* EMPTY → FILLING → READY; the fields are written in FILLING only. */
enum { EMPTY, FILLING, READY };

struct report {
    _Atomic uint32_t filled;
    _Atomic bool written;
    enum trace_bypass state;
    char path[PATH_SHARE], function[FUNCTION_SHARE];
};

static struct {
    _Atomic(void *) reports; /* struct report, mapped at the first one */
    _Atomic uint32_t more;   /* reports that found no room */
} all;

static struct report *reports_of(void)
{
    return os_map_once(&all.reports, REPORTS_MAX * sizeof(struct report));
}

static bool report_is(const struct report *report, const char *path, enum trace_bypass state,
                      const char *function)
{
    return report->state == state && strncmp(report->path, path, sizeof(report->path) - 1) == 0 &&
           strncmp(report->function, function, sizeof(report->function) - 1) == 0;
}

void unhooked_report_add(const char *path, enum trace_bypass state, const char *function)
{
    struct report *reports = reports_of();
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++) {
        uint32_t filled = EMPTY;
        if (atomic_compare_exchange_strong(&reports[i].filled, &filled, FILLING)) {
            reports[i].state = state;
            memcpy(reports[i].path, path, strnlen(path, sizeof(reports[i].path) - 1));
            memcpy(reports[i].function, function,
                   strnlen(function, sizeof(reports[i].function) - 1));
            atomic_store(&reports[i].filled, READY);
            return;
        }
        if (filled == READY && report_is(&reports[i], path, state, function)) {
            /* It was loaded again: the trace tells up to when its calls are missing. */
            if (state == TRACE_BYPASS_LATE)
                atomic_store(&reports[i].written, false);
            return;
        }
    }
    atomic_fetch_add(&all.more, 1);
}

bool unhooked_report_is_due(void)
{
    const struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++)
        if (atomic_load(&reports[i].filled) == READY && !atomic_load(&reports[i].written))
            return true;
    return false;
}

void unhooked_report_put(struct thread *thread)
{
    struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++) {
        struct report *report = &reports[i];
        if (atomic_load(&report->filled) != READY || atomic_exchange(&report->written, true))
            continue;
        uint8_t *p = thread_extended_begin(thread, PATH_SHARE + FUNCTION_SHARE + 32);
        if (!p)
            return;
        p = thread_put_when(thread, p);
        p = trace_put_varint(p, report->state);
        p = trace_put_string(p, report->path, strlen(report->path));
        if (report->state == TRACE_BYPASS_FUNCTION)
            p = trace_put_string(p, report->function, strlen(report->function));
        thread_extended_end(thread, TRACE_EXT_BYPASS, p);
    }
}

void unhooked_report_new_trace(void)
{
    struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++)
        if (atomic_load(&reports[i].filled) == READY)
            atomic_store(&reports[i].written, reports[i].state == TRACE_BYPASS_LATE);
}

/* Appends to a line of LINE_SHARE bytes. False if the text does not fit. */
static bool line_add(char *line, const char *text)
{
    const size_t used = strlen(line), length = strlen(text);
    if (used + length >= LINE_SHARE)
        return false;
    memcpy(line + used, text, length + 1);
    return true;
}

static const char *const said[] = {
    [TRACE_BYPASS_LATE] = "recorded only from some time after they were loaded: ",
    [TRACE_BYPASS_NAMESPACE] = "not recorded, in a namespace of dlmopen with its own heap: ",
    [TRACE_BYPASS_OTHER] = "not recorded, bound to another allocator: ",
    [TRACE_BYPASS_REFUSED] = "not recorded, because memory cannot be made writable: ",
    [TRACE_BYPASS_MISSED] = "not recorded, found only at the end: ",
    [TRACE_BYPASS_FUNCTION] =
        "not recorded, unless they call malloc, functions of another allocator: ",
};

/* Appends the modules of one state. Returns how many did not fit. */
static unsigned line_add_state(char *line, const struct report *reports, enum trace_bypass state)
{
    unsigned left_out = 0;
    bool first = true;
    for (unsigned i = 0; i < REPORTS_MAX; i++) {
        if (atomic_load(&reports[i].filled) != READY || reports[i].state != state)
            continue;
        const char *before = !first ? ", " : line[0] ? "; " : "";
        const size_t used = strlen(line);
        if (line_add(line, before) && (!first || line_add(line, said[state])) &&
            (!reports[i].function[0] ||
             (line_add(line, reports[i].function) && line_add(line, " by "))) &&
            line_add(line, reports[i].path)) {
            first = false;
            continue;
        }
        line[used] = 0;
        left_out++;
    }
    return left_out;
}

void unhooked_report_say(void)
{
    const struct report *reports = atomic_load(&all.reports);
    char line[LINE_SHARE] = "", digits[24];
    unsigned left_out = atomic_load(&all.more);
    if (!reports)
        return;
    for (unsigned state = 0; state < sizeof(said) / sizeof(*said); state++)
        if (said[state])
            left_out += line_add_state(line, reports, (enum trace_bypass)state);
    digits[sizeof(digits) - 1] = 0;
    if (left_out)
        message_line(line, "; and ", os_decimal(digits + sizeof(digits) - 1, left_out), " more",
                     NULL);
    else if (line[0])
        message_line(line, NULL);
}
