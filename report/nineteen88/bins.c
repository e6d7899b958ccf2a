/* SPDX-License-Identifier: BSD-2-Clause */
/* Table 1: allocations by size, with the types of that size. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/nineteen88/tables.h"

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

bool bins_write(const struct model *model, const struct tables_options *options, FILE *out,
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
