/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules, functions, frames, arenas and processes as session/code_facts.h gives them, against the
 * tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/code_facts.h"

#define PATH "code_facts.db"

static void write_fixture(void)
{
    const struct fixture_options options = FIXTURE_DEFAULTS;
    assert_true(fixture_write(PATH, &options));
    assert_true(fixture_sql(
        PATH, "UPDATE module SET build_id = printf('%040x', id) WHERE id <> 2;"
              "UPDATE module SET load_bias = -4096, unloaded_ns = loaded_ns + 5 WHERE id = 3;"
              "UPDATE function SET linkage_name = '_Z' || id WHERE id % 3 = 0;"
              "UPDATE function SET start_pc = 4096 + id * 64 WHERE id % 4 <> 1;"
              "UPDATE function SET role = 'allocator' WHERE id = 5;"
              "INSERT INTO arena(id, parent_id, name, allocations, objects, bytes, live_count,"
              "live_bytes, peak_bytes, peak_ns) VALUES(1, 0, 'pool', 10, 20, 30, 4, 5, 6, 7),"
              " (2, 1, NULL, 1, 2, 3, 4, 5, 6, 8);"
              "UPDATE process SET host = 'mill', ending = 'killed or running', machine = 2"
              "  WHERE id = 2"));
}

static struct session *open_session(void)
{
    struct session_error error = {.column = 0};
    struct session *session = session_open(PATH, &error);
    if (!session)
        print_error("%s\n", error.message);
    assert_non_null(session);
    return session;
}

/* Calls `check` for each row of a query. Returns their number. */
static size_t each(struct session *session, const char *sql,
                   void (*check)(struct session *session, sqlite3_stmt *row))
{
    sqlite3 *database;
    sqlite3_stmt *query;
    size_t rows = 0;
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    for (; sqlite3_step(query) == SQLITE_ROW; rows++)
        check(session, query);
    sqlite3_finalize(query);
    sqlite3_close(database);
    return rows;
}

static uint64_t number(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static void assert_text(const char *text, sqlite3_stmt *row, int column)
{
    const char *expected = (const char *)sqlite3_column_text(row, column);
    assert_string_equal(text, expected ? expected : "");
}

static void check_module(struct session *session, sqlite3_stmt *row)
{
    struct session_error error;
    struct session_module module;
    assert_true(session_module(session, (uint32_t)number(row, 0), &module, &error));
    assert_int_equal(module.id, number(row, 0));
    assert_text(module.path, row, 1);
    assert_text(module.name, row, 2);
    assert_text(module.build_id, row, 3);
    assert_true(module.load_bias == number(row, 4));
    assert_true(module.start == number(row, 5) && module.end == number(row, 6));
    assert_true(module.loaded_ns == number(row, 7));
    assert_true(module.unloaded_ns ==
                (sqlite3_column_type(row, 8) == SQLITE_NULL ? UINT64_MAX : number(row, 8)));
    assert_text(module.symbols, row, 9);
}

static void test_modules(void **state)
{
    struct session *session = open_session();
    const struct session_module *modules;
    struct session_module module;
    struct session_error error = {.column = 0};
    size_t count;
    assert_true(session_modules(session, &modules, &count, &error));
    assert_int_equal(each(session,
                          "SELECT id, path, name, build_id, load_bias, start_address,"
                          " end_address, loaded_ns, unloaded_ns, symbols FROM module",
                          check_module),
                     count);
    for (size_t i = 1; i < count; i++)
        assert_true(modules[i - 1].id < modules[i].id);
    assert_string_equal(modules[1].build_id, "");
    assert_int_equal(modules[2].load_bias, UINT64_MAX - 4095);
    assert_false(session_module(session, 0, &module, &error));
    assert_non_null(strstr(error.message, PATH ": there is no module with the id 0"));
    assert_false(session_module(session, (uint32_t)count + 1, &module, &error));
    session_close(session);
}

static void check_function(struct session *session, sqlite3_stmt *row)
{
    struct session_error error;
    struct session_function function;
    uint64_t start = 1;
    const bool known = sqlite3_column_type(row, 7) != SQLITE_NULL;
    assert_true(session_function(session, (uint32_t)number(row, 0), &function, &error));
    assert_text(function.name, row, 1);
    assert_text(function.linkage_name, row, 2);
    assert_int_equal(function.module, number(row, 3));
    assert_text(function.file, row, 4);
    assert_int_equal(function.line, number(row, 5));
    const char *role = (const char *)sqlite3_column_text(row, 6);
    assert_int_equal(function.role, !role                          ? SESSION_ROLE_NONE
                                    : strcmp(role, "wrapper") == 0 ? SESSION_ROLE_WRAPPER
                                                                   : SESSION_ROLE_ALLOCATOR);
    assert_int_equal(function.has_start, known);
    assert_int_equal(session_function_start(session, function.id, &start), known);
    assert_true(start == (known ? number(row, 7) : 1));
    assert_true(function.start == number(row, 7));
}

#define FUNCTIONS(start)                                                                           \
    "SELECT f.id, f.name, ifnull(f.linkage_name, f.name), f.module_id, s.path, f.line, "           \
    "f.role, " start " FROM function f LEFT JOIN source_file s ON s.id = f.source_file_id"

static void test_functions(void **state)
{
    struct session *session = open_session();
    struct session_function function;
    struct session_error error = {.column = 0};
    const size_t rows = each(session, FUNCTIONS("f.start_pc"), check_function);
    assert_int_equal(rows, session_function_count(session));
    assert_false(session_function(session, 0, &function, &error));
    assert_false(session_function(session, (uint32_t)rows + 1, &function, &error));
    assert_non_null(strstr(error.message, "no function"));
    session_close(session);
    /* Sessions of earlier builds have no such column: nothing is known. */
    assert_true(fixture_sql(PATH, "ALTER TABLE function DROP COLUMN start_pc"));
    session = open_session();
    assert_int_equal(each(session, FUNCTIONS("NULL"), check_function), rows);
    session_close(session);
    write_fixture();
}

static void check_frame(struct session *session, sqlite3_stmt *row)
{
    struct session_error error;
    struct session_code_frame frame;
    assert_true(session_code_frame(session, (uint32_t)number(row, 0), &frame, &error));
    assert_int_equal(frame.id, number(row, 0));
    assert_int_equal(frame.module, number(row, 1));
    assert_true(frame.pc == number(row, 2));
    assert_int_equal(frame.function, number(row, 3));
    assert_text(frame.file, row, 4);
    assert_int_equal(frame.line, number(row, 5));
    assert_int_equal(frame.inlined, number(row, 6));
    assert_int_equal(frame.bare, number(row, 7));
}

static void check_stack(struct session *session, sqlite3_stmt *row)
{
    struct session_error error;
    const uint32_t *frames;
    size_t count;
    char text[8192] = "";
    assert_true(session_stack_frames(session, (uint32_t)number(row, 0), &frames, &count, &error));
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%u", i ? "," : "", frames[i]);
    }
    assert_text(text, row, 1);
}

/* The same from the tree of stacks. */
static void check_nodes(struct session *session, sqlite3_stmt *row)
{
    char text[8192] = "";
    uint32_t node = session_stack_innermost(session, (uint32_t)number(row, 0));
    while (node != 0) {
        const struct session_stack_node at = session_stack_node(session, node);
        const size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%u", length > 0 ? "," : "", at.frame);
        assert_true(at.caller == 0 ||
                    (at.caller > node && at.caller <= session_stack_nodes(session)));
        node = at.caller;
    }
    assert_text(text, row, 1);
}

static const char stacks_query[] =
    "SELECT s.id, (SELECT group_concat(frame_id) FROM"
    " (SELECT frame_id FROM stack_frame WHERE stack_id = s.id ORDER BY depth)) FROM stack s";

static void test_frames(void **state)
{
    struct session *session = open_session();
    struct session_error error = {.column = 0};
    struct session_code_frame frame;
    const uint32_t *frames;
    size_t count;
    /* Their ids are 1 to their number. */
    const uint32_t last =
        (uint32_t)each(session,
                       ("SELECT f.id, module_id, pc, function_id, s.path, line, inlined, bare"
                        " FROM frame f LEFT JOIN source_file s ON s.id = f.source_file_id"),
                       check_frame);
    assert_true(last > 0);
    assert_false(session_code_frame(session, 0, &frame, &error));
    assert_true(session_code_frame(session, last, &frame, &error));
    assert_false(session_code_frame(session, last + 1, &frame, &error));
    /* One after the other, and all at once. */
    assert_int_equal(each(session, stacks_query, check_stack), session_stack_largest(session) + 1);
    assert_true(session_load_stacks(session, &error));
    assert_int_equal(each(session, stacks_query, check_stack), session_stack_largest(session) + 1);
    assert_int_equal(each(session, stacks_query, check_nodes), session_stack_largest(session) + 1);
    uint32_t *sites;
    assert_true(session_stack_sites(session, &sites, &error));
    for (uint32_t stack = 0; stack <= session_stack_largest(session); stack++) {
        uint32_t site;
        assert_true(session_stack_site_frame(session, stack, &site, &error));
        assert_int_equal(sites[stack] ? session_stack_node(session, sites[stack]).frame : 0, site);
    }
    free(sites);
    assert_false(
        session_stack_frames(session, session_stack_largest(session) + 1, &frames, &count, &error));
    assert_non_null(strstr(error.message, "no stack"));
    session_close(session);
}

static void test_arenas(void **state)
{
    struct session *session = open_session();
    struct session_error error = {.column = 0};
    const struct session_arena *arenas;
    size_t count;
    assert_true(session_arenas(session, &arenas, &count, &error));
    assert_int_equal(count, 2); /* the heap is not an arena */
    const struct session_arena expected = {1, 0, NULL, 10, 20, 30, 4, 5, 6, 7};
    assert_string_equal(arenas[0].name, "pool");
    assert_string_equal(arenas[1].name, "");
    assert_int_equal(arenas[1].id, 2);
    assert_int_equal(arenas[1].parent, 1);
    assert_memory_equal(&arenas[0].allocations, &expected.allocations,
                        sizeof(expected) - offsetof(struct session_arena, allocations));
    session_close(session);
    assert_true(fixture_sql(PATH, "UPDATE arena SET bytes = -1 WHERE id = 2"));
    session = open_session();
    assert_false(session_arenas(session, &arenas, &count, &error));
    assert_non_null(strstr(error.message, "table arena"));
    session_close(session);
    write_fixture();
}

static void test_processes(void **state)
{
    struct session *session = open_session();
    const struct session_process *processes;
    const struct session_thread *threads;
    assert_int_equal(session_processes(session, &processes), 2);
    assert_int_equal(processes[0].machine, 1);
    assert_string_equal(processes[0].host, "");
    assert_string_equal(processes[0].ending, "ended");
    assert_int_equal(processes[1].machine, 2);
    assert_string_equal(processes[1].host, "mill");
    assert_string_equal(processes[1].ending, "killed or running");
    const size_t count = session_threads(session, &threads);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(threads[i].process, threads[i].id < 3 ? 1 : 2);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules),   cmocka_unit_test(test_functions),
        cmocka_unit_test(test_frames),    cmocka_unit_test(test_arenas),
        cmocka_unit_test(test_processes),
    };
    write_fixture();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
