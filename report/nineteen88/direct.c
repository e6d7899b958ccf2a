/* SPDX-License-Identifier: BSD-2-Clause */
/* Table 3: what each function allocated directly. */
#include <stdlib.h>

#include "report/nineteen88/tables.h"

struct direct {
    uint32_t function;
    struct class_sums sums[SIZE_CLASSES], all;
};

static int by_bytes(const void *left, const void *right)
{
    const struct direct *a = left, *b = right;
    if (a->all.bytes != b->all.bytes)
        return a->all.bytes < b->all.bytes ? 1 : -1;
    if (a->all.allocations != b->all.allocations)
        return a->all.allocations < b->all.allocations ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
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

bool direct_write(const struct model *model, const struct tables_options *options, FILE *out,
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
