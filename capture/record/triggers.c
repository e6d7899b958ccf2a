/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/triggers.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/c_library.h"
#include "capture/os/elf_symbols.h"
#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/record/real.h"
#include "capture/record/state.h"

#define SEPARATOR "::"

/* Returns the text after `beginning`, or NULL if `text` does not begin so. */
static const char *after(const char *text, const char *beginning, size_t length)
{
    return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

/* Returns the text after one <source-name>, a length and the name, or NULL if that differs. */
static const char *after_part(const char *symbol, const char *part, size_t length)
{
    size_t number = 0;
    const char *digits = symbol;
    for (; *digits >= '0' && *digits <= '9' && number < 10000; digits++)
        number = number * 10 + (size_t)(*digits - '0');
    return digits > symbol && number == length ? after(digits, part, length) : NULL;
}

/* Compares a name with a symbol mangled by the Itanium C++ ABI ("5.1.2 General Structure"). A
 * symbol is _Z, then each part of the name. A function of a namespace or class has N with its
 * qualifiers before the parts and E after them. St is std. The parameters follow. */
static bool name_is_mangled(const char *wanted, const char *symbol)
{
    const bool nested = strstr(wanted, SEPARATOR) != NULL;
    const char *at = after(symbol, "_Z", 2);
    if (!at)
        return false;
    const bool bracket = *at == 'N';
    at += bracket;
    if (bracket)
        at += strspn(at, "VKRO");
    else if (!nested)
        at += *at == 'L';
    for (const char *part = wanted; at;) {
        const char *end = strstr(part, SEPARATOR);
        const size_t length = end ? (size_t)(end - part) : strlen(part);
        if (part == wanted && end && length == 3 && memcmp(part, "std", 3) == 0)
            at = after(at, "St", 2);
        else
            at = after_part(at, part, length);
        if (!end)
            return at && (!bracket || *at == 'E');
        part = end + strlen(SEPARATOR);
    }
    return false;
}

bool symbol_name_is(const char *wanted, const char *symbol)
{
    const char *rest = after(symbol, wanted, strlen(wanted));
    return (rest && (*rest == 0 || *rest == '.' || *rest == '@')) ||
           name_is_mangled(wanted, symbol);
}

/* Functions of these names in all modules. Each overload and each split part counts. */
#define RANGES_MAX 256u

bool call_watch_starts, call_watch_stops;

/* The addresses of one function, as in its module's file. */
struct call_range {
    _Atomic uint32_t module; /* stored last; 0: not filled yet */
    bool stops;
    uint64_t begin, end;
};

static struct {
    char start[OPTIONS_SYMBOL], stop[OPTIONS_SYMBOL];
    _Atomic bool start_seen, stop_seen;
    _Atomic uint32_t count;
    struct call_range ranges[RANGES_MAX];
} call;

void call_watch_init(const char *start, const char *stop)
{
    memcpy(call.start, start, strnlen(start, sizeof(call.start) - 1));
    memcpy(call.stop, stop, strnlen(stop, sizeof(call.stop) - 1));
    call_watch_starts = call.start[0] != 0;
    call_watch_stops = call.stop[0] != 0;
}

static uint32_t range_count(void)
{
    uint32_t count = atomic_load_explicit(&call.count, memory_order_acquire);
    return count < RANGES_MAX ? count : RANGES_MAX;
}

static bool range_is_known(uint32_t module, uint64_t begin, bool stops)
{
    for (uint32_t i = 0; i < range_count(); i++) {
        const struct call_range *range = &call.ranges[i];
        if (atomic_load_explicit(&range->module, memory_order_acquire) == module &&
            range->begin == begin && range->stops == stops)
            return true;
    }
    return false;
}

static void range_add(uint32_t module, uint64_t begin, uint64_t size, bool stops)
{
    if (range_is_known(module, begin, stops) || range_count() == RANGES_MAX)
        return;
    uint32_t place = atomic_fetch_add(&call.count, 1);
    if (place >= RANGES_MAX)
        return;
    struct call_range *range = &call.ranges[place];
    range->begin = begin;
    range->end = begin + size;
    range->stops = stops;
    atomic_store_explicit(&range->module, module, memory_order_release);
}

static void look_at_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    const struct stack_module *module = context;
    if (call.start[0] && symbol_name_is(call.start, name))
        range_add(module->id, address, size, false);
    if (call.stop[0] && symbol_name_is(call.stop, name))
        range_add(module->id, address, size, true);
}

void call_watch_module(const struct stack_module *module)
{
    if (call_watch_starts || call_watch_stops)
        elf_symbols_of(module->path, look_at_symbol, (void *)(uintptr_t)module);
}

static bool node_is_in(const struct stack_node *node, bool stops)
{
    /* A return address lies after the call, perhaps after the function's last instruction. */
    const uint64_t at = node->value - (node->frame == TRACE_FRAME_RETURN);
    for (uint32_t i = 0; i < range_count(); i++) {
        const struct call_range *range = &call.ranges[i];
        if (atomic_load_explicit(&range->module, memory_order_acquire) == node->module &&
            range->stops == stops && at - range->begin < range->end - range->begin)
            return true;
    }
    return false;
}

void call_watch_node(struct thread *thread, const struct stack_node *node)
{
    if (node->module == 0 || node->frame > TRACE_FRAME_EXACT)
        return;
    if (atomic_load_explicit(&recorder_page.state, memory_order_relaxed) == RECORDER_WAITING) {
        if (call_watch_starts && node_is_in(node, false)) {
            thread->called = true;
            thread_self.leave_flags |= THREAD_PASSED;
            atomic_store(&call.start_seen, true);
        }
    } else if (call_watch_stops && node_is_in(node, true)) {
        thread_self.leave_flags |= THREAD_PASSED;
        atomic_store(&call.stop_seen, true);
    }
}

bool call_watch_take_start(void)
{
    return atomic_exchange(&call.start_seen, false);
}

bool call_watch_take_stop(void)
{
    return atomic_exchange(&call.stop_seen, false);
}

#define GRAINS 64u
#define LARGEST_LIVE_GRAIN 65536u
#define LARGEST_ALLOCATIONS_GRAIN 256u

_Atomic bool threshold_counts;

static struct {
    struct options_limit start, stop;
    int64_t live_grain;
    uint64_t allocations_grain;
    _Atomic int64_t live;
    _Atomic uint64_t allocations;
    _Atomic bool started, stopped;
} threshold;

static bool limit_is_set(struct options_limit limit)
{
    return limit.live || limit.allocations;
}

/* Returns the grain for the nearer of two limits, of which 0 means none. */
static uint64_t limit_grain(uint64_t one, uint64_t other, uint64_t largest)
{
    uint64_t nearer = one && (!other || one < other) ? one : other;
    uint64_t grain = nearer / GRAINS;
    return grain == 0 ? 1 : grain < largest ? grain : largest;
}

void threshold_init(struct options_limit start, struct options_limit stop)
{
    threshold.start = start;
    threshold.stop = stop;
    threshold.live_grain = (int64_t)limit_grain(start.live, stop.live, LARGEST_LIVE_GRAIN);
    threshold.allocations_grain =
        limit_grain(start.allocations, stop.allocations, LARGEST_ALLOCATIONS_GRAIN);
    atomic_store(&threshold.started, !limit_is_set(start));
    atomic_store(&threshold.stopped, !limit_is_set(stop));
    atomic_store(&threshold_counts, limit_is_set(start) || limit_is_set(stop));
}

static bool limit_is_passed(struct options_limit limit)
{
    return (limit.live && atomic_load(&threshold.live) > (int64_t)limit.live) ||
           (limit.allocations && atomic_load(&threshold.allocations) > limit.allocations);
}

static bool next_is_passed(void)
{
    return !atomic_load(&threshold.started)
               ? limit_is_passed(threshold.start)
               : !atomic_load(&threshold.stopped) && limit_is_passed(threshold.stop);
}

static bool add_part(struct threshold_part *part)
{
    if (part->live < threshold.live_grain && part->live > -threshold.live_grain &&
        part->allocations < threshold.allocations_grain)
        return false;
    atomic_fetch_add(&threshold.live, part->live);
    atomic_fetch_add(&threshold.allocations, part->allocations);
    *part = (struct threshold_part){0, 0};
    return next_is_passed();
}

bool threshold_count_allocation(struct threshold_part *part, const void *address)
{
    part->live += (int64_t)real.malloc_usable_size((void *)(uintptr_t)address);
    part->allocations++;
    return add_part(part);
}

bool threshold_count_arena(struct threshold_part *part)
{
    part->allocations++;
    return add_part(part);
}

bool threshold_count_free(struct threshold_part *part, const void *address)
{
    part->live -= (int64_t)real.malloc_usable_size((void *)(uintptr_t)address);
    return add_part(part);
}

enum threshold_due threshold_take_due(void)
{
    bool not_yet = false;
    if (!atomic_load(&threshold.started)) {
        if (limit_is_passed(threshold.start) &&
            atomic_compare_exchange_strong(&threshold.started, &not_yet, true)) {
            atomic_store(&threshold_counts, !atomic_load(&threshold.stopped));
            return THRESHOLD_BEGIN;
        }
    } else if (limit_is_passed(threshold.stop) &&
               atomic_compare_exchange_strong(&threshold.stopped, &not_yet, true)) {
        atomic_store(&threshold_counts, false);
        return THRESHOLD_END;
    }
    return THRESHOLD_NOTHING;
}

_Atomic uint32_t toggle_signal_count;

static uint32_t toggle_signal; /* 0 if there is no toggle */
static void (*own_handler)(int number);

/* The kernel's struct of rt_sigaction; its mask has eight bytes. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static void say_refused(void)
{
    message_line("the program has its own handler for signal ", OS_DECIMAL(toggle_signal),
                 ": --toggle has no effect, and recording stays as it is. Name another signal.",
                 NULL);
}

/* Reads the signal's handler by a raw call, because the program may replace sigaction. Returns
 * false if the kernel does not say. */
static bool read_handler(void **handler)
{
    struct kernel_action action = {0};
    if (os_call(SYS_rt_sigaction, toggle_signal, 0, (long)&action, sizeof(action.mask), 0, 0) != 0)
        return false;
    *handler = action.handler;
    return true;
}

void toggle_signal_take(uint32_t number, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    void *before = NULL;
    if (toggle_signal || number == 0)
        return;
    toggle_signal = number;
    own_handler = handler;
    if (read_handler(&before) && before != (void *)SIG_DFL && before != (void *)SIG_IGN) {
        say_refused();
        toggle_signal = 0;
        return;
    }
    memset(&action.sa_mask, 0xff, sizeof(uint64_t)); /* as many as the kernel has */
    if (c_library_sigaction((int)number, &action, NULL) == 0)
        return;
    toggle_signal = 0;
    message_line(
        "cannot handle the signal of --toggle; recording stays as it is. Name another signal.",
        NULL);
}

void toggle_signal_check(void)
{
    void *handler = NULL;
    if (!toggle_signal || !read_handler(&handler) || handler == (void *)own_handler ||
        handler == (void *)SIG_DFL || handler == (void *)SIG_IGN)
        return;
    say_refused();
    toggle_signal = 0;
}
