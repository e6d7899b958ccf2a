/* SPDX-License-Identifier: BSD-2-Clause */
/* The statement at a line of a source text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/types/source/source_statement.h"

static const char source[] = "int f(void)\n"                                /* 1 */
                             "{\n"                                          /* 2 */
                             "    int *p = malloc(sizeof *p); // new int\n" /* 3 */
                             "    struct a *a =\n"                          /* 4 */
                             "        malloc(sizeof(struct a) + /* ; */\n"  /* 5 */
                             "               strlen(\";\"));\n"             /* 6 */
                             "    for (i = 0; i < 3; i++)\n"                /* 7 */
                             "        use(new T[i]);\n"                     /* 8 */
                             "#define X 1\n"                                /* 9 */
                             "    q = calloc(1, sizeof(int)); r = 0;\n"     /* 10 */
                             "}\n";                                         /* 11 */

static void expect(uint32_t line, const char *expected)
{
    char statement[TYPES_STATEMENT_MAX];
    assert_true(types_source_statement_at(source, line, 0, statement));
    assert_string_equal(statement, expected);
}

static void test_statements(void **state)
{
    expect(3, "int *p = malloc(sizeof *p);");
    expect(5, "struct a *a = malloc(sizeof(struct a) + strlen());");
    expect(6, "struct a *a = malloc(sizeof(struct a) + strlen());");
    expect(8, "for (i = 0; i < 3; i++) use(new T[i]);");
    expect(10, "q = calloc(1, sizeof(int));");
}

static void expect_column(const char *text, uint32_t column, const char *expected)
{
    char statement[TYPES_STATEMENT_MAX];
    assert_true(types_source_statement_at(text, 1, column, statement));
    assert_string_equal(statement, expected);
}

/* If a line has several statements, the column selects one. Without it none is guessed. */
static void test_columns(void **state)
{
    char statement[TYPES_STATEMENT_MAX];
    static const char two[] = "a = new A; b = new B; b->c = 1;\n";
    static const char loop[] = "for (i = 0; i < 3; i++) { p[i] = new T; p[i]->n = i; }\n";
    expect_column(two, 5, "a = new A;");
    expect_column(two, 16, "b = new B;");
    expect_column(two, 23, "b->c = 1;");
    expect_column(loop, 34, "p[i] = new T;");
    assert_false(types_source_statement_at(two, 1, 4000000000u, statement));
    assert_false(types_source_statement_at(two, 1, 0, statement));
    assert_false(types_source_statement_at("p = malloc(1); q = malloc(2);\n", 1, 0, statement));
    assert_true(types_source_statement_at("p = malloc(1); *p = 2;\n", 1, 0, statement));
}

static void test_no_such_line(void **state)
{
    char statement[TYPES_STATEMENT_MAX];
    assert_false(types_source_statement_at(source, 0, 0, statement));
    assert_false(types_source_statement_at(source, 12, 0, statement));
    assert_false(types_source_statement_at(source, 4000000000u, 0, statement));
    assert_false(types_source_statement_at("", 1, 0, statement));
}

static void test_endless_statement(void **state)
{
    char text[4 * TYPES_STATEMENT_MAX], statement[TYPES_STATEMENT_MAX];
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_false(types_source_statement_at(text, 1, 0, statement));
}

static void test_quotes_without_end(void **state)
{
    char statement[TYPES_STATEMENT_MAX];
    assert_true(types_source_statement_at("a = \"open\nb;", 1, 0, statement));
    assert_true(types_source_statement_at("a = '\\", 1, 0, statement));
    assert_true(types_source_statement_at("a /* open", 1, 0, statement));
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static void test_files(void **state)
{
    char statement[TYPES_STATEMENT_MAX];
    struct types_sources *sources = types_sources_new(NULL);
    const time_t later = time(NULL) + 1000;
    assert_non_null(sources);
    write_file("statement-one.c", "\n\na = new A;\nb = new B;");
    write_file("statement-two.c", "c = new C;\n");
    assert_true(types_source_statement_read(sources, "statement-one.c", 3, 0, later, statement));
    assert_string_equal(statement, "a = new A;");
    assert_true(types_source_statement_read(sources, "statement-one.c", 4, 0, later, statement));
    assert_string_equal(statement, "b = new B;");
    assert_false(types_source_statement_read(sources, "statement-one.c", 5, 0, later, statement));
    assert_false(types_source_statement_read(sources, "statement-one.c", 0, 0, later, statement));
    assert_true(types_source_statement_read(sources, "statement-two.c", 1, 0, later, statement));
    assert_string_equal(statement, "c = new C;");
    assert_false(types_source_statement_read(sources, "statement-two.c", 2, 0, later, statement));
    assert_false(types_source_statement_read(sources, "statement-three.c", 1, 0, later, statement));
    /* Newer than the program, so it may be another text. */
    assert_false(types_source_statement_read(sources, "statement-one.c", 3, 0, 1, statement));
    assert_true(types_source_statement_read(sources, "statement-one.c", 3, 0, later, statement));
    types_sources_free(sources);
    remove("statement-one.c");
    remove("statement-two.c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),         cmocka_unit_test(test_columns),
        cmocka_unit_test(test_no_such_line),       cmocka_unit_test(test_endless_statement),
        cmocka_unit_test(test_quotes_without_end), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
