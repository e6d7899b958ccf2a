#include "tests/capture/stacks/stack_oracle.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "schemas/trace_codec.h"

#define NODES_MAX (1u << 22)
#define MODULES_MAX 4096u
#define FRAMES_MAX 8192
#define SHOWN 5u

static struct {
    struct stack_node *nodes;
    struct {
        bool known;
        uint64_t bias;
        char path[256];
    } * modules;
    _Atomic unsigned long taken, compared, differences, frames;
    _Atomic unsigned ended;
} oracle;

static bool take_module(void *context, const struct stack_module *module)
{
    (void)context;
    if (module->id >= MODULES_MAX)
        return false;
    oracle.modules[module->id].bias = module->load_bias;
    strncpy(oracle.modules[module->id].path, module->path,
            sizeof oracle.modules[module->id].path - 1);
    oracle.modules[module->id].known = true;
    return true;
}

static bool take_node(void *context, const struct stack_node *node)
{
    (void)context;
    if (node->id >= NODES_MAX)
        return false;
    oracle.nodes[node->id] = *node;
    return true;
}

static void end_module(void *context, uint32_t module)
{
    (void)context;
    (void)module;
    oracle.ended++;
}

static const struct stack_sink sink = {take_module, take_node, end_module};

static void *reserve(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

void stack_oracle_init(const struct stack_options *options)
{
    if (!oracle.nodes) {
        oracle.nodes = reserve(NODES_MAX * sizeof *oracle.nodes);
        oracle.modules = reserve(MODULES_MAX * sizeof *oracle.modules);
    }
    stack_process_init(options, &sink);
}

struct stack_thread *stack_oracle_thread(void)
{
    struct stack_thread *thread = reserve(stack_thread_size());
    stack_thread_init(thread);
    return thread;
}

size_t stack_oracle_expand(uint32_t node, uint64_t *pcs, size_t size, unsigned *marker)
{
    size_t count = 0;
    *marker = 0;
    for (; node && count < size; node = oracle.nodes[node].parent) {
        const struct stack_node *at = &oracle.nodes[node];
        if (at->frame > TRACE_FRAME_EXACT)
            *marker = at->frame;
        else
            pcs[count++] = at->value + (at->module ? oracle.modules[at->module].bias : 0);
    }
    return count;
}

const char *stack_oracle_module(uint32_t id)
{
    if (!id)
        return "";
    return oracle.modules[id].known ? oracle.modules[id].path : NULL;
}

uint32_t stack_oracle_node_module(uint32_t node)
{
    return oracle.nodes[node].module;
}

unsigned stack_oracle_ended_modules(void)
{
    return oracle.ended;
}

static void name_frame(const char *side, size_t index, uint64_t pc)
{
    Dl_info info = {0};
    dladdr((void *)pc, &info);
    fprintf(stderr, "  %s #%zu %#lx %s+%#lx %s\n", side, index, pc,
            info.dli_fname ? info.dli_fname : "?", pc - (uint64_t)info.dli_fbase,
            info.dli_sname ? info.dli_sname : "");
}

static void name_difference(const uint64_t *ours, size_t our_count, const uint64_t *theirs,
                            size_t their_count, unsigned marker)
{
    size_t i = 0;
    while (i < our_count && i < their_count && ours[i] == theirs[i])
        i++;
    fprintf(stderr, "stacks differ at frame %zu (ours %zu deep, marker %u; libunwind's %zu)\n", i,
            our_count, marker, their_count);
    for (size_t k = i > 2 ? i - 2 : 0; k < i + 3; k++) {
        if (k < our_count)
            name_frame("ours     ", k, ours[k]);
        if (k < their_count)
            name_frame("libunwind", k, theirs[k]);
    }
}

bool stack_oracle_check(struct stack_thread *thread, const void *entry_frame, bool compare)
{
    static _Thread_local uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
    unsigned marker;
    uint32_t node = stack_current(thread, entry_frame, NULL);
    oracle.taken++;
    if (!compare)
        return true;
    size_t our_count = stack_oracle_expand(node, ours, FRAMES_MAX, &marker);
    int their_count = unw_backtrace((void **)theirs, FRAMES_MAX), skip = 0;
    while (skip < their_count && theirs[skip] != ((const uint64_t *)entry_frame)[1])
        skip++;
    while (their_count > skip && !theirs[their_count - 1])
        their_count--;
    oracle.compared++;
    oracle.frames += our_count;
    if (our_count == (size_t)(their_count - skip) && !marker &&
        !memcmp(ours, theirs + skip, our_count * sizeof *ours))
        return true;
    if (oracle.differences++ < SHOWN)
        name_difference(ours, our_count, theirs + skip, (size_t)(their_count - skip), marker);
    return false;
}

struct stack_oracle_counts stack_oracle_counts(void)
{
    return (struct stack_oracle_counts){oracle.taken, oracle.compared, oracle.differences,
                                        oracle.frames};
}
