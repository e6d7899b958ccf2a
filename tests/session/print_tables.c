/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_tables leaks SESSION FILTER [SUPPRESSIONS]: prints a table of a selection as lines of
 * fields with tabs between them. Exit status 1 if it cannot be computed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/code/suppressions.h"
#include "session/leaks.h"

static struct session_error error;

static bool print_leaks(struct session *session, struct selection *selection, const char *file)
{
    static const char *const kinds[] = {"leaked", "start-up", "runtime", "suppressed"};
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
        printf("%s\t%s\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%u\t",
               kinds[leak->kind], leak->why, leak->type, leak->blocks, leak->bytes,
               leak->least_size, leak->most_size, leak->first_ns, leak->last_ns, leak->tenths);
        for (int k = 0; k < SESSION_LEAK_TENTHS; k++)
            printf("%s%" PRIu64, k ? " " : "", leak->born[k]);
        for (size_t k = 0; k < leak->stack_count; k++) {
            const struct session_leak_stack *stack = &leaks.stacks[leak->first_stack + k];
            printf("%s%" PRIu32 ":%" PRIu64 ":%" PRIu64, k ? " " : "\t", stack->stack,
                   stack->blocks, stack->bytes);
        }
        printf("\t%s\n",
               session_leak_pattern(session, leak, pattern, sizeof(pattern)) ? pattern : "-");
    }
    session_leaks_free(&leaks);
    suppressions_free(suppressions);
    return true;
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
    bool good = selection != NULL;
    if (good && strcmp(argv[1], "leaks") == 0)
        good = print_leaks(session, selection, argument);
    selection_free(selection);
    session_close(session);
    if (!good)
        fprintf(stderr, "print_tables: %s\n", error.message);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
