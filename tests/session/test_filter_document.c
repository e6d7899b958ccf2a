/* SPDX-License-Identifier: BSD-2-Clause */
/* The examples of schemas/filter-language.md run, and its table of errors is correct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/groups.h"
#include "session/session.h"

#define PATH "document.db"

static FILE *open_document(void)
{
    FILE *file = fopen(FILTER_DOCUMENT, "r");
    assert_non_null(file);
    return file;
}

static void test_examples(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error = {.column = 0};
    options.allocations = 500;
    assert_true(fixture_write(PATH, &options));
    struct session *session = session_open(PATH, &error);
    assert_non_null(session);
    FILE *file = open_document();
    char line[512];
    bool inside = false;
    int examples = 0;
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "```", 3) == 0) {
            inside = strcmp(line, "```filter") == 0;
            continue;
        }
        if (!inside)
            continue;
        struct graph_result *result = graph_run(session, line, &error);
        if (!result)
            fail_msg("%s: column %d: %s", line, error.column, error.message);
        graph_result_free(result);
        examples++;
    }
    fclose(file);
    session_close(session);
    assert_true(examples >= 25);
}

/* Reads `| `text` | column | message |` with "\|" for a bar in the text. Returns false for other
 * lines. */
static bool error_row(const char *line, char *text, int *column, char *message)
{
    if (strncmp(line, "| `", 3) != 0)
        return false;
    size_t length = 0;
    const char *at = line + 3;
    for (; *at != '\0' && *at != '`'; at++) {
        if (at[0] == '\\' && at[1] == '|')
            at++;
        text[length++] = *at;
    }
    text[length] = '\0';
    if (sscanf(at, "` | %d | %511[^|\n]", column, message) != 2)
        return false;
    message[strcspn(message, "\n")] = '\0';
    for (size_t end = strlen(message); end > 0 && message[end - 1] == ' '; end--)
        message[end - 1] = '\0';
    return true;
}

static void test_errors(void **state)
{
    FILE *file = open_document();
    char line[512];
    char text[512];
    char message[512];
    int column;
    int rows = 0;
    while (fgets(line, sizeof(line), file)) {
        struct session_error error = {.column = 0};
        if (strncmp(line, "## Warnings", 11) == 0)
            break;
        if (!error_row(line, text, &column, message))
            continue;
        assert_false(filter_check(text, &error));
        assert_int_equal(error.column, column);
        assert_string_equal(error.message, message);
        rows++;
    }
    fclose(file);
    assert_true(rows >= 5);
}

static void test_warnings(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    assert_true(fixture_write(PATH, &options));
    struct session *session = session_open(PATH, NULL);
    assert_non_null(session);
    FILE *file = open_document();
    char line[512];
    char text[512];
    char message[512];
    int column;
    int rows = 0;
    bool inside = false;
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "## ", 3) == 0)
            inside = strncmp(line, "## Warnings", 11) == 0;
        if (!inside || !error_row(line, text, &column, message))
            continue;
        const struct session_warning *warnings;
        struct selection *selection = selection_new(session, text, NULL);
        assert_non_null(selection);
        assert_int_equal(selection_warnings(selection, &warnings), 1);
        assert_string_equal(warnings[0].message, message);
        assert_int_equal(warnings[0].column, column);
        selection_free(selection);
        struct graph_result *result = graph_run(session, text, NULL);
        assert_int_equal(graph_result_warnings(result, &warnings), 1);
        assert_string_equal(warnings[0].message, message);
        graph_result_free(result);
        rows++;
    }
    fclose(file);
    session_close(session);
    assert_true(rows >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
