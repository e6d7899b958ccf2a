/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks through code that the loader does not know. Whole chains are compared with the calls that
 * were made. Frame pointers that lead anywhere end a stack, and nothing faults.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/stack/executable_maps.h"
#include "schemas/trace_codec.h"
#include "tests/capture/stacks/event.h"
#include "tests/capture/stacks/generated_code.h"
#include "tests/capture/stacks/shapes.h"
#include "tests/capture/stacks/stack_oracle.h"

#define PAGE 4096u
#define LINKS_MAX 24u
#define FRAMES_MAX 256u
#define REGIONS 3u
/* More than one test can need, fewer than one for each event. */
#define LOOKS_FEW 40u

static const uint8_t *regions[REGIONS];

/* Runs each body in its own process, whose tables are new. The result must be 0. */
static void in_child(int (*body)(void))
{
    const struct stack_options options = {.unwind = STACK_UNWIND_AUTO};
    int status;
    pid_t child = fork();
    if (!child) {
        alarm(100);
        stack_oracle_init(&options);
        event_compare_every(UINT32_MAX);
        for (unsigned i = 0; i < REGIONS; i++)
            if (!(regions[i] = generated_map()))
                _exit(99);
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0); /* another number tells where it failed */
}

/* The calls of a chain: the functions, and the address to which each of their calls returns. */
struct chain {
    const void *links[LINKS_MAX + 1];
    uint64_t backs[LINKS_MAX];
    unsigned count;
};

static void chain_add(struct chain *chain, const void *link, uint64_t back)
{
    chain->links[chain->count] = link;
    chain->backs[chain->count++] = back;
}

static void chain_add_region(struct chain *chain, const uint8_t *code)
{
    chain_add(chain, code, generated_back(code));
}

static void chain_add_random(struct chain *chain, unsigned *random)
{
    static const struct {
        chain_link link;
        const uint8_t *back;
    } kinds[] = {
        {link_ruled, link_ruled_back},
        {link_clobbers, link_clobbers_back},
        {link_framed, link_framed_back},
    };
    unsigned choice = (unsigned)rand_r(random) % 6;
    if (choice < 3)
        chain_add(chain, (const void *)kinds[choice].link, (uint64_t)kinds[choice].back);
    else
        chain_add_region(chain, regions[choice - 3]);
}

static __attribute__((noipa)) void leaf(const void *const *rest)
{
    event();
    __asm__ volatile("" ::: "memory");
}

/* Calls through the links to `last`. */
static __attribute__((noipa)) void chain_run(struct chain *chain, chain_link last)
{
    chain_link first;
    chain->links[chain->count] = (const void *)last;
    memcpy(&first, &chain->links[0], sizeof(first));
    first((const void *const *)chain->links + 1);
    __asm__ volatile("" ::: "memory");
}

/* The frames of a stack, and the marker at its end. */
struct frames {
    uint64_t pcs[FRAMES_MAX];
    size_t count;
    unsigned marker;
};

static void frames_last(struct frames *frames)
{
    frames->count =
        stack_oracle_expand(event_last_node(), frames->pcs, FRAMES_MAX, &frames->marker);
}

/* Returns true if `got` is `bare`, which was taken without links, plus the links' frames outside
 * the leaf's. */
static bool frames_exact(const struct frames *got, const struct frames *bare,
                         const struct chain *chain)
{
    if (got->marker || got->count != bare->count + chain->count || got->pcs[0] != bare->pcs[0])
        return false;
    for (unsigned i = 0; i < chain->count; i++)
        if (got->pcs[1 + i] != chain->backs[chain->count - 1 - i])
            return false;
    return !memcmp(got->pcs + 1 + chain->count, bare->pcs + 1,
                   (bare->count - 1) * sizeof(*bare->pcs));
}

/* Fills a chain with random links; in the first round with none. */
static __attribute__((noipa)) void chain_fill(struct chain *chain, unsigned *random, unsigned round)
{
    chain->count = 0;
    for (unsigned links = round ? (unsigned)rand_r(random) % LINKS_MAX : 0; links--;)
        chain_add_random(chain, random);
}

/* Compares the frames with those of the first round, which it keeps. */
static __attribute__((noipa)) bool frames_wrong(unsigned round, struct frames *bare,
                                                const struct chain *chain)
{
    struct frames got;
    frames_last(round ? &got : bare);
    return round ? !frames_exact(&got, bare, chain) : bare->marker || bare->count < 2;
}

/*
 * Runs `rounds` random chains, the first one without links. Returns how many were not exact. All
 * rounds run the same instructions, so the frames outside the chain are the same.
 */
static __attribute__((noipa)) unsigned chains_wrong(unsigned *random, unsigned rounds)
{
    struct frames bare = {.count = 0};
    struct chain chain;
    unsigned wrong = 0;
    for (unsigned round = 0; round < rounds; round++) {
        chain_fill(&chain, random, round);
        chain_run(&chain, leaf);
        wrong += frames_wrong(round, &bare, &chain);
    }
    return wrong;
}

/* One look finds all regions; a new region costs one more look. */
static int chains_exact(void)
{
    unsigned random = 11, wrong = chains_wrong(&random, 3000);
    uint64_t looks = executable_maps_looks();
    const uint8_t *kept = regions[1];
    if (!(regions[1] = generated_map()))
        return 1;
    wrong += chains_wrong(&random, 3000);
    regions[2] = kept;
    wrong += chains_wrong(&random, 1000);
    print_message("%u wrong, %lu and %lu looks\n", wrong, (unsigned long)looks,
                  (unsigned long)executable_maps_looks());
    return wrong || looks != 1 || executable_maps_looks() != 2;
}

static void test_chains_exact(void **data)
{
    in_child(chains_exact);
}

#define THREADS 4u
static _Atomic unsigned threads_wrong, threads_begun;

static void *thread_body(void *data)
{
    unsigned random = (unsigned)(uintptr_t)data;
    threads_begun++;
    while (threads_begun < THREADS)
        ;
    threads_wrong += chains_wrong(&random, 2000);
    return NULL;
}

/* All threads ask for the same regions at once. */
static int threads_exact(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, thread_body, (void *)(i + 1)) != 0)
            return 1;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print_message("%u wrong, %lu looks\n", threads_wrong, (unsigned long)executable_maps_looks());
    return threads_wrong != 0 || executable_maps_looks() > LOOKS_FEW;
}

static void test_threads_exact(void **data)
{
    in_child(threads_exact);
}

/* A runtime that writes code takes the right to execute it away. The region stays known. */
static void *written_page;

static void leaf_while_written(const void *const *rest)
{
    if (mprotect(written_page, PAGE, PROT_READ | PROT_WRITE) != 0)
        abort();
    leaf(rest);
    if (mprotect(written_page, PAGE, PROT_READ | PROT_EXEC) != 0)
        abort();
}

static int code_written(void)
{
    struct chain chain = {.count = 0};
    struct frames before, after;
    unsigned random = 3;
    chains_wrong(&random, 100);
    const uint8_t *code = generated_map();
    memcpy(&written_page, &code, sizeof(code));
    chain_add_region(&chain, code);
    chain_add_region(&chain, regions[1]);
    /* The code is not executable when it is first asked for, so the stack ends there. */
    chain_run(&chain, leaf_while_written);
    frames_last(&before);
    if (before.marker != TRACE_FRAME_UNWIND_END ||
        before.pcs[before.count - 1] != generated_back(regions[1]))
        return 1;
    for (unsigned i = 0; i < 10; i++)
        chain_run(&chain, leaf);
    frames_last(&before);
    if (before.marker)
        return 2;
    /* A look at another region in between does not lose this one. */
    struct chain longer = {.count = 0};
    chain_add_region(&longer, code);
    chain_add_region(&longer, generated_map());
    chain_add_region(&longer, regions[1]);
    for (unsigned i = 0; i < 10; i++)
        chain_run(&longer, leaf_while_written);
    frames_last(&after);
    return after.marker || after.count != before.count + 2 ? 3 : 0;
}

static void test_code_written(void **data)
{
    in_child(code_written);
}

static void leaf_while_unmapped(const void *const *rest)
{
    uint8_t kept[PAGE];
    memcpy(kept, written_page, PAGE);
    if (munmap(written_page, PAGE) != 0)
        abort();
    leaf(rest);
    if (mmap(written_page, PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != written_page)
        abort();
    memcpy(written_page, kept, PAGE);
    if (mprotect(written_page, PAGE, PROT_READ | PROT_EXEC) != 0)
        abort();
}

/* Code that is unmapped while it is on the stack is not read. */
static int code_unmapped(void)
{
    for (unsigned known = 0; known < 2; known++) {
        struct chain chain = {.count = 0};
        struct frames frames;
        const uint8_t *code = generated_map();
        memcpy(&written_page, &code, sizeof(code));
        chain_add_region(&chain, regions[0]);
        chain_add_region(&chain, code);
        chain_add_region(&chain, regions[1]);
        for (unsigned i = 0; i < 2 * known; i++)
            chain_run(&chain, leaf);
        chain_run(&chain, leaf_while_unmapped);
        frames_last(&frames);
        if (frames.count < 2)
            return 1;
        chain_run(&chain, leaf);
        chain_run(&chain, leaf);
        frames_last(&frames);
        if (frames.marker || frames.count < 5)
            return 2;
    }
    return 0;
}

static void test_code_unmapped(void **data)
{
    in_child(code_unmapped);
}

/* Finds the line of /proc/self/maps that contains `address`. Returns its start, or 0. */
static uint64_t mapping_of(const void *address, uint64_t *end, uint64_t *offset)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[8192];
    uint64_t start, found = 0;
    while (maps && !found && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %*s %lx", &start, end, offset) == 3 &&
            (uint64_t)address - start < *end - start)
            found = start;
    if (maps)
        fclose(maps);
    return found;
}

/* Code of the program that is also mapped elsewhere belongs to the program. */
static int code_mapped_again(void)
{
    struct chain chain = {.count = 0};
    struct frames frames;
    char program[4096] = "";
    uint64_t end, offset, start = mapping_of((const void *)link_framed, &end, &offset);
    FILE *file = fopen("/proc/self/exe", "r");
    if (!file || !start || readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        return 1;
    const uint8_t *again =
        mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), (off_t)offset);
    fclose(file);
    if (again == MAP_FAILED)
        return 2;
    const uint8_t *code = again + ((uint64_t)link_framed - start);
    chain_add_region(&chain, regions[0]);
    chain_add_region(&chain, code);
    chain_run(&chain, leaf);
    frames_last(&frames);
    if (frames.marker || frames.pcs[1] != generated_back(code))
        return 3;
    chain_link last;
    void (*plain)(void) = event;
    memcpy(&last, &plain, sizeof(last));
    chain_run(&chain, last);
    frames_last(&frames);
    uint32_t module = stack_oracle_node_module(event_last_node());
    if (frames.pcs[0] != generated_back(code) || !module ||
        strcmp(stack_oracle_module(module), program))
        return 4;
    /* The address in the file is that of the program's own mapping. */
    Dl_info own;
    struct link_map *map;
    return dladdr1(&link_framed_back, &own, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
                   stack_oracle_node_value(event_last_node()) !=
                       (uint64_t)link_framed_back - map->l_addr
               ? 5
               : 0;
}

static void test_code_mapped_again(void **data)
{
    in_child(code_mapped_again);
}

/* The linker puts this far after the program's other code. Nothing is mapped between them. */
__attribute__((section(".far_text"), noipa)) static void far_leaf(const void *const *rest)
{
    event();
    __asm__ volatile("" ::: "memory");
}

/*
 * The loader describes a program with gaps between its segments piece by piece. The program's rules
 * are found from each piece.
 */
static int module_with_gaps(void)
{
    struct chain chain = {.count = 0};
    char program[4096] = "";
    uint64_t end, offset, start = mapping_of((const void *)far_leaf, &end, &offset);
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 || !start ||
        mapping_of((const void *)(start - 1), &end, &offset))
        return 1;
    event_compare_every(1);
    chain_add(&chain, (const void *)link_ruled, (uint64_t)link_ruled_back);
    chain_run(&chain, leaf);
    chain_run(&chain, far_leaf);
    chain_run(&chain, far_leaf);
    const struct stack_oracle_counts counts = stack_oracle_counts();
    const uint32_t module = stack_oracle_node_module(event_last_node());
    if (!module || strcmp(stack_oracle_module(module), program) != 0)
        return 2;
    return counts.differences != 0 || counts.compared != 3 ? 3 : 0;
}

static void test_module_with_gaps(void **data)
{
    in_child(module_with_gaps);
}

/* ---- frame pointers that lead anywhere ------------------------------------------------------ */

static uint64_t fakes[64][2]; /* in no stack */
static uint8_t *hole;         /* the page after it is not mapped */

/* Makes frame pointers that lead to no caller. `stack` is room on the running stack. */
static unsigned hostile_pointers(uint64_t *pointers, uint64_t (*stack)[2])
{
    unsigned count = 0;
    const uint64_t back = generated_back(regions[0]);
    const uint64_t values[] = {1,
                               8,
                               UINT64_MAX,
                               UINT64_MAX - 7,
                               UINT64_C(1) << 63,
                               (UINT64_C(1) << 47) - 8,
                               (uint64_t)stack + 1,
                               (uint64_t)stack - 4096,
                               (uint64_t)hole + PAGE - 8,
                               (uint64_t)hole + PAGE,
                               (uint64_t)link_framed};
    for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++)
        pointers[count++] = values[i];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t(*at)[2] = i ? fakes : stack;
        at[0][0] = (uint64_t)at[0]; /* a cycle of one */
        at[0][1] = back;
        at[1][0] = (uint64_t)at[0]; /* leads inward again */
        at[1][1] = back;
        at[2][0] = (uint64_t)hole + PAGE; /* leads out of everything */
        at[2][1] = back;
        at[3][0] = (uint64_t)at[5]; /* code at an unmapped address, and at one that has only data */
        at[3][1] = (uint64_t)hole + PAGE + 16;
        at[4][0] = (uint64_t)at[5];
        at[4][1] = (uint64_t)fakes;
        at[5][0] = (uint64_t)at[6];
        at[5][1] = UINT64_MAX;
        at[6][0] = UINT64_MAX;
        at[6][1] = back;
        for (unsigned k = 0; k < 7; k++)
            pointers[count++] = (uint64_t)at[k];
    }
    return count;
}

static unsigned hostile_wrong;

static bool own_stack = true;

/* Runs on the stack that is current. */
static void hostile_run(void)
{
    uint64_t stack[64][2] = {{0}}, pointers[64];
    const unsigned count = hostile_pointers(pointers, stack);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < count; i++) {
            struct frames frames;
            call_with_frame_pointer(pointers[i], event);
            frames_last(&frames);
            /* If no bounds are known, an address in code may be accepted. One step further out none
             * is. */
            if (frames.marker == TRACE_FRAME_UNWIND_END && frames.count <= (own_stack ? 1 : 2))
                continue;
            print_message("frame pointer %u: %zu frames\n", i, frames.count);
            hostile_wrong++;
        }
    /* A chain that ends by the rules, and one that goes round and round. */
    for (unsigned i = 0; i < 63; i++) {
        stack[i][0] = (uint64_t)stack[i + 1];
        stack[i][1] = generated_back(regions[i % REGIONS]);
    }
    struct frames frames;
    call_with_frame_pointer((uint64_t)stack, event);
    frames_last(&frames);
    hostile_wrong += frames.marker || frames.count != 64;
    stack[62][0] = (uint64_t)stack;
    call_with_frame_pointer((uint64_t)stack, event);
    frames_last(&frames);
    hostile_wrong += frames.marker != TRACE_FRAME_UNWIND_END || frames.count != 63;
    __asm__ volatile("" ::"r"(stack) : "memory");
}

static void *hostile_thread(void *data)
{
    hostile_run();
    return NULL;
}

static void hostile_handler(int number)
{
    hostile_run();
}

#define STACK_SIZE (1u << 20)

static int pointers_hostile(void)
{
    static ucontext_t here, there;
    pthread_t thread;
    uint8_t *pages =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || hole == MAP_FAILED || munmap(hole + PAGE, PAGE) != 0)
        return 1;
    hostile_run();
    if (pthread_create(&thread, NULL, hostile_thread, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    own_stack = false;
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = pages, .ss_size = STACK_SIZE};
    there.uc_link = &here;
    makecontext(&there, hostile_run, 0);
    swapcontext(&here, &there);
    struct sigaction action = {.sa_handler = hostile_handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&there.uc_stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 3;
    raise(SIGUSR1);
    print_message("%lu looks\n", (unsigned long)executable_maps_looks());
    return hostile_wrong || executable_maps_looks() > LOOKS_FEW ? 4 : 0;
}

static void test_pointers_hostile(void **data)
{
    in_child(pointers_hostile);
}

/* Words that lead to no code cause ever fewer looks. Code that comes later is still found. */
static int looks_few(void)
{
    uint64_t stack[2][2] = {{(uint64_t)stack[1], (uint64_t)fakes}};
    struct chain chain = {.count = 0};
    struct frames frames;
    for (unsigned i = 0; i < 300000; i++)
        call_with_frame_pointer((uint64_t)stack[0], event);
    const uint64_t looks = executable_maps_looks();
    const uint8_t *code = generated_map();
    chain_add_region(&chain, code);
    unsigned events = 0;
    do {
        chain_run(&chain, leaf);
        frames_last(&frames);
    } while (frames.marker && events++ < 100000);
    print_message("%lu looks, found after %u events\n", (unsigned long)looks, events);
    __asm__ volatile("" ::"r"(stack) : "memory");
    return looks > LOOKS_FEW || frames.marker ? 1 : 0;
}

static void test_looks_few(void **data)
{
    in_child(looks_few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_exact),      cmocka_unit_test(test_threads_exact),
        cmocka_unit_test(test_code_written),      cmocka_unit_test(test_code_unmapped),
        cmocka_unit_test(test_code_mapped_again), cmocka_unit_test(test_module_with_gaps),
        cmocka_unit_test(test_pointers_hostile),  cmocka_unit_test(test_looks_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
