/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks for which something fails or is left in the middle: a sink that refuses, and handlers that
 * leave by longjmp from inside the tables. os_map(), os_map_large() and module_image_read() are
 * wrapped. Each can be made to raise a signal at its next call.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/os/lockfree_table.h"
#include "capture/os/os.h"
#include "capture/stack/modules.h"
#include "tests/capture/stacks/event.h"
#include "tests/capture/stacks/shapes.h"
#include "tests/capture/stacks/stack_oracle.h"

void *__real_os_map(size_t size);
void *__wrap_os_map(size_t size);
void *__real_os_map_large(size_t *size);
void *__wrap_os_map_large(size_t *size);
bool __real_module_image_read(uint64_t start, struct module_image *image);
bool __wrap_module_image_read(uint64_t start, struct module_image *image);

static volatile sig_atomic_t raise_in_map, raise_in_image, jumps;
static volatile sig_atomic_t refuse_map;
static sigjmp_buf place;

static void raise_if(volatile sig_atomic_t *wanted)
{
    if (!*wanted)
        return;
    *wanted = 0;
    raise(SIGUSR1);
}

void *__wrap_os_map(size_t size)
{
    if (refuse_map)
        return NULL;
    raise_if(&raise_in_map);
    return __real_os_map(size);
}

void *__wrap_os_map_large(size_t *size)
{
    if (refuse_map)
        return NULL;
    raise_if(&raise_in_map);
    return __real_os_map_large(size);
}

bool __wrap_module_image_read(uint64_t start, struct module_image *image)
{
    raise_if(&raise_in_image);
    return __real_module_image_read(start, image);
}

static void jump_out(int number)
{
    jumps++;
    siglongjmp(place, 1);
}

static void catch_by_jump(void)
{
    struct sigaction action = {.sa_handler = jump_out};
    sigaction(SIGUSR1, &action, NULL);
}

/* Runs each body in its own process, because the tables belong to the process. The result must be
 * 0. */
static void in_child(int (*body)(void))
{
    int status;
    pid_t child = fork();
    if (!child) {
        alarm(100); /* a test that hangs must not hang the suite */
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int sink_refuses(void)
{
    const struct stack_options options = {.unwind = STACK_UNWIND_AUTO};
    unsigned random = 3;
    unsigned long refused = 0;
    stack_oracle_init(&options);
    for (unsigned long after = 0; after < 120; after++) {
        stack_oracle_refuse(after % 17, 1 + after % 5);
        for (unsigned i = 0; i < 4; i++)
            shapes_descend(&random, 12);
        refused += stack_oracle_refused();
    }
    struct stack_oracle_counts counts = stack_oracle_counts();
    return counts.differences != 0 || counts.compared < 500 || refused < 100;
}

static void test_sink_refuses(void **data)
{
    in_child(sink_refuses);
}

/* Without memory the tables do not grow. Stacks through modules that have been announced are as
 * correct as before. */
static int no_memory(void)
{
    const struct stack_options options = {.unwind = STACK_UNWIND_AUTO};
    unsigned random = 5;
    stack_oracle_init(&options);
    for (unsigned i = 0; i < 40; i++)
        shapes_descend(&random, 4);
    refuse_map = 1;
    for (unsigned i = 0; i < 40; i++)
        shapes_descend(&random, 12);
    refuse_map = 0;
    for (unsigned i = 0; i < 40; i++)
        shapes_descend(&random, 12);
    struct stack_oracle_counts counts = stack_oracle_counts();
    return counts.differences != 0 || counts.compared < 100;
}

static void test_no_memory(void **data)
{
    in_child(no_memory);
}

#define ENTRIES 100000u

static uint64_t place_of(uint64_t key, uint64_t value)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

/* The jump comes while a table grows, at each of its sizes. */
static int jump_out_of_growth(void)
{
    static struct lockfree_table table = {.place = place_of};
    catch_by_jump();
    for (volatile uint64_t key = 1; key <= ENTRIES; key++) {
        if (key % 100 == 0)
            raise_in_map = 1;
        if (sigsetjmp(place, 1) == 0)
            lockfree_table_insert(&table, key, key);
    }
    raise_in_map = 0;
    uint64_t found = 0;
    for (uint64_t key = 1; key <= ENTRIES; key++)
        found += lockfree_table_find(&table, place_of(key, 0), key, 0, 0) == key;
    /* If a growth never ended, this waits for ever. */
    lockfree_table_forget(&table, UINT64_MAX, 1, 1000);
    /* Each growth may lose the entry that caused it. */
    return jumps < 4 || found + (uint64_t)jumps < ENTRIES ||
           lockfree_table_find(&table, place_of(5, 0), 5, 0, 0) != 0;
}

static void test_jump_out_of_growth(void **data)
{
    in_child(jump_out_of_growth);
}

/* Jumps out of the first look at each module. Then a plug-in is loaded and unloaded. */
static int jump_out_of_stacks(void)
{
    const struct stack_options options = {.unwind = STACK_UNWIND_AUTO};
    static unsigned random = 7;
    stack_oracle_init(&options);
    catch_by_jump();
    for (volatile unsigned round = 0; round < 200; round++) {
        void *volatile plugin = NULL;
        if (sigsetjmp(place, 1) != 0) {
            event_left_by_jump();
            if (plugin)
                dlclose(plugin);
            continue;
        }
        if (round % 10 == 3)
            raise_in_map = 1;
        else
            raise_in_image = round % 10 == 0;
        shapes_descend(&random, 10);
        plugin = dlopen(PLUGIN_ONE, RTLD_NOW);
        void (*call)(void (*)(void)) = NULL;
        if (plugin)
            *(void **)&call = dlsym(plugin, "plugin_run");
        if (!call)
            return 1;
        call(event);
        dlclose(plugin);
        raise_in_map = raise_in_image = 0;
        stack_modules_changed(NULL);
    }
    struct stack_oracle_counts counts = stack_oracle_counts();
    print_message("%d jumps, %lu stacks compared\n", (int)jumps, counts.compared);
    return jumps < 10 || counts.differences != 0 || counts.compared < 500;
}

static void test_jump_out_of_stacks(void **data)
{
    in_child(jump_out_of_stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sink_refuses),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_jump_out_of_growth),
        cmocka_unit_test(test_jump_out_of_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
