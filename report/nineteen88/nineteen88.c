/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/nineteen88.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/nineteen88/graph.h"
#include "schemas/array.h"
#include "session/code_facts.h"

/* ---- table 1: allocations by size, with the types of that size ---- */

enum { LARGEST_BIN = 1024, TYPES_IN_LINE = 3, TYPES_COLUMN = 64 };

struct bins {
    const struct model *model;
    struct session_group_set *sizes; /* by size */
    struct session_group_set *types; /* by size and type, by size */
    struct session_group_set *kept;  /* by size, what is kept; NULL: what is live */
    size_t next_kept;                /* the first row of `kept` that is not after the bin */
    size_t next_type;                /* the first row of `types` that is not after the bin */
    struct line line;
};

/* Writes all columns but the types. A label of NULL is the size. */
static void put_sums(struct bins *bins, const char *label, uint64_t size,
                     const struct class_sums *sums)
{
    const struct class_sums *all = &bins->model->all;
    struct line *line = &bins->line;
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, size);
    line_right(line, 11, label ? label : text);
    line_number(line, 10, sums->allocations);
    line_number(line, 10, sums->bytes);
    line_put(line, " ");
    const bool total = sums == all;
    line_share(line, 4, total ? 0 : sums->bytes, all->bytes);
    line_number(line, 10, sums->allocations - sums->kept_count);
    line_number(line, 10, sums->kept_bytes);
    line_put(line, " ");
    line_share(line, 4, total ? 0 : sums->kept_bytes, all->kept_bytes);
    line_put(line, "   ");
}

/* Moves past the types of smaller sizes. Returns whether the size has a known type. */
static bool find_types(struct bins *bins, uint64_t size)
{
    const size_t count = session_groups_count(bins->types);
    while (bins->next_type < count && session_group_key(bins->types, bins->next_type, 0).id < size)
        bins->next_type++;
    for (size_t i = bins->next_type; i < count; i++) {
        if (session_group_key(bins->types, i, 0).id != size)
            return false;
        if (!session_group_key(bins->types, i, 1).is_null)
            return true;
    }
    return false;
}

static void put_types(struct bins *bins, uint64_t size)
{
    const size_t count = session_groups_count(bins->types);
    unsigned put = 0;
    for (size_t i = bins->next_type; i < count; i++) {
        const struct session_group_key type = session_group_key(bins->types, i, 1);
        if (session_group_key(bins->types, i, 0).id != size)
            return;
        if (type.is_null || !type.text)
            continue;
        if (put > 0 && put % TYPES_IN_LINE == 0) {
            line_end(&bins->line);
            fprintf(bins->line.out, "%*s", TYPES_COLUMN, "");
        }
        char name[512];
        session_printable(name, sizeof(name), type.text);
        fprintf(bins->line.out, "%-12s ", name);
        put++;
    }
}

/* Returns true if a size has its own row. */
static bool is_shown(const struct bins *bins, enum tables_detail detail, uint64_t size,
                     uint64_t allocations, bool typed)
{
    const double share = (double)allocations / (double)bins->model->all.allocations;
    switch (detail) {
    case TABLES_VERBOSE:
        return true;
    case TABLES_NORMAL:
        return size > 100 || share > 0.002;
    default:
        return share > 0.02 || (typed && share > 0.01);
    }
}

/* Reads what is kept of a size. The rows of `kept` are in the order of sizes, as the bins are. */
static bool read_kept(struct bins *bins, uint64_t size, struct class_sums *sums,
                      struct session_error *error)
{
    const size_t count = session_groups_count(bins->kept);
    sums->kept_count = sums->kept_bytes = 0;
    while (bins->next_kept < count && session_group_key(bins->kept, bins->next_kept, 0).id < size)
        bins->next_kept++;
    if (bins->next_kept == count || session_group_key(bins->kept, bins->next_kept, 0).id != size)
        return true;
    return session_group_value(bins->kept, bins->next_kept, MEASURE_ALLOCATIONS, &sums->kept_count,
                               error) &&
           session_group_value(bins->kept, bins->next_kept, MEASURE_BYTES, &sums->kept_bytes,
                               error);
}

static bool read_row(struct bins *bins, size_t row, struct class_sums *sums,
                     struct session_error *error)
{
    if (!session_group_value(bins->sizes, row, MEASURE_ALLOCATIONS, &sums->allocations, error) ||
        !session_group_value(bins->sizes, row, MEASURE_BYTES, &sums->bytes, error))
        return false;
    if (bins->kept)
        return read_kept(bins, session_group_key(bins->sizes, row, 0).id, sums, error);
    return session_group_value(bins->sizes, row, MEASURE_LIVE_COUNT, &sums->kept_count, error) &&
           session_group_value(bins->sizes, row, MEASURE_LIVE_BYTES, &sums->kept_bytes, error);
}

static bool put_rows(struct bins *bins, enum tables_detail detail, struct session_error *error)
{
    struct class_sums large = {0}, other = {0}, sums;
    const size_t count = session_groups_count(bins->sizes);
    for (size_t row = 0; row < count; row++) {
        const uint64_t size = session_group_key(bins->sizes, row, 0).id;
        if (!read_row(bins, row, &sums, error))
            return false;
        const bool typed = find_types(bins, size);
        if (size > LARGEST_BIN)
            class_sums_add(&large, &sums);
        else if (!is_shown(bins, detail, size, sums.allocations, typed))
            class_sums_add(&other, &sums);
        else {
            put_sums(bins, NULL, size, &sums);
            put_types(bins, size);
            line_end(&bins->line);
        }
    }
    put_sums(bins, "> 1024", 0, &large);
    fputs("\n\n", bins->line.out);
    bins->line.touches = false;
    if (other.allocations > 0) {
        put_sums(bins, "other bins", 0, &other);
        line_end(&bins->line);
    }
    put_sums(bins, "<TOTAL>", 0, &bins->model->all);
    fputs("\n\n", bins->line.out);
    return true;
}

static void put_head(const struct model *model, FILE *out)
{
    fputs("--------- Allocation Bins with possible Types ------------\n\n", out);
    if (model->collected)
        fputs("kept: what the last garbage collection left; frees: the others\n\n", out);
    fprintf(out, "%11s%10s%10s %-4s%10s%10s %-4s    types\n\n", "size:", "allocs", "bytes", "(%)",
            "frees", "kept", "(%)");
}

/* Runs the request with a set and steps, unless `wanted` is false. NULL with `error` set. */
static struct graph_result *run(bool wanted, const struct model *model, const char *set,
                                const char *steps, struct session_error *error)
{
    return wanted ? request_run(model->request, model->session, set, steps, error) : NULL;
}

static bool bins_write(const struct model *model, const struct tables_options *options, FILE *out,
                       struct session_error *error)
{
    static const char by_size[] = "| join size | sort size";
    struct bins bins = {.model = model, .line = {.out = out, .estimated = model->estimated}};
    struct graph_result *sizes = run(true, model, NULL, by_size, error);
    struct graph_result *types =
        run(sizes != NULL, model, NULL, "| where size <= 1024 | join size, type", error);
    struct graph_result *kept = run(types && model->collected, model, "survived", by_size, error);
    bins.sizes = sizes ? graph_result_groups(sizes) : NULL;
    bins.types = types ? graph_result_groups(types) : NULL;
    bins.kept = kept ? graph_result_groups(kept) : NULL;
    /* Equal sizes are in the order of the other key: types by their names, unknown ones last. */
    bool good = bins.sizes && bins.types && (bins.kept || !model->collected) &&
                session_groups_sort_by_key(bins.types, 0, false, error);
    if (good) {
        put_head(model, out);
        good = put_rows(&bins, options->detail, error);
    }
    graph_result_free(sizes);
    graph_result_free(types);
    graph_result_free(kept);
    return good;
}

/* ---- table 3: what each function allocated directly ---- */

struct direct {
    uint32_t function;
    struct class_sums sums[SIZE_CLASSES], all;
};

static int by_bytes(const void *left, const void *right)
{
    const struct direct *a = left, *b = right;
    return ORDER(b->all.bytes, a->all.bytes) ?: ORDER(b->all.allocations, a->all.allocations) ?: ORDER(a->function, b->function);
}

static void put_row(const struct model *model, const struct direct *row, const char *share,
                    const char *name, FILE *out)
{
    struct line line = {.out = out, .estimated = model->estimated};
    uint64_t bytes[SIZE_CLASSES], kept[SIZE_CLASSES];
    for (int i = 0; i < SIZE_CLASSES; i++) {
        bytes[i] = row->sums[i].bytes;
        kept[i] = row->sums[i].kept_bytes;
    }
    line_put(&line, "  ");
    line_right(&line, 8, share);
    line_put(&line, " ");
    line_number(&line, 12, row->all.bytes);
    line_put(&line, " |");
    line_breakdown(&line, bytes, model->all.bytes);
    line_put(&line, " | ");
    line_number(&line, 12, row->all.kept_bytes);
    line_put(&line, " |");
    line_breakdown(&line, kept, model->all.kept_bytes);
    line_put(&line, " | ");
    line_number(&line, 12, row->all.allocations);
    line_put(&line, "   ");
    line_name(&line, name);
    line_end(&line);
}

static void put_table(const struct model *model, const struct direct *rows, size_t count,
                      const struct direct *total, FILE *out)
{
    char share[16];
    fputs("---------  Direct Allocation Table ------------\n\n", out);
    if (model->collected)
        fputs("kept: what the last garbage collection left\n\n", out);
    fprintf(out, "  %8s %12s |%-12s | %12s |%-12s | %12s   %s\n", "% mem", "bytes", " % mem(size)",
            "bytes kept", "  % all kept", "calls", "name");
    fputs("\n---------------------------s--m--l--x-------------------s--m--l--x---------------\n\n",
          out);
    put_row(model, total, "-----", "<TOTAL>", out);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        line_decimal(share, rows[i].all.bytes, model->all.bytes);
        put_row(model, &rows[i], share, model_name(model, rows[i].function), out);
    }
    fputc('\n', out);
}

static bool direct_write(const struct model *model, const struct tables_options *options, FILE *out,
                         struct session_error *error)
{
    struct direct *rows = calloc((size_t)model->function_count + 1, sizeof(*rows));
    struct direct total = {.all = model->all};
    size_t count = 0;
    if (!rows)
        return report_fail_memory(error, "the functions");
    for (size_t i = 0; i < model->count; i++) {
        const struct chain *chain = &model->chains[i];
        struct direct *row = &rows[model->calls[chain->call].function];
        class_sums_add(&row->all, &chain->all);
        for (int class = 0; class < SIZE_CLASSES; class ++) {
            class_sums_add(&row->sums[class], &chain->sums[class]);
            class_sums_add(&total.sums[class], &chain->sums[class]);
        }
    }
    for (uint32_t i = 0; i <= model->function_count; i++)
        if (rows[i].all.allocations > 0) {
            rows[count] = rows[i];
            rows[count++].function = i;
        }
    qsort(rows, count, sizeof(*rows), by_bytes);
    put_table(model, rows, options->top && options->top < count ? options->top : count, &total,
              out);
    free(rows);
    return true;
}

/* ---- table 2: the innermost five functions of the chains of what was never freed ---- */

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
    return ORDER(b->sums.kept_bytes, a->sums.kept_bytes) ?: ORDER(b->sums.bytes, a->sums.bytes) ?: by_steps(left, right);
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

static bool leak_paths_write(struct model *model, const struct tables_options *options, FILE *out,
                             struct session_error *error)
{
    struct line line = {.out = out, .estimated = model->estimated};
    struct path *paths = calloc(model->count + 1, sizeof(*paths));
    bool frees = false, good = true;
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

bool nineteen88_write(const struct report_request *request, const struct tables_options *options,
                      FILE *out, struct session_error *error)
{
    struct model model;
    const bool good =
        model_read(&model, request, error) && bins_write(&model, options, out, error) &&
        (options->no_leaks || leak_paths_write(&model, options, out, error)) &&
        direct_write(&model, options, out, error) && call_graph_write(&model, options, out, error);
    model_free(&model);
    return good;
}
