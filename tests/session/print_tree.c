/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_tree SESSION FLAGS [FILTER [FROM TO]]: prints the classes of functions (C lines), all nodes
 * of a calling context tree (N lines: number, parent, kind, functions, sums, sums without those of
 * the children), and what the tests of some nodes select (T lines). FLAGS are letters: h without
 * libraries, f folded, u bottom-up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/session_state.h"
#include "session/tree.h"
#include "session/store/user.h"

static struct session *session;
static struct session_error error;

static void fail(void)
{
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

static void print_classes(void)
{
    const uint8_t *classes;
    if (!user_classes(session, &classes, &error))
        fail();
    for (uint32_t i = 0; i < session->names.function_count; i++)
        printf("C %" PRIu32 " %d\n", i, classes[i]);
}

static void print_sums(const struct session_tree_sums *sums)
{
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64,
           sums->at_peak_bytes, sums->at_peak_count, sums->bytes, sums->allocations,
           sums->live_bytes, sums->live_count, sums->short_count, sums->from_bytes, sums->to_bytes,
           sums->resident);
}

static void print_node(const struct session_tree *tree, uint32_t number)
{
    const struct session_tree_node *node = session_tree_node(tree, number);
    struct session_tree_sums self;
    uint32_t functions[1000];
    const size_t count = session_tree_functions(tree, number, functions, 1000);
    printf("N %" PRIu32 " %" PRIu32 " %d ", number, node->parent, (int)node->kind);
    for (size_t i = 0; i < count && i < 1000; i++)
        printf("%s%" PRIu32, i > 0 ? "," : "", functions[i]);
    printf("%s %d", count == 0 ? "-" : "", node->recursive);
    print_sums(&node->sums);
    if (!session_tree_self(tree, number, &self)) {
        fprintf(stderr, "node %" PRIu32 " has no sums of its own\n", number);
        exit(1);
    }
    print_sums(&self);
    printf("\n");
}

/* Prints what the test of a node selects. */
static void print_test(struct session_tree *tree, const char *filter, uint32_t number)
{
    char test[8192], text[9000];
    bool exact;
    if (!session_tree_test(tree, number, test, sizeof(test), &exact, &error)) {
        printf("T %" PRIu32 " none\n", number);
        return;
    }
    snprintf(text, sizeof(text), "%s | where %s", filter, test);
    struct selection *selection = selection_new(session, text, &error);
    if (!selection) {
        fprintf(stderr, "%s\n", text);
        fail();
    }
    printf("T %" PRIu32 " %d %" PRIu64 " %" PRIu64 "\n", number, exact,
           selection_allocations(selection), selection_bytes(selection));
    selection_free(selection);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc == 5 || argc > 6) {
        fprintf(stderr, "usage: print_tree SESSION FLAGS [FILTER [FROM TO]]\n");
        return 2;
    }
    const char *filter = argc > 3 ? argv[3] : "all";
    struct session_tree_options options = {.hide_libraries = strchr(argv[2], 'h') != NULL,
                                           .fold = strchr(argv[2], 'f') != NULL,
                                           .bottom_up = strchr(argv[2], 'u') != NULL,
                                           .growth = argc == 6,
                                           .resident = argc == 6};
    if (argc == 6) {
        options.from_ns = strtoull(argv[4], NULL, 10);
        options.to_ns = options.resident_ns = strtoull(argv[5], NULL, 10);
    }
    session = session_open(argv[1], &error);
    struct selection *selection = session ? selection_new(session, filter, &error) : NULL;
    struct session_tree *tree =
        selection ? session_tree_new(session, selection, &options, &error) : NULL;
    uint32_t count = 1, tests = 0;
    if (!tree)
        fail();
    print_classes();
    /* Children have higher numbers than their parents. */
    for (uint32_t node = 0; node < count; node++) {
        uint32_t first = 0, children = 0;
        if (!session_tree_expand(tree, node, &error) ||
            (node == count / 2 && !session_tree_find_short(tree, &error)))
            fail();
        session_tree_children(tree, node, &first, &children);
        count = first + children > count ? first + children : count;
    }
    for (uint32_t node = 0; node < count; node++) {
        print_node(tree, node);
        if (node > 0 && node % (count / 40 + 1) == 0 && tests++ < 50)
            print_test(tree, filter, node);
    }
    session_tree_free(tree);
    selection_free(selection);
    session_close(session);
    return 0;
}
