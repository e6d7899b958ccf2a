/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_graph SESSION GRAPH...: runs filter graphs and prints each result as lines of fields with
 * tabs between them, after a line with the graph. Allocations: their ids. Groups: a line with the
 * names of keys and measures, then a line for each group. A measure: name, value, standard error
 * and parts. Exit status 1 if a graph does not run.
 *
 * Null is "-"; keys that have an id are printed by id.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/groups.h"

static struct session_error error;

static bool fail(void)
{
    fprintf(stderr, "column %d: %s\n", error.column, error.message);
    return false;
}

static void print_key(const struct session_group_set *set, size_t row, size_t key,
                      enum session_key_type type)
{
    char text[65536];
    const struct session_group_key value = session_group_key(set, row, key);
    if (type == KEY_ID && !value.is_null) {
        printf("%" PRIu64 "\t", value.id);
        return;
    }
    session_group_key_text(set, row, key, text, sizeof(text));
    printf("%s\t", text);
}

static bool print_groups(struct session_group_set *set)
{
    const struct session_key_column *columns;
    const size_t keys = session_groups_keys(set, &columns);
    for (size_t i = 0; i < keys; i++)
        printf("%s\t", columns[i].name);
    for (int i = 0; i < MEASURE_TOTAL; i++)
        printf("%s\t", session_group_measure_name((enum session_group_measure)i));
    printf("color\n");
    for (size_t row = 0; row < session_groups_count(set); row++) {
        for (size_t i = 0; i < keys; i++)
            print_key(set, row, i, columns[i].type);
        for (int i = 0; i < MEASURE_TOTAL; i++) {
            uint64_t value;
            if (!session_group_value(set, row, (enum session_group_measure)i, &value, &error))
                return fail();
            printf("%" PRIu64 "\t", value);
        }
        printf("%d\n", session_group_color(set, row));
    }
    return true;
}

static void print_measure(const struct session_measure *measure)
{
    printf("%s\t", measure->name ? measure->name : "?");
    if (measure->is_null)
        printf("-");
    else
        printf("%s%" PRIu64, measure->negative ? "-" : "", measure->value);
    printf("\t%g", measure->standard_error);
    for (size_t i = 0; i < measure->part_count; i++)
        printf("\t%s=%" PRIu64, measure->part[i].name, measure->part[i].value);
    printf("\n");
}

static bool print_graph(struct session *session, const char *text)
{
    struct graph_result *result = graph_run(session, text, &error);
    bool good = true;
    if (!result)
        return fail();
    printf("# %s\n", text);
    switch (graph_result_kind(result)) {
    case RESULT_GROUPS:
        good = print_groups(graph_result_groups(result));
        break;
    case RESULT_MEASURE:
        print_measure(graph_result_measure(result));
        break;
    case RESULT_ALLOCATIONS: {
        struct session_allocation allocation;
        for (uint64_t n = 0; selection_row(graph_result_selection(result), n, &allocation); n++)
            printf("%" PRIu64 "\n", allocation.id);
        break;
    }
    }
    graph_result_free(result);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: print_graph SESSION GRAPH...\n");
        return 2;
    }
    struct session *session = session_open(argv[1], &error);
    if (!session) {
        fail();
        return 1;
    }
    bool good = true;
    for (int i = 2; good && i < argc; i++)
        good = print_graph(session, argv[i]);
    session_close(session);
    return good ? 0 : 1;
}
