/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "schemas/array.h"
#include "schemas/printable.h"
#include "schemas/trace_codec.h"

/* Returns "12,345", grouped in threes. The text is in one of a few static buffers, so several
 * results fit into one printf. */
static const char *grouped(uint64_t number)
{
    static char places[8][32];
    static unsigned next;
    char digits[24];
    char *to = places[next = (next + 1) % 8];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return places[next];
}

/* Prints "1.2 MiB (1,258,291 bytes)". */
static void put_size(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        fprintf(out, "%" PRIu64 " bytes", bytes);
        return;
    }
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    fprintf(out, "%.1f %s (%s bytes)", size, units[unit], grouped(bytes));
}

static void put_time(FILE *out, uint64_t ns)
{
    if (ns < 1000000)
        fprintf(out, "%.1f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        fprintf(out, "%.1f ms", (double)ns / 1e6);
    else
        fprintf(out, "%.3f s", (double)ns / 1e9);
}

static void put_text(FILE *out, const char *text)
{
    char line[1024];
    printable_copy(line, sizeof(line), text);
    fputs(line, out);
}

static void put_problems(FILE *out, const struct ingest_summary *summary)
{
    const struct {
        const char *what;
        uint64_t count;
    } problems[] = {
        {"traces left out", summary->left_out},
        {"dropped", summary->dropped},
        {"unmatched frees", summary->unmatched_frees},
        {"double frees", summary->double_frees},
        {"mismatched frees", summary->mismatched_frees},
        {"deletes with a wrong size", summary->wrong_sizes},
        {"overlaps", summary->overlaps},
        {"with lost stacks", summary->orphaned_events},
        {"damaged bytes", summary->damaged_bytes},
        {"missing chunks", summary->missing_chunks},
        {"lost suppressions", summary->lost_suppressions},
        {"programs not recorded", summary->unrecorded},
        {"modules not recorded", summary->unseen_modules},
        {"modules recorded only after their start", summary->late_modules},
    };
    bool any = false;
    fputs("problems     ", out);
    for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++) {
        if (problems[i].count == 0)
            continue;
        fprintf(out, "%s%s %s", any ? ", " : "", grouped(problems[i].count), problems[i].what);
        any = true;
    }
    if (summary->unknown_clock)
        fprintf(out, "%sclock not scaled: times are processor ticks", any ? ", " : "");
    fputs(any || summary->unknown_clock ? "\n" : "none\n", out);
}

/* Prints the first of `count`. Nothing if there is none. */
static void put_first(FILE *out, const char *title, const char *text, uint64_t count)
{
    if (count == 0)
        return;
    fputs(title, out);
    put_text(out, text);
    fputs(count > 1 ? ", …\n" : "\n", out);
}

static const char *ending(const struct ingest_summary *summary)
{
    static char killed[96];
    switch (summary->state) {
    case TRACE_STATE_DISK_FULL:
        return "recording stopped: the disk was full";
    case TRACE_STATE_LIMIT:
        return "recording stopped at its size limit";
    case TRACE_STATE_ERROR:
        return "recording stopped with an error";
    case TRACE_STATE_EXEC:
        return "the process executed another program";
    default:
        if (!summary->ended && summary->outcome == TRACE_OUTCOME_KILLED) {
            snprintf(killed, sizeof(killed),
                     "killed by signal %" PRIu32 "; everything recorded so far is here",
                     summary->outcome_number);
            return killed;
        }
        if (!summary->ended && summary->outcome == TRACE_OUTCOME_GONE)
            return "not closed: the program was killed, or ended by a system call of its own; "
                   "everything recorded is here";
        if (!summary->ended)
            return "not closed: the program was killed or is still running; everything "
                   "recorded so far is here";
        return summary->stopped ? "the recording was stopped before the program ended" : NULL;
    }
}

void summary_print(FILE *out, const struct ingest_summary *summary, const char *session)
{
    const uint64_t events = summary->all_events ? summary->all_events : summary->events;
    double rate = summary->seconds > 0 ? (double)events / summary->seconds : 0;
    fputs("program      ", out);
    put_text(out, summary->program);
    fputs(", ", out);
    put_time(out, summary->duration_ns);
    if (ending(summary))
        fprintf(out, " (%s)", ending(summary));
    fprintf(out, "\nevents       %s\n", grouped(summary->allocations + summary->frees));
    fprintf(out, "allocations  %s, ", grouped(summary->allocations));
    put_size(out, summary->bytes);
    fprintf(out, "\nfrees        %s, %s of them by realloc\n", grouped(summary->frees),
            grouped(summary->reallocs));
    fputs("peak         ", out);
    put_size(out, summary->peak_bytes);
    fprintf(out, " in %s block%s, at ", grouped(summary->peak_count),
            summary->peak_count == 1 ? "" : "s");
    put_time(out, summary->peak_ns);
    fputs(summary->stopped ? "\nlive at stop " : "\nlive at end  ", out);
    put_size(out, summary->live_bytes);
    fprintf(out, " in %s block%s\n", grouped(summary->live_count),
            summary->live_count == 1 ? "" : "s");
    fprintf(out, "threads      %s, %s distinct stacks\n", grouped(summary->threads),
            grouped(summary->stacks));
    if (summary->sample_interval) {
        fputs("sampled      one in ", out);
        put_size(out, summary->sample_interval);
        fputs(": these numbers are of the sample, estimates are in v_estimate\n", out);
    }
    if (summary->machines > 1)
        fprintf(
            out,
            "machines     %s (hosts or boots): clocks aligned by real time; the peak is of the one "
            "with the largest\n",
            grouped(summary->machines));
    if (summary->inherited_frees)
        fprintf(out, "inherited    %s frees of blocks from before a fork%s\n",
                grouped(summary->inherited_frees),
                summary->presumed_inherited_frees == 0 ? ""
                : summary->presumed_inherited_frees == summary->inherited_frees
                    ? "; presumably: only the parent's trace can tell"
                    : ", some presumed: a parent's trace is missing");
    put_problems(out, summary);
    put_first(out, "             not recorded: ", summary->why_unrecorded, summary->unrecorded);
    put_first(out, "             not recorded: ", summary->why_unseen, summary->unseen_modules);
    put_first(out, "debug        ", summary->why_debug, summary->unreadable_debug);
    put_first(out, "             lost suppressions: ", summary->why_suppressions,
              summary->lost_suppressions);
    if (summary->all_events)
        fputs("             (problems, inherited and the time are of the whole run)\n", out);
    fprintf(out, "took         %.2f s, %.2f million events/s\n", summary->seconds, rate / 1e6);
    fputs("session      ", out);
    put_text(out, session);
    putc('\n', out);
}

void summary_suppressed_print(FILE *out, const struct suppressed_list *list)
{
    if (list->count == 0)
        fputs("suppressed   nothing: no suppression matched what is live at the end\n", out);
    for (size_t i = 0; i < list->count; i++) {
        const struct suppressed *suppressed = &list->rows[i];
        fprintf(out, "%-13s", i == 0 ? "suppressed" : "");
        put_size(out, suppressed->live_bytes);
        fprintf(out, " in %s block%s by leak:", grouped(suppressed->live_count),
                suppressed->live_count == 1 ? "" : "s");
        put_text(out, suppressed->pattern);
        putc('\n', out);
    }
}

/* Prints the processes of a run as a tree: one line for each process id, with the programs that it
 * executed one after another and the sums of their allocations. If there are many processes, it
 * shows those that allocated most, and those that started them. */

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

ARRAY_ORDER(compare_bytes, uint64_t, ORDER(*b, *a))

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
    FREE_ALL(tree.process, tree.nodes);
}
