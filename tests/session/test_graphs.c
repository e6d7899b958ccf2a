/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs and settings under a name: places, changes, refusals, what others may have put there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "schemas/code/user_code.h"
#include "session/graphs.h"
#include "session/user_code.h"

#define PATH "graphs.db"
#define FOLDER "graphs_config/mprof/graphs/"

static struct session *session;
static struct session_error problem;

static void in_config(const char *folder)
{
    char here[4096], path[5000];
    assert_non_null(getcwd(here, sizeof(here)));
    snprintf(path, sizeof(path), "%s/%s", here, folder);
    setenv("XDG_CONFIG_HOME", path, 1);
}

/* Opens a new session, with an empty folder of the user's. */
static int fresh(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 500;
    assert_int_equal(system("rm -rf graphs_config graphs_files && mkdir graphs_files"), 0);
    in_config("graphs_config");
    assert_true(fixture_write(PATH, &options));
    problem = (struct session_error){.message = ""};
    session = session_open(PATH, &problem);
    return session ? 0 : -1;
}

static int close_session(void **state)
{
    session_close(session);
    return 0;
}

static struct session_storing in_session(void)
{
    return (struct session_storing){.place = SESSION_PLACE_SESSION};
}

static void store(const char *name, const char *text, enum session_place place, bool replace)
{
    struct session_storing storing = {.place = place, .replace = replace};
    if (!session_graph_store(session, name, text, &storing, &problem))
        fail_msg("%s: %s", name, problem.message);
    assert_int_equal(storing.stored, place);
    assert_string_equal(storing.note, "");
}

static void refused(bool result, const char *expected)
{
    if (result || !strstr(problem.message, expected))
        fail_msg("expected \"%s\", got \"%s\"", expected, result ? "success" : problem.message);
    problem.message[0] = '\0';
}

static void is_text(const char *name, const char *text, enum session_place place)
{
    struct session_graph graph;
    if (!session_graph_find(session, name, &graph, &problem))
        fail_msg("%s: %s", name, problem.message);
    assert_string_equal(graph.text, text);
    assert_int_equal(graph.place, place);
    session_graph_clear(&graph);
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_names(void **state)
{
    static const char *const good[] = {"a", "_1", "leaks_by_type", "größe", "リーク", "All"};
    static const char *const bad[] = {
        "",     "1a",   "a b",     "a/b",  "..",        ".a",           "a.b",  "a-b", "all",
        "join", "a\nb", "\x1b[2J", "\xff", "a\xc2\x85", "\xe2\x80\xae", "live", "a\"b"};
    char longest[SESSION_GRAPH_NAME_MAX + 2];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(session_graph_name_check(good[i], &problem));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (session_graph_name_check(bad[i], &problem))
            fail_msg("accepted name %zu", i);
        assert_null(strchr(problem.message, '\x1b'));
    }
    memset(longest, 'a', sizeof(longest));
    longest[SESSION_GRAPH_NAME_MAX] = '\0';
    assert_true(session_graph_name_check(longest, NULL));
    longest[SESSION_GRAPH_NAME_MAX] = 'a';
    longest[SESSION_GRAPH_NAME_MAX + 1] = '\0';
    assert_false(session_graph_name_check(longest, NULL));
}

static void test_session(void **state)
{
    struct session_storing storing = in_session();
    store("big", "# Large blocks\n# of 1 MiB\nall | where size >= 1M", SESSION_PLACE_SESSION,
          false);
    is_text("big", "all | where size >= 1M", SESSION_PLACE_SESSION);
    refused(session_graph_store(session, "big", "live", &storing, &problem), "stored already");
    store("big", "live", SESSION_PLACE_SESSION, true);
    is_text("big", "live", SESSION_PLACE_SESSION);
    store("other", "leaked", SESSION_PLACE_SESSION, false);
    refused(session_graph_rename(session, SESSION_PLACE_SESSION, "big", "other", &problem),
            "\"other\" is stored already");
    assert_true(session_graph_rename(session, SESSION_PLACE_SESSION, "big", "large", &problem));
    is_text("large", "live", SESSION_PLACE_SESSION);
    refused(session_graph_rename(session, SESSION_PLACE_SESSION, "big", "larger", &problem),
            "no graph named \"big\"");
    assert_true(session_graph_delete(session, SESSION_PLACE_SESSION, "large", &problem));
    refused(session_graph_delete(session, SESSION_PLACE_SESSION, "large", &problem),
            "no graph named \"large\"");
    /* The next one who opens the session finds what was stored, and nothing else has changed. */
    session_close(session);
    session = session_open(PATH, &problem);
    assert_non_null(session);
    is_text("other", "leaked", SESSION_PLACE_SESSION);
    assert_int_equal(session_allocation_count(session), 500);
    assert_int_not_equal(access("graphs_config", F_OK), 0);
}

static void test_bad_texts(void **state)
{
    struct session_storing storing = in_session();
    char *longest = malloc(SESSION_GRAPH_TEXT_MAX + 2);
    assert_non_null(longest);
    memset(longest, ' ', SESSION_GRAPH_TEXT_MAX + 1);
    memcpy(longest, "all", 3);
    longest[SESSION_GRAPH_TEXT_MAX + 1] = '\0';
    refused(session_graph_store(session, "a", longest, &storing, &problem), "65536 bytes");
    longest[SESSION_GRAPH_TEXT_MAX] = '\0';
    store("a", longest, SESSION_PLACE_SESSION, false);
    free(longest);
    refused(session_graph_store(session, "b", "all\x1b", &storing, &problem), "control characters");
    refused(session_graph_store(session, "b", "all \xff", &storing, &problem), "control");
    refused(session_graph_store(session, "b", "all |\rleaked", &storing, &problem), "control");
    store("lines", "all\r\n", SESSION_PLACE_SESSION, false);
    refused(session_graph_store(session, "b", "all | where sise > 1", &storing, &problem),
            "expected a field");
    assert_int_equal(problem.column, 13);
}

static void test_places(void **state)
{
    struct session_graph *graphs;
    struct stat about;
    size_t count, seen = 0;
    store("leaks_by_type", "live", SESSION_PLACE_FOLDER, false);
    is_text("leaks_by_type", "live", SESSION_PLACE_FOLDER);
    store("leaks_by_type", "all", SESSION_PLACE_SESSION, false);
    is_text("leaks_by_type", "all", SESSION_PLACE_SESSION);
    assert_true(session_graphs(session, &graphs, &count, &problem));
    assert_string_equal(problem.message, "");
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(graphs[i - 1].name, graphs[i].name) <= 0);
        if (strcmp(graphs[i].name, "leaks_by_type") != 0)
            continue;
        assert_int_equal(graphs[i].place, seen);
        assert_int_equal(graphs[i].hidden, seen > 0);
        seen++;
    }
    assert_int_equal(seen, 3);
    session_graphs_free(graphs, count);
    assert_int_equal(stat("graphs_config/mprof", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(stat(FOLDER "leaks_by_type.graph", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    refused(session_graph_delete(session, SESSION_PLACE_SHIPPED, "leaks_by_type", &problem),
            "ships with the program");
    assert_true(
        session_graph_rename(session, SESSION_PLACE_FOLDER, "leaks_by_type", "mine", &problem));
    is_text("mine", "live", SESSION_PLACE_FOLDER);
    assert_true(session_graph_delete(session, SESSION_PLACE_FOLDER, "mine", &problem));
    refused(session_graph_delete(session, SESSION_PLACE_FOLDER, "mine", &problem), "no graph");
}

/* Stores where the session cannot be written. */
static void falls_back(const char *name, const char *why)
{
    struct session_storing storing = in_session();
    if (!session_graph_store(session, name, "live", &storing, &problem))
        fail_msg("%s", problem.message);
    assert_int_equal(storing.stored, SESSION_PLACE_FOLDER);
    if (!strstr(storing.note, why))
        fail_msg("expected \"%s\", got \"%s\"", why, storing.note);
    is_text(name, "live", SESSION_PLACE_FOLDER);
}

static void test_recording(void **state)
{
    assert_true(fixture_sql(PATH, "INSERT INTO meta VALUES ('unfinished', 1)"));
    falls_back("kept", "still being recorded");
    assert_true(
        fixture_sql(PATH, "DELETE FROM meta WHERE key = 'unfinished'; DROP TABLE named_graph"));
    falls_back("kept_too", "ingest the trace again");
}

static void test_read_only(void **state)
{
    const uid_t nobody = 65534;
    if (geteuid() != 0) {
        assert_int_equal(chmod(PATH, 0400), 0);
        falls_back("kept", "cannot be written");
        assert_int_equal(chmod(PATH, 0600), 0);
        return;
    }
    /* The superuser may write everything. */
    assert_int_equal(chmod(PATH, 0444), 0);
    assert_int_equal(mkdir("graphs_config", 0700), 0);
    assert_int_equal(chown("graphs_config", nobody, (gid_t)-1), 0);
    if (seteuid(nobody) == 0 && access(PATH, R_OK) == 0 && open(PATH, O_RDONLY) >= 0)
        falls_back("kept", "cannot be written");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(PATH, 0600), 0);
}

static void test_links(void **state)
{
    struct session_storing storing = {.place = SESSION_PLACE_FOLDER, .replace = true};
    struct session_graph graph;
    store("there", "live", SESSION_PLACE_FOLDER, false);
    put_file("graphs_files/precious", "live at start");
    assert_int_equal(symlink("../../../graphs_files/precious", FOLDER "led.graph"), 0);
    refused(session_graph_find(session, "led", &graph, &problem), "symbolic link");
    refused(session_graph_store(session, "led", "all", &storing, &problem), "not a regular file");
    refused(session_graph_delete(session, SESSION_PLACE_FOLDER, "led", &problem),
            "not a regular file");
    refused(session_graph_rename(session, SESSION_PLACE_FOLDER, "there", "led", &problem),
            "not a regular file");
    assert_int_equal(mkfifo(FOLDER "pipe.graph", 0600), 0);
    refused(session_graph_find(session, "pipe", &graph, &problem), "not a regular file");
    put_file(FOLDER "nul.graph", "");
    assert_int_equal(truncate(FOLDER "nul.graph", 4), 0);
    refused(session_graph_find(session, "nul", &graph, &problem), "NUL at byte 0");
    assert_int_equal(truncate(FOLDER "nul.graph", 1 << 20), 0);
    refused(session_graph_find(session, "nul", &graph, &problem), "longer than");
    /* Everything else is listed all the same. */
    struct session_graph *graphs;
    size_t count;
    assert_true(session_graphs(session, &graphs, &count, &problem));
    assert_true(count > 1);
    session_graphs_free(graphs, count);
    is_text("there", "live", SESSION_PLACE_FOLDER);
    problem.message[0] = '\0';
    /* A folder of others, and a folder that leads elsewhere. */
    assert_int_equal(chmod(FOLDER, 0777), 0);
    refused(session_graph_find(session, "there", &graph, &problem), "others may write");
    refused(session_graph_store(session, "there", "all", &storing, &problem), "others may write");
    assert_int_equal(system("mv " FOLDER " graphs_files/moved && chmod 700 graphs_files/moved && "
                            "ln -s ../../graphs_files/moved graphs_config/mprof/graphs"),
                     0);
    refused(session_graph_store(session, "there", "all", &storing, &problem), "cannot be opened");
}

static void test_files(void **state)
{
    struct session_storing storing = in_session();
    const char *text = "# Blocks of 1 KiB\n# One unit.\nall | where size == 1K\n";
    put_file("graphs_files/kilo.graph", text);
    assert_true(session_graph_import(session, "graphs_files/kilo.graph", &storing, &problem));
    is_text("kilo", "all | where size == 1K\n", SESSION_PLACE_SESSION);
    put_file("graphs_files/kilo.txt", "all");
    refused(session_graph_import(session, "graphs_files/kilo.txt", &storing, &problem),
            "NAME.graph");
    refused(session_graph_import(session, "graphs_files/no.graph", &storing, &problem), "no such");
    put_file("graphs_files/all.graph", "live");
    refused(session_graph_import(session, "graphs_files/all.graph", &storing, &problem),
            "a word of the language");
}

static const char *file_of_another; /* not NULL: renameat2() has no flags, and this file appears */

/* Takes the place of the C library's function for the session library. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (flags == 0 || !file_of_another)
        return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (*file_of_another)
        put_file(file_of_another, "# of another process\nlive\n");
    errno = EINVAL;
    return -1;
}

/* A file system that cannot rename without a replacement: still nothing is replaced. */
static void test_old_file_system(void **state)
{
    struct session_storing storing = {.place = SESSION_PLACE_FOLDER};
    store("first", "all", SESSION_PLACE_FOLDER, false);
    file_of_another = "";
    store("second", "all", SESSION_PLACE_FOLDER, false);
    is_text("second", "all", SESSION_PLACE_FOLDER);
    file_of_another = FOLDER "third.graph";
    refused(session_graph_store(session, "third", "all", &storing, &problem), "already");
    is_text("third", "live\n", SESSION_PLACE_FOLDER);
    file_of_another = NULL;
    assert_int_equal(system("ls -A " FOLDER " | grep -v '^[a-z]*.graph$'") == 0, 0);
}

static size_t settings_of(enum session_setting_kind kind, const char *value,
                          enum session_place place)
{
    struct session_setting *settings;
    size_t count, found = 0;
    if (!session_settings(session, &settings, &count, &problem))
        fail_msg("%s", problem.message);
    for (size_t i = 0; i < count; i++)
        found += settings[i].kind == kind && settings[i].place == place &&
                 strcmp(settings[i].value, value) == 0;
    session_settings_free(settings, count);
    return found;
}

static void test_hostile_tables(void **state)
{
    struct session_graph *graphs;
    size_t count, of_session = 0;
    assert_true(fixture_sql(
        PATH, "INSERT INTO named_graph VALUES ('../../x', 'all', 0), ('a b', 'all', 0),"
              "('text', 'all' || char(27) || '[2J', 0), ('nul', 'all' || char(0) || 'x', 0),"
              "('long', printf('%.70000c', 'x'), 0), (x'00ff', 'all', 0), ('number', 7, 0),"
              "('good', 'live', 0);"
              "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
              "INSERT INTO named_graph SELECT 'g' || i, 'all', 0 FROM n"));
    assert_true(session_graphs(session, &graphs, &count, &problem));
    for (size_t i = 0; i < count; i++)
        of_session += graphs[i].place == SESSION_PLACE_SESSION;
    assert_in_range(of_session, 900, SESSION_GRAPHS_MAX);
    session_graphs_free(graphs, count);
    is_text("g1", "all", SESSION_PLACE_SESSION);
    /* A trigger would change another table; a view would not end. */
    assert_true(fixture_sql(PATH,
                            "CREATE TRIGGER t AFTER INSERT ON named_graph BEGIN DELETE FROM meta; "
                            "END"));
    store("quiet", "live", SESSION_PLACE_SESSION, false);
    session_close(session);
    session = session_open(PATH, &problem);
    assert_non_null(session);
    assert_int_equal(session_allocation_count(session), 500);
    assert_true(session_meta(session, "program") || session_meta(session, "duration_ns"));
    assert_true(fixture_sql(
        PATH, "DROP TABLE named_graph; CREATE VIEW named_graph(name, text) AS WITH RECURSIVE "
              "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
              "SELECT 'x', 'all' FROM n WHERE i < 0"));
    assert_true(session_graphs(session, &graphs, &count, &problem));
    session_graphs_free(graphs, count);
    falls_back("kept", "another version");
    /* This row is computed at once, another expression would take hours in one step. */
    assert_true(fixture_sql(PATH, "DROP VIEW named_graph; CREATE TABLE named_graph(n, name AS "
                                  "(substr(n, 1, 1)), text AS ('all'), changed AS (0));"
                                  "INSERT INTO named_graph(n) VALUES ('xy')"));
    assert_true(session_graphs(session, &graphs, &count, &problem));
    for (size_t i = 0; i < count; i++)
        assert_string_not_equal(graphs[i].name, "x");
    session_graphs_free(graphs, count);
    /* A check may take as long as a computed column: none runs. */
    assert_true(fixture_sql(PATH, "DROP TABLE named_graph; CREATE TABLE named_graph(name TEXT "
                                  "PRIMARY KEY, text TEXT, changed, CHECK (text != 'all'))"));
    falls_back("checked", "another version");
    /* An index may, too: such a table is not used. */
    assert_true(fixture_sql(PATH, "DROP TABLE named_graph; CREATE TABLE named_graph(name TEXT "
                                  "PRIMARY KEY , text TEXT NOT NULL, -- a comment\n"
                                  "changed INTEGER NOT NULL ) WITHOUT  ROWID"));
    store("plain", "all", SESSION_PLACE_SESSION, false);
    assert_true(fixture_sql(PATH, "CREATE INDEX slow ON named_graph(length(text))"));
    falls_back("indexed", "another version");
    assert_true(fixture_sql(PATH, "DROP TABLE setting; CREATE TABLE setting(key TEXT NOT NULL, "
                                  "value TEXT NOT NULL DEFAULT '--', PRIMARY KEY(key, value)) "
                                  "WITHOUT ROWID; INSERT INTO setting VALUES ('hide', 'boost')"));
    assert_int_equal(settings_of(SESSION_HIDE, "boost", SESSION_PLACE_SESSION), 0);
}

static void test_settings(void **state)
{
    struct session_storing here = in_session(), folder = {.place = SESSION_PLACE_FOLDER};
    const char *function = "pool::take(unsigned long) const";
    assert_true(session_setting_store(session, SESSION_WRAPPER, function, &here, &problem));
    assert_true(session_setting_store(session, SESSION_WRAPPER, function, &here, &problem));
    assert_int_equal(settings_of(SESSION_WRAPPER, function, SESSION_PLACE_SESSION), 1);
    assert_true(session_setting_store(session, SESSION_HIDE, "boost", &folder, &problem));
    assert_true(session_setting_store(session, SESSION_HIDE, "boost", &folder, &problem));
    assert_true(session_setting_store(session, SESSION_SHOW, "std", &folder, &problem));
    assert_int_equal(settings_of(SESSION_HIDE, "boost", SESSION_PLACE_FOLDER), 1);
    put_file("graphs_config/mprof/settings", "\n# mine\nhide  boost\nhide\nshout x\nshow std\n\n");
    assert_int_equal(settings_of(SESSION_HIDE, "boost", SESSION_PLACE_FOLDER), 1);
    assert_true(
        session_setting_delete(session, SESSION_PLACE_FOLDER, SESSION_SHOW, "std", &problem));
    assert_int_equal(settings_of(SESSION_SHOW, "std", SESSION_PLACE_FOLDER), 0);
    refused(session_setting_delete(session, SESSION_PLACE_FOLDER, SESSION_SHOW, "std", &problem),
            "no setting \"show std\"");
    char read[100] = "";
    FILE *file = fopen("graphs_config/mprof/settings", "r");
    assert_non_null(file);
    assert_true(fread(read, 1, sizeof(read) - 1, file) > 0);
    fclose(file);
    assert_string_equal(read, "\n# mine\nhide  boost\nhide\nshout x\n\n");
    assert_true(
        session_setting_delete(session, SESSION_PLACE_FOLDER, SESSION_HIDE, "boost", &problem));
    assert_int_equal(settings_of(SESSION_HIDE, "boost", SESSION_PLACE_FOLDER), 0);
    assert_true(session_setting_delete(session, SESSION_PLACE_SESSION, SESSION_WRAPPER, function,
                                       &problem));
    refused(
        session_setting_delete(session, SESSION_PLACE_SESSION, SESSION_WRAPPER, function, &problem),
        "no setting");
    refused(session_setting_store(session, SESSION_HIDE, "a\nb", &here, &problem), "one line");
    refused(session_setting_store(session, SESSION_HIDE, "", &here, &problem), "one line");
}

enum { WRITERS = 4, EACH = 10 };

/* Stores some settings, after all writers have begun. */
static void write_settings(int writer, int gate)
{
    char begin, value[32];
    bool good = read(gate, &begin, 1) == 0; /* the end of the pipe */
    for (int i = 0; good && i < EACH; i++) {
        struct session_storing folder = {.place = SESSION_PLACE_FOLDER};
        snprintf(value, sizeof(value), "word_%d_%d", writer, i);
        good = session_setting_store(NULL, SESSION_HIDE, value, &folder, &problem);
    }
    _exit(good ? 0 : 1);
}

/* Processes that store at once lose nothing of one another. */
static void test_settings_at_once(void **state)
{
    int gate[2], status;
    char value[32];
    assert_int_equal(pipe(gate), 0);
    for (int writer = 0; writer < WRITERS; writer++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(gate[1]);
            write_settings(writer, gate[0]);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int writer = 0; writer < WRITERS; writer++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < WRITERS * EACH; i++) {
        snprintf(value, sizeof(value), "word_%d_%d", i / EACH, i % EACH);
        assert_int_equal(settings_of(SESSION_HIDE, value, SESSION_PLACE_FOLDER), 1);
    }
}

static void test_shipped(void **state)
{
    struct session_graph *graphs;
    struct session_storing storing = in_session();
    size_t count;
    assert_true(session_graphs(NULL, &graphs, &count, &problem));
    assert_int_equal(count, 15);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(graphs[i].place, SESSION_PLACE_SHIPPED);
        assert_true(graphs[i].about[0] != '\0');
        /* A text that can be stored parses. */
        if (!session_graph_store(session, graphs[i].name, graphs[i].text, &storing, &problem))
            fail_msg("%s: column %d: %s", graphs[i].name, problem.column, problem.message);
    }
    session_graphs_free(graphs, count);
    assert_true(
        session_graph_store(session, "grown2", "grown(start, 50%) | count", &storing, &problem));
    refused(session_graph_store(session, "grown3", "grown(start) | count", &storing, &problem),
            "needs 2 values");
    refused(session_graph_store(session, "grown4", "grwon(start, end)", &storing, &problem),
            "did you mean \"grown\"");
    refused(session_graph_store(session, "self", "live + self", &storing, &problem),
            "no graph named \"self\"");
    /* The filter of a view finds them, and says where an error is. */
    store("mine", "leaked & live at end", SESSION_PLACE_FOLDER, false);
    struct selection *selection = selection_new(session, "mine | where size > 0", &problem);
    if (!selection)
        fail_msg("%s", problem.message);
    selection_free(selection);
    assert_true(session_filter_check(session, "all - mine", &problem));
    assert_false(session_filter_check(session, "all - yours", &problem));
    assert_int_equal(problem.column, 7);
}

/* Stored settings are in force when a session is opened, the session's before the folder's. */
static void test_applied(void **state)
{
    struct session_storing here = in_session(), folder = {.place = SESSION_PLACE_FOLDER};
    assert_int_equal(session_user_code(session)->lists[USER_CODE_HIDE].count, 0);
    assert_true(session_setting_store(session, SESSION_HIDE, "boost", &folder, &problem));
    assert_true(session_setting_store(session, SESSION_HIDE, "vendor", &folder, &problem));
    assert_true(session_setting_store(session, SESSION_SHOW, "boost", &here, &problem));
    session_close(session);
    session = session_open(PATH, &problem);
    assert_non_null(session);
    const struct user_code *code = session_user_code(session);
    assert_int_equal(code->lists[USER_CODE_HIDE].count, 1);
    assert_string_equal(code->lists[USER_CODE_HIDE].words[0], "vendor");
    assert_int_equal(code->lists[USER_CODE_SHOW].count, 1);
    assert_true(
        session_setting_delete(session, SESSION_PLACE_SESSION, SESSION_SHOW, "boost", &problem));
    assert_true(session_settings_apply(session, &problem));
    assert_int_equal(session_user_code(session)->lists[USER_CODE_HIDE].count, 2);
    assert_int_equal(session_user_code(session)->lists[USER_CODE_SHOW].count, 0);
    /* A bad line of the folder does not stop a session. */
    put_file("graphs_config/mprof/settings", "hide");
    assert_int_equal(truncate("graphs_config/mprof/settings", 100), 0);
    session_close(session);
    session = session_open(PATH, &problem);
    assert_non_null(session);
}

static void test_no_folder(void **state)
{
    struct session_storing storing = {.place = SESSION_PLACE_FOLDER};
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "relative", 1);
    refused(session_graph_store(session, "a", "all", &storing, &problem), "set HOME");
    store("a", "all", SESSION_PLACE_SESSION, false);
    is_text("a", "all", SESSION_PLACE_SESSION);
    in_config("graphs_files/none");
    is_text("leaks_by_type", "leaked | join type | sort live_bytes desc\n", SESSION_PLACE_SHIPPED);
    assert_int_not_equal(access("graphs_files/none", F_OK), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fresh, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names),          TEST(test_session),   TEST(test_bad_texts),
        TEST(test_places),         TEST(test_recording), TEST(test_read_only),
        TEST(test_links),          TEST(test_files),     TEST(test_old_file_system),
        TEST(test_hostile_tables), TEST(test_settings),  TEST(test_settings_at_once),
        TEST(test_shipped),        TEST(test_applied),   TEST(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
