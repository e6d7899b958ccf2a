/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs as diagrams: their boxes, and the texts that are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/graphs.h"

/* Writes the boxes as "TEXT(INPUT INPUT); …". */
static const char *boxes(const char *text)
{
    static char out[4000];
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    if (!session_diagram_read(&diagram, text, &error))
        return strcpy(out, error.message);
    size_t length = 0;
    for (size_t i = 0; i < diagram.count; i++) {
        length += (size_t)snprintf(out + length, sizeof(out) - length, "%s[%s", i ? " " : "",
                                   diagram.boxes[i].text);
        for (size_t k = 0; k < session_box_inputs(&diagram.boxes[i]); k++)
            length += (size_t)snprintf(out + length, sizeof(out) - length, " %zu",
                                       diagram.boxes[i].input[k]);
        length += (size_t)snprintf(out + length, sizeof(out) - length, "]");
    }
    session_diagram_clear(&diagram);
    return out;
}

static void test_boxes(void **state)
{
    assert_string_equal(boxes("all"), "[all]");
    assert_string_equal(boxes(""), "[all]");
    assert_string_equal(boxes("where size > 1K"), "[all] [where size > 1K 0]");
    assert_string_equal(boxes("live at peak - (live at start) | join type | top 3"),
                        "[live at peak] [live at start] [- 0 1] [join type 2] [top 3 3]");
    assert_string_equal(boxes("live at peak - 1s + 5ms & leaked"),
                        "[live at peak - 1s + 5ms] [leaked] [& 0 1]");
    assert_string_equal(boxes("a + b | where size in (1, 3 .. 5) or (count > 2)"),
                        "[a] [b] [+ 0 1] [where size in (1, 3 .. 5) or (count > 2) 2]");
    assert_string_equal(
        boxes("(all | where type == \"a|b;(\") & session \"x - y\".(live | top 1)"),
        "[all] [where type == \"a|b;(\" 0] [session \"x - y\".(live | top 1)] [& 1 2]");
    assert_string_equal(boxes("big = all | where size >= 1M; big - leaked | sort alloc_time"),
                        "[big] [leaked] [- 0 1] [sort alloc_time 2]");
    assert_string_equal(boxes("grown(1s, peak - 1s) + all"),
                        "[grown(1s, peak - 1s)] [all] [+ 0 1]");
    assert_string_equal(boxes("all)"), "the text is not a graph");
}

/* Returns the first text that a chain of changes gives. */
static char *change(const char *text, char *(*make)(const struct session_diagram *, size_t),
                    size_t box)
{
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    assert_true(session_diagram_read(&diagram, text, &error));
    char *made = make(&diagram, box);
    session_diagram_clear(&diagram);
    return made;
}

static char *change_by(const char *text,
                       char *(*make)(const struct session_diagram *, size_t, const char *),
                       size_t box, const char *by)
{
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    assert_true(session_diagram_read(&diagram, text, &error));
    char *made = make(&diagram, box, by);
    session_diagram_clear(&diagram);
    return made;
}

static void expect(char *made, const char *wanted)
{
    struct session_error error = {.message = ""};
    assert_string_equal(made, wanted);
    if (!filter_check(made, &error))
        fail_msg("%s: column %d: %s", made, error.column, error.message);
    free(made);
}

static void test_changes(void **state)
{
    const char *text = "live at peak - leaked | where size > 1K | top 3";
    expect(change(text, session_diagram_text, 2), "(live at peak) - leaked");
    expect(change(text, session_diagram_text, 0), "live at peak");
    expect(change(text, session_diagram_swapped, 2),
           "leaked - (live at peak) | where size > 1K | top 3");
    expect(change(text, session_diagram_removed, 3), "(live at peak) - leaked | top 3");
    expect(change(text, session_diagram_removed, 2), "live at peak | where size > 1K | top 3");
    expect(change(text, session_diagram_removed, 1),
           "(live at peak) - all | where size > 1K | top 3");
    expect(change_by(text, session_diagram_replaced, 3, "where count == 2"),
           "(live at peak) - leaked | where count == 2 | top 3");
    expect(change_by(text, session_diagram_replaced, 1, "live at 2s"),
           "(live at peak) - (live at 2s) | where size > 1K | top 3");
    expect(change_by(text, session_diagram_inserted, 1, "where size < 9"),
           "(live at peak) - (leaked | where size < 9) | where size > 1K | top 3");
    expect(change_by(text, session_diagram_inserted, 0, "& all"),
           "((live at peak) & all) - leaked | where size > 1K | top 3");
    expect(change_by(text, session_diagram_inserted, 4, "+ live at 2s"),
           "((live at peak) - leaked | where size > 1K | top 3) + live at 2s");
    expect(change_by("x = leaked; x", session_diagram_inserted, 0, "join type"),
           "x = leaked; x | join type");
}

/* A text and the text of its diagram have the same diagram. */
static void test_forth_and_back(void **state)
{
    static const char *const texts[] = {
        "all - (live - (leaked - all))",
        "((all + live) & (leaked | where size > 1)) - live at 1s | color red where size > 3",
        "live at (end - 1s) - live at 2s + all | growth start..end - 5%",
        "where stack has \"a b\" and not (size in 1 .. 2 or freed == true) | write \"x;y.csv\"",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char before[4000];
        struct session_diagram diagram;
        struct session_error error = {.message = ""};
        assert_true(session_diagram_read(&diagram, texts[i], &error));
        char *text = session_diagram_text(&diagram, diagram.count - 1);
        session_diagram_clear(&diagram);
        strcpy(before, boxes(texts[i]));
        assert_string_equal(boxes(text), before);
        free(text);
    }
}

/* Steps and operators that are the same are one box, whatever sets they begin with. */
static void test_shared_boxes(void **state)
{
    assert_string_equal(boxes("(all | where size > 1 | top 3) - (all | where size > 1)"),
                        "[all] [where size > 1 0] [top 3 1] [- 2 1]");
    assert_string_equal(boxes("(all | where size > 1) & (leaked | where size > 1)"),
                        "[all] [where size > 1 0] [leaked] [where size > 1 2] [& 1 3]");
    assert_string_equal(boxes("all - all"), "[all] [all] [- 0 1]");
    assert_string_equal(boxes("(a + b | top 1) & (a + b | top 2)"),
                        "[a] [b] [+ 0 1] [top 1 2] [top 2 2] [& 3 4]");
    /* A change of such a box is one of all its places. */
    expect(change_by("(all | where size > 1 | top 3) - (all | where size > 1)",
                     session_diagram_replaced, 1, "where size > 2"),
           "(all | where size > 2 | top 3) - (all | where size > 2)");
}

static char *wire(const char *text, size_t from, size_t to, size_t input)
{
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    assert_true(session_diagram_read(&diagram, text, &error));
    char *made = session_diagram_circles(&diagram, from, to)
                     ? strdup("all")
                     : session_diagram_wired(&diagram, from, to, input);
    session_diagram_clear(&diagram);
    return made;
}

static char *join(const char *text, size_t from, size_t to, char operator_)
{
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    assert_true(session_diagram_read(&diagram, text, &error));
    char *made = session_diagram_joined(&diagram, from, to, operator_);
    session_diagram_clear(&diagram);
    return made;
}

static void test_lines(void **state)
{
    static const char text[] = "(live at peak | where size > 9 | top 3) & leaked | top 1";
    (void)state; /* 0 live, 1 where, 2 top 3, 3 leaked, 4 &, 5 top 1 */
    expect(wire(text, 1, 4, 1),
           "(live at peak | where size > 9 | top 3) & (live at peak | where size > 9) | top 1");
    expect(wire(text, 1, 4, 0), "(live at peak | where size > 9) & leaked | top 1");
    expect(wire(text, 2, 5, 0), "live at peak | where size > 9 | top 3 | top 1");
    expect(wire(text, 3, 1, 0), "(leaked | where size > 9 | top 3) & leaked | top 1");
    /* Circles. */
    expect(wire(text, 4, 1, 0), "all");
    expect(wire(text, 2, 2, 0), "all");
    expect(wire(text, 5, 4, 1), "all");
    expect(join(text, 1, 3, '-'), "(live at peak | where size > 9 | top 3) & (leaked - (live at "
                                  "peak | where size > 9)) | top 1");
    expect(join("x = leaked; x & all | top 2", 3, 1, '+'),
           "x = leaked; x & (all + (x & all | top 2)) | top 2");
}

/* Returns the text of a diagram with a box opened, or the error. */
static char *open_box(const char *text, size_t box, const char *stored)
{
    struct session_diagram diagram;
    struct session_error error = {.message = ""};
    assert_true(session_diagram_read(&diagram, text, &error));
    char *made = session_diagram_opened(&diagram, box, stored, &error);
    session_diagram_clear(&diagram);
    return made ? made : strdup(error.message);
}

static void expect_text(char *made, const char *wanted)
{
    assert_string_equal(made, wanted);
    free(made);
}

static void test_opened(void **state)
{
    expect(open_box("big & leaked", 0, "all |\n\twhere size > 1K\n"),
           "(all | where size > 1K) & leaked");
    expect(open_box("big | top 1", 0, "all + leaked"), "all + leaked | top 1");
    /* Definitions come along, and the last one may be the graph. */
    expect(open_box("big", 0, "x = leaked; x | top 1"), "x = leaked; x | top 1");
    expect(open_box(
               "big(2K, 3s) & all", 0,
               "x = leaked; big(size_, t) = live at t + x | where size > size_ and type != \"t\";"),
           "x = leaked; (live at 3s + x | where size > 2K and type != \"t\") & all");
    expect(open_box("x = leaked; big & x", 0, "x = leaked; x | top 1"),
           "x = leaked; (x | top 1) & x");
    /* Those of the text itself come before a saved filter. */
    expect(open_box("big(n) = all | where size > n; big(1) - leaked", 0, "all"),
           "big(n) = all | where size > n; (all | where size > 1) - leaked");
    expect_text(open_box("x = all; big & x", 0, "x = leaked; x"),
                "it defines \"x\", which means something else here");
    expect_text(open_box("big & x", 0, "x = leaked; x"),
                "it defines \"x\", which means something else here");
    expect_text(open_box("big(1) & all", 0, "big(a, b) = live at a - live at b;"),
                "\"big\" has another number of parameters");
    static const struct {
        const char *text, *name; /* "": none */
    } names[] = {{"big", "big"},       {"big(1, (2))", "big"},
                 {"all", ""},          {"leaked", ""},
                 {"live at peak", ""}, {"live", ""},
                 {"big at 2", ""},     {"session \"x.db\".leaked", ""},
                 {"big(1) x", ""}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[70] = "";
        struct session_diagram diagram;
        struct session_error error = {.message = ""};
        if (!session_diagram_read(&diagram, names[i].text, &error))
            continue;
        assert_int_equal(session_diagram_name(&diagram, 0, name, sizeof(name)),
                         names[i].name[0] != 0);
        if (names[i].name[0])
            assert_string_equal(name, names[i].name);
        session_diagram_clear(&diagram);
    }
}

static void test_limit(void **state)
{
    char text[8 * SESSION_BOXES_MAX] = "all";
    for (int i = 0; i < SESSION_BOXES_MAX; i++)
        strcat(text, "|top 1");
    assert_string_equal(boxes(text),
                        "a diagram shows at most 200 boxes; give a part of the graph a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),          cmocka_unit_test(test_changes),
        cmocka_unit_test(test_forth_and_back), cmocka_unit_test(test_shared_boxes),
        cmocka_unit_test(test_lines),          cmocka_unit_test(test_opened),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
