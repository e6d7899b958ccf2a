/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's frames of stacks, and call sites that wrappers move, against the frames as SQL has
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "schemas/code/user_code.h"
#include "session/session.h"
#include "session/user_code.h"

#define PATH "user_code.db"

enum { STACKS = 400 };

static struct session *open_session(void)
{
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    if (!session)
        print_error("%s\n", error.message);
    assert_non_null(session);
    return session;
}

static void write_fixture(void)
{
    const struct fixture_options options = FIXTURE_DEFAULTS;
    assert_true(fixture_write(PATH, &options));
}

/* Returns the depth that SQL finds: of the innermost frame for which `own` holds, and which is no
 * wrapper of `wrappers`, in each stack; -1 for none. */
static void depths(const char *own, int *depth)
{
    sqlite3 *database;
    sqlite3_stmt *query;
    char sql[1024];
    snprintf(sql, sizeof(sql),
             "SELECT s.id, (SELECT min(sf.depth) FROM stack_frame sf"
             " JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id"
             " JOIN module m ON m.id = f.module_id"
             " WHERE sf.stack_id = s.id AND f.role IS NULL AND (%s)) FROM stack s WHERE s.id > 0",
             own);
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
    int rows = 0;
    while (sqlite3_step(query) == SQLITE_ROW) {
        const bool none = sqlite3_column_type(query, 1) == SQLITE_NULL;
        depth[sqlite3_column_int(query, 0)] = none ? -1 : sqlite3_column_int(query, 1);
        rows++;
    }
    assert_int_equal(rows, STACKS);
    sqlite3_finalize(query);
    sqlite3_close(database);
}

/* Checks the user's frames of all stacks. Returns the number of stacks without one. */
static size_t check_users(struct session *session, const char *own)
{
    int depth[STACKS + 1];
    size_t without = 0, moved = 0;
    depths(own, depth);
    for (uint32_t stack = 1; stack <= STACKS; stack++) {
        struct session_frame frames[64];
        const size_t user = session_stack_user(session, stack);
        const size_t count = session_stack(session, stack, frames, 64);
        without += depth[stack] < 0;
        moved += depth[stack] > 1;
        if (depth[stack] < 0) {
            assert_true(user == SESSION_NO_FRAME);
            continue;
        }
        /* A frame may be on a stack several times. */
        assert_true(user < count && (size_t)depth[stack] < count);
        assert_int_equal(frames[user].pc, frames[depth[stack]].pc);
        assert_int_equal(frames[user].function, frames[depth[stack]].function);
    }
    assert_true(moved > 10);
    return without;
}

static void set(struct session *session, enum user_code_list list, const char *const *words)
{
    struct user_code code = {0};
    for (; *words; words++)
        assert_true(user_code_add(&code, list, *words));
    assert_true(session_set_user_code(session, &code, NULL));
    user_code_free(&code);
}

static void test_frames(void **state)
{
    write_fixture();
    struct session *session = open_session();
    assert_true(user_code_is_default(session_user_code(session)));
    assert_true(session_stack_user(session, 0) == SESSION_NO_FRAME);
    assert_true(session_stack_user(session, STACKS + 1) == SESSION_NO_FRAME);
    const char *built_in = "m.name NOT LIKE 'libc.so%' AND m.name NOT LIKE 'libstdc++%'";
    size_t without = check_users(session, built_in);
    set(session, USER_CODE_HIDE,
        (const char *const[]){"main", "parse_*", "load_*", "read_*", NULL});
    const size_t more =
        check_users(session, "m.name NOT LIKE 'libc.so%' AND m.name NOT LIKE 'libstdc++%' AND"
                             " f.name NOT GLOB 'parse_*' AND f.name NOT GLOB 'load_*' AND"
                             " f.name NOT GLOB 'read_*' AND f.name <> 'main'");
    assert_true(more >= without);
    assert_int_equal(session_user_code(session)->lists[USER_CODE_HIDE].count, 4);
    set(session, USER_CODE_HIDE, (const char *const[]){"*", NULL});
    for (uint32_t stack = 1; stack <= STACKS; stack++)
        assert_true(session_stack_user(session, stack) == SESSION_NO_FRAME);
    assert_true(session_set_user_code(session, NULL, NULL));
    assert_int_equal(check_users(session, built_in), without);
    session_close(session);
}

/* The frames that ingest stored count only for the built-in list by which ingest found them. */
static void test_stored(void **state)
{
    char sql[256];
    write_fixture();
    assert_true(fixture_sql(PATH, "UPDATE stack SET user_frame_id = (SELECT frame_id FROM"
                                  " stack_frame sf WHERE sf.stack_id = id ORDER BY depth DESC)"
                                  " WHERE id <> 7"));
    snprintf(sql, sizeof(sql), "INSERT INTO meta VALUES ('user_code_version', %llu)",
             (unsigned long long)user_code_version());
    assert_true(fixture_sql(PATH, sql));
    struct session *session = open_session();
    for (uint32_t stack = 1; stack <= STACKS; stack++) {
        struct session_frame frames[64];
        const size_t count = session_stack(session, stack, frames, 64);
        const size_t user = session_stack_user(session, stack);
        if (stack == 7)
            assert_true(user == SESSION_NO_FRAME);
        else
            assert_int_equal(frames[user].pc, frames[count - 1].pc);
    }
    session_close(session);
    assert_true(fixture_sql(PATH, "UPDATE meta SET value = value - 1"
                                  " WHERE key = 'user_code_version'"));
    session = open_session();
    assert_true(session_stack_user(session, 7) != SESSION_NO_FRAME);
    session_close(session);
    /* Other ids name no frame. */
    assert_true(fixture_sql(PATH, "UPDATE meta SET value = value + 1"
                                  " WHERE key = 'user_code_version';"
                                  "UPDATE stack SET user_frame_id = 1 << 40 WHERE id = 1;"
                                  "UPDATE stack SET user_frame_id = -1 WHERE id = 2"));
    session = open_session();
    assert_true(session_stack_user(session, 1) == SESSION_NO_FRAME);
    assert_true(session_stack_user(session, 2) == SESSION_NO_FRAME);
    session_close(session);
}

/* Returns the allocations of the call sites in a function. */
static uint64_t self_count(struct session *session, const char *name)
{
    char text[128];
    snprintf(text, sizeof(text), "all | where function == \"%s\"", name);
    struct selection *selection = selection_new(session, text, NULL);
    assert_non_null(selection);
    const uint64_t count = selection_count(selection);
    selection_free(selection);
    return count;
}

/* `where` and `join` by the user's frame and the owner agree with the stacks. */
static uint64_t count_of(struct session *session, const char *text)
{
    struct session_error error = {.column = 0};
    struct selection *selection = selection_new(session, text, &error);
    if (!selection)
        print_error("%s: %s\n", text, error.message);
    assert_non_null(selection);
    const uint64_t count = selection_count(selection);
    selection_free(selection);
    return count;
}

static void test_fields(void **state)
{
    write_fixture();
    struct session *session = open_session();
    const uint64_t all = count_of(session, "all");
    uint64_t main_rows = 0, without = 0;
    uint64_t documents = 0, buffers = 0, ownerless = 0;
    for (uint64_t id = 1; id <= session_allocation_count(session); id++) {
        struct session_allocation row;
        struct session_frame frames[64];
        if (!session_allocation(session, id, &row, NULL))
            continue;
        const size_t user = session_stack_user(session, row.stack);
        session_stack(session, row.stack, frames, 64);
        without += user == SESSION_NO_FRAME;
        main_rows += user != SESSION_NO_FRAME &&
                     strcmp(session_function_name(session, frames[user].function), "main") == 0;
        documents += row.stack % 4 == 1 || row.stack % 4 == 3;
        buffers += row.stack % 4 == 2;
        ownerless += row.stack % 4 == 0;
    }
    assert_true(documents > 0 && buffers > 0 && ownerless > 0);
    assert_int_equal(count_of(session, "all | where user == main"), main_rows);
    assert_int_equal(count_of(session, "all | where user is null"), without);
    assert_int_equal(count_of(session, "all | where user ~ \".\""), all - without);
    assert_int_equal(count_of(session, "all | where owner == Document"), documents);
    assert_int_equal(count_of(session, "all | where owner ~ \"^CellBuffer::\""), buffers);
    assert_int_equal(count_of(session, "all | where owner is null"), ownerless);
    assert_int_equal(count_of(session, "all | sort owner | top 10"), 10);
    struct selection *sorted = selection_new(session, "all | sort owner asc | top 1", NULL);
    struct session_allocation first;
    assert_true(selection_row(sorted, 0, &first));
    assert_int_equal(first.stack % 4, 2);
    selection_free(sorted);
    /* Code that the user hides is no longer the user's. */
    set(session, USER_CODE_HIDE, (const char *const[]){"main", NULL});
    assert_int_equal(count_of(session, "all | where user == main"), 0);
    session_close(session);
}

static void test_wrappers(void **state)
{
    write_fixture();
    struct session *session = open_session();
    size_t before[STACKS + 1], moved = 0;
    uint32_t wrapper = 0;
    for (uint32_t stack = 1; stack <= STACKS; stack++)
        before[stack] = session_stack_call_site(session, stack);
    /* The function that is the call site of most stacks. */
    size_t sites[200] = {0};
    for (uint32_t stack = 1; stack <= STACKS; stack++) {
        struct session_frame frames[64];
        session_stack(session, stack, frames, 64);
        const uint32_t function = frames[before[stack]].function;
        if (++sites[function] > sites[wrapper])
            wrapper = function;
    }
    char name[128];
    snprintf(name, sizeof(name), "%s", session_function_name(session, wrapper));
    assert_false(session_call_sites_moved(session));
    const uint64_t own = self_count(session, name);
    assert_true(own > 0);
    set(session, USER_CODE_WRAPPER, (const char *const[]){name, NULL});
    assert_true(session_call_sites_moved(session));
    for (uint32_t stack = 1; stack <= STACKS; stack++) {
        struct session_frame frames[64];
        const size_t count = session_stack(session, stack, frames, 64);
        size_t expected = before[stack];
        while (expected + 1 < count &&
               (frames[expected].function == wrapper || frames[expected].function <= 2))
            expected++;
        const size_t site = session_stack_call_site(session, stack);
        moved += site != before[stack];
        assert_int_equal(frames[site].pc, frames[expected].pc);
        assert_true(session_stack_user(session, stack) == SESSION_NO_FRAME ||
                    frames[session_stack_user(session, stack)].function != wrapper);
    }
    assert_true(moved > 0);
    /* A wrapper at the outermost frame remains the call site: there is nothing outside it. */
    assert_true(self_count(session, name) < own);
    assert_true(session_set_user_code(session, NULL, NULL));
    assert_false(session_call_sites_moved(session));
    for (uint32_t stack = 1; stack <= STACKS; stack++)
        assert_int_equal(session_stack_call_site(session, stack), before[stack]);
    assert_int_equal(self_count(session, name), own);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_wrappers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
