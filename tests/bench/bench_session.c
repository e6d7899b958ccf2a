/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_session [-w] [-q QUESTION] SESSION...: times the questions that people ask, each in a
 * process of its own, first with the file in the page cache (warm), then without (cold, by
 * posix_fadvise). Prints a line of a Markdown table for each: the bar if there is one, the estimate
 * if there is one, the exact answer, the processor time of all threads, the time from a cancel in
 * the middle until the engine is free again, bytes read by system calls, the time that this machine
 * needs only to read and add up as many bytes of the file on all cores, bytes that came from the
 * disk, and the largest resident set. -w leaves out the cold ones, -q all questions whose names do
 * not begin so.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/groups.h"
#include "session/jobs.h"
#include "tests/bench/read_rate.h"

enum { SLOTS = 240, CELLS = 4000 };

struct measured {
    double open, first, exact, processor, cancel; /* ms; below 0: there is none */
    uint64_t read, disk, resident;                /* bytes */
    bool good;
};

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Returns the processor time of all threads so far. */
static double processor_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/* Returns the number after `key` in a file of /proc/self. */
static uint64_t proc_number(const char *path, const char *key)
{
    char line[256];
    uint64_t number = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtoull(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

/* ---- questions -------------------------------------------------------------------------- */

/* An open session whose engine runs. */
struct bench {
    struct session *session;
    struct session_jobs *jobs;
    struct selection *all; /* NULL: not made yet */
    double first;          /* when the first estimate or part of an answer was there, 0: not yet */
    bool cancels;          /* the question is cancelled in the middle */
    double exact_ms;       /* that it takes, to know the middle */
    double cancelled;      /* when it was, 0: it ended before */
};

/* Asks and waits. Notes the time of an estimate. Returns NULL if the job failed or was cancelled.
 */
static const struct session_answer *ask(struct bench *bench, struct session_question question,
                                        struct session_job **job)
{
    struct session_error error;
    const double began = now_ms();
    *job = session_job_ask(bench->jobs, &question, &error);
    enum session_job_state state = SESSION_JOB_FAILED;
    while (*job && (state = session_job_wait(*job, 1)) <= SESSION_JOB_RUNNING) {
        if (bench->first == 0 && session_job_answer(*job))
            bench->first = now_ms();
        if (bench->cancels && now_ms() - began > bench->exact_ms / 2) {
            bench->cancelled = now_ms();
            session_job_cancel(*job);
        }
    }
    if (state != SESSION_JOB_DONE)
        return NULL;
    return session_job_answer(*job);
}

static bool ask_and_forget(struct bench *bench, struct session_question question)
{
    struct session_job *job;
    const bool good = ask(bench, question, &job) != NULL;
    session_job_free(job);
    return good;
}

static struct selection *ask_selection(struct bench *bench, const char *text)
{
    struct session_job *job;
    const struct session_answer *answer =
        ask(bench, (struct session_question){.kind = SESSION_ASK_SELECTION, .text = text}, &job);
    struct selection *selection = answer ? selection_share(answer->selection) : NULL;
    session_job_free(job);
    return selection;
}

static void keep(void *data)
{
}

/* Asks what `call` finds about a selection. The data must stay: a cancelled job may still use them.
 */
static bool ask_call(struct bench *bench, session_call *call, struct selection *selection,
                     void *data)
{
    return ask_and_forget(bench, (struct session_question){.kind = SESSION_ASK_CALL,
                                                           .selection = selection,
                                                           .call = call,
                                                           .data = data,
                                                           .release = keep});
}

static bool find_legend(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    struct session_legend legend;
    selection_legend(selection, *(const enum session_color_by *)data, &legend);
    return true;
}

/* A span of time. */
struct span {
    uint64_t from_ns, to_ns;
};

static bool find_timeline(struct session *session, struct selection *selection, void *data,
                          struct session_error *error)
{
    const struct span *span = data;
    struct session_slot slots[SLOTS];
    return selection_timeline(selection, span->from_ns, span->to_ns, SLOTS, SESSION_COLOR_FUNCTION,
                              slots, error);
}

static bool find_functions(struct session *session, struct selection *selection, void *data,
                           struct session_error *error)
{
    struct session_function_row *rows;
    size_t count;
    if (!selection_functions(selection, &rows, &count, error))
        return false;
    free(rows);
    return true;
}

static bool find_peak(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    return selection_peak_bytes(selection) > 0 || selection_count(selection) == 0;
}

/* Asks for everything that the browser's first view shows of a filter. */
static bool ask_view(struct bench *bench, const char *text, bool all)
{
    static enum session_color_by by = SESSION_COLOR_FUNCTION;
    static struct span whole;
    whole.to_ns = session_duration_ns(bench->session) + 1;
    struct selection *selection = ask_selection(bench, text);
    bool good = selection && ask_call(bench, find_legend, selection, &by) &&
                ask_call(bench, find_timeline, selection, &whole);
    if (all)
        good = good && ask_call(bench, find_functions, selection, NULL) &&
               ask_call(bench, find_peak, selection, NULL);
    selection_free(selection);
    return good;
}

static bool first_screen(struct bench *bench)
{
    return ask_view(bench, "all", false);
}

static bool zoomed(struct bench *bench)
{
    const uint64_t end = session_duration_ns(bench->session);
    static struct span span;
    span = (struct span){end / 2, end / 2 + end / 50};
    return ask_call(bench, find_timeline, bench->all, &span);
}

static bool functions(struct bench *bench)
{
    return ask_call(bench, find_functions, bench->all, NULL);
}

static bool legend_of(struct bench *bench, enum session_color_by by)
{
    static enum session_color_by asked;
    asked = by;
    return ask_call(bench, find_legend, bench->all, &asked);
}

static bool types(struct bench *bench)
{
    return legend_of(bench, SESSION_COLOR_TYPE);
}

static bool sizes(struct bench *bench)
{
    return legend_of(bench, SESSION_COLOR_SIZE);
}

#define FILTER "all | where size >= 100 and lifetime > 1ms"

static bool count_filter(struct bench *bench)
{
    struct selection *selection = ask_selection(bench, FILTER);
    selection_free(selection);
    return selection != NULL;
}

/* The screen that shows all blocks has been asked for before. */
static bool filter_screen(struct bench *bench)
{
    return ask_view(bench, FILTER, true);
}

static bool filter_peak(struct bench *bench)
{
    struct selection *selection = ask_selection(bench, FILTER);
    const bool good = selection && ask_call(bench, find_peak, selection, NULL);
    selection_free(selection);
    return good;
}

static bool regex(struct bench *bench)
{
    struct selection *selection = ask_selection(bench, "all | where stack ~ \"^le.t$\"");
    selection_free(selection);
    return selection != NULL;
}

/* Finds the regions and the cells of a screen at a moment. */
static bool find_grid(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    const uint64_t ns = *(const uint64_t *)data;
    struct session_cell cells[CELLS];
    struct session_region *regions;
    size_t count;
    if (!session_regions(session, ns, &regions, &count, error))
        return false;
    const struct session_region first = count > 0 ? regions[0] : (struct session_region){0};
    free(regions);
    return selection_grid(selection, ns, first.start, (first.end - first.start) / CELLS + 1, CELLS,
                          SESSION_COLOR_FUNCTION, cells, error);
}

static bool grid_at(struct bench *bench, uint64_t ns)
{
    static uint64_t moment;
    moment = ns;
    return ask_call(bench, find_grid, bench->all, &moment);
}

static bool grid(struct bench *bench)
{
    return grid_at(bench, session_duration_ns(bench->session) / 3);
}

/* A graph that gives groups, and measures to compute for all of them. */
struct groups_question {
    const char *text;
    unsigned measures;
};

static bool find_groups(struct session *session, struct selection *selection, void *data,
                        struct session_error *error)
{
    const struct groups_question *question = data;
    struct graph_result *result = graph_run(session, question->text, error);
    const bool good =
        result && session_groups_prepare(graph_result_groups(result), question->measures, error);
    graph_result_free(result);
    return good;
}

static bool join_stack(struct bench *bench)
{
    static struct groups_question question = {"all | join stack", 0};
    return ask_call(bench, find_groups, NULL, &question);
}

static bool join_stack_measures(struct bench *bench)
{
    static struct groups_question question = {"all | join stack", 1u << MEASURE_LIVE_BYTES};
    return ask_call(bench, find_groups, NULL, &question);
}

static bool join_size_peaks(struct bench *bench)
{
    static struct groups_question question = {"all | join size", 1u << MEASURE_PEAK_BYTES};
    return ask_call(bench, find_groups, NULL, &question);
}

static bool join_stack_peaks(struct bench *bench)
{
    static struct groups_question question = {"all | join stack", 1u << MEASURE_PEAK_BYTES};
    return ask_call(bench, find_groups, NULL, &question);
}

static bool fold(struct bench *bench)
{
    static struct groups_question question = {"all | fold 1M", 0};
    return ask_call(bench, find_groups, NULL, &question);
}

/* The time of an answer that is fast enough, for 10 M and for 100 M allocations. ms; 0: none. */
struct bar {
    double warm[2], cold[2];
};

struct question {
    const char *name;
    bool (*ask)(struct bench *bench);
    bool opens;     /* the opening is part of the time */
    bool needs_all; /* the selection of all is made before, and shown */
    struct bar bar;
};

static const struct question questions[] = {
    {"first screen", first_screen, true, false, {{50, 100}, {150, 300}}},
    {"timeline zoomed to 2 %", zoomed, false, true, {{30, 30}, {0, 0}}},
    {"functions", functions, false, true, {{30, 30}, {0, 0}}},
    {"types", types, false, true, {{30, 30}, {0, 0}}},
    {"sizes", sizes, false, true, {{30, 30}, {0, 0}}},
    {"new filter: count and bytes", count_filter, false, false, {{30, 200}, {0, 1500}}},
    {"new filter: whole screen", filter_screen, false, true, {{300, 1000}, {0, 4000}}},
    {"peak of a filter", filter_peak, false, false, {{150, 1000}, {0, 0}}},
    {"join stack", join_stack, false, false, {{40, 250}, {0, 0}}},
    {"join stack, all but peaks", join_stack_measures, false, false, {{0, 0}, {0, 0}}},
    {"join size, peaks of groups", join_size_peaks, false, false, {{0, 0}, {0, 0}}},
    {"join stack, peaks of groups", join_stack_peaks, false, false, {{0, 0}, {0, 0}}},
    {"fold 1M", fold, false, false, {{0, 0}, {0, 0}}},
    {"memory grid at any time", grid, false, true, {{20, 50}, {0, 0}}},
    {"regular expression over stacks", regex, false, false, {{200, 1000}, {0, 0}}},
};

/* ---- measuring -------------------------------------------------------------------------- */

static bool open_bench(struct bench *bench, const char *path)
{
    struct session_error error = {.column = 0};
    bench->session = session_open(path, &error);
    bench->jobs = bench->session ? session_jobs_start(bench->session, &error) : NULL;
    if (!bench->jobs)
        fprintf(stderr, "%s\n", error.message);
    return bench->jobs != NULL;
}

static void close_bench(struct bench *bench)
{
    selection_free(bench->all);
    session_jobs_stop(bench->jobs);
    session_close(bench->session);
}

static bool do_nothing(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    return true;
}

/* Does what a browser has done before the user asks. */
static void show_all(struct bench *bench)
{
    first_screen(bench);
    bench->all = ask_selection(bench, "all");
}

/* Opens the session again, cancels the question in its middle, and waits for the engine. */
static double measure_cancel(const char *path, const struct question *question, double exact)
{
    struct bench bench = {.exact_ms = exact};
    double latency = -1;
    if (!open_bench(&bench, path))
        return latency;
    if (question->needs_all)
        show_all(&bench);
    bench.cancels = true;
    question->ask(&bench);
    bench.cancels = false;
    if (bench.cancelled > 0 &&
        ask_and_forget(&bench, (struct session_question){
                                   .kind = SESSION_ASK_CALL, .call = do_nothing, .release = keep}))
        latency = now_ms() - bench.cancelled;
    close_bench(&bench);
    return latency;
}

static struct measured measure(const char *path, const struct question *question, bool cancels)
{
    struct measured result = {.first = -1, .cancel = -1};
    struct bench bench = {.session = NULL};
    double began = now_ms(), worked = processor_ms();
    uint64_t read = proc_number("/proc/self/io", "rchar:");
    uint64_t disk = proc_number("/proc/self/io", "read_bytes:");
    if (!open_bench(&bench, path))
        return result;
    result.open = now_ms() - began;
    if (question->needs_all)
        show_all(&bench);
    if (!question->opens) {
        began = now_ms();
        worked = processor_ms();
        read = proc_number("/proc/self/io", "rchar:");
        disk = proc_number("/proc/self/io", "read_bytes:");
    }
    bench.first = 0;
    result.good = question->ask(&bench);
    result.exact = now_ms() - began;
    result.processor = processor_ms() - worked;
    result.read = proc_number("/proc/self/io", "rchar:") - read;
    result.disk = proc_number("/proc/self/io", "read_bytes:") - disk;
    result.resident = proc_number("/proc/self/status", "VmHWM:") * 1024;
    result.first = bench.first > 0 ? bench.first - began : -1;
    close_bench(&bench);
    if (cancels && result.good)
        result.cancel = measure_cancel(path, question, result.exact);
    return result;
}

/* Measures in a process of its own, whose memory is the question's. */
static struct measured measure_apart(const char *path, const struct question *question,
                                     bool cancels)
{
    struct measured result = {.good = false};
    int ends[2];
    if (pipe(ends) != 0)
        return result;
    const pid_t child = fork();
    if (child == 0) {
        const struct measured own = measure(path, question, cancels);
        _exit(write(ends[1], &own, sizeof(own)) == sizeof(own) ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof(result)) != sizeof(result))
        result.good = false;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return result;
}

/* Takes the file out of the page cache. */
static void forget(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

/* ---- the table ---- */

static void print_ms(double ms)
{
    if (ms < 0)
        printf(" – |");
    else
        printf(" %.*f |", ms < 10 ? 1 : 0, ms);
}

/* `bar`: ms, 0: none. `rate`: what read_rate() gave. */
static void print_row(const char *name, const char *cache, double bar, double rate,
                      const struct measured *result)
{
    printf("| %s | %s |", name, cache);
    print_ms(bar > 0 ? bar : -1);
    if (!result->good) {
        printf(" failed | | | | | | | |\n");
        return;
    }
    print_ms(result->first);
    print_ms(result->exact);
    print_ms(result->processor);
    print_ms(result->cancel);
    printf(" %.1f |", (double)result->read / 1e6);
    print_ms((double)result->read / rate);
    printf(" %.1f | %.0f |\n", (double)result->disk / 1e6, (double)result->resident / (1 << 20));
    fflush(stdout);
}

/* The questions that are asked. */
struct choice {
    const char *begins; /* the names of the questions; "": all */
    bool warm;          /* only with the file in the page cache */
};

/* Asks a question with the file in the page cache and without, and prints the answers' times. */
static void bench_question(const char *path, const struct question *question, bool warm_only,
                           size_t size, const double rates[2])
{
    measure_apart(path, question, false); /* fills the page cache */
    const struct measured warm = measure_apart(path, question, true);
    print_row(question->name, "warm", question->bar.warm[size], rates[0], &warm);
    if (warm_only)
        return;
    forget(path);
    const struct measured cold = measure_apart(path, question, false);
    print_row("", "cold", question->bar.cold[size], rates[1], &cold);
}

static void bench_file(const char *path, const struct choice *choice)
{
    struct session_error error;
    struct session *session = session_open(path, &error);
    struct stat about;
    if (!session || stat(path, &about) != 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    const uint64_t allocations = session_allocation_count(session);
    double rates[2] = {0, 0};
    printf("%llu allocations, %lld stacks, %.1f bytes of the session each\n",
           (unsigned long long)allocations, (long long)session_meta_number(session, "stacks"),
           (double)about.st_size / (double)allocations);
    session_close(session);
    if (!choice->warm) {
        forget(path);
        rates[1] = read_rate(path);
    }
    read_rate(path);
    rates[0] = read_rate(path);
    printf("Reading alone: %.0f MB/s warm", rates[0] / 1e3);
    if (!choice->warm)
        printf(", %.0f MB/s cold", rates[1] / 1e3);
    printf("\n\n");
    printf("| question | cache | bar ms | estimate ms | exact ms | processor ms | cancel ms | read "
           "MB | reading alone ms | from disk MB | RSS MiB |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
        if (strncmp(questions[i].name, choice->begins, strlen(choice->begins)) == 0)
            bench_question(path, &questions[i], choice->warm, allocations > 30000000, rates);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct choice choice = {.begins = ""};
    int option;
    while ((option = getopt(argc, argv, "wq:")) != -1) {
        if (option == 'w')
            choice.warm = true;
        else if (option == 'q')
            choice.begins = optarg;
        else
            optind = argc;
    }
    if (optind >= argc) {
        fprintf(stderr, "usage: bench_session [-w] [-q QUESTION] SESSION...\n");
        return 2;
    }
    for (int i = optind; i < argc; i++)
        bench_file(argv[i], &choice);
    return 0;
}
