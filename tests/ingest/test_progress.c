/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress line tells what is waited for, even after the last event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/ingest.h"

/* Returns the text that a report writes to stderr. */
static const char *shown(enum ingest_phase phase, uint64_t done, uint64_t total)
{
    static char text[256];
    struct progress progress = {.shown = true};
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    progress_report(&progress, phase, done, total);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void test_each_wait_has_its_words(void **state)
{
    const uint64_t gibibytes = UINT64_C(8) << 30;
    assert_non_null(strstr(shown(INGEST_SCAN, 0, 100), "reading stacks and modules"));
    assert_non_null(strstr(shown(INGEST_REPLAY, 50, 100), " 50 %"));
    assert_non_null(strstr(shown(INGEST_ROWS, gibibytes, 100), "writing rows, 8192.0 MiB so far"));
    assert_non_null(
        strstr(shown(INGEST_WRITE, gibibytes, 100), "writing names and indexes, 8192.0 MiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_wait_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
