/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/call_watch.h"

#include <stdatomic.h>
#include <string.h>

#include "capture/options/options.h"
#include "capture/os/elf_symbols.h"
#include "capture/os/symbol_name.h"
#include "capture/record/state.h"

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
