/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the stories of blocks with plain computations over all rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/block.h"

#define PATH "block.db"
#define ALLOCATIONS 30000

static struct session *session;
static struct session_error error;
static struct session_allocation *blocks; /* by id */
static uint32_t process[5];               /* by thread */

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = ALLOCATIONS;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    blocks = calloc(ALLOCATIONS + 1, sizeof(*blocks));
    for (uint64_t id = 1; id <= ALLOCATIONS; id++)
        assert_true(session_allocation(session, id, &blocks[id], &error));
    for (uint64_t id = 1; id <= ALLOCATIONS; id++) {
        struct session_block_facts facts;
        if (process[blocks[id].thread] != 0)
            continue;
        assert_true(session_block_facts(session, &blocks[id], &facts, &error));
        process[blocks[id].thread] = facts.process;
    }
    assert_int_not_equal(process[1], process[4]);
    return 0;
}

static int close_fixture(void **state)
{
    session_close(session);
    free(blocks);
    return 0;
}

static bool holds(const struct session_allocation *block, uint64_t address)
{
    return address >= block->address &&
           address - block->address < (block->size > 0 ? block->size : 1);
}

/* Neighbours are in the same arena of the same process. */
static bool share_memory(const struct session_allocation *left,
                         const struct session_allocation *right)
{
    return left->arena == right->arena && process[left->thread] == process[right->thread];
}

static bool is_before(const struct session_allocation *block, const struct session_allocation *of)
{
    return block->free_ns != SESSION_LIVE && block->free_ns <= of->alloc_ns;
}

static bool is_after(const struct session_allocation *block, const struct session_allocation *of)
{
    return of->free_ns != SESSION_LIVE && block->alloc_ns >= of->free_ns;
}

static void check_history(const struct session_allocation *of)
{
    struct session_surroundings around;
    uint64_t before = 0, after = 0, last = 0, next = 0;
    assert_true(session_surroundings(session, of, &around, &error));
    for (uint64_t id = 1; id <= ALLOCATIONS; id++) {
        const struct session_allocation *block = &blocks[id];
        if (id == of->id || !holds(block, of->address) || !share_memory(block, of))
            continue;
        if (is_before(block, of)) {
            before++;
            last = last == 0 || block->free_ns > blocks[last].free_ns ? id : last;
        } else if (is_after(block, of)) {
            after++;
            next = next == 0 || block->alloc_ns < blocks[next].alloc_ns ? id : next;
        }
    }
    assert_int_equal(around.before_count, before);
    assert_int_equal(around.after_count, after);
    assert_int_equal(around.before[0], last);
    assert_int_equal(around.after[0], next);
    for (size_t i = 1; i < SESSION_USES && i < before; i++)
        assert_true(blocks[around.before[i]].free_ns <= blocks[around.before[i - 1]].free_ns);
    for (size_t i = 1; i < SESSION_USES && i < after; i++)
        assert_true(blocks[around.after[i]].alloc_ns >= blocks[around.after[i - 1]].alloc_ns);
}

static void check_beside(const struct session_allocation *of, const struct session_beside *beside)
{
    uint64_t below = 0, above = UINT64_MAX;
    for (uint64_t id = 1; id <= ALLOCATIONS; id++) {
        const struct session_allocation *block = &blocks[id];
        if (block->alloc_ns > beside->ns || block->free_ns <= beside->ns ||
            holds(block, of->address) || !share_memory(block, of))
            continue;
        const uint64_t end = block->address + (block->size > 0 ? block->size : 1);
        if (end <= of->address && end > below)
            below = end;
        if (block->address > of->address && block->address < above)
            above = block->address;
    }
    const struct session_allocation *found = &blocks[beside->below];
    assert_int_equal(below, beside->below ? found->address + (found->size ? found->size : 1) : 0);
    assert_int_equal(above, beside->above ? blocks[beside->above].address : UINT64_MAX);
}

static void test_surroundings(void **state)
{
    struct session_surroundings around;
    size_t reused = 0;
    for (uint64_t id = 1; id <= ALLOCATIONS; id += 397) {
        const struct session_allocation *of = &blocks[id];
        check_history(of);
        assert_true(session_surroundings(session, of, &around, &error));
        assert_int_equal(around.birth.ns, of->alloc_ns);
        assert_int_equal(around.end.ns,
                         of->free_ns == SESSION_LIVE ? session_duration_ns(session) : of->free_ns);
        check_beside(of, &around.birth);
        check_beside(of, &around.end);
        reused += around.before_count > 0 && around.after_count > 0;
    }
    assert_true(reused > 5);
}

static void test_chain(void **state)
{
    uint64_t *next = calloc(ALLOCATIONS + 1, sizeof(*next));
    struct session_chain chain;
    size_t long_ones = 0;
    for (uint64_t id = 1; id <= ALLOCATIONS; id++)
        if (blocks[id].realloc_of != 0)
            next[blocks[id].realloc_of] = id;
    for (uint64_t id = 1; id <= ALLOCATIONS; id += 3) {
        if (blocks[id].realloc_of == 0 && next[id] == 0 && id % 100 != 1)
            continue;
        uint64_t first = id;
        while (blocks[first].realloc_of != 0)
            first = blocks[first].realloc_of;
        assert_true(session_chain(session, &blocks[id], &chain, &error));
        assert_int_equal(chain.ids[chain.place], id);
        for (size_t i = 0; i < chain.count; i++, first = next[first])
            assert_int_equal(chain.ids[i], first);
        assert_int_equal(first, 0);
        assert_false(chain.older);
        assert_false(chain.newer);
        long_ones += chain.count > 2;
    }
    assert_true(long_ones > 0);
    free(next);
}

static void test_facts(void **state)
{
    struct session_block_facts facts;
    session_close(session);
    assert_true(fixture_sql(PATH, "INSERT OR REPLACE INTO type_candidate SELECT stack_id, size, 0,"
                                  " 'Guess' FROM allocation WHERE type_id = 0"));
    session = session_open(PATH, &error);
    assert_non_null(session);
    size_t guessed = 0;
    for (uint64_t id = 1; id <= ALLOCATIONS; id += 97) {
        assert_true(session_block_facts(session, &blocks[id], &facts, &error));
        assert_int_equal(facts.candidates, blocks[id].type == 0 ? 1 : 0);
        if (blocks[id].type == 0) {
            assert_string_equal(facts.candidate[0], "Guess");
            assert_string_equal(facts.confidence, "unknown");
            guessed++;
        } else {
            assert_string_not_equal(facts.confidence, "unknown");
        }
    }
    assert_true(guessed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_surroundings),
                                       cmocka_unit_test(test_chain), cmocka_unit_test(test_facts)};
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
