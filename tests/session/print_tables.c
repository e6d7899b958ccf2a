/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_tables TABLE SESSION FILTER [ARGUMENT]: prints a table of a selection as lines of fields
 * with tabs between them: leaks (the argument is a file of suppressions), types, courses,
 * candidates, sizes, lifetimes, between, cross_thread_frees. Exit status 1 if it cannot be
 * computed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/code/suppressions.h"
#include "session/arenas.h"
#include "session/leaks.h"
#include "session/spread.h"
#include "session/stacks.h"
#include "session/types.h"
#include "session/user_code.h"

static struct session_error error;

/*
 * Writes the pattern of a suppression that names the group and as little else as possible: the
 * function of the user's frame, or else that of the call site, or else the file of a module.
 */
static bool leak_pattern(struct session *session, const struct session_leak *leak, char *pattern,
                         size_t size)
{
    struct session_frame frames[64];
    size_t count = session_stack(session, leak->stack, frames, sizeof(frames) / sizeof(*frames));
    const size_t user = session_stack_user(session, leak->stack);
    const size_t site = session_stack_call_site(session, leak->stack);
    count = count < sizeof(frames) / sizeof(*frames) ? count : sizeof(frames) / sizeof(*frames);
    for (size_t i = user < count ? user : site; i < count; i++)
        if (session_leak_frame_pattern(session, frames[i].function, pattern, size))
            return true;
    return false;
}

static bool print_leaks(struct session *session, struct selection *selection, const char *file)
{
    static const char *const kinds[] = {"later", "start-up", "suppressed here", "runtime",
                                        "suppressed"};
    struct suppressions *suppressions = suppressions_new();
    struct session_leaks leaks;
    char line[1024], pattern[300];
    bool is_suppression;
    FILE *in = file ? fopen(file, "r") : NULL;
    while (in && fgets(line, sizeof(line), in))
        suppressions_add_line(suppressions, line, strlen(line), &is_suppression);
    if (in)
        fclose(in);
    if (!selection_leaks(selection, suppressions, &leaks, &error)) {
        suppressions_free(suppressions);
        return false;
    }
    for (int i = 0; i < SESSION_LEAK_KINDS; i++)
        printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", kinds[i], leaks.of_kind[i].groups,
               leaks.of_kind[i].blocks, leaks.of_kind[i].bytes);
    for (size_t i = 0; i < leaks.count; i++) {
        const struct session_leak *leak = &leaks.leaks[i];
        printf("%s\t%s\t%" PRIu32 "\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%" PRIu64 "\t%u\t",
               kinds[leak->kind], leak->why, leak->type, leak->exact, leak->blocks, leak->bytes,
               leak->least_size, leak->most_size, leak->first_ns, leak->last_ns, leak->tenths);
        for (int k = 0; k < SESSION_LEAK_TENTHS; k++)
            printf("%s%" PRIu64, k ? " " : "", leak->born[k]);
        for (size_t k = 0; k < leak->stack_count; k++) {
            const struct session_leak_stack *stack = &leaks.stacks[leak->first_stack + k];
            printf("%s%" PRIu32 ":%" PRIu64 ":%" PRIu64, k ? " " : "\t", stack->stack,
                   stack->blocks, stack->bytes);
        }
        printf("\t%s\n", leak_pattern(session, leak, pattern, sizeof(pattern)) ? pattern : "-");
    }
    session_leaks_free(&leaks);
    suppressions_free(suppressions);
    return true;
}

static bool print_types(struct selection *selection)
{
    struct session_type_sums *rows;
    size_t count;
    if (!selection_types(selection, &rows, &count, &error))
        return false;
    for (size_t i = 0; i < count; i++)
        printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%" PRIu64 "\n",
               rows[i].type, rows[i].allocations, rows[i].bytes, rows[i].exact_bytes,
               rows[i].live_count, rows[i].live_bytes, rows[i].at_peak_count,
               rows[i].at_peak_bytes);
    free(rows);
    return true;
}

/* The growth is that from a quarter to three quarters of the run. */
static bool print_courses(struct session *session, struct selection *selection)
{
    struct session_type_course *rows;
    size_t count;
    const uint64_t end = session_duration_ns(session);
    if (!selection_type_courses(selection, end / 4, end / 4 * 3, 0, true, &rows, &count, &error))
        return false;
    for (size_t i = 0; i < count; i++) {
        printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
               rows[i].type, rows[i].objects, rows[i].wasted, rows[i].at_from, rows[i].at_to,
               rows[i].peak_bytes);
        for (int k = 0; k < SESSION_TYPE_POINTS; k++)
            printf("\t%" PRIu64, rows[i].live[k]);
        printf("\n");
    }
    free(rows);
    return true;
}

static bool print_candidates(struct selection *selection)
{
    struct session_type_candidates *rows;
    size_t count;
    if (!selection_candidates(selection, &rows, &count, &error))
        return false;
    for (size_t i = 0; i < count; i++)
        printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%zu\n",
               rows[i].stacks, rows[i].size, rows[i].allocations, rows[i].bytes, rows[i].live_bytes,
               rows[i].at_peak_bytes, rows[i].name_count);
    selection_candidates_free(rows, count);
    return true;
}

static bool print_sizes(struct selection *selection)
{
    struct session_size_sums *rows;
    size_t count;
    if (!selection_sizes(selection, &rows, &count, &error))
        return false;
    for (size_t i = 0; i < count; i++)
        printf("%" PRIu64 "\t%c\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\n",
               rows[i].size, "smlx"[session_size_class(rows[i].size)], rows[i].allocations,
               rows[i].bytes, rows[i].live_count, rows[i].live_bytes, rows[i].at_peak_count,
               rows[i].at_peak_bytes);
    free(rows);
    return true;
}

static bool print_lifetimes(struct selection *selection, bool in_allocations)
{
    struct session_lifetimes lifetimes;
    if (in_allocations ? !selection_lifetimes_in_allocations(selection, &lifetimes, &error)
                       : !selection_lifetimes(selection, &lifetimes, &error))
        return false;
    for (size_t i = 0; i < lifetimes.count; i++)
        printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", lifetimes.bins[i].from,
               lifetimes.bins[i].allocations, lifetimes.bins[i].bytes);
    printf("freed\t%" PRIu64 "\t%" PRIu64 "\nlive\t%" PRIu64 "\t%" PRIu64 "\n", lifetimes.freed,
           lifetimes.freed_bytes, lifetimes.live, lifetimes.live_bytes);
    return true;
}

static bool print_cross_thread_frees(const struct session *session, struct selection *selection)
{
    struct session_cross_thread_free *rows;
    size_t count;
    if (!selection_cross_thread_frees(selection, &rows, &count, &error))
        return false;
    for (size_t i = 0; i < count; i++)
        printf("%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
               session_thread_process(session, rows[i].thread), rows[i].thread,
               rows[i].free_thread == SESSION_NO_THREAD ? -1 : (int64_t)rows[i].free_thread,
               rows[i].allocations, rows[i].bytes, rows[i].at_peak_bytes);
    free(rows);
    return true;
}

static bool print_arenas(struct session *session)
{
    struct session_arena_use *uses;
    size_t count;
    if (!session_arena_uses(session, session_duration_ns(session), &uses, &count, &error))
        return false;
    for (size_t i = 1; i < count; i++)
        printf("%zu\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%" PRIu64 "\n",
               i, uses[i].live_count, uses[i].live_bytes, uses[i].host_count, uses[i].host_bytes,
               uses[i].housed_bytes, uses[i].hole_count, uses[i].hole_bytes, uses[i].largest);
    free(uses);
    return true;
}

static bool print_table(const char *table, struct session *session, struct selection *selection,
                        const char *argument)
{
    if (strcmp(table, "leaks") == 0)
        return print_leaks(session, selection, argument);
    if (strcmp(table, "types") == 0)
        return print_types(selection);
    if (strcmp(table, "courses") == 0)
        return print_courses(session, selection);
    if (strcmp(table, "candidates") == 0)
        return print_candidates(selection);
    if (strcmp(table, "sizes") == 0)
        return print_sizes(selection);
    if (strcmp(table, "lifetimes") == 0 || strcmp(table, "between") == 0)
        return print_lifetimes(selection, strcmp(table, "between") == 0);
    if (strcmp(table, "cross_thread_frees") == 0)
        return print_cross_thread_frees(session, selection);
    if (strcmp(table, "arenas") == 0)
        return print_arenas(session);
    snprintf(error.message, sizeof(error.message), "no table %s", table);
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: print_tables TABLE SESSION FILTER [ARGUMENT]\n");
        return 2;
    }
    struct session *session = session_open(argv[2], &error);
    struct selection *selection = session ? selection_new(session, argv[3], &error) : NULL;
    const char *argument = argc > 4 ? argv[4] : NULL;
    const bool good = selection && print_table(argv[1], session, selection, argument);
    selection_free(selection);
    session_close(session);
    if (!good)
        fprintf(stderr, "print_tables: %s\n", error.message);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
