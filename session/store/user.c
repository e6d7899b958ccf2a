/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/user.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "schemas/array.h"
#include "schemas/code/function_name.h"
#include "schemas/code/user_code.h"
#include "schemas/column_codec.h"
#include "schemas/user_tables.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "function_names_sql.h"
#include "user_graphs_sql.h"
#include "user_settings_sql.h"

/* ---- user rows ---- */

enum { BUSY_MS = 3000 };

static const struct {
    const char *definition, *find, *read, *put, *replace, *rename, *remove;
} statements[] = {
    [USER_GRAPH] = {USER_TABLE_GRAPH, USER_TABLE_QUERY("named_graph"), user_graphs_sql,
                    "INSERT INTO named_graph VALUES (?1, ?2, strftime('%s','now'))",
                    "INSERT OR REPLACE INTO named_graph VALUES (?1, ?2, strftime('%s','now'))",
                    "UPDATE named_graph SET name = ?2 WHERE name = ?1",
                    "DELETE FROM named_graph WHERE name = ?1"},
    [USER_SETTING] = {USER_TABLE_SETTING, USER_TABLE_QUERY("setting"), user_settings_sql,
                      "INSERT INTO setting VALUES (?1, ?2)",
                      "INSERT OR REPLACE INTO setting VALUES (?1, ?2)", NULL,
                      "DELETE FROM setting WHERE key = ?1 AND value = ?2"},
};

static int stop(void *context)
{
    int *looks = context;
    return ++*looks > 1000;
}

struct user_rows {
    sqlite3 *handle;
    const char *path;
    int looks;
};

static bool fail(const struct user_rows *rows, const char *what, struct session_error *error)
{
    return session_fail(error, 0, "%s: cannot be %s: %s", rows->path, what,
                        rows->handle ? sqlite3_errmsg(rows->handle) : "out of memory");
}

/* Opens the file so that nothing in it runs: no trigger, view, check or function of its schema. */
static bool open_rows(struct user_rows *rows, const char *path, int flags)
{
    *rows = (struct user_rows){.path = path};
    if (sqlite3_open_v2(path, &rows->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return false;
    sqlite3 *handle = rows->handle;
    sqlite3_busy_timeout(handle, BUSY_MS);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, (int)(16 * USER_GRAPH_TEXT_MAX));
    sqlite3_progress_handler(handle, USER_STEPS_MAX / 1000, stop, &rows->looks);
    return sqlite3_exec(handle, "PRAGMA cell_size_check = ON; PRAGMA ignore_check_constraints = ON",
                        NULL, NULL, NULL) == SQLITE_OK;
}

/* Runs a statement with up to two texts and stores the first number of its first row. */
static int run(sqlite3 *handle, const char *sql, const char *first, const char *second,
               sqlite3_int64 *number)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (status == SQLITE_OK && first)
        status = sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (status == SQLITE_OK && second)
        status = sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW && number)
        *number = sqlite3_column_int64(statement, 0);
    const int finished = sqlite3_finalize(statement);
    return status == SQLITE_OK ? finished : status;
}

/* Stores whether the session has the table, with nothing in its definition that could run. Returns
 * SQLite's code. */
static int find_table(sqlite3 *handle, enum user_table table, bool *exists)
{
    sqlite3_stmt *query = NULL;
    const int status = sqlite3_prepare_v2(handle, statements[table].find, -1, &query, NULL);
    *exists = false;
    if (status == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(query, 0);
        *exists = sql && user_table_is(sql, statements[table].definition) &&
                  sqlite3_column_int64(query, 1) == 0;
    }
    const int finished = sqlite3_finalize(query);
    return status == SQLITE_OK ? finished : status;
}

static bool read_all(struct user_rows *rows, enum user_table table, size_t count, size_t length,
                     user_row_handler *handler, void *context)
{
    sqlite3_stmt *query = NULL;
    bool exists;
    if (find_table(rows->handle, table, &exists) != SQLITE_OK)
        return false;
    if (!exists)
        return true;
    int status = sqlite3_prepare_v2(rows->handle, statements[table].read, -1, &query, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_bind_int64(query, 1, (sqlite3_int64)count);
    while (status == SQLITE_OK && (status = sqlite3_step(query)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(query, 0);
        const char *value = (const char *)sqlite3_column_text(query, 1);
        status = key && value ? SQLITE_OK : SQLITE_NOMEM;
        /* A text may hold NULs, and what follows them would not be seen. */
        if (status == SQLITE_OK && strlen(value) <= length &&
            strlen(key) == (size_t)sqlite3_column_bytes(query, 0) &&
            strlen(value) == (size_t)sqlite3_column_bytes(query, 1) &&
            !handler(context, key, value))
            status = SQLITE_DONE;
    }
    sqlite3_finalize(query);
    return status == SQLITE_DONE;
}

bool user_rows_read(const char *path, enum user_table table, size_t rows, size_t length,
                    user_row_handler *handler, void *context, struct session_error *error)
{
    struct user_rows file;
    const bool good = (open_rows(&file, path, SQLITE_OPEN_READONLY) &&
                       read_all(&file, table, rows, length, handler, context)) ||
                      fail(&file, "read", error);
    sqlite3_close(file.handle);
    return good;
}

/* Returns true if the file is a session that nobody is writing. */
static bool may_change(struct user_rows *rows, enum user_table table, struct session_error *error)
{
    sqlite3_int64 application = 0, version = 0, unfinished = 0;
    bool exists;
    sqlite3 *handle = rows->handle;
    if (run(handle, "PRAGMA application_id", NULL, NULL, &application) != SQLITE_OK ||
        run(handle, "PRAGMA user_version", NULL, NULL, &version) != SQLITE_OK ||
        find_table(handle, table, &exists) != SQLITE_OK ||
        run(handle, "SELECT value FROM meta WHERE key = 'unfinished'", NULL, NULL, &unfinished) !=
            SQLITE_OK)
        return fail(rows, "written", error);
    if (application != SESSION_APPLICATION_ID || version != SESSION_SCHEMA_VERSION || !exists)
        return session_fail(error, 0, "%s: made by another version; ingest the trace again",
                            rows->path);
    return unfinished == 0 || session_fail(error, 0, "%s: still being recorded", rows->path);
}

static int apply(sqlite3 *handle, const struct user_change *change)
{
    switch (change->kind) {
    case USER_PUT:
        return run(handle,
                   change->replace ? statements[change->table].replace
                                   : statements[change->table].put,
                   change->key, change->value, NULL);
    case USER_RENAME:
        return run(handle, statements[change->table].rename, change->key, change->value, NULL);
    case USER_DELETE:
        break;
    }
    return run(handle, statements[change->table].remove, change->key, change->value, NULL);
}

/* Returns true if the path still names the file that was changed: ingest may have replaced it. */
static bool is_same(const char *path, const struct stat *before)
{
    struct stat after;
    return stat(path, &after) == 0 && after.st_ino == before->st_ino &&
           after.st_dev == before->st_dev;
}

static enum user_change_result change_rows(struct user_rows *rows, const struct user_change *change,
                                           struct session_error *error)
{
    struct stat before;
    sqlite3 *handle = rows->handle;
    if (stat(rows->path, &before) != 0 || !S_ISREG(before.st_mode)) {
        session_fail(error, 0, "%s: cannot be written: not a regular file", rows->path);
        return USER_REFUSED;
    }
    if (sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
        fail(rows, "written", error);
        return USER_REFUSED;
    }
    if (!may_change(rows, change->table, error))
        return USER_REFUSED;
    const int status = apply(handle, change);
    if (status == SQLITE_CONSTRAINT)
        return USER_EXISTS;
    if (status == SQLITE_OK && change->kind != USER_PUT && sqlite3_changes(handle) == 0)
        return USER_ABSENT;
    if (status != SQLITE_OK || sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        fail(rows, "written", error);
        return USER_REFUSED;
    }
    if (is_same(rows->path, &before))
        return USER_CHANGED;
    session_fail(error, 0, "%s: was replaced at this moment: open it again", rows->path);
    return USER_REFUSED;
}

enum user_change_result user_rows_change(const char *path, const struct user_change *change,
                                         struct session_error *error)
{
    struct user_rows rows;
    enum user_change_result result = USER_REFUSED;
    if (open_rows(&rows, path, SQLITE_OPEN_READWRITE))
        result = change_rows(&rows, change, error);
    else
        fail(&rows, "written", error);
    sqlite3_close(rows.handle); /* undoes what was not committed */
    return result;
}

/* ---- frames of the user ----------------------------------------------------------------- */

/* Reads users' frames and owners, and computes users' frames and call sites from all frames;
 * private to this room. */

/* The kind of a function, as a byte by its id. */
enum {
    OWN = USER_CODE_OWN,
    RUNTIME = USER_CODE_RUNTIME,
    HIDDEN = USER_CODE_HIDDEN,
    WRAPPER = USER_CLASS_WRAPPER,
};

/* Answers of ingest that are read by stack. */
struct stored_loading {
    const struct stacks *stacks;
    uint32_t bound;        /* answers are ids from 1 and below it */
    const uint32_t *first; /* by id: the id that stands for it; NULL: itself */
    uint32_t *answers;     /* by stack, 0: none */
};

static bool read_stored(void *context, const struct database_row *row, struct session_error *error)
{
    const struct stored_loading *loading = context;
    const struct stacks *stacks = loading->stacks;
    const int64_t stack = database_number(row, 0), id = database_number(row, 1);
    if (!names_id_check(stacks->database, "stack", stack, stacks->count, error))
        return false;
    const uint32_t answer = id > 0 && id < loading->bound ? (uint32_t)id : 0;
    loading->answers[stack] = loading->first ? loading->first[answer] : answer;
    return true;
}

/* Reads the user's frames that ingest stored into an array by stack. */
static bool user_frames_stored(struct session *session, uint32_t *frames,
                               struct session_error *error)
{
    struct stored_loading loading = {
        .stacks = &session->stacks, .bound = session->stacks.frame_count, .answers = frames};
    return database_each(session->database,
                         "SELECT id, user_frame_id FROM stack WHERE user_frame_id IS NOT NULL",
                         read_stored, &loading, error);
}

/* Reads ingest's owners into an array by stack. The first of several with one name counts. */
static bool user_owners_stored(struct session *session, uint32_t *owners,
                               struct session_error *error)
{
    if (!names_load_owners(&session->names, session->database, error))
        return false;
    uint32_t *first = name_table_first(&session->names.owner, error);
    struct stored_loading loading = {.stacks = &session->stacks,
                                     .bound = session->names.owner.count,
                                     .first = first,
                                     .answers = owners};
    static const char sql[] = "SELECT id, owner_id FROM stack WHERE owner_id IS NOT NULL";
    const bool good = first && database_each(session->database, sql, read_stored, &loading, error);
    free(first);
    return good;
}

struct class_loading {
    struct session *session;
    const struct user_code *code;
    struct user_code_module module;
    int64_t module_id; /* of `module`; -1: none yet */
    uint8_t *classes;
};

static bool read_class(void *context, const struct database_row *row, struct session_error *error)
{
    struct class_loading *loading = context;
    const int64_t function = database_number(row, 0), module = database_number(row, 4);
    const char *name = database_text(row, 1);
    if (!names_id_check(loading->session->database, "function", function,
                        loading->session->names.function_count, error))
        return false;
    if (module != loading->module_id)
        loading->module = user_code_module(loading->code, database_text(row, 5));
    loading->module_id = module;
    uint8_t class = HIDDEN;
    const char *role = database_is_null(row, 3) ? "" : database_text(row, 3);
    const bool of_runtime = strcmp(role, "runtime") == 0;
    if ((role[0] && !of_runtime && strcmp(role, "evaluator") != 0) ||
        user_code_is_wrapper(loading->code, name ? name : ""))
        class = WRAPPER;
    else if (!role[0] || of_runtime)
        class = (uint8_t)user_code_function(loading->code, &loading->module, name ? name : "",
                                            database_text(row, 2), database_text(row, 6));
    loading->classes[function] = class;
    return true;
}

/* Returns the classes (user.h) of all functions by id, for free(). NULL with `error` set. */
static uint8_t *user_classes_compute(struct session *session, const struct user_code *code,
                                     struct session_error *error)
{
    struct class_loading loading = {.session = session, .code = code, .module_id = -1};
    if (!(loading.classes = malloc(session->names.function_count)))
        return session_fail_memory_null(error, "the functions' classes");
    memset(loading.classes, HIDDEN, session->names.function_count);
    if (database_each(session->database, function_names_sql, read_class, &loading, error))
        return loading.classes;
    free(loading.classes);
    return NULL;
}

/* Returns the class of each frame by id; free() them. NULL with `error` set. */
static uint8_t *frame_classes(struct session *session, const struct user_code *code,
                              struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    uint8_t *of_function = user_classes_compute(session, code, error), *of_frame = NULL;
    if (of_function && !(of_frame = malloc(stacks->frame_count)))
        session_fail_memory(error, "the frames' classes");
    for (uint32_t frame = 0; of_frame && frame < stacks->frame_count; frame++) {
        const uint32_t function = stacks->frame_table[frame].function;
        of_frame[frame] = function == 0 ? HIDDEN : of_function[function];
    }
    free(of_function);
    return of_frame;
}

static bool user_frames_compute(struct session *session, const struct user_code *code,
                                uint32_t *frames, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    uint8_t *classes = frame_classes(session, code, error);
    uint32_t *of_node = classes ? calloc(stacks->all.count, sizeof(*of_node)) : NULL;
    if (classes && !of_node)
        session_fail_memory(error, "the user's frames");
    /* The innermost frame of the user's own code, or if there is none, of a runtime. */
    for (uint32_t node = of_node ? stacks->all.count : 0; node-- > 1;) {
        const uint32_t frame = stacks_frame(stacks, node);
        const uint32_t outer = of_node[stacks_caller(stacks, node)];
        const bool hides = outer != 0 && classes[outer] == OWN;
        of_node[node] =
            classes[frame] == OWN || (classes[frame] == RUNTIME && !hides) ? frame : outer;
    }
    for (uint32_t stack = 0; of_node && stack < stacks->count; stack++)
        frames[stack] = of_node[stacks_node(stacks, stack)];
    const bool good = of_node != NULL;
    FREE_ALL(of_node, classes);
    return good;
}

/* Computes call sites from those that ingest stored: a frame of a wrapper or an allocator is not a
 * call site. If all outer frames are such, the outermost one is the call site, as for ingest. */
static bool user_call_sites_compute(struct session *session, const struct user_code *code,
                                    const uint32_t *stored, uint32_t *call_sites,
                                    struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    uint8_t *classes = frame_classes(session, code, error);
    uint32_t *sites = classes ? stacks_sites(stacks, stored, error) : NULL;
    /* By node: the first frame from there outward that is not a wrapper, or the outermost one. */
    uint32_t *of_node = sites ? calloc(stacks->all.count, sizeof(*of_node)) : NULL;
    if (sites && !of_node)
        session_fail_memory(error, "the call sites");
    for (uint32_t node = of_node ? stacks->all.count : 0; node-- > 1;) {
        const uint32_t frame = stacks_frame(stacks, node), caller = stacks_caller(stacks, node);
        of_node[node] = classes[frame] == WRAPPER && caller != 0 ? of_node[caller] : frame;
    }
    for (uint32_t stack = 0; of_node && stack < stacks->count; stack++)
        call_sites[stack] = stored[stack] == 0 || classes[stored[stack]] != WRAPPER
                                ? stored[stack]
                                : of_node[sites[stack]];
    const bool good = of_node != NULL;
    FREE_ALL(of_node, sites, classes);
    return good;
}

struct user {
    struct user_code code;
    /* By stack: */
    uint32_t *frames;     /* NULL: not computed yet */
    uint32_t *nodes;      /* of those frames; NULL: not found yet */
    uint32_t *owners;     /* NULL: not read yet */
    uint8_t *classes;     /* of functions, by id; NULL: not computed yet */
    uint32_t *call_sites; /* as ingest stored them; NULL: they are where ingest put them */
};

void user_free(struct user *user)
{
    if (!user)
        return;
    user_code_free(&user->code);
    FREE_ALL(user->frames, user->nodes, user->owners, user->classes, user->call_sites, user);
}

static struct user *user_of(struct session *session, struct session_error *error)
{
    if (!session->user && !(session->user = calloc(1, sizeof(*session->user))))
        session_fail_memory(error, "the user's settings");
    return session->user;
}

const struct user_code *session_user_code(const struct session *session)
{
    static const struct user_code built_in;
    return session->user ? &session->user->code : &built_in;
}

bool session_call_sites_moved(const struct session *session)
{
    return session->user && session->user->call_sites;
}

bool user_frames(struct session *session, const uint32_t **frames, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->frames) {
        uint32_t *made = calloc(session->stacks.count, sizeof(*made));
        if (!made)
            return session_fail_memory(error, "the user's frames");
        const bool stored =
            user_code_is_default(&user->code) &&
            session_meta_number(session, "user_code_version") == (int64_t)user_code_version();
        if (!(stored ? user_frames_stored(session, made, error)
                     : user_frames_compute(session, &user->code, made, error))) {
            free(made);
            return false;
        }
        user->frames = made;
    }
    *frames = user->frames;
    return true;
}

bool user_classes(struct session *session, const uint8_t **classes, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->classes)
        user->classes = user_classes_compute(session, &user->code, error);
    *classes = user->classes;
    return user->classes != NULL;
}

bool session_own_functions(struct session *session, bool **own, size_t *count,
                           struct session_error *error)
{
    const uint8_t *classes;
    if (!user_classes(session, &classes, error))
        return false;
    *count = session->names.function_count;
    *own = calloc(*count + 1, sizeof(**own));
    if (!*own)
        return session_fail_memory(error, "the functions");
    for (size_t function = 1; function < *count; function++)
        (*own)[function] = classes[function] == USER_CODE_OWN;
    return true;
}

bool user_owners(struct session *session, const uint32_t **owners, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->owners) {
        uint32_t *made = calloc(session->stacks.count, sizeof(*made));
        if (!made)
            return session_fail_memory(error, "the owners");
        if (!user_owners_stored(session, made, error)) {
            free(made);
            return false;
        }
        user->owners = made;
    }
    *owners = user->owners;
    return true;
}

/* Puts the call sites of all stacks. Stacks without one keep their function. */
static void put_call_sites(struct stacks *stacks, const uint32_t *call_sites)
{
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        if (stacks->call_site[stack] == call_sites[stack])
            continue;
        stacks->call_site[stack] = call_sites[stack];
        stacks->function[stack] = stacks->frame_table[call_sites[stack]].function;
    }
}

static void restore_call_sites(struct session *session, struct user *user)
{
    if (user->call_sites)
        put_call_sites(&session->stacks, user->call_sites);
    free(user->call_sites);
    user->call_sites = NULL;
}

/* Moves the call sites to where the settings want them. On failure all stay. */
static bool move_call_sites(struct session *session, struct user *user,
                            const struct user_code *code, struct session_error *error)
{
    struct stacks *stacks = &session->stacks;
    const size_t size = stacks->count * sizeof(*stacks->call_site);
    uint32_t *wanted = malloc(size), *stored = malloc(size);
    bool good = false;
    if (!wanted || !stored) {
        session_fail_memory(error, "the call sites");
    } else {
        memcpy(stored, user->call_sites ? user->call_sites : stacks->call_site, size);
        good = user_call_sites_compute(session, code, stored, wanted, error);
    }
    if (good) {
        put_call_sites(stacks, wanted);
        free(user->call_sites);
        user->call_sites = stored;
        stored = NULL;
    }
    FREE_ALL(stored, wanted);
    return good;
}

bool session_set_user_code(struct session *session, const struct user_code *code,
                           struct session_error *error)
{
    struct user *user = user_of(session, error);
    struct user_code copy = {0};
    if (!user)
        return false;
    if (code && !user_code_copy(&copy, code))
        return session_fail_memory(error, "the user's settings");
    if (copy.lists[USER_CODE_WRAPPER].count == 0) {
        restore_call_sites(session, user);
    } else if (!move_call_sites(session, user, &copy, error)) {
        user_code_free(&copy);
        return false;
    }
    user_code_free(&user->code);
    user->code = copy;
    session->user_code_changes++;
    FREE_ALL(user->frames, user->nodes, user->classes);
    user->frames = user->nodes = NULL;
    user->classes = NULL;
    return true;
}

size_t session_stack_user(struct session *session, uint32_t stack)
{
    const struct stacks *stacks = &session->stacks;
    const uint32_t *frames = NULL;
    if (stack >= stacks->count || !user_frames(session, &frames, NULL) || !frames ||
        frames[stack] == 0 || !stacks_frames(&session->stacks, NULL))
        return SESSION_NO_FRAME;
    struct user *user = session->user;
    if (!user->nodes && !(user->nodes = stacks_sites(stacks, frames, NULL)))
        return SESSION_NO_FRAME;
    const uint32_t node = stacks_node(stacks, stack), found = user->nodes[stack];
    return stacks_frame(stacks, found) != frames[stack]
               ? SESSION_NO_FRAME
               : stacks_depth(stacks, node) - stacks_depth(stacks, found);
}

/* ---- clears ---- */

/* Returns for each function 1 if it clears and is the user's own code. */
static uint8_t *clearing_functions(struct session *session, struct session_error *error)
{
    const struct names *names = &session->names;
    const uint8_t *classes = NULL;
    if (!user_classes(session, &classes, error))
        return NULL;
    uint8_t *clears = calloc((size_t)names->function_count + 1, 1);
    if (!clears)
        return session_fail_memory_null(error, "the filter");
    for (uint32_t id = 0; id < names->function_count; id++) {
        const char *name = names->function[id].name;
        clears[id] = classes[id] == USER_CODE_OWN && name && function_name_clears(name);
    }
    return clears;
}

uint8_t *user_clears(struct session *session, struct session_error *error)
{
    struct stacks *stacks = &session->stacks;
    uint8_t *clears = stacks_frames(stacks, error) ? clearing_functions(session, error) : NULL;
    uint8_t *of_node = clears ? stacks_with(stacks, clears, error) : NULL;
    uint8_t *found = of_node ? calloc((size_t)stacks->count + 1, 1) : NULL;
    if (of_node && !found)
        session_fail_memory(error, "the filter");
    for (uint32_t stack = 1; found && stack < stacks->count; stack++)
        found[stack] = of_node[stacks_node(stacks, stack)];
    FREE_ALL(of_node, clears);
    return found;
}
