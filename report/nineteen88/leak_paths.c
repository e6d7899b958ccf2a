/* SPDX-License-Identifier: BSD-2-Clause */
/* Table 2: the innermost five functions of the chains that allocated what was never freed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/nineteen88/tables.h"
#include "session/code_facts.h"

enum { PATH_MOST = 5 };

struct path {
    struct class_sums sums;
    uint32_t steps[PATH_MOST];  /* functions, or frames with -offsets, the innermost first */
    uint32_t within[PATH_MOST]; /* with -offsets: the functions in whose code the calls lie */
    uint32_t count;
    bool whole; /* no callers are left out */
};

static int by_steps(const void *left, const void *right)
{
    const struct path *a = left, *b = right;
    if (a->whole != b->whole)
        return a->whole ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->steps[i] != b->steps[i])
            return a->steps[i] < b->steps[i] ? -1 : 1;
    return 0;
}

static int by_kept(const void *left, const void *right)
{
    const struct path *a = left, *b = right;
    if (a->sums.kept_bytes != b->sums.kept_bytes)
        return a->sums.kept_bytes < b->sums.kept_bytes ? 1 : -1;
    if (a->sums.bytes != b->sums.bytes)
        return a->sums.bytes < b->sums.bytes ? 1 : -1;
    return by_steps(left, right);
}

/* Joins the chains of equal paths. Returns the number of paths. */
static size_t join_paths(const struct model *model, bool offsets, struct path *paths)
{
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        struct path *path = &paths[i];
        *path =
            (struct path){.sums = chain->all, .whole = chain->whole && chain->depth <= PATH_MOST};
        for (uint32_t call = chain->call; call != 0 && path->count < PATH_MOST;
             call = model_caller(model, call)) {
            path->steps[path->count] =
                offsets ? model->calls[call].frame : model->calls[call].function;
            path->within[path->count++] = model->calls[call].within;
        }
    }
    qsort(paths, model->count, sizeof(*paths), by_steps);
    for (size_t i = 0; i < model->count; i++)
        if (count > 0 && by_steps(&paths[count - 1], &paths[i]) == 0)
            class_sums_add(&paths[count - 1].sums, &paths[i].sums);
        else
            paths[count++] = paths[i];
    qsort(paths, count, sizeof(*paths), by_kept);
    return count;
}

/* Writes where the call of a step lies: its distance from the start of the function `within` in
 * whose code it is, or its address if that start is not known; the line in a script. */
static bool put_site(struct model *model, const struct session_code_frame *frame, uint32_t within,
                     struct line *line, struct session_error *error)
{
    struct session_function function = {.role = SESSION_ROLE_NONE};
    uint64_t start;
    char site[40] = "";
    if (frame->function && !session_function(model->session, frame->function, &function, error))
        return false;
    if (function.role == SESSION_ROLE_RUNTIME)
        snprintf(site, sizeof(site), ":%" PRIu32, frame->line);
    else if (within && session_function_start(model->session, within, &start) && start <= frame->pc)
        snprintf(site, sizeof(site), "+%" PRIu64, frame->pc - start);
    else
        snprintf(site, sizeof(site), "@0x%" PRIx64, frame->pc);
    line_put(line, site);
    return true;
}

/* Writes " > function" of a step; with -offsets also where in it the call lies. */
static bool put_step(struct model *model, bool offsets, uint32_t step, uint32_t within,
                     struct line *line, struct session_error *error)
{
    struct session_code_frame frame = {.function = offsets ? 0 : step};
    if (offsets && step && !session_code_frame(model->session, step, &frame, error))
        return false;
    line_put(line, "> ");
    line_name(line, model_name(model, frame.function));
    if (offsets && step && !put_site(model, &frame, within, line, error))
        return false;
    line_put(line, " ");
    return true;
}

/* The three columns of what was freed are left out if `frees` is false. */
static bool put_path(struct model *model, const struct tables_options *options, bool frees,
                     const struct path *path, struct line *line, struct session_error *error)
{
    const struct class_sums *sums = &path->sums, *all = &model->all;
    const uint64_t freed = sums->bytes - sums->kept_bytes;
    line_number(line, 10, sums->kept_bytes);
    line_put(line, " ");
    line_share(line, 4, sums->kept_bytes, all->kept_bytes);
    line_number(line, 10, sums->allocations);
    line_number(line, 10, sums->bytes);
    line_put(line, " ");
    line_share(line, 4, sums->bytes, all->bytes);
    if (frees) {
        line_number(line, 10, sums->allocations - sums->kept_count);
        line_number(line, 10, freed);
        line_put(line, " ");
        line_share(line, 4, freed, all->bytes - all->kept_bytes);
    }
    line_put(line, path->whole ? "   || " : "   ...");
    for (uint32_t i = path->count; i-- > 0;)
        if (!put_step(model, options->offsets, path->steps[i], path->within[i], line, error))
            return false;
    line_end(line);
    return true;
}

/* Returns the number of paths to show. They are in the order of what they kept. */
static size_t count_shown(const struct model *model, const struct tables_options *options,
                          const struct path *paths, size_t count)
{
    const uint64_t per_mille = options->detail == TABLES_VERBOSE  ? 0
                               : options->detail == TABLES_NORMAL ? 5
                                                                  : 10;
    size_t shown = 0;
    while (shown < count && paths[shown].sums.kept_bytes > 0 &&
           (options->top == 0 || shown < options->top) &&
           (__uint128_t)paths[shown].sums.kept_bytes * 1000 >=
               (__uint128_t)model->all.kept_bytes * per_mille)
        shown++;
    return shown;
}

bool leak_paths_write(struct model *model, const struct tables_options *options, FILE *out,
                      struct session_error *error)
{
    struct line line = {.out = out, .estimated = model->estimated};
    struct path *paths = calloc(model->count + 1, sizeof(*paths));
    bool frees = false;
    bool good = true;
    if (!paths)
        return report_fail_memory(error, "the paths");
    const size_t count =
        count_shown(model, options, paths, join_paths(model, options->offsets, paths));
    for (size_t i = 0; i < count; i++)
        frees = frees || paths[i].sums.allocations > paths[i].sums.kept_count;
    fprintf(out, "--------- Partial Dynamic Call Paths for %s ------------\n\n",
            model->collected ? "Kept Memory" : "Memory Leaks");
    fprintf(out, "Total bytes %s: %s%" PRIu64 "\n\n",
            model->collected ? "that the last collection left" : "not freed",
            model->estimated ? "~" : "", model->all.kept_bytes);
    fprintf(out, "%10s %-4s%10s%10s %-4s", "kept bytes", "(%)", "allocs", "bytes", "(%)");
    if (frees)
        fprintf(out, "%10s%10s %-4s", "frees", "bytes", "(%)");
    fputs("    path\n\n", out);
    for (size_t i = 0; good && i < count; i++)
        good = put_path(model, options, frees, &paths[i], &line, error);
    fputc('\n', out);
    free(paths);
    return good;
}
