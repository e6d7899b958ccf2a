/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds traces that appear beside that of the program. The test sets the time itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/run/follow.h"

static char around[] = "/tmp/mprof-beside-XXXXXX";
static char trace[sizeof(around) + 16];
static char folder[sizeof(trace) + 16]; /* of the other processes' traces */
static char seen[4096];                 /* names, each with its time */

static void note(void *context, const char *path, uint64_t since)
{
    const size_t used = strlen(seen);
    assert_memory_equal(path, folder, strlen(folder));
    snprintf(seen + used, sizeof(seen) - used, "%s@%u ", path + strlen(folder) + 1,
             (unsigned)since);
}

static void create(const char *name)
{
    char path[sizeof(folder) + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
}

/* Takes one step and checks that it finds `names`. */
static int step(struct trace_watcher *watcher, uint64_t now, const char *names)
{
    *seen = 0;
    const int next = trace_watcher_step(watcher, now, note, NULL);
    assert_string_equal(seen, names);
    return next;
}

static bool is_readable(const struct trace_watcher *watcher)
{
    struct pollfd wait_for = {.fd = watcher->watch, .events = POLLIN};
    return poll(&wait_for, 1, 0) == 1;
}

/* The folder of a kernel that watches none. */
static void test_looked_for(void **state)
{
    struct trace_watcher watcher;
    struct stat status;
    create("1");
    trace_watcher_begin(&watcher, trace, 1000);
    watcher.tried = true;
    assert_int_equal(step(&watcher, 1000, "1@990 "), 10);
    create("2");
    create("db");
    create("3.part");
    assert_int_equal(step(&watcher, 1004, ""), 6);
    assert_int_equal(step(&watcher, 1011, "2@1000 "), 10);
    /* A file appears in the same moment: the folder's date stays. */
    assert_int_equal(stat(folder, &status), 0);
    create("2.1");
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, folder, times, 0), 0);
    assert_int_equal(step(&watcher, 1021, "2.1@1011 "), 10);
    assert_int_equal(step(&watcher, 1031, ""), 10);
    trace_watcher_end(&watcher);
}

static void test_watched(void **state)
{
    struct trace_watcher watcher;
    create("5");
    trace_watcher_begin(&watcher, trace, 50);
    *seen = 0;
    assert_int_equal(trace_watcher_step(&watcher, 50, note, NULL), -1);
    assert_non_null(strstr(seen, "5@40 "));
    step(&watcher, 55, "");
    assert_false(is_readable(&watcher));
    create("6");
    create("4.part");
    assert_true(is_readable(&watcher));
    step(&watcher, 60, "6@60 ");
    assert_false(is_readable(&watcher));
    trace_watcher_end(&watcher);
}

static void test_of_another_run(void **state)
{
    struct trace_watcher watcher;
    create("7");
    trace_watcher_begin(&watcher, trace, 50);
    watcher.started += 1000;
    step(&watcher, 50, "");
    trace_watcher_end(&watcher);
}

static int set_up(void **state)
{
    if (!mkdtemp(around))
        return 1;
    snprintf(trace, sizeof(trace), "%s/t.bin", around);
    snprintf(folder, sizeof(folder), "%s.d", trace);
    return mkdir(folder, 0700);
}

static int tear_down(void **state)
{
    char command[sizeof(folder) + 16];
    snprintf(command, sizeof(command), "rm -r %s", around);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looked_for),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_of_another_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
