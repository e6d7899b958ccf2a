/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a graph of the command line and prints its result. Its steps `write` make files. */
#include <inttypes.h>

#include "session/groups.h"
#include "tui/browser/stored_graphs.h"

static void print_number(FILE *out, const char *name, enum session_unit unit, uint64_t value,
                         const char *sign)
{
    static const char *const units[] = {[UNIT_NUMBER] = "",
                                        [UNIT_BYTES] = " bytes",
                                        [UNIT_DURATION] = " ns",
                                        [UNIT_MOMENT] = " ns"};
    fprintf(out, "%s: %s%" PRIu64 "%s\n", name, sign, value, units[unit]);
}

static void print_measure(const struct session_measure *measure, FILE *out)
{
    char name[1024];
    session_printable(name, sizeof(name), measure->name);
    if (measure->is_null)
        fprintf(out, "%s: none\n", name);
    else
        print_number(out, name, measure->unit, measure->value, measure->negative ? "-" : "");
    for (size_t i = 0; !measure->is_null && i < measure->part_count; i++)
        print_number(out, measure->part[i].name, measure->part[i].unit, measure->part[i].value, "");
    if (measure->estimated)
        fputs("estimated: the session is sampled\n", out);
}

static void print_allocations(const struct selection *selection, FILE *out)
{
    print_number(out, "allocations", UNIT_NUMBER, selection_allocations(selection), "");
    print_number(out, "bytes", UNIT_BYTES, selection_bytes(selection), "");
}

static void print_result(struct graph_result *result, FILE *out)
{
    const struct graph_side *sides;
    const size_t count = graph_result_sides(result, &sides);
    switch (graph_result_kind(result)) {
    case RESULT_MEASURE:
        print_measure(graph_result_measure(result), out);
        break;
    case RESULT_GROUPS:
        print_number(out, "groups", UNIT_NUMBER, session_groups_count(graph_result_groups(result)),
                     "");
        break;
    case RESULT_ALLOCATIONS:
        print_allocations(graph_result_selection(result), out);
        for (size_t i = 0; i < count; i++) {
            char path[1024];
            session_printable(path, sizeof(path), session_path(sides[i].session));
            fprintf(out, "%s:\n", path);
            print_allocations(sides[i].selection, out);
        }
    }
}

bool stored_graphs_run_text(struct session *session, const char *text, bool stored_write, FILE *out,
                            char note[1024], struct session_error *error)
{
    const struct graph_options options = {.write = true, .stored_write = stored_write};
    const struct session_warning *warnings;
    struct graph_result *result = graph_run_with(session, text, &options, error);
    if (!result)
        return false;
    const size_t count = graph_result_warnings(result, &warnings);
    size_t used = 0;
    for (size_t i = 0; i < count && used < 1000; i++)
        used += (size_t)snprintf(note + used, 1024 - used, "%scolumn %d: %s", i > 0 ? "; " : "",
                                 warnings[i].column, warnings[i].message);
    print_result(result, out);
    graph_result_free(result);
    return true;
}
