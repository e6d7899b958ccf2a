/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the processes of a run as a tree: one line for each process id, with the programs that it
 * executed one after another and the sums of their allocations. If there are many processes, it
 * shows those that allocated most, and those that started them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ingest/summary.h"
#include "schemas/printable.h"

/* SHOWN: processes that are shown. NAMES_WIDTH: columns of their programs' names, with the indent,
 * which is at most INDENT_MAX. */
enum { SHOWN = 20, NAMES_WIDTH = 40, INDENT_MAX = 16 };

struct node {
    size_t parent, first, next; /* places of nodes; SIZE_MAX: none */
    size_t last_program;        /* place in the run */
    uint64_t allocations, bytes;
    uint64_t largest; /* the most bytes of it or of a process below it */
    unsigned depth;
    bool selected;
};

struct tree {
    FILE *out;
    const struct run *run;
    size_t *process;    /* by place in the run: the place of the process's first program */
    struct node *nodes; /* by place of the first program; nodes[count] is the root */
};

static void add_program(struct tree *tree, size_t place)
{
    const struct run_process *program = &tree->run->processes[place];
    const bool first = program->executed >= place;
    tree->process[place] = first ? place : tree->process[program->executed];
    struct node *node = &tree->nodes[tree->process[place]];
    if (first)
        *node = (struct node){.parent = program->parent < place ? tree->process[program->parent]
                                                                : tree->run->count,
                              .first = SIZE_MAX};
    node->last_program = place;
    node->allocations += program->allocations;
    node->bytes += program->choice.bytes;
    node->selected |= place == tree->run->selected;
}

/* Links children to their parents. Children come after their parent, so from the last node to the
 * first, lists come out in order and each `largest` is complete. */
static void link_nodes(struct tree *tree)
{
    const size_t count = tree->run->count;
    for (size_t i = count; i-- > 0;) {
        struct node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
        if (tree->process[i] != i)
            continue;
        /* The selected one is always shown. */
        if (node->largest < node->bytes)
            node->largest = node->bytes;
        if (node->selected)
            node->largest = UINT64_MAX;
        if (parent->largest < node->largest)
            parent->largest = node->largest;
        node->next = parent->first;
        parent->first = i;
    }
    for (size_t i = 0; i < count; i++)
        if (tree->process[i] == i && tree->nodes[i].parent < count)
            tree->nodes[i].depth = tree->nodes[tree->nodes[i].parent].depth + 1;
}

static bool build(struct tree *tree)
{
    const size_t count = tree->run->count;
    tree->process = calloc(count + 1, sizeof(*tree->process));
    tree->nodes = calloc(count + 1, sizeof(*tree->nodes));
    if (!tree->process || !tree->nodes)
        return false;
    tree->nodes[count].first = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        add_program(tree, i);
    link_nodes(tree);
    return true;
}

static int compare_bytes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

/* Returns how many bytes a process, or one below it, must have allocated to be shown. */
static uint64_t find_least(const struct tree *tree, size_t processes)
{
    uint64_t least = 0, *bytes = calloc(processes + 1, sizeof(*bytes));
    size_t count = 0;
    if (!bytes)
        return 0;
    for (size_t i = 0; i < tree->run->count; i++)
        if (tree->process[i] == i)
            bytes[count++] = tree->nodes[i].bytes;
    qsort(bytes, count, sizeof(*bytes), compare_bytes);
    if (count > SHOWN)
        least = bytes[SHOWN - 1];
    free(bytes);
    return least;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* Prints the programs of a process, in order. Leaves out those in the middle that do not fit. */
static void print_programs(const struct tree *tree, size_t process, int room)
{
    char names[4 * NAMES_WIDTH + 1] = "";
    const char *before = "";
    size_t used = 0, left_out = 0;
    const size_t last = tree->nodes[process].last_program;
    for (size_t i = process; i <= last; i++) {
        const char *name = last_part(tree->run->processes[i].program);
        if (tree->process[i] != process || strcmp(name, before) == 0)
            continue;
        before = name;
        /* The last one is always named. */
        if (i != last && i != process && used + strlen(name) + 24 > (size_t)room) {
            left_out++;
            continue;
        }
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s%.*s",
                                 i == process   ? ""
                                 : left_out > 0 ? " →…→ "
                                                : " → ",
                                 "", 24, name);
        left_out = 0;
        if (used >= sizeof(names))
            break;
    }
    char text[PRINTABLE_BYTE_MAX * sizeof(names)];
    printable_copy(text, sizeof(text), names);
    fputs(text, tree->out);
    for (const char *at = text; *at; at++)
        room -= ((unsigned char)*at & 0xC0) != 0x80;
    fprintf(tree->out, "%*s", room > 0 ? room : 0, "");
}

static void print_process(const struct tree *tree, size_t process)
{
    const struct node *node = &tree->nodes[process];
    const int indent = node->depth * 2 < INDENT_MAX ? (int)node->depth * 2 : INDENT_MAX;
    fprintf(tree->out, "%13s%*s%" PRId64 " ", node->selected ? "> " : "", indent, "",
            tree->run->processes[process].choice.pid);
    print_programs(tree, process, NAMES_WIDTH - indent);
    fprintf(tree->out, " %12" PRIu64 " allocations, %" PRIu64 " bytes\n", node->allocations,
            node->bytes);
}

/* Prints the nodes below `from`, each before its children. Returns how many it leaves out. */
static size_t print_tree(const struct tree *tree, size_t from, uint64_t least)
{
    const size_t top = tree->run->count;
    size_t at = tree->nodes[from].first, left_out = 0;
    while (at != SIZE_MAX) {
        const struct node *node = &tree->nodes[at];
        const bool shown = node->largest >= least;
        if (shown)
            print_process(tree, at);
        else
            left_out++;
        if (node->first != SIZE_MAX) {
            at = node->first;
            continue;
        }
        while (at != top && tree->nodes[at].next == SIZE_MAX)
            at = tree->nodes[at].parent;
        at = at == top ? SIZE_MAX : tree->nodes[at].next;
    }
    return left_out;
}

static void print_selected(FILE *out, const struct run *run, size_t processes)
{
    if (run->selected >= run->count) {
        fprintf(out, "selected     all %zu: sums, and what was live in all at one time\n",
                processes);
        return;
    }
    const struct run_process *selected = &run->processes[run->selected];
    char name[1024];
    printable_copy(name, sizeof(name), last_part(selected->program));
    fprintf(out, "selected     %s, %" PRId64, name, selected->choice.pid);
    if (selected->choice.place > 1)
        fprintf(out, ".%u", selected->choice.place);
    if (run->matches > 1)
        fprintf(out, ", which %s most of %zu",
                process_choice_weight(&selected->choice) > selected->choice.bytes ? "used"
                                                                                  : "allocated",
                run->matches);
    fputs("; --process selects another, or all\n", out);
}

void summary_run_print(FILE *out, const struct run *run)
{
    struct tree tree = {.out = out, .run = run};
    size_t processes = 0;
    for (size_t i = 0; i < run->count; i++)
        processes += run->processes[i].executed == SIZE_MAX;
    fprintf(out, "run          %zu process%s", processes, processes == 1 ? "" : "es");
    if (processes < run->count)
        fprintf(out, ", which ran %zu programs", run->count);
    fputc('\n', out);
    if (build(&tree)) {
        const size_t left_out = print_tree(&tree, run->count, find_least(&tree, processes));
        if (left_out > 0)
            fprintf(out, "             %zu smaller ones are left out: SELECT * FROM v_process\n",
                    left_out);
    }
    print_selected(out, run, processes);
    free(tree.process);
    free(tree.nodes);
}
