/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/bars.h"

#define FULL_BLOCK 0x2588
#define LOWER_EIGHTH 0x2581 /* ▁; ▂ … █ follow */
#define LEFT_EIGHTH 0x258f  /* ▏; ▎ … █ come before */

/* Returns value / scale of `whole`, rounded, without overflow. */
static uint64_t share(uint64_t value, uint64_t scale, uint64_t whole)
{
    if (scale == 0)
        return 0;
    if (value >= scale)
        return whole;
    return (uint64_t)((double)value / (double)scale * (double)whole + 0.5);
}

/* The two largest parts of one cell, lower one first. */
struct split {
    size_t lower, upper;
    int lower_eighths, upper_eighths; /* 0: no such part */
};

/* Splits the cell at `bottom`. edges[i] is the height in eighths where layer i ends. */
static struct split split_cell(const int *edges, size_t count, int bottom)
{
    struct split split = {0, 0, 0, 0};
    int from = 0;
    for (size_t i = 0; i < count; i++) {
        int low = from > bottom ? from : bottom;
        int high = edges[i] < bottom + 8 ? edges[i] : bottom + 8;
        from = edges[i];
        int part = high - low;
        if (part <= 0)
            continue;
        if (split.lower_eighths == 0) {
            split.lower = i;
            split.lower_eighths = part;
            continue;
        }
        if (split.upper_eighths > 0) {
            if (split.lower_eighths <= split.upper_eighths && part > split.lower_eighths) {
                split.lower = split.upper;
                split.lower_eighths = split.upper_eighths;
            } else if (part <= split.upper_eighths) {
                continue;
            }
        }
        split.upper = i;
        split.upper_eighths = part;
    }
    return split;
}

static void put_pattern(const struct area *area, int x, int y, const struct split *split,
                        const struct bar_layer *layers)
{
    bool lower = split->lower_eighths >= split->upper_eighths;
    if (split->lower_eighths + split->upper_eighths < 4)
        return;
    const struct bar_layer *layer = &layers[lower ? split->lower : split->upper];
    area_put(area, x, y, layer->pattern, layer->style);
}

static void put_split(const struct area *area, int x, int y, const struct split *split,
                      const struct bar_layer *layers, int filled, int16_t background)
{
    struct cell_style style = layers[split->lower].style;
    style.background = background;
    if (split->upper_eighths == 0) {
        area_put(area, x, y, (uint32_t)(LOWER_EIGHTH + filled - 1), style);
        return;
    }
    if (filled < 8) {
        /* Three parts meet and the empty one must be visible: the taller part takes the rest. */
        if (split->upper_eighths > split->lower_eighths)
            style.foreground = layers[split->upper].style.foreground;
        area_put(area, x, y, (uint32_t)(LOWER_EIGHTH + filled - 1), style);
        return;
    }
    int sum = split->lower_eighths + split->upper_eighths;
    int eighths = (split->lower_eighths * 8 + sum / 2) / sum;
    eighths = eighths < 1 ? 1 : eighths > 7 ? 7 : eighths;
    style.background = layers[split->upper].style.foreground;
    area_put(area, x, y, (uint32_t)(LOWER_EIGHTH + eighths - 1), style);
}

void bars_column(const struct area *area, int x, const struct bar_layer *layers, size_t count,
                 uint64_t scale, int16_t background)
{
    int edges[BARS_LAYERS];
    uint64_t sum = 0;
    if (count > BARS_LAYERS)
        count = BARS_LAYERS;
    for (size_t i = 0; i < count; i++) {
        sum += layers[i].value;
        edges[i] = (int)share(sum, scale, (uint64_t)area->height * 8);
    }
    if (count == 0 || sum == 0)
        return;
    int top = edges[count - 1];
    if (top == 0) { /* show a little for any value above 0 */
        size_t first = 0;
        while (layers[first].value == 0)
            first++;
        for (size_t i = first; i < count; i++)
            edges[i] = 1;
        top = 1;
    }
    for (int row = 0; row * 8 < top; row++) {
        struct split split = split_cell(edges, count, row * 8);
        int y = area->height - 1 - row, filled = top - row * 8 < 8 ? top - row * 8 : 8;
        if (grid_colors(area->grid) == 0 && count > 1)
            put_pattern(area, x, y, &split, layers);
        else
            put_split(area, x, y, &split, layers, filled, background);
    }
}

/* Draws a cell of a hanging column: `split` counts from its top. */
static void put_hanging(const struct area *area, int x, int y, const struct split *split,
                        const struct bar_layer *layers)
{
    const int above = split->lower_eighths, below = split->upper_eighths;
    const struct bar_layer *most = &layers[below > above ? split->upper : split->lower];
    struct cell_style style = most->style;
    if (grid_colors(area->grid) == 0) {
        if (above + below >= 4)
            area_put(area, x, y, most->pattern, style);
    } else if (above + below < 8) {
        /* The lower part of a reversed cell has the colour of the background. */
        style.attributes |= CELL_REVERSE;
        area_put(area, x, y, (uint32_t)(FULL_BLOCK - above - below), style);
    } else if (below == 0) {
        area_put(area, x, y, FULL_BLOCK, style);
    } else {
        style = layers[split->upper].style;
        style.background = layers[split->lower].style.foreground;
        area_put(area, x, y, (uint32_t)(LOWER_EIGHTH + below - 1), style);
    }
}

void bars_hanging(const struct area *area, int x, const struct bar_layer *layers, size_t count,
                  uint64_t scale)
{
    int edges[BARS_LAYERS];
    uint64_t sum = 0;
    count = count < BARS_LAYERS ? count : BARS_LAYERS;
    for (size_t i = 0; i < count; i++) {
        sum += layers[i].value;
        edges[i] = (int)share(sum, scale, (uint64_t)area->height * 8);
    }
    for (int y = 0; count > 0 && y * 8 < edges[count - 1] && y < area->height; y++) {
        const struct split split = split_cell(edges, count, y * 8);
        put_hanging(area, x, y, &split, layers);
    }
}

void bars_row(const struct area *area, int x, int y, int width, uint64_t value, uint64_t scale,
              struct cell_style style)
{
    int eighths = (int)share(value, scale, (uint64_t)(width > 0 ? width : 0) * 8);
    if (eighths == 0 && value > 0)
        eighths = 1;
    for (; eighths > 0; eighths -= 8, x++)
        area_put(area, x, y, eighths >= 8 ? FULL_BLOCK : (uint32_t)(LEFT_EIGHTH - eighths + 1),
                 style);
}

static uint64_t nice(uint64_t value, const uint64_t *steps, size_t count, uint64_t base)
{
    for (uint64_t unit = 1;; unit *= base) {
        for (size_t i = 0; i < count; i++)
            if (steps[i] * unit >= value)
                return steps[i] * unit;
        if (unit > UINT64_MAX / base / steps[count - 1])
            return value;
    }
}

uint64_t bars_nice_size(uint64_t value)
{
    /* A few steps of 100 stay below the next unit; larger steps meet it. */
    static const uint64_t steps[] = {1, 2, 5, 10, 20, 50, 100, 256, 512};
    return nice(value, steps, sizeof(steps) / sizeof(steps[0]), 1024);
}

uint64_t bars_nice_count(uint64_t value)
{
    static const uint64_t steps[] = {1, 2, 5};
    return nice(value, steps, sizeof(steps) / sizeof(steps[0]), 10);
}

void bars_spark(char *out, size_t size, const uint64_t *values, size_t count)
{
    uint64_t most = 1;
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count && length + 3 < size; i++) {
        const uint64_t eighths =
            values[i] == 0 ? 0 : 1 + (uint64_t)((double)values[i] / (double)most * 7);
        length +=
            (size_t)text_encode(eighths == 0 ? 0xb7 : 0x2580 + (uint32_t)eighths, out + length);
    }
    out[length] = '\0';
}
