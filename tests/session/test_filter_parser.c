/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter texts: good ones, and the columns and reasons of errors in bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/tree.h"
#include "session/session.h"

static const char *const good[] = {
    "",
    "   ",
    "all",
    "live",
    "leaked",
    "live at 10ms",
    "live at 1.5s",
    "live at 0",
    "live at peak",
    "live at start",
    "live at end",
    "live at \"start up\"",
    "live at load",
    "all|where size>100",
    "where size > 100",
    "color by thread | top 5",
    "(where size > 10) & live",
    "where = live; where | sort size",
    "all | where size == 4K and count != 1 or address >= 0x7f0000000000",
    "all | where type ~ \"^std::(vector|map)<.*>$\" and not (confidence == candidate)",
    "all | where function !~ parse and caller == main",
    "all | where stack has \"main\" and not free_stack has free_node",
    "all | where stack == 17 or stack ~ \"run|loop\" or stack is not null",
    "all | where file == \"dict.c\" and line in 100..200",
    "all | where module == \"libc.so.6\" | where thread == 3 or thread == main",
    "all | where arena is null and kind == malloc",
    "all | where alloc_time in start..peak and free_time >= load",
    "all | where alloc_time in 10ms..20ms",
    "all | where lifetime in 1us..2.5ms and freed == true",
    "all | where freed != false and id in 1..100",
    "all | color red where size > 1M | color 208 | where color == red or color is null",
    "all | color by function",
    "all | color by alloc_time",
    "all | sort size desc | top 10",
    "all | sort function asc",
    "all | sort line",
    "all - live",
    "(all | where size > 10) & live at peak + leaked",
    "((all))",
    "big = all | where size > 1M; big - live",
    "\"my set\" = leaked; a = \"my set\" | top 5; a + \"my set\"",
    "all | where (size > 1 and (size < 3 or not not count == 1))",
    "all\n| where\tsize > 1\r\n",
    "all | where function == \"say \\\"hello\\\"\"",
    "all | where size <= 18446744073709551615",
    "all | where function == Größe",
    "all | join type | where bytes > 1M | sort bytes desc | top 10 | ungroup | sort size",
    "all | join type, function, frame 2, user, owner, stack | color red where peak_bytes > 1M",
    "join thread | sort thread | write \"a.csv\"",
    "all | join type | color by type | sum bytes",
    "all | fold 10K | where path ~ main and allocations > 1 | count",
    "count",
    "peak",
    "all | sum size",
    "all | avg lifetime",
    "all | max alloc_time",
    "live at load | growth load - 1ms..end",
    "growth \"a\" .. \"b\"",
    "g = all | join type | where bytes > 1M; g | sort bytes | ungroup | peak",
    "n = all | count; n",
    "live at peak - 1s",
    "live at peak - 1s + 20ms - live",
    "live at (load + 1s) - (live at start)",
    "live at 1s - live at start",
    "peak = live; live at end - peak",
    "live at (end - (load - 1s)) & all",
    "all | where lifetime > end - load and alloc_time in start - 1s .. peak + (end - peak)",
    "live at peak | where pins > 1M | sort pins | join size",
    "live at peak | where resident > 1M and resident is not null | sort resident desc",
    "unreachable + possibly | where reachability == root or retained > 1M | sort references desc",
    "live | held by (where type == A | holds (leaked)) | retained by (all) | join reachability",
    "holds (all) | sum retained",
    "session \"old.db\".unreachable - possibly",
    "(live at peak - (live at start)) & all | where size > 1 | where pins > 1M",
    "live at peak | join type | where bytes > 1M | ungroup | where pins > 4K",
    "all | where user == main and owner ~ \"^std::\" and frame 3 is null",
    "session \"old.db\"",
    "all - session \"old.db\"",
    "session \"old.db\".leaked | where size > 1",
    "session \"old.db\".live at peak - 1s - all",
    "session \"old.db\".(live at peak | where pins > 1M) & live",
    "session \"old.db\".growers",
    "session \"old.db\".grown(\"a\", peak - 1s) - leaked",
    "big = where size > 1M; session \"old.db\".big",
    "all | write \"a.json\" | where size > 1 | write \"b.db\"",
    "grown(A, B) = live at B - live at (A); grown(\"a\", \"b\")",
    "f(T, S, N, F) = live at T | where size > S and stack has F | top N; f(peak - 1s, 1M, 5, main)",
    "f(N, C, R) = where type ~ R and id == N | color red where color == C; f(5, 7, \"^a\")",
    "f(A) = live at peak - A; g(B) = f(B) + f(B + 1s); g(1s - 1ms)",
    "f(A, F) = join frame A | write F; f(2, \"a.csv\") | ungroup",
    "f(L) = where lifetime > L; f(end - peak) - f(1s)",
    "f(X) = session X . all; f(\"a.db\")",
    "all | where function ~ \"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+\"",
    "all | where function ~ \"[]+{9}[:alpha:]+{9}]+(ab{2,30}|c*){4}?\"",
};

static void test_good(void **state)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct session_error error = {.column = 0};
        if (!filter_check(good[i], &error))
            fail_msg("\"%s\": column %d: %s", good[i], error.column, error.message);
    }
    assert_true(filter_check(NULL, NULL));
}

static const struct {
    const char *text;
    int column;
    const char *message;
} bad[] = {
    {"some", 1, "no graph named \"some\""},
    {"all |", 6,
     "expected a step (where, color, sort, top, join, ungroup, count, sum, …), found the end"},
    {"all | wher size > 1", 7, "expected a step, found \"wher\": did you mean \"where\"?"},
    {"all where size > 1", 5, "expected \"|\" or the end, found \"where\""},
    {"all | where", 12, "expected a field"},
    {"all | where sise > 1", 13, "expected a field, found"},
    {"all | where size", 17, "expected an operator"},
    {"all | where size = 1", 18, "expected an operator"},
    {"all | where size >", 19, "expected a size (number, or number with K, M or G), found the end"},
    {"all | where size > 10ms", 20, "expected a size"},
    {"all | where size > 10k", 20, "expected a size"},
    {"all | where size > \"10\"", 20, "expected a size"},
    {"all | where size > 18446744073709551616", 20, "expected a number below 2^64"},
    {"all | where size > 99999999999G", 20, "expected a number below 2^64"},
    {"all | where size ~ \"1\"", 18, "size is not text"},
    {"all | where function > a", 22, "function has no order"},
    {"all | where function in a..b", 22, "function has no order for \"in\""},
    {"all | where function in (1)", 22, "only id, address, size, count, stack and free_stack of"},
    {"all | where thread in (1)", 20, "only id, address, size"},
    {"all | where id in ()", 20, "expected"},
    {"all | where id in (1", 21, "expected \",\", \"..\" or \")\""},
    {"all | where id in (1, )", 23, "expected"},
    {"all | where size in (1K)", 22, "expected"},
    {"all | join size | where size in (1)", 30, "only id, address"},
    {"all | where function == 5", 25, "expected a name"},
    {"all | where function ~ \"a(\"", 24, "bad regular expression"},
    {"all | where function ~ \"(a{100}){100}\"", 24, "multiply to more than 1000"},
    {"all | where function ~ \"((((((((((a*b*)+)+)+)+)+)+)+)+)+)+\"", 24,
     "multiply to more than 1000"},
    {"all | where function ~ \"a{99999999999999999999}\"", 24, "bad regular expression"},
    {"all | where function ~ \"((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+\"", 24,
     "multiply to more than 10000"},
    {"all | where function ~ \"a++++++++++++++++++++++++++++++++++++++++\"", 24,
     "multiply to more than 10000"},
    {"all | where function ~ \"[]+{9}[:alpha:]+{9}]{99}{99}{99}\"", 24,
     "multiply to more than 1000"},
    {"all | where function ~ \"(a)\\\\1\"", 24, "back reference"},
    {"all | where function has main", 22, "only stack and free_stack"},
    {"all | where lifetime > 10.%", 24, "expected a duration"},
    {"all | where size > 10%", 20, "expected a size"},
    {"all | where lifetime > 99999999999999%", 24, "2^64"},
    {"all | join crossed", 12, "join thread, free_thread"},
    {"all | where rises > 3", 13, "rises is a field of groups"},
    {"all | where lifetime > 10", 24, "expected a duration (number with ns, us, ms, s or %)"},
    {"all | where lifetime > 10min", 24, "expected a duration"},
    {"all | where alloc_time > 10", 26, "expected a time"},
    {"all | where alloc_time in 1s", 29, "expected \"..\", found the end"},
    {"all | where freed == 1", 22, "expected true or false"},
    {"all | where freed > true", 19, "freed has no order"},
    {"all | where count > 1.5", 21, "expected a whole number"},
    {"all | where count > 0x", 21, "expected a hexadecimal number"},
    {"all | where address == 0xg1", 24, "expected a hexadecimal number"},
    {"all | where size is null or", 28, "expected a field"},
    {"all | where size is nul", 21, "expected null, found \"nul\""},
    {"all | where (size > 1", 22, "expected and, or or \")\""},
    {"all | where bytes > 1", 13, "bytes is a field of groups, which only a join makes"},
    {"all | where function == \"abc", 25, "this string does not end"},
    {"all | where size > 1 @", 22, "this character means nothing here"},
    {"all | color", 12, "expected a colour"},
    {"all | color mauve", 13, "expected a colour"},
    {"all | color 256", 13, "expected a colour number from 0 to 255"},
    {"all | color by caller", 16, "cannot colour by caller"},
    {"all | sort", 11, "expected a field"},
    {"all | sort size upward", 17, "expected \"|\" or the end"},
    {"all | top", 10, "expected a number"},
    {"all | top 1K", 11, "expected a number"},
    {"all +", 6, "expected a set"},
    {"(all", 5, "expected \"|\" or \")\", found the end"},
    {"a = all", 8, "expected \"|\" or \";\", found the end"},
    {"a = a; a", 5, "no graph named \"a\" before this place"},
    {"a = all; a = live; a", 10, "there is already a graph named \"a\""},
    {"live = all; live", 1, "\"live\" is already a set"},
    {"a = all;", 9, "expected a set"},
    {"all | where function == \"Größe\" !", 33, "means nothing here"},
    {"live at", 8, "expected a time"},
    {"live at 5", 9, "expected a time"},
    {"all | fold 10s", 12, "expected a size"},
    {"all | join", 11, "expected a field"},
    {"all | join type, type", 18, "type is joined already"},
    {"all | join frame 1, frame 1", 21, "frame is joined already"},
    {"all | join frame", 17, "expected a number, found the end"},
    {"all | join frame 4294967296", 18, "no stack has so many frames"},
    {"all | join id", 12, "id has too many values to join by"},
    {"all | join bytes", 12, "bytes is a field of groups"},
    {"all | join type | join type", 19, "join works on allocations, and these are groups"},
    {"all | join type | where function == a", 25, "function is a field of allocations"},
    {"all | join frame 1 | sort frame 2", 27, "frame is a field of allocations"},
    {"all | join type | where byte > 1", 25,
     "expected a field of groups, found \"byte\": did you mean \"bytes\"?"},
    {"all | join type | process a", 27, "process is a field of allocations"},
    {"all | fold 10K | where type == a", 24, "type is a field of allocations"},
    {"all | where path == a", 13, "path is a field of the groups that fold makes"},
    {"all | ungroup", 7, "ungroup works on groups"},
    {"all | join type | growth start..end", 19, "growth works on allocations"},
    {"all | count | write \"a.csv\"", 15, "the step before write gives one number"},
    {"n = all | count; n - all", 18, "- needs allocations, and this is one number"},
    {"g = all | join type; all & g", 28, "& needs allocations, and these are groups"},
    {"(all | join type) + all", 1, "+ needs allocations, and these are groups"},
    {"all | sum id", 11, "id cannot be added"},
    {"all | avg alloc_time", 11, "alloc_time cannot be added"},
    {"all | min type", 11, "type cannot be put in order of size"},
    {"all | growth start", 19, "expected \"..\""},
    {"all | growth start..5", 21, "expected a time"},
    {"all | write", 12, "expected the name of a file"},
    {"all | write \"a.txt\"", 13, "ends in .csv, .json or .db"},
    {"all | join type | write \"a.db\"", 25, "a session has allocations"},
    {"session", 8, "expected the file of a session in quotes, found the end"},
    {"session old", 9, "expected the file of a session in quotes, found \"old\""},
    {"session \"a.db\".session \"b.db\"", 16, "expected a set of that session"},
    {"session \"a.db\".(all | join type)", 16, "session needs allocations"},
    {"all | where pins > 1M", 13, "pins needs the time"},
    {"all | sum resident", 11, "resident needs the time"},
    {"live at peak + leaked | where pins > 1M", 31, "pins needs the time"},
    {"unreachable | where pins > 1M", 21, "pins needs the time"},
    {"unreachable = live; all", 1, "\"unreachable\" is already a set"},
    {"all | held (live)", 12, "expected by"},
    {"all | held by live", 15, "expected a filter in parentheses"},
    {"all | retained by (live", 24, "expected \"|\" or \")\""},
    {"all | holds (join type)", 13, "holds needs a filter that gives allocations, and these are"},
    {"all | retained by (count)", 19, "retained by needs a filter that gives allocations"},
    {"all | join type | held by (all)", 19, "held works on allocations"},
    {"all | join retained", 12, "retained has too many values to join by"},
    {"all | where reachability > root", 26, "reachability has no order"},
    {"live | join type | where pins > 1", 26, "pins is a field of allocations"},
    {"live at peak + end", 9, "expected a time"},
    {"live at 1s - peak", 9, "expected a time"},
    {"live at peak - big", 16, "no graph named \"big\""},
    {"live at (peak", 14, "expected +, - or \")\""},
    {"all | where lifetime > peak", 24, "expected a duration"},
    {"all | where lifetime > peak + 1s", 24, "expected a duration: a number, or one time minus"},
    {"f(A) = all | where size > A; f", 30, "the graph \"f\" needs 1 value, found 0"},
    {"f(A) = all | where size > A; f(1, 2)", 31, "the graph \"f\" needs 1 value, found 2"},
    {"f = all; f(1)", 11, "the graph \"f\" needs 0 values, found 1"},
    {"f(A) = all | where size > A; f(x)", 32, "expected a size"},
    {"f(A) = all | where sise > A; f(1)", 20, "did you mean \"size\"?"},
    {"f(A) = all | where A > 1; f(1)", 20, "found the parameter \"A\", which is a value"},
    {"f(A) = A; f(all)", 8, "found the parameter \"A\", which is a value"},
    {"f(A, A) = all; f(1, 2)", 6, "there is already a parameter \"A\""},
    {"f() = all; f", 3, "expected the name of a parameter"},
    {"f(A) = all | where size > A; f()", 32, "expected a value"},
    {"f(A) = all | where size > A; f(1", 33,
     "expected a value (a name, a number or a time), found"},
    {"f(A) = live at A; f(all | top 1)", 25, "expected a value"},
    {"f(A) = f(A); f(1)", 8, "no graph named \"f\""},
    {"all | color gren", 13, "did you mean \"green\"?"},
    {"al", 1,
     "no graph named \"al\" before this place (expected all, live, leaked, a name or a "
     "parenthesis)"},
    {"leakd", 1, "did you mean \"leaked\"?"},
};

static void test_bad(void **state)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct session_error error = {.column = 0};
        if (filter_check(bad[i].text, &error))
            fail_msg("\"%s\" should be refused", bad[i].text);
        if (error.column != bad[i].column || !strstr(error.message, bad[i].message))
            fail_msg("\"%s\": column %d: %s", bad[i].text, error.column, error.message);
    }
}

/* Returns `part` `count` times, between `before` and `after`. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    char *text = malloc(strlen(before) + strlen(part) * count + strlen(after) + 1);
    assert_non_null(text);
    char *end = stpcpy(text, before);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, part);
    stpcpy(end, after);
    return text;
}

static void test_nesting(void **state)
{
    static const struct {
        const char *before, *part;
        size_t count;
    } deep[] = {
        {"", "(", 100000},
        {"all | where ", "(", 100000},
        {"all | where ", "not ", 100000},
        {"all | where size > 1", " and size > 1", 100000},
        {"all | where size > 1", " or size > 1", 100000},
        {"all", " + all", 100000},
    };
    for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
        struct session_error error = {.column = 0};
        char *text = repeated(deep[i].before, deep[i].part, deep[i].count, "");
        assert_false(filter_check(text, &error));
        assert_non_null(strstr(error.message, "nested more than 100 deep"));
        assert_true(error.column > 100);
        free(text);
    }
    /* A long chain of steps does not count as nesting. */
    char *text = repeated("all", " | where size > 1", 5000, "");
    assert_true(filter_check(text, NULL));
    free(text);
}

/* ---- saved filters ---- */

static const char *const stored[][2] = {
    {"big", "where size > 1M"},
    {"grown", "grown(A, B) = live at B - live at (A);"},
    {"helped", "h(N) = where size > N; helped(N) = h(N) | join type;"},
    {"uses", "big | where function == main"},
    {"wrong", "all | where sise > 1"},
    {"outer", "all - wrong"},
    {"loop", "pool | top 1"},
    {"pool", "loop"},
    {"other", "name = all;"},
    {"saves", "all | write \"a.csv\""},
    {"bad_values", "grown(all, 10K)"},
};
#define STORED (sizeof(stored) / sizeof(stored[0]))

static char *find_stored(void *context, const char *name, const char **origin)
{
    *origin = "shipped";
    for (size_t i = 0; i < STORED; i++) {
        if (strcmp(stored[i][0], name) == 0)
            return strdup(stored[i][1]);
    }
    return NULL;
}

static char *known_stored(void *context, size_t n)
{
    return n < STORED ? strdup(stored[n][0]) : NULL;
}

static const struct filter_names stored_names = {.find = find_stored, .known = known_stored};

static void test_stored(void **state)
{
    static const struct {
        const char *text;
        int column; /* 0: the text is good */
        const char *message;
    } texts[] = {
        {"big", 0, ""},
        {"uses - big | sort size", 0, ""},
        {"grown(\"a\", peak - 1s) & grown(start, end)", 0, ""},
        {"helped(5) | where bytes > 1M | ungroup | where size < 10", 0, ""},
        {"big = leaked; big", 0, ""},
        {"g(X) = grown(X, X + 1s); g(peak)", 0, ""},
        {"all | where h(5)", 13, "expected a field"},
        {"h(5)", 1, "no graph named \"h\""},
        {"grow(1s, 2s)", 1,
         "no graph named \"grow\" before this place (expected all, live, leaked, "
         "a name or a parenthesis): did you mean \"grown\"?"},
        {"all - wrong", 7,
         "graph \"wrong\" (shipped), column 13: expected a field, found \"sise\": did you mean "
         "\"size\"?"},
        {"live & outer", 8, "graph \"wrong\" (shipped), column 13: expected a field"},
        {"live - loop", 8, "graph \"pool\" (shipped), column 1: the graph \"loop\" uses itself"},
        {"all + other", 7, "graph \"other\" (shipped), column 12: expected a pipeline"},
        {"all + grown(1s, 10K)", 17, "expected a time"},
        {"all + grown(1s)", 12, "the graph \"grown\" needs 2 values, found 1"},
        {"all + bad_values", 7, "graph \"bad_values\" (shipped): expected a time"},
        {"g(X) = grown(X, X); g(10K)", 23, "expected a time"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct session_error error = {.column = 0};
        struct filter_graph *graph = filter_parse_named(texts[i].text, &stored_names, &error);
        if ((graph != NULL) != (texts[i].column == 0) || error.column != texts[i].column ||
            !strstr(error.message, texts[i].message))
            fail_msg("\"%s\": column %d: %s", texts[i].text, error.column, error.message);
        filter_graph_free(graph);
    }
}

static void test_check_stored(void **state)
{
    struct session_error error = {.column = 0};
    assert_true(filter_check_stored("a", "b(N) = top N; a(N) = b(N);", NULL, NULL));
    assert_true(filter_check_stored("a", "b = all; b | top 5", NULL, NULL));
    assert_true(filter_check_stored("a", "big | top 5", &stored_names, NULL));
    assert_false(filter_check_stored("a", "b = all;", NULL, &error));
    assert_int_equal(error.column, 9);
    assert_false(filter_check_stored("a", "big | topp 5", &stored_names, &error));
    assert_int_equal(error.column, 7);
    assert_non_null(strstr(error.message, "did you mean \"top\"?"));
    assert_false(filter_check_stored("a", "", NULL, &error));
    assert_int_equal(error.column, 1);
}

/* Uses of graphs cannot make a short text need much time or memory. */
static void test_uses(void **state)
{
    char text[4096] = "f0(A) = all | where size > A;";
    for (int i = 1; i < 40; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "f%d(A) = f%d(A) + f%d(A);", i,
                 i - 1, i - 1);
    strcat(text, "f39(1)");
    struct session_error error = {.column = 0};
    assert_false(filter_check(text, &error));
    assert_non_null(strstr(error.message, "more than 1000 uses of graphs"));
    char *longer = repeated("f(A) = all", " | where size > A", 5000, ";all");
    assert_true(filter_check(longer, NULL));
    free(longer);
    longer = repeated("f(A) = all", " | where size > A", 5000, "; g = f(1);");
    char *many = repeated(longer, "g - f(2) - f(3) - f(4) - f(5) - f(6) - f(7) - ", 4, "all");
    assert_false(filter_check(many, &error));
    assert_non_null(strstr(error.message, "the filter is too long"));
    free(many);
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),         cmocka_unit_test(test_bad),
        cmocka_unit_test(test_nesting),      cmocka_unit_test(test_stored),
        cmocka_unit_test(test_check_stored), cmocka_unit_test(test_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
