/* SPDX-License-Identifier: BSD-2-Clause */
/* Who keeps memory alive: the roots, types, owners and blocks that retain most at a snapshot of
 * references, and the blocks that nothing reaches. With a base, what has changed between two
 * snapshots: of two sessions, or of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/tables/reports.h"
#include "session/retained.h"
#include "session/time.h"

/* Finds the snapshot: the one that --at names, or that is nearest to it, or the last one. */
static const struct session_heap_snapshot *
find_snapshot(const struct report_request *request, struct session *session,
              const struct session_heap_snapshots *snapshots, struct session_error *error)
{
    const struct session_heap_snapshot *found = NULL;
    uint64_t ns;
    if (snapshots->count == 0) {
        snprintf(error->message, sizeof(error->message),
                 "%s: has no references between blocks; record them with mprof-run "
                 "--references=end, or take them with mprof-ctl PID references",
                 session_path(session));
        return NULL;
    }
    if (!request->at)
        return &snapshots->rows[snapshots->count - 1];
    for (size_t i = 0; i < snapshots->count; i++)
        if (snapshots->rows[i].name && strcmp(snapshots->rows[i].name, request->at) == 0)
            return &snapshots->rows[i];
    if (!session_moment(session, request->at, &ns, error))
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

/* ---- changes ------------------------------------------------------------------------------- */

/* Adds a table of what changed most. */
static bool add_changes(const struct report_request *request, enum session_retained_by by,
                        const struct session_heap_snapshot *const snapshots[SIDES],
                        struct document *document, struct session_error *error)
{
    static const struct {
        const char *name, *title, *what, *place;
    } tables[] = {
        [RETAINED_BY_HOLDER] = {"held", "Own bytes of the blocks, by type and what holds them",
                                "type", "held_by"},
        [RETAINED_BY_ROOT] = {"roots", "What roots retain", "root", "kind"},
        [RETAINED_BY_TYPE] = {"types", "What types retain", "type", NULL},
        [RETAINED_BY_USER] = {"users", "What your own functions retain", "user", NULL},
        [RETAINED_BY_OWNER] = {"owners", "What owners retain", "owner", NULL},
    };
    const struct document_column columns[] = {
        {"change_bytes", "change", VALUE_BYTES, NULL},
        {"bytes", NULL, VALUE_BYTES, NULL},
        {"base_bytes", "base", VALUE_BYTES, NULL},
        {"change_count", "change", VALUE_NUMBER, NULL},
        {"count", "blocks", VALUE_NUMBER, NULL},
        {"base_count", "base", VALUE_NUMBER, NULL},
        {tables[by].what, NULL, VALUE_TEXT, NULL},
        {tables[by].place, by == RETAINED_BY_HOLDER ? "held by" : NULL, VALUE_TEXT, NULL}};
    struct session_retained_changes changes;
    const bool good = session_retained_changes(
        (struct session *const[]){request->base, request->session},
        (const int64_t[]){snapshots[SIDE_BASE]->id, snapshots[SIDE_NOW]->id}, by, &changes, error);
    document_table(document, tables[by].name, tables[by].title, columns,
                   sizeof(columns) / sizeof(*columns) - !tables[by].place);
    for (size_t i = 0; good && i < changes.count && (request->top == 0 || i < request->top); i++) {
        const struct session_retained_change *row = &changes.rows[i];
        document_sum_change(document, row->bytes[SIDE_BASE], row->bytes[SIDE_NOW], 0);
        document_number(document, row->bytes[SIDE_NOW]);
        document_number(document, row->bytes[SIDE_BASE]);
        document_sum_change(document, row->blocks[SIDE_BASE], row->blocks[SIDE_NOW], 0);
        document_number(document, row->blocks[SIDE_NOW]);
        document_number(document, row->blocks[SIDE_BASE]);
        document_text(document, row->name);
        if (tables[by].place)
            document_text(document, row->place);
    }
    document_rows(document, changes.count);
    session_retained_changes_free(&changes);
    return good;
}

/* Returns true if the base is the session itself. */
static bool is_same(const struct report_request *request)
{
    struct stat now, base;
    return stat(session_path(request->session), &now) == 0 &&
           stat(session_path(request->base), &base) == 0 && now.st_dev == base.st_dev &&
           now.st_ino == base.st_ino;
}

/* Finds the snapshot of the base: in the same session the one before. */
static const struct session_heap_snapshot *find_base(const struct report_request *request,
                                                     const struct session_heap_snapshot *now,
                                                     const struct session_heap_snapshots *snapshots,
                                                     struct session_error *error)
{
    if (!is_same(request))
        return find_snapshot(request, request->base, snapshots, error);
    for (size_t i = 1; i < snapshots->count; i++)
        if (snapshots->rows[i].id == now->id)
            return &snapshots->rows[i - 1];
    snprintf(error->message, sizeof(error->message),
             "%s: has no snapshot of references before that of --at or the last one; mprof-ctl PID "
             "references and mprof-run --references take more",
             session_path(request->base));
    return NULL;
}

static uint64_t live_bytes(const struct session_heap_snapshot *snapshot)
{
    return snapshot->reachable.bytes + snapshot->possibly.bytes + snapshot->unreachable.bytes +
           snapshot->by_unreachable.bytes + snapshot->unknown.bytes;
}

static bool report_changes(const struct report_request *request,
                           const struct session_heap_snapshot *now, struct document *document,
                           struct session_error *error)
{
    static const enum session_retained_by tables[] = {RETAINED_BY_HOLDER, RETAINED_BY_ROOT,
                                                      RETAINED_BY_TYPE, RETAINED_BY_OWNER,
                                                      RETAINED_BY_USER};
    struct session_heap_snapshots snapshots;
    bool good = session_heap_snapshots(request->base, &snapshots, error);
    const struct session_heap_snapshot *base =
        good ? find_base(request, now, &snapshots, error) : NULL;
    const struct session_heap_snapshot *const sides[SIDES] = {base, now};
    for (int side = SIDE_NOW; base && side >= SIDE_BASE; side--) {
        const struct session_heap_snapshot *of = sides[side];
        document_fact_number(document, side == SIDE_NOW ? "ns" : "base_ns",
                             side == SIDE_NOW ? "time" : "time of the base", VALUE_MOMENT, of->ns);
        document_fact_number(document, side == SIDE_NOW ? "live_bytes" : "base_live_bytes",
                             side == SIDE_NOW ? "live" : "live in the base", VALUE_BYTES,
                             live_bytes(of));
        document_fact_number(
            document, side == SIDE_NOW ? "unreachable_bytes" : "base_unreachable_bytes",
            "of these, unreachable", VALUE_BYTES, of->unreachable.bytes + of->by_unreachable.bytes);
    }
    for (size_t i = 0; base && good && i < sizeof(tables) / sizeof(*tables); i++)
        good = add_changes(request, tables[i], sides, document, error);
    session_heap_snapshots_free(&snapshots);
    return base && good;
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
        good ? find_snapshot(request, request->session, &snapshots, error) : NULL;
    const bool compares = request->base != NULL;
    if (snapshot && compares)
        good = report_changes(request, snapshot, document, error);
    else if (snapshot)
        add_facts(snapshot, snapshots.count, document);
    for (size_t i = 0; snapshot && !compares && good && i < sizeof(tables) / sizeof(*tables); i++)
        good = add_table(request, snapshot, tables[i], document, error);
    session_heap_snapshots_free(&snapshots);
    return snapshot && good;
}
