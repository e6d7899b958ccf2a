/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/capture/stacks/stack_oracle.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <execinfo.h>
#include <libunwind.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "schemas/trace_codec.h"

#define NODES_MAX (1u << 22)
#define MODULES_MAX 4096u
#define FRAMES_MAX 8192
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define SHOWN 5u

static struct {
    struct stack_node *nodes;
    struct {
        bool known;
        uint64_t bias;
        char path[256];
    } * modules;
    _Atomic unsigned long taken, compared, disputed, jumps, differences, frames;
    _Atomic unsigned ended;
    unsigned long refuse_from, refuse_to;
    _Atomic unsigned long calls, refused;
} oracle;

static bool refuses(void)
{
    unsigned long call = oracle.calls++;
    bool refused = call >= oracle.refuse_from && call < oracle.refuse_to;
    oracle.refused += refused;
    return refused;
}

static bool take_module(void *context, const struct stack_module *module)
{
    if (module->id >= MODULES_MAX || refuses())
        return false;
    oracle.modules[module->id].bias = module->load_bias;
    strncpy(oracle.modules[module->id].path, module->path,
            sizeof(oracle.modules[module->id].path) - 1);
    oracle.modules[module->id].known = true;
    return true;
}

static bool take_node(void *context, const struct stack_node *node)
{
    if (node->id >= NODES_MAX || refuses())
        return false;
    oracle.nodes[node->id] = *node;
    return true;
}

static void end_module(void *context, uint32_t module)
{
    oracle.ended++;
}

static const struct stack_sink sink = {
    .module = take_module, .node = take_node, .module_end = end_module};

static void *reserve(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

void stack_oracle_init(const struct stack_options *options)
{
    if (!oracle.nodes) {
        oracle.nodes = reserve(NODES_MAX * sizeof(*oracle.nodes));
        oracle.modules = reserve(MODULES_MAX * sizeof(*oracle.modules));
    }
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
    stack_init(options, &sink);
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

uint64_t stack_oracle_node_value(uint32_t node)
{
    return oracle.nodes[node].value;
}

unsigned stack_oracle_ended_modules(void)
{
    return oracle.ended;
}

void stack_oracle_forget(void)
{
    memset(oracle.modules, 0, MODULES_MAX * sizeof(*oracle.modules));
    madvise(oracle.nodes, NODES_MAX * sizeof(*oracle.nodes), MADV_DONTNEED);
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
    fprintf(stderr, "stacks differ at frame %zu (ours %zu deep, marker %u; libgcc's %zu)\n", i,
            our_count, marker, their_count);
    for (size_t k = i > 2 ? i - 2 : 0; k < i + 3; k++) {
        if (k < our_count)
            name_frame("ours     ", k, ours[k]);
        if (k < their_count)
            name_frame("theirs   ", k, theirs[k]);
    }
}

/* libgcc's search for the unwind table's entry of a pc. */
struct dwarf_eh_bases {
    void *text, *data, *function;
};
extern const uint8_t *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

/* The registers of the C library's longjmp: the address, stack and buffer of its setjmp. */
struct jump {
    unw_word_t rdx, r8, r9, rdi;
};

static struct jump jump_read(unw_cursor_t *cursor)
{
    struct jump jump;
    unw_get_reg(cursor, UNW_X86_64_RDX, &jump.rdx);
    unw_get_reg(cursor, UNW_X86_64_R8, &jump.r8);
    unw_get_reg(cursor, UNW_X86_64_R9, &jump.r9);
    unw_get_reg(cursor, UNW_X86_64_RDI, &jump.rdi);
    return jump;
}

/*
 * Returns true if the code at pc is the end of a jump. Its table then has the rule that the return
 * address is in rdx, and rdx already contains an address of code.
 */
static bool jump_is_at(unw_word_t pc, const struct jump *jump)
{
    static const uint8_t rule[] = {9, 16, 1}; /* DW_CFA_register rip, rdx */
    struct dwarf_eh_bases bases;
    Dl_info info;
    const uint8_t *entry = _Unwind_Find_FDE((void *)pc, &bases);
    uint32_t length;
    if (!entry)
        return false;
    memcpy(&length, entry, sizeof(length));
    return memmem(entry + 8, length - 4, rule, sizeof(rule)) &&
           dladdr((void *)jump->rdx, &info) != 0;
}

/* Puts the cursor where the jump leads, as if the jump had been completed. */
static void jump_finish(const struct jump *jump, unw_context_t *context, unw_cursor_t *cursor)
{
    const greg_t *kept = (const greg_t *)jump->rdi;
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RIP] = (greg_t)jump->rdx;
    registers[REG_RSP] = (greg_t)jump->r8;
    registers[REG_RBP] = (greg_t)jump->r9;
    registers[REG_RBX] = kept[0];
    registers[REG_R12] = kept[2];
    registers[REG_R13] = kept[3];
    registers[REG_R14] = kept[4];
    registers[REG_R15] = kept[5];
    unw_init_local(cursor, context);
}

/*
 * Walks from the frame that has the stack pointer of the entry point's caller. It steps, because
 * unw_backtrace has its own cache, which loses frames around interrupted prologues.
 *
 * In the last instructions of longjmp the CFA is the jump buffer, and the caller's stack pointer
 * is in another register (DW_CFA_register rsp, r8). libunwind and libgcc both go on from the CFA
 * and lose frames. If a signal came there, the jump is completed first.
 */
static size_t libunwind_walk(const void *entry_frame, uint64_t *pcs, size_t size)
{
    unw_context_t context, landing;
    unw_cursor_t cursor;
    unw_word_t pc, sp;
    bool in_jump = false;
    struct jump jump;
    size_t count = 0;
    unw_getcontext(&context);
    landing = context;
    unw_init_local(&cursor, &context);
    for (;;) {
        if (count >= size || (unw_step(&cursor) <= 0 && !in_jump))
            break;
        if (in_jump) {
            jump_finish(&jump, &landing, &cursor);
            oracle.jumps++;
        }
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        in_jump = unw_is_signal_frame(&cursor) > 0; /* the program was interrupted here */
        if (in_jump) {
            jump = jump_read(&cursor);
            in_jump = jump_is_at(pc, &jump);
        }
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        if (count || sp == (uint64_t)entry_frame + 16)
            pcs[count++] = pc;
    }
    while (count && !pcs[count - 1])
        count--;
    return count;
}

/*
 * Gives a second opinion if libunwind differs. libunwind loses a frame if a signal comes in code
 * that setjmp's caller runs.
 */
static size_t libgcc_walk(const void *entry_frame, uint64_t *pcs, size_t size)
{
    int count = backtrace((void **)pcs, (int)size), skip = 0;
    while (skip < count && pcs[skip] != ((const uint64_t *)entry_frame)[1])
        skip++;
    count -= skip;
    memmove(pcs, pcs + skip, (size_t)count * sizeof(*pcs));
    return (size_t)count;
}

uint32_t stack_oracle_check(struct stack_thread *thread, const void *entry_frame, bool compare)
{
    static _Thread_local uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
    unsigned marker;
    unsigned long refused = oracle.refused;
    uint32_t node = stack_current(thread, entry_frame, NULL);
    oracle.taken++;
    if (oracle.refused != refused) {
        oracle.differences += node != 0;
        return node;
    }
    if (!compare)
        return node;
    size_t our_count = stack_oracle_expand(node, ours, FRAMES_MAX, &marker);
    size_t their_count = libunwind_walk(entry_frame, theirs, FRAMES_MAX);
    oracle.compared++;
    oracle.frames += our_count;
    if (our_count == their_count && !marker && !memcmp(ours, theirs, our_count * sizeof(*ours)))
        return node;
    their_count = libgcc_walk(entry_frame, theirs, FRAMES_MAX);
    oracle.disputed++;
    size_t whole = their_count;
    while (whole && !theirs[whole - 1])
        whole--;
    if (our_count == whole && !marker && !memcmp(ours, theirs, our_count * sizeof(*ours)))
        return node;
    /* After an interruption in code whose tables are wrong there, libgcc goes on to a return
     * address of 0, or past it. Our stack ends before it and is marked. In a sanitizer's runtime
     * rbp may be lost, and with it the place of a realigned caller. Then both end there. */
    size_t believable = 0;
    while (believable < their_count && theirs[believable])
        believable++;
    bool early = SANITIZED || (marker && believable < their_count);
    if (early && our_count == believable && !memcmp(ours, theirs, our_count * sizeof(*ours)))
        return node;
    if (oracle.differences++ < SHOWN)
        name_difference(ours, our_count, theirs, whole, marker);
    return node;
}

void stack_oracle_refuse(unsigned long after, unsigned long count)
{
    oracle.calls = oracle.refused = 0;
    oracle.refuse_from = after;
    oracle.refuse_to = after + count;
}

unsigned long stack_oracle_refused(void)
{
    return oracle.refused;
}

struct stack_oracle_counts stack_oracle_counts(void)
{
    return (struct stack_oracle_counts){oracle.taken, oracle.compared,    oracle.disputed,
                                        oracle.jumps, oracle.differences, oracle.frames};
}
