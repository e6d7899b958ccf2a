/* SPDX-License-Identifier: BSD-2-Clause */
/* A service whose traces cannot be rotated says so once an hour. The test is the recorder, and sets
 * the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/run/rotate.h"
#include "schemas/trace_codec.h"

static char path[] = "/tmp/mprof-rotate-XXXXXX";
static FILE *said;

static void set_control(struct client *client, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)&client->header->control, value);
}

static uint32_t control(struct client *client)
{
    return atomic_load((_Atomic uint32_t *)&client->header->control);
}

/* Returns the number of lines on standard error. */
static unsigned lines(void)
{
    unsigned count = 0;
    rewind(said);
    for (int letter; (letter = getc(said)) != EOF;)
        count += letter == '\n';
    return count;
}

/* Does a step of the recorder. Its messages go to the file: otherwise cmocka has standard error. */
static bool step(struct run_rotate *rotate, const struct run_rotate_options *options,
                 struct client *client, double now)
{
    struct run_kept kept = {0};
    const int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
    const bool complete = run_rotate_step(rotate, options, client, path, &kept, now);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    return complete;
}

/* Goes on from `*now` until the trace has been asked once more, and answers. */
static void answer_next(struct run_rotate *rotate, const struct run_rotate_options *options,
                        struct client *client, double *now, enum trace_answer answer, bool complete)
{
    *now = run_rotate_due(rotate);
    assert_false(step(rotate, options, client, *now));
    assert_int_equal(control(client), TRACE_CONTROL_ASKED);
    client->header->answer = answer;
    set_control(client, TRACE_CONTROL_DONE);
    *now = run_rotate_due(rotate);
    assert_int_equal(step(rotate, options, client, *now), complete);
}

static void test_once_an_hour(void **state)
{
    const struct run_rotate_options options = {.interval = 60};
    struct run_rotate rotate[2];
    struct client clients[2];
    double now[2] = {1000, 1000};
    unsigned refused = 0;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(client_open(&clients[i], path), CLIENT_GOOD);
        run_rotate_begin(&rotate[i], &options, now[i]);
    }
    answer_next(&rotate[0], &options, &clients[0], &now[0], TRACE_ANSWER_DONE, true);
    assert_int_equal(lines(), 0);
    /* Two processes refuse each minute. The first line comes at once. */
    double first = 0;
    while (now[0] < 1000 + 3 * 3600) {
        for (unsigned i = 0; i < 2; i++, refused++)
            answer_next(&rotate[i], &options, &clients[i], &now[i], TRACE_ANSWER_NOT_DONE, false);
        first = first > 0 ? first : now[0];
        assert_int_equal(lines(), 1 + (unsigned)((now[0] - first) / 3600));
    }
    assert_true(refused > 300);
    assert_int_equal(lines(), 3);
    for (unsigned i = 0; i < 2; i++)
        client_close(&clients[i]);
}

static int begin(void **state)
{
    static struct trace_file_header header = {.version = TRACE_VERSION,
                                              .chunk_size = TRACE_CHUNK_SIZE_MIN,
                                              .state = TRACE_STATE_RECORDING};
    memcpy(header.magic, TRACE_MAGIC, sizeof(header.magic));
    header.pid = (uint32_t)getpid();
    header.header_sum = trace_sum(&header, offsetof(struct trace_file_header, header_sum));
    const int file = mkstemp(path);
    said = tmpfile();
    return file < 0 || !said || ftruncate(file, TRACE_FILE_HEADER_SIZE) != 0 ||
           pwrite(file, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || close(file) != 0;
}

static int end(void **state)
{
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_once_an_hour)};
    return cmocka_run_group_tests(tests, begin, end);
}
