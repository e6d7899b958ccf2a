/* SPDX-License-Identifier: BSD-2-Clause */
/* Who keeps memory alive: the roots, types, owners and blocks that retain most at a snapshot of
 * references, and the blocks that nothing reaches. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/tables/reports.h"
#include "session/retained.h"
#include "session/time.h"

/* Finds the snapshot: the one that --at names, or that is nearest to it, or the last one. */
static const struct session_heap_snapshot *
find_snapshot(const struct report_request *request, const struct session_heap_snapshots *snapshots,
              struct session_error *error)
{
    const struct session_heap_snapshot *found = NULL;
    uint64_t ns;
    if (snapshots->count == 0) {
        snprintf(error->message, sizeof(error->message),
                 "%s: has no references between blocks; record them with mprof-run "
                 "--references=end, or take them with mprof-ctl PID references",
                 session_path(request->session));
        return NULL;
    }
    if (!request->at)
        return &snapshots->rows[snapshots->count - 1];
    for (size_t i = 0; i < snapshots->count; i++)
        if (snapshots->rows[i].name && strcmp(snapshots->rows[i].name, request->at) == 0)
            return &snapshots->rows[i];
    if (!session_moment(request->session, request->at, &ns, error))
        return NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < snapshots->count; i++) {
        const uint64_t at = snapshots->rows[i].ns, distance = at < ns ? ns - at : at - ns;
        if (distance < least) {
            least = distance;
            found = &snapshots->rows[i];
        }
    }
    return found;
}

static void add_state(struct document *document, const char *bytes, const char *blocks,
                      const char *title, const struct session_heap_state *state)
{
    document_fact_number(document, bytes, title, VALUE_BYTES, state->bytes);
    document_fact_number(document, blocks, "in blocks", VALUE_NUMBER, state->blocks);
}

static void add_facts(const struct session_heap_snapshot *snapshot, size_t count,
                      struct document *document)
{
    document_fact_number(document, "ns", "time", VALUE_MOMENT, snapshot->ns);
    document_fact_text(document, "reason", "taken because of", snapshot->reason);
    if (snapshot->name)
        document_fact_text(document, "name", NULL, snapshot->name);
    document_fact_number(document, "snapshots", "snapshots in all", VALUE_NUMBER, count);
    if (snapshot->why)
        document_fact_text(document, "why", "references are missing", snapshot->why);
    if (snapshot->partial)
        document_fact_text(document, "partial", "blocks are missing",
                           "the recording began later than the program");
    document_fact_number(document, "stopped_ns", "the program stood still for", VALUE_DURATION,
                         snapshot->stopped_ns);
    add_state(document, "reachable_bytes", "reachable_count", "reachable", &snapshot->reachable);
    add_state(document, "possibly_bytes", "possibly_count", "possibly reachable",
              &snapshot->possibly);
    add_state(document, "unreachable_bytes", "unreachable_count", "unreachable",
              &snapshot->unreachable);
    add_state(document, "by_unreachable_bytes", "by_unreachable_count",
              "reached by unreachable blocks only", &snapshot->by_unreachable);
    if (snapshot->unknown.blocks != 0)
        add_state(document, "unknown_bytes", "unknown_count", "not reached, but data is missing",
                  &snapshot->unknown);
}

/* Adds a table of those that retain most. */
static bool add_table(const struct report_request *request,
                      const struct session_heap_snapshot *snapshot, enum session_retained_by by,
                      struct document *document, struct session_error *error)
{
    static const struct {
        const char *name, *title, *what, *place;
        bool own;
    } tables[] = {
        [RETAINED_BY_ROOT] = {"roots", "Roots", "root", "kind", false},
        [RETAINED_BY_TYPE] = {"types", "Types", "type", NULL, true},
        [RETAINED_BY_USER] = {"users", "Your own functions", "user", NULL, true},
        [RETAINED_BY_OWNER] = {"owners", "Owners", "owner", NULL, true},
        [RETAINED_BY_BLOCK] = {"blocks", "Blocks", "type", "user", true},
        [RETAINED_UNREACHABLE] = {"unreachable", "Unreachable", "type", "user", true},
    };
    struct document_column columns[6] = {
        {"retained_bytes", "retained", VALUE_BYTES, NULL},
        {"retained_count", "blocks", VALUE_NUMBER, NULL},
    };
    struct session_retained retained;
    size_t count = 2;
    if (!session_retained(request->session, snapshot->id, by, request->top, &retained, error)) {
        session_retained_free(&retained);
        return false;
    }
    if (tables[by].own) {
        columns[count++] = (struct document_column){"own_bytes", "own", VALUE_BYTES, NULL};
        columns[count++] = (struct document_column){"own_count", "own blocks", VALUE_NUMBER, NULL};
    }
    columns[count++] = (struct document_column){tables[by].what, NULL, VALUE_TEXT, NULL};
    if (tables[by].place)
        columns[count++] = (struct document_column){tables[by].place, NULL, VALUE_TEXT, NULL};
    document_table(document, tables[by].name, tables[by].title, columns, count);
    for (size_t i = 0; i < retained.count; i++) {
        const struct session_retained_row *row = &retained.rows[i];
        document_number(document, row->bytes);
        document_number(document, row->blocks);
        if (tables[by].own) {
            document_number(document, row->own_bytes);
            document_number(document, row->own_blocks);
        }
        document_text(document, row->name);
        if (tables[by].place)
            document_text(document, row->place);
    }
    document_rows(document, retained.all);
    session_retained_free(&retained);
    return true;
}

bool report_retained(const struct report_request *request, struct document *document,
                     struct session_error *error)
{
    static const enum session_retained_by tables[] = {RETAINED_BY_ROOT,  RETAINED_BY_TYPE,
                                                      RETAINED_BY_USER,  RETAINED_BY_OWNER,
                                                      RETAINED_BY_BLOCK, RETAINED_UNREACHABLE};
    struct session_heap_snapshots snapshots;
    bool good = session_heap_snapshots(request->session, &snapshots, error);
    const struct session_heap_snapshot *snapshot =
        good ? find_snapshot(request, &snapshots, error) : NULL;
    if (snapshot)
        add_facts(snapshot, snapshots.count, document);
    for (size_t i = 0; snapshot && good && i < sizeof(tables) / sizeof(*tables); i++)
        good = add_table(request, snapshot, tables[i], document, error);
    session_heap_snapshots_free(&snapshots);
    return snapshot && good;
}
