/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text format of gperftools' heap profiles, which google-pprof reads.
 *
 * With made-up addresses the file is complete: a section of symbols gives each address the names of
 * its frames, outermost first, with "--" between them. Each group of frames has an address of its
 * own, so modules that were loaded at the same place at different times, and processes, cannot be
 * mistaken for each other. With real addresses the reader finds the names in the binaries, by a
 * list of mappings.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/export/ids.h"
#include "report/output.h"

enum { FIRST_PC = 0x1000, PC_STEP = 16 };

struct writing {
    const struct export *export;
    struct pair_ids *groups; /* by the first frame's id and the number of frames */
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

static void put_symbol(const struct writing *writing, uint32_t id, size_t first, size_t end)
{
    FILE *out = writing->export->out;
    fprintf(out, "0x%016" PRIx64 " ", FIRST_PC + (uint64_t)id * PC_STEP);
    for (size_t i = end; i-- > first;) {
        put_name(out,
                 export_function_name(&writing->export->own, writing->frames.frame[i].function));
        if (i > first)
            fputs("--", out);
    }
    fputc('\n', out);
}

static bool find_group(struct writing *writing, size_t first, size_t end, uint32_t *id,
                       bool *is_new)
{
    return pair_ids_find(writing->groups, writing->frames.frame[first].id, end - first, id,
                         is_new) ||
           report_fail_memory(writing->export->error, "the places in the code");
}

/* Writes the symbols of the groups that occur in a stack for the first time. */
static bool put_symbols(struct writing *writing, uint32_t stack)
{
    if (!export_frames(writing->export, &writing->export->own, stack, &writing->frames))
        return false;
    for (size_t first = 0, end; first < writing->frames.count; first = end) {
        uint32_t id;
        bool is_new;
        end = export_group_end(&writing->frames, first);
        if (!find_group(writing, first, end, &id, &is_new))
            return false;
        if (is_new)
            put_symbol(writing, id, first, end);
    }
    return true;
}

static bool put_group_address(struct writing *writing, size_t first, size_t end)
{
    uint64_t address;
    uint32_t id;
    bool is_new;
    if (writing->export->real_pcs) {
        if (!export_address(writing->export, &writing->export->own, &writing->frames.frame[end - 1],
                            &address))
            return false;
        /* The reader takes outer addresses for return addresses. */
        address += first > 0;
    } else {
        if (!find_group(writing, first, end, &id, &is_new))
            return false;
        address = FIRST_PC + (uint64_t)id * PC_STEP;
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
    if (!export_frames(writing->export, &writing->export->own, sums->stack, &writing->frames))
        return false;
    put_sums(out, sums);
    for (size_t first = 0, end; first < writing->frames.count; first = end) {
        end = export_group_end(&writing->frames, first);
        if (!put_group_address(writing, first, end))
            return false;
    }
    fputc('\n', out);
    return true;
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
        for (size_t i = 0; good && i < count; i++)
            good = put_symbols(writing, rows[i].stack);
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
    good = good && export_sums(export, &export->own, 0, false, &rows, &count) &&
           put_profile(&writing, rows, count);
    free(rows);
    export_frames_free(&writing.frames);
    pair_ids_free(writing.groups);
    return good;
}
