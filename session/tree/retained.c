/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the snapshots of references, what each set of blocks retains, and paths to roots. */
#include "session/retained.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/database.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "block_itself_sql.h"
#include "block_referents_sql.h"
#include "block_referrers_sql.h"
#include "heap_snapshots_sql.h"
#include "retained_by_holder_sql.h"

struct reading {
    struct session *session;
    struct session_heap_snapshots *snapshots;
    struct session_retained *retained;
    size_t most;
};

/* Copies a text; *good becomes false if memory is exhausted. */
static char *copy(const struct database_row *row, int column, bool *good)
{
    const char *text = database_text(row, column);
    char *copied = text ? strdup(text) : NULL;
    *good = *good && (copied || !text);
    return copied;
}

static bool read_snapshot(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct reading *reading = context;
    struct session_heap_snapshots *snapshots = reading->snapshots;
    bool good = ARRAY_GROW(snapshots->rows, snapshots->count, snapshots->capacity);
    if (!good)
        return session_fail_memory(error, "who keeps memory alive");
    struct session_heap_snapshot *snapshot = &snapshots->rows[snapshots->count++];
    *snapshot = (struct session_heap_snapshot){
        .id = database_number(row, 0),
        .process = database_number(row, 1),
        .partial = database_number(row, 6) != 0,
    };
    snapshot->reason = copy(row, 3, &good);
    snapshot->name = copy(row, 4, &good);
    snapshot->why = copy(row, 5, &good);
    if (!good)
        return session_fail_memory(error, "who keeps memory alive");
    uint64_t *const numbers[] = {&snapshot->stopped_ns,
                                 &snapshot->words,
                                 &snapshot->threads,
                                 &snapshot->reachable.bytes,
                                 &snapshot->reachable.blocks,
                                 &snapshot->possibly.bytes,
                                 &snapshot->possibly.blocks,
                                 &snapshot->unreachable.bytes,
                                 &snapshot->unreachable.blocks,
                                 &snapshot->by_unreachable.bytes,
                                 &snapshot->by_unreachable.blocks,
                                 &snapshot->unknown.bytes,
                                 &snapshot->unknown.blocks};
    const struct database *database = reading->session->database;
    good = database_natural(database, row, 2, "the time of a snapshot", &snapshot->ns, error);
    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(*numbers); i++)
        good = database_natural(database, row, 7 + (int)i, "a number of a snapshot", numbers[i],
                                error);
    return good;
}

bool session_heap_snapshots(struct session *session, struct session_heap_snapshots *snapshots,
                            struct session_error *error)
{
    struct reading reading = {.session = session, .snapshots = snapshots};
    *snapshots = (struct session_heap_snapshots){.rows = NULL};
    return database_each(session->database, heap_snapshots_sql, read_snapshot, &reading, error);
}

void session_heap_snapshots_free(struct session_heap_snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->count; i++)
        FREE_ALL(snapshots->rows[i].reason, snapshots->rows[i].name, snapshots->rows[i].why);
    free(snapshots->rows);
    *snapshots = (struct session_heap_snapshots){.rows = NULL};
}

static bool read_row(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    struct session_retained *retained = reading->retained;
    const struct database *database = reading->session->database;
    bool good = true;
    retained->all++;
    if (reading->most != 0 && retained->count == reading->most)
        return true;
    if (!ARRAY_GROW(retained->rows, retained->count, retained->capacity))
        return session_fail_memory(error, "who keeps memory alive");
    struct session_retained_row *read = &retained->rows[retained->count++];
    *read = (struct session_retained_row){
        .id = database_number(row, 0), .repeats = 1, .last = database_number(row, 0)};
    read->name = copy(row, 1, &good);
    read->place = copy(row, 2, &good);
    if (!good)
        return session_fail_memory(error, "who keeps memory alive");
    uint64_t *const numbers[] = {&read->own_bytes, &read->own_blocks, &read->bytes, &read->blocks};
    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(*numbers); i++)
        good = database_natural(database, row, 3 + (int)i, "retained bytes or blocks", numbers[i],
                                error);
    return good;
}

static bool read_count(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    return database_natural(reading->session->database, row, 0, "blocks", &reading->retained->all,
                            error);
}

bool session_retained(struct session *session, int64_t id, enum session_retained_by by, size_t most,
                      struct session_retained *retained, struct session_error *error)
{
    static const struct {
        const char *kind, *name, *unknown; /* of a group */
    } groups[] = {
        [RETAINED_BY_TYPE] = {"type", "(SELECT name FROM type WHERE id = g.key)", "(unknown type)"},
        [RETAINED_BY_USER] = {"user", "(SELECT name FROM function WHERE id = g.key)",
                              "(no code of the user)"},
        [RETAINED_BY_OWNER] = {"owner", "(SELECT name FROM owner WHERE id = g.key)",
                               "(unknown owner)"},
    };
    struct reading reading = {.session = session, .retained = retained, .most = most};
    char sql[1536];
    *retained = (struct session_retained){.rows = NULL};
    if (by == RETAINED_BY_HOLDER)
        snprintf(sql, sizeof(sql), "WITH asked(snapshot_id) AS (VALUES (%" PRId64 "))\n%s", id,
                 retained_by_holder_sql);
    else if (by == RETAINED_BY_ROOT)
        snprintf(sql, sizeof(sql),
                 "SELECT id, name, kind, 0, 0, retained_bytes, retained_count FROM root"
                 " WHERE snapshot_id = %" PRId64 " UNION ALL SELECT 0, 'several roots together',"
                 " NULL, 0, 0, sum(bytes), sum(count) FROM retained WHERE dominator_id = 0"
                 " AND snapshot_id = %" PRId64 " AND state BETWEEN 1 AND 2"
                 " HAVING count(*) > 0 ORDER BY 6 DESC, 1",
                 id, id);
    else if (by == RETAINED_BY_BLOCK)
        snprintf(sql, sizeof(sql),
                 "SELECT r.allocation_id, (SELECT name FROM type WHERE id = a.type_id),"
                 " (SELECT n.name FROM stack st JOIN frame fr ON fr.id = st.user_frame_id"
                 " JOIN function n ON n.id = fr.function_id WHERE st.id = a.stack_id),"
                 " a.size, 1, r.bytes, r.count FROM retained r"
                 " JOIN allocation a ON a.id = r.allocation_id WHERE r.snapshot_id = %" PRId64
                 " ORDER BY r.bytes DESC, r.allocation_id LIMIT %lld",
                 id, most ? (long long)most : -1LL);
    else if (by == RETAINED_UNREACHABLE)
        snprintf(sql, sizeof(sql),
                 "SELECT min(r.allocation_id), (SELECT name FROM type WHERE id = a.type_id),"
                 " (SELECT n.name FROM stack st LEFT JOIN frame fr ON fr.id = st.user_frame_id"
                 " JOIN function n ON n.id = ifnull(fr.function_id, st.function_id)"
                 " WHERE st.id = a.stack_id) AS place, sum(a.size), count(*),"
                 " ifnull(sum(r.bytes) FILTER (WHERE r.state = 3), 0),"
                 " ifnull(sum(r.count) FILTER (WHERE r.state = 3), 0)"
                 " FROM retained r JOIN allocation a ON a.id = r.allocation_id"
                 " WHERE r.snapshot_id = %" PRId64 " AND r.state > 2 GROUP BY a.type_id, place"
                 " ORDER BY sum(a.size) DESC, min(r.allocation_id)",
                 id);
    else
        snprintf(sql, sizeof(sql),
                 "SELECT g.key, ifnull(%s, '%s'), NULL, g.own_bytes, g.own_count, g.bytes, g.count"
                 " FROM retained_group g WHERE g.snapshot_id = %" PRId64
                 " AND g.kind = '%s' ORDER BY g.bytes DESC, g.key",
                 groups[by].name, groups[by].unknown, id, groups[by].kind);
    if (!database_each(session->database, sql, read_row, &reading, error))
        return false;
    if (by != RETAINED_BY_BLOCK)
        return true;
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM retained WHERE snapshot_id = %" PRId64, id);
    return database_each(session->database, sql, read_count, &reading, error);
}

/* The member through which its dominator holds the block of a row r of `retained`. */
#define MEMBER_ID                                                                                  \
    "iif(r.holder_id = r.dominator_id, r.member_id, (SELECT min(x.member_id)"                      \
    " FROM other_reference x WHERE x.to_id = r.allocation_id AND x.snapshot_id = r.snapshot_id"    \
    " AND x.from_id = r.dominator_id))"

/* Links of chains that one question follows. */
#define LINKS_MAX 20000u

struct link {
    int64_t id;
    uint64_t size, children;
    int64_t type, member;
};

static bool read_link(void *context, const struct database_row *row, struct session_error *error)
{
    struct link *link = context;
    link->children++;
    link->id = database_number(row, 0);
    link->type = database_number(row, 1);
    link->member = database_number(row, 2);
    link->size = (uint64_t)database_number(row, 3);
    return true;
}

/* Reads the only child of a node, with its type and the member that holds it. */
static bool find_link(struct session *session, int64_t id, int64_t node, struct link *link,
                      struct session_error *error)
{
    char sql[512];
    link->children = 0;
    snprintf(sql, sizeof(sql),
             "SELECT r.allocation_id, a.type_id, " MEMBER_ID ", a.size FROM retained r"
             " JOIN allocation a ON a.id = r.allocation_id WHERE r.dominator_id = %" PRId64
             " AND r.snapshot_id = %" PRId64 " AND r.state < 3 LIMIT 2",
             node, id);
    return database_each(session->database, sql, read_link, link, error);
}

/* Follows the chain that begins with a child of a node. */
static bool follow_chain(struct session *session, int64_t id, struct session_retained_row *row,
                         size_t *links, struct session_error *error)
{
    struct link first = {.id = 0}, link;
    char sql[512];
    snprintf(sql, sizeof(sql), "SELECT id, type_id, 0, size FROM allocation WHERE id = %" PRId64,
             row->id);
    if (!database_each(session->database, sql, read_link, &first, error))
        return false;
    /* The first one is held by its parent, which may be another kind of thing. */
    for (int64_t member = -1; first.type != 0 && ++*links < LINKS_MAX; member = link.member) {
        if (!find_link(session, id, row->last, &link, error))
            return false;
        if (link.children != 1 || link.type != first.type || link.member == 0 ||
            (member != -1 && link.member != member))
            return true;
        row->last = link.id;
        row->own_bytes += link.size;
        row->own_blocks++;
        row->repeats++;
    }
    return true;
}

static int compare_texts(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) : (left != NULL) - (right != NULL);
}

static int by_name(const void *left, const void *right)
{
    const struct session_retained_change *a = left, *b = right;
    const int order = compare_texts(a->name, b->name);
    return order ? order : compare_texts(a->place, b->place);
}

static uint64_t size_of_change(const struct session_retained_change *change)
{
    const uint64_t *bytes = change->bytes;
    return bytes[SIDE_NOW] > bytes[SIDE_BASE] ? bytes[SIDE_NOW] - bytes[SIDE_BASE]
                                              : bytes[SIDE_BASE] - bytes[SIDE_NOW];
}

static int by_change(const void *left, const void *right)
{
    const uint64_t a = size_of_change(left), b = size_of_change(right);
    return a != b ? (a < b ? 1 : -1) : by_name(left, right);
}

/* Joins the rows of both sides. Returns false if memory is exhausted. */
static bool join_sides(struct session_retained_changes *changes)
{
    const struct session_retained *of = changes->of;
    struct session_retained_change *rows =
        calloc(of[SIDE_BASE].count + of[SIDE_NOW].count + 1, sizeof(*rows));
    size_t count = 0, joined = 0;
    changes->rows = rows;
    if (!rows)
        return false;
    for (int side = SIDE_BASE; side < SIDES; side++)
        for (size_t i = 0; i < of[side].count; i++) {
            const struct session_retained_row *row = &of[side].rows[i];
            rows[count] = (struct session_retained_change){.name = row->name, .place = row->place};
            rows[count].bytes[side] = row->bytes;
            rows[count++].blocks[side] = row->blocks;
        }
    qsort(rows, count, sizeof(*rows), by_name);
    for (size_t i = 0; i < count; i++)
        if (joined > 0 && by_name(&rows[joined - 1], &rows[i]) == 0)
            for (int side = SIDE_BASE; side < SIDES; side++) {
                rows[joined - 1].bytes[side] += rows[i].bytes[side];
                rows[joined - 1].blocks[side] += rows[i].blocks[side];
            }
        else
            rows[joined++] = rows[i];
    for (size_t i = 0; i < joined; i++)
        if (size_of_change(&rows[i]) != 0 || rows[i].blocks[SIDE_BASE] != rows[i].blocks[SIDE_NOW])
            rows[changes->count++] = rows[i];
    qsort(rows, changes->count, sizeof(*rows), by_change);
    return true;
}

bool session_retained_changes(struct session *const sessions[SIDES], const int64_t snapshots[SIDES],
                              enum session_retained_by by, struct session_retained_changes *changes,
                              struct session_error *error)
{
    *changes = (struct session_retained_changes){.count = 0};
    for (int side = SIDE_BASE; side < SIDES; side++)
        if (!session_retained(sessions[side], snapshots[side], by, 0, &changes->of[side], error))
            return false;
    return join_sides(changes) || session_fail_memory(error, "who keeps memory alive");
}

void session_retained_changes_free(struct session_retained_changes *changes)
{
    for (int side = SIDE_BASE; side < SIDES; side++)
        session_retained_free(&changes->of[side]);
    free(changes->rows);
    *changes = (struct session_retained_changes){.count = 0};
}

bool session_retained_children(struct session *session, int64_t id, int64_t node, size_t most,
                               struct session_retained *retained, struct session_error *error)
{
    struct reading reading = {.session = session, .retained = retained, .most = most};
    char sql[1024];
    size_t links = 0;
    *retained = (struct session_retained){.rows = NULL};
    snprintf(sql, sizeof(sql),
             "SELECT r.allocation_id, (SELECT name FROM type WHERE id = a.type_id),"
             " (SELECT m.name FROM reference_member m WHERE m.id = " MEMBER_ID "),"
             " a.size, 1, r.bytes, r.count FROM retained r"
             " JOIN allocation a ON a.id = r.allocation_id WHERE r.dominator_id = %" PRId64
             " AND r.snapshot_id = %" PRId64 " AND r.state < 3"
             " ORDER BY r.bytes DESC, r.allocation_id",
             node, id);
    bool good = database_each(session->database, sql, read_row, &reading, error);
    for (size_t i = 0; good && i < retained->count; i++)
        good = follow_chain(session, id, &retained->rows[i], &links, error);
    return good;
}

bool session_block_references(struct session *session, int64_t id, uint64_t block,
                              enum session_block_part part, size_t most,
                              struct session_retained *retained, struct session_error *error)
{
    struct reading reading = {.session = session, .retained = retained, .most = most};
    char *references = NULL, *sql = NULL;
    *retained = (struct session_retained){.rows = NULL};
    const int length =
        part == BLOCK_ITSELF ? asprintf(&sql, block_itself_sql, (long long)id, (long long)block)
        : !(references = database_view("reference"))
            ? -1
            : asprintf(&sql, part == BLOCK_REFERRERS ? block_referrers_sql : block_referents_sql,
                       references, (long long)id, (long long)block);
    const bool good = length >= 0 ? database_each(session->database, sql, read_row, &reading, error)
                                  : session_fail_memory(error, "who keeps memory alive");
    FREE_ALL(references, sql);
    return good;
}

void session_retained_free(struct session_retained *retained)
{
    for (size_t i = 0; i < retained->count; i++)
        FREE_ALL(retained->rows[i].name, retained->rows[i].place);
    free(retained->rows);
    *retained = (struct session_retained){.rows = NULL};
}

/* ---- paths --------------------------------------------------------------------------------- */

/* Steps of a path. A list of a million nodes is a long way to go. */
#define STEPS_MAX 100000u

struct path_reading {
    int64_t holder; /* of the node; 0: there is none */
    char *name, *member;
    bool found;
};

static bool read_step(void *context, const struct database_row *row, struct session_error *error)
{
    struct path_reading *reading = context;
    bool good = true;
    reading->holder = database_number(row, 0);
    reading->name = copy(row, 1, &good);
    reading->member = copy(row, 2, &good);
    reading->found = true;
    return good || session_fail_memory(error, "a path to a root");
}

static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Adds a step, to the last one if it is alike. Takes the texts. */
static bool add_step(struct session_path *path, int64_t node, struct path_reading *reading)
{
    struct session_path_step *last = path->count ? &path->steps[path->count - 1] : NULL;
    const bool alike = last && node > 0 && reading->member &&
                       same_text(last->name, reading->name) &&
                       same_text(last->member, reading->member);
    if (!alike && ARRAY_GROW(path->steps, path->count, path->capacity)) {
        path->steps[path->count++] =
            (struct session_path_step){node, reading->name, reading->member, 1};
        return true;
    }
    FREE_ALL(reading->name, reading->member);
    if (alike)
        last->repeats++;
    return alike;
}

bool session_path_to_root(struct session *session, int64_t id, uint64_t allocation,
                          struct session_path *path, struct session_error *error)
{
    int64_t node = (int64_t)allocation;
    *path = (struct session_path){.steps = NULL};
    for (size_t i = 0; node != 0; i++) {
        struct path_reading reading = {.holder = 0};
        char sql[1024];
        path->cut = i == STEPS_MAX;
        if (path->cut)
            return true;
        if (node < 0)
            snprintf(sql, sizeof(sql),
                     "SELECT 0, name || ' (' || kind || ')', NULL FROM root WHERE id = %" PRId64,
                     -node);
        else
            snprintf(sql, sizeof(sql),
                     "SELECT r.holder_id, coalesce((SELECT name FROM type WHERE id = a.type_id),"
                     " '(unknown)'), (SELECT name FROM reference_member WHERE id = r.member_id)"
                     " FROM retained r JOIN allocation a"
                     " ON a.id = r.allocation_id WHERE r.snapshot_id = %" PRId64
                     " AND r.allocation_id = %" PRId64,
                     id, node);
        if (!database_each(session->database, sql, read_step, &reading, error))
            return false;
        if (!reading.found)
            return true;
        if (!add_step(path, node, &reading))
            return session_fail_memory(error, "a path to a root");
        node = reading.holder;
    }
    return true;
}

void session_path_free(struct session_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        FREE_ALL(path->steps[i].name, path->steps[i].member);
    free(path->steps);
    *path = (struct session_path){.steps = NULL};
}

/* ---- the graph ----------------------------------------------------------------------------- */

struct walking {
    const struct database *database;
    bool (*node)(void *context, const struct session_heap_node *node);
    bool (*reference)(void *context, const struct session_heap_reference *reference);
    void *context;
};

static bool walk_node(void *context, const struct database_row *row, struct session_error *error)
{
    const struct walking *walking = context;
    const int64_t state = database_number(row, 6);
    struct session_heap_node node = {
        .id = database_number(row, 0),
        .name = database_text(row, 1),
        .kind = database_text(row, 2),
        .type = (uint32_t)database_number(row, 3),
        .function = (uint32_t)database_number(row, 4),
        .sure = state == 1,
        .unreachable = state == 0 || state > 2,
        .first = state == 0 || state == 3,
    };
    return database_natural(walking->database, row, 5, "the size of a block", &node.size, error) &&
           walking->node(walking->context, &node);
}

bool session_heap_nodes(struct session *session, int64_t id,
                        bool (*each)(void *context, const struct session_heap_node *node),
                        void *context, struct session_error *error)
{
    struct walking walking = {.database = session->database, .node = each, .context = context};
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT -id, name, kind, 0, 0, 0, 1 FROM root WHERE snapshot_id = %" PRId64
             " ORDER BY id",
             id);
    if (!database_each(session->database, sql, walk_node, &walking, error))
        return false;
    snprintf(sql, sizeof(sql),
             "SELECT r.allocation_id, NULL, NULL, a.type_id,"
             " coalesce(fr.function_id, st.function_id, 0), a.size, r.state"
             " FROM retained r JOIN allocation a ON a.id = r.allocation_id"
             " LEFT JOIN stack st ON st.id = a.stack_id"
             " LEFT JOIN frame fr ON fr.id = st.user_frame_id"
             " WHERE r.snapshot_id = %" PRId64 " ORDER BY r.allocation_id",
             id);
    return database_each(session->database, sql, walk_node, &walking, error);
}

static bool walk_reference(void *context, const struct database_row *row,
                           struct session_error *error)
{
    const struct walking *walking = context;
    const struct session_heap_reference reference = {
        .from = database_number(row, 0),
        .to = database_number(row, 1),
        .offset = (uint64_t)database_number(row, 2),
        .member = database_text(row, 3),
        .doubt = database_number(row, 4) != 0,
    };
    return walking->reference(walking->context, &reference);
}

bool session_heap_references(struct session *session, int64_t id,
                             bool (*each)(void *context,
                                          const struct session_heap_reference *reference),
                             void *context, struct session_error *error)
{
    struct walking walking = {.database = session->database, .reference = each, .context = context};
    static const char *const which[] = {"< 0 ORDER BY x.from_id DESC", "> 0 ORDER BY x.from_id"};
    char *references = database_view("reference");
    bool good = references || session_fail_memory(error, "references");
    for (size_t i = 0; good && i < sizeof(which) / sizeof(*which); i++) {
        char sql[2048];
        snprintf(sql, sizeof(sql),
                 "SELECT x.from_id, x.to_id, x.from_offset, m.name, x.doubt"
                 " FROM (%s) x LEFT JOIN reference_member m ON m.id = x.member_id"
                 " WHERE x.snapshot_id = %" PRId64 " AND x.from_id %s, x.from_offset",
                 references, id, which[i]);
        good = database_each(session->database, sql, walk_reference, &walking, error);
    }
    free(references);
    return good;
}
