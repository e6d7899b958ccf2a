/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the sums by source line with plain computations over all rows and frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rows.h"
#include "session/source.h"
#include "session/stacks.h"
#include "session/user_code.h"

#define PATH "source.db"
#define FRAMES 200

static struct session *session;
static struct session_error error;
static struct row *rows;
static size_t row_count;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 6000;
    assert_true(fixture_write(PATH, &options));
    session = session_open(PATH, &error);
    assert_non_null(session);
    rows = rows_load(PATH, &row_count);
    return 0;
}

static int close_fixture(void **state)
{
    session_close(session);
    free(rows);
    return 0;
}

/* Returns true if a stack passes through a line of a file; line 0: through the file. */
static bool passes(uint32_t stack, const char *path, uint32_t line)
{
    struct session_frame frames[FRAMES];
    const size_t count = session_stack(session, stack, frames, FRAMES);
    assert_true(count <= FRAMES);
    for (size_t i = 0; i < count; i++)
        if (strcmp(frames[i].file, path) == 0 && (line == 0 || frames[i].line == line))
            return true;
    return false;
}

static bool is_site(uint32_t stack, const char *path, uint32_t line)
{
    struct session_frame frames[FRAMES];
    const size_t place = session_stack_call_site(session, stack);
    return session_stack(session, stack, frames, FRAMES) > place &&
           strcmp(frames[place].file, path) == 0 && frames[place].line == line;
}

static void add(struct session_source_line *sums, const struct row *row, bool own)
{
    const uint64_t peak = session_peak_ns(session);
    sums->allocations++;
    sums->bytes += row->size;
    sums->own_bytes += own ? row->size : 0;
    if (row->free_ns == UINT64_MAX) {
        sums->live_count++;
        sums->live_bytes += row->size;
    }
    if (row->alloc_ns <= peak && row->free_ns > peak)
        sums->at_peak_bytes += row->size;
}

/* Returns true if a frame of the user's own code is in a file. */
static bool is_own(const char *path, const bool *own)
{
    for (size_t r = 0; r < row_count; r++) {
        struct session_frame frames[FRAMES];
        const size_t count = session_stack(session, rows[r].stack, frames, FRAMES);
        for (size_t i = 0; i < count; i++)
            if (strcmp(frames[i].file, path) == 0 && own[frames[i].function])
                return true;
    }
    return false;
}

/* Returns the function that a line is part of, 0 if stacks name several. */
static uint32_t function_of(const char *path, uint32_t line)
{
    uint32_t function = 0;
    for (size_t r = 0; r < row_count; r++) {
        struct session_frame frames[FRAMES];
        const size_t count = session_stack(session, rows[r].stack, frames, FRAMES);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(frames[i].file, path) != 0 || frames[i].line != line)
                continue;
            if (function != 0 && strcmp(session_function_name(session, function),
                                        session_function_name(session, frames[i].function)) != 0)
                return 0;
            function = function != 0 ? function : frames[i].function;
        }
    }
    return function;
}

static void check_line(struct selection *selection, const char *path,
                       const struct session_source_line *line)
{
    struct session_source_line sums = {.line = line->line,
                                       .function = function_of(path, line->line)};
    for (size_t i = 0; i < row_count; i++)
        if (selection_contains(selection, rows[i].id) && passes(rows[i].stack, path, line->line))
            add(&sums, &rows[i], is_site(rows[i].stack, path, line->line));
    assert_memory_equal(&sums, line, sizeof(sums));
}

/* Compares what the test for the stacks of a line, or with line 0 of a file, selects. */
static void check_stacks(const char *filter, const char *path, uint32_t line, uint64_t bytes)
{
    char *test = NULL, *text = NULL;
    assert_true(session_source_stacks(session, path, line, &test, &error));
    assert_non_null(test);
    const size_t size = strlen(filter) + strlen(test) + 20;
    text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%s | where %s", filter, test);
    struct selection *selection = selection_new(session, text, &error);
    assert_non_null(selection);
    assert_int_equal(selection_bytes(selection), bytes);
    selection_free(selection);
    free(text);
    free(test);
}

static void check_files(const char *filter)
{
    struct session_source_file *files;
    struct session_source_line *lines;
    size_t count, line_count, functions, several = 0;
    bool *own;
    struct selection *selection = selection_new(session, filter, &error);
    assert_non_null(selection);
    assert_true(selection_source_files(selection, &files, &count, &error));
    assert_true(count > 3);
    assert_true(session_own_functions(session, &own, &functions, &error));
    for (size_t i = 0; i < count; i += 3) {
        uint64_t bytes = 0;
        for (size_t r = 0; r < row_count; r++)
            if (selection_contains(selection, rows[r].id) &&
                passes(rows[r].stack, files[i].path, 0))
                bytes += rows[r].size;
        assert_int_equal(files[i].bytes, bytes);
        assert_int_equal(files[i].own, is_own(files[i].path, own));
        assert_true(selection_source(selection, files[i].path, &lines, &line_count, &error));
        assert_true(line_count > 0);
        for (size_t n = 0; n < line_count; n += 5)
            check_line(selection, files[i].path, &lines[n]);
        check_stacks(filter, files[i].path, 0, files[i].bytes);
        check_stacks(filter, files[i].path, lines[0].line, lines[0].bytes);
        for (size_t n = 1; n < line_count; n++)
            assert_true(lines[n - 1].line < lines[n].line);
        several += line_count > 1;
        free(lines);
    }
    assert_true(several > 0);
    free(files);
    free(own);
    selection_free(selection);
}

static void test_lines(void **state)
{
    check_files("all");
    check_files("all | where size > 200");
}

static void test_no_file(void **state)
{
    struct session_source_line *lines;
    size_t count;
    struct selection *selection = selection_new(session, "all", &error);
    assert_non_null(selection);
    assert_true(selection_source(selection, "/no/such/file.c", &lines, &count, &error));
    assert_int_equal(count, 0);
    free(lines);
    assert_true(selection_source(selection, "", &lines, &count, &error));
    assert_int_equal(count, 0);
    free(lines);
    selection_free(selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_no_file)};
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
