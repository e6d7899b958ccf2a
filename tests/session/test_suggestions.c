/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": what people type for each construct of the filter language, by a slip or as other
 * languages have it, and what the error suggests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "session/session.h"

#define PATH "suggestions.db"

static struct session *session;

static int open_fixture(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    struct session_error error;
    options.allocations = 300;
    return !fixture_write(PATH, &options) ||
           !fixture_sql(PATH, "INSERT INTO mark(id, ns, kind, name) VALUES (999, 5, 'mark', "
                              "'requests served')") ||
           !(session = session_open(PATH, &error));
}

static int close_fixture(void **state)
{
    session_close(session);
    return unlink(PATH);
}

static const struct {
    const char *text;
    int column;
    const char *meant; /* NULL: nothing is suggested */
} slips[] = {

    {"live att peak", 6, "at"},
    {"live ta peak", 6, "at"},
    {"live peak", 6, "at peak"},
    {"live @ peak", 6, "at"},
    {"allocs", 1, "all"},
    {"al", 1, "all"},
    {"alll", 1, "all"},
    {"leaks", 1, "leaked"},
    {"leakd", 1, "leaked"},
    {"leak", 1, "leaked"},
    {"liev", 1, "live"},
    {"live at peek", 9, "peak"},
    {"live at pek", 9, "peak"},
    {"live at strat", 9, "start"},
    {"live at ned", 9, "end"},
    {"live at 50 %", 9, "50%"},
    {"live at 5sec", 9, "5s"},
    {"live at 5 s", 9, "5s"},
    {"live at 1min", 9, "60s"},
    {"live at 100msec", 9, "100ms"},
    {"all | wher size > 1", 7, "where"},
    {"all | filter size > 1", 7, "where"},
    {"all | where siz > 1", 13, "size"},
    {"all | where size > 1KB", 20, "1K"},
    {"all | where size > 1kb", 20, "1K"},
    {"all | where size > 1k", 20, "1K"},
    {"all | where size > 1MiB", 20, "1M"},
    {"all | where size > 1m", 20, "1M"},
    {"all | where lifetime > 1sec", 24, "1s"},
    {"all | where lifetime > 10 ms", 24, "10ms"},
    {"all | where lifetim > 1ms", 13, "lifetime"},
    {"all | where function = main", 22, "=="},
    {"all | where function like \"main\"", 22, "~"},
    {"all | where function contains \"main\"", 22, "~"},
    {"all | where function =~ main", 22, "~"},
    {"all | where size => 10", 18, ">="},
    {"all | where size =< 10", 18, "<="},
    {"all | where size <> 10", 18, "!="},
    {"all | where size > 10 && size < 20", 23, "and"},
    {"all | where size > 10 || size < 20", 24, "or"},
    {"all | where size > 10 an size < 20", 23, "and"},
    {"all | where size > 10 orr size < 20", 23, "or"},
    {"all | where nott freed == true", 13, "not"},
    {"all | where freed == tru", 22, "true"},
    {"all | where freed", 18, "freed == true"},
    {"all | where type is nul", 21, "null"},
    {"all | where type is nt null", 21, "not"},
    {"all | where type iss null", 18, "is"},
    {"all | where size inn 1..2", 18, "in"},
    {"all | where size in 1-2", 22, ".."},
    {"all | where stack hass main", 19, "has"},
    {"all | where stack contains main", 19, "~"},
    {"all | color bye type", 13, "by"},
    {"all | color reed", 13, "red"},
    {"all | color red wher size > 1", 17, "where"},
    {"all | color by tipe", 16, "type"},
    {"all | sort siz", 12, "size"},
    {"all | sort size descending", 17, "desc"},
    {"all | sort size des", 17, "desc"},
    {"all | sort size dsc", 17, "desc"},
    {"all | order by size", 7, "sort"},
    {"all | sortby size", 7, "sort"},
    {"all | topp 5", 7, "top"},
    {"all | limit 5", 7, "top"},
    {"all | head 5", 7, "top"},
    {"all | join typ", 12, "type"},
    {"all | join tpye, size", 12, "type"},
    {"all | group by type", 7, "join"},
    {"all | groupby type", 7, "join"},
    {"all | join frme 2", 12, "frame"},
    {"all | fold 1MB", 12, "1M"},
    {"all | fodl 1M", 7, "fold"},
    {"all | join type | ungrup", 19, "ungroup"},
    {"all | cuont", 7, "count"},
    {"all | summ size", 7, "sum"},
    {"all | sum sise", 11, "size"},
    {"all | average size", 7, "avg"},
    {"all | mean size", 7, "avg"},
    {"all | avg lifetme", 11, "lifetime"},
    {"all | min siez", 11, "size"},
    {"all | maximum size", 7, "max"},
    {"all | peek", 7, "peak"},
    {"all | grwth start..end", 7, "growth"},
    {"all | growth start.end", 19, ".."},
    {"all | growth start,end", 19, ".."},
    {"all | growth strat..end", 14, "start"},
    {"all | growth start..nd", 21, "end"},
    {"all | proces foo", 7, "process"},
    {"all | writ \"x.csv\"", 7, "write"},
    {"all | write \"x.cvs\"", 13, ".csv"},
    {"all | write \"x.jsn\"", 13, ".json"},
    {"all + lve", 7, "live"},
    {"all - laeked", 7, "leaked"},
    {"all & leeked", 7, "leaked"},
    {"sesion \"x.db\"", 1, "session"},
    {"all | join type | where byts > 1", 25, "bytes"},
    {"all | join type | where allocation > 1", 25, "allocations"},
    {"all | join type | where peak > 1", 25, "peak_bytes"},
    {"all | join type | sort live", 24, "live_bytes"},
    {"all | join type | sort bytes descc", 30, "desc"},
    {"live | where pinss > 1M", 14, "pins"},
    {"outlive", 1, "outlived"},
    {"outlivd", 1, "outlived"},
    {"all | where alloc_tim > 1s", 13, "alloc_time"},
    {"all | where alloc_time > peek", 26, "peak"},
    {"all | where alloc_time in start..ned", 34, "end"},
    {"all || count", 6, NULL},
    {"all where size > 1", 5, "| where"},
    {"live at peak where size > 1", 14, "| where"},
    {"live at peak join type", 14, "| join"},
    {"all count", 5, "| count"},
    {"leaked top 5", 8, "| top"},
    {"live at \"request served\"", 9, "requests served"},
    {"big = all | where size > 1M; bgi", 30, "big"},
    {"f(N) = where size > N; f(1KB) | count", 26, "1K"},
    {"all | where size in (1, 2) adn freed == true", 28, "and"},
    {"all | where (size > 1 orr freed == true)", 23, "or"},
    {"all | where kind == malloc joim type", 28, NULL},
    {"all | where size > ten", 20, NULL},
    {"all | where lifetime > 10", 24, NULL},
    {"all | frobnicate", 7, NULL},
    {"xyzzy", 1, NULL},
    {"live at xyzzy", 9, NULL},
};

static void test_slips(void **state)
{
    for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++) {
        struct session_error error = {.column = 0};
        char expected[128] = "";
        if (slips[i].meant)
            snprintf(expected, sizeof(expected), ": did you mean \"%s\"?", slips[i].meant);
        struct selection *selection = selection_new(session, slips[i].text, &error);
        selection_free(selection);
        const char *found = strstr(error.message, ": did you mean");
        if (selection || error.column != slips[i].column ||
            strcmp(found ? found : "", expected) != 0)
            fail_msg("%s: column %d: %s", slips[i].text, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slips)};
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
