/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format of gperftools' heap profiles, which google-pprof reads.
 *
 * With made-up addresses the file is complete: a section of symbols gives each address the names of
 * its frames, outermost first, with "--" between them. Each group of frames has an address of its
 * own, so modules that were loaded at the same place at different times, and processes, cannot be
 * mistaken for each other. With real addresses the reader finds the names in the binaries, by a
 * list of mappings. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/output.h"

enum { FIRST_PC = 0x1000, PC_STEP = 16 };

struct writing {
    const struct export *export;
    struct pair_ids *groups;   /* by the first frame's id and the number of frames */
    struct export_nodes nodes; /* the numbers of their groups, + 1 */
    struct export_frames frames;
};

/* Writes a name that the reader does not split. */
static void put_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        fputc(*name, out);
        if (name[0] == '-' && name[1] == '-')
            fputc(' ', out);
    }
}

static void put_symbol(const struct writing *writing, uint32_t id)
{
    FILE *out = writing->export->out;
    fprintf(out, "0x%016" PRIx64 " ", FIRST_PC + (uint64_t)id * PC_STEP);
    for (size_t i = writing->frames.count; i-- > 0;) {
        put_name(out,
                 export_function_name(&writing->export->own, writing->frames.frame[i].function));
        if (i > 0)
            fputs("--", out);
    }
    fputc('\n', out);
}

/* Stores the number of a node's group, from 1, and writes the symbol of a new one. */
static bool find_group(void *context, uint32_t node, uint32_t outward, uint32_t *number)
{
    struct writing *writing = context;
    uint32_t id;
    bool is_new;
    if (!export_group(writing->export, &writing->export->own, node, &writing->frames))
        return false;
    if (!pair_ids_find(writing->groups, writing->frames.frame[0].id, writing->frames.count, &id,
                       &is_new))
        return report_fail_memory(writing->export->error, "the places in the code");
    if (is_new)
        put_symbol(writing, id);
    *number = id + 1;
    return true;
}

/* Writes the address of a node's group; `outer`: it is not the stack's first. */
static bool put_group_address(struct writing *writing, uint32_t node, bool outer)
{
    const struct export_side *side = &writing->export->own;
    uint64_t address = FIRST_PC + (uint64_t)(writing->nodes.number[node] - 1) * PC_STEP;
    if (writing->export->real_pcs) {
        if (!export_group(writing->export, side, node, &writing->frames) ||
            !export_address(writing->export, side,
                            &writing->frames.frame[writing->frames.count - 1], &address))
            return false;
        /* The reader takes outer addresses for return addresses. */
        address += outer;
    }
    fprintf(writing->export->out, " 0x%016" PRIx64, address);
    return true;
}

static void put_sums(FILE *out, const struct session_stack_sums *sums)
{
    fprintf(out, "%6" PRIu64 ": %8" PRIu64 " [%6" PRIu64 ": %8" PRIu64 "] @", sums->live_count,
            sums->live_bytes, sums->allocations, sums->bytes);
}

static bool put_stack(struct writing *writing, const struct session_stack_sums *sums)
{
    FILE *out = writing->export->out;
    const uint32_t first = writing->export->own.starts[sums->stack];
    uint32_t node = first;
    bool good = true;
    put_sums(out, sums);
    do {
        good = put_group_address(writing, node, node != first);
        node = export_nodes_outward(&writing->nodes, node);
    } while (good && node != 0);
    fputc('\n', out);
    return good;
}

static bool put_mappings(const struct export *export)
{
    const struct session_module *modules;
    size_t count;
    if (!session_modules(export->own.session, &modules, &count, export->error))
        return false;
    fputs("\nMAPPED_LIBRARIES:\n", export->out);
    for (size_t i = 0; i < count; i++)
        fprintf(export->out, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 0    %s\n",
                modules[i].start, modules[i].end, export_clean(&export->own, modules[i].path));
    return true;
}

static bool put_profile(struct writing *writing, const struct session_stack_sums *rows,
                        size_t count)
{
    const struct export *export = writing->export;
    const char *program = session_meta(export->own.session, "executable");
    struct session_stack_sums all = {.stack = 0};
    bool good = true;
    if (!export->real_pcs) {
        fprintf(export->out, "--- symbol\nbinary=%s\n",
                export_clean(&export->own, program ? program : "?"));
        for (size_t i = 0; good && i < count; i++) {
            uint32_t group;
            good = export_nodes_find(&writing->nodes, export->own.starts[rows[i].stack], find_group,
                                     writing, &group);
        }
        fputs("---\n", export->out);
    }
    for (size_t i = 0; i < count; i++) {
        all.live_count += rows[i].live_count;
        all.live_bytes += rows[i].live_bytes;
        all.allocations += rows[i].allocations;
        all.bytes += rows[i].bytes;
    }
    fputs("heap profile: ", export->out);
    put_sums(export->out, &all);
    fputs(" heapprofile\n", export->out);
    for (size_t i = 0; good && i < count; i++)
        good = put_stack(writing, &rows[i]);
    return good && (!export->real_pcs || put_mappings(export));
}

bool export_pprof_text(struct export *export)
{
    struct writing writing = {.export = export, .groups = pair_ids_new()};
    struct session_stack_sums *rows = NULL;
    size_t count = 0;
    bool good = writing.groups || report_fail_memory(export->error, "an export");
    good = good && export_nodes_begin(&writing.nodes, export, &export->own, true) &&
           export_sums(export, &export->own, 0, false, &rows, &count) &&
           put_profile(&writing, rows, count);
    free(rows);
    export_nodes_free(&writing.nodes);
    export_frames_free(&writing.frames);
    pair_ids_free(writing.groups);
    return good;
}
