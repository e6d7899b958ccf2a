/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps addresses to rows of the grid, and rows to addresses. */
#include "tui/view/memory/grid.h"

uint64_t memory_row_bytes(const struct memory_map *map)
{
    return map->bytes_per_cell * (uint64_t)map->columns;
}

uint64_t memory_region_base(const struct memory_map *map, size_t region)
{
    uint64_t start = map->regions[region].start;
    return start - start % memory_row_bytes(map);
}

uint64_t memory_region_rows(const struct memory_map *map, size_t region)
{
    uint64_t span = map->regions[region].end - memory_region_base(map, region);
    uint64_t row = memory_row_bytes(map);
    return span / row + (span % row != 0);
}

uint64_t memory_rows(const struct memory_map *map)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < map->region_count; i++)
        rows += 1 + memory_region_rows(map, i);
    return rows;
}

size_t memory_region_of(const struct memory_map *map, uint64_t address)
{
    for (size_t i = 0; i < map->region_count; i++) {
        if (address < map->regions[i].start) {
            uint64_t above = map->regions[i].start - address;
            return i > 0 && address - map->regions[i - 1].end < above ? i - 1 : i;
        }
        if (address < map->regions[i].end)
            return i;
    }
    return map->region_count > 0 ? map->region_count - 1 : 0;
}

uint64_t memory_row_of(const struct memory_map *map, size_t region, uint64_t address)
{
    uint64_t row = 0;
    for (size_t i = 0; i < region; i++)
        row += 1 + memory_region_rows(map, i);
    uint64_t base = memory_region_base(map, region);
    return row + 1 + (address > base ? (address - base) / memory_row_bytes(map) : 0);
}

struct memory_row memory_row_at(const struct memory_map *map, uint64_t row)
{
    for (size_t i = 0; i < map->region_count; i++) {
        uint64_t rows = 1 + memory_region_rows(map, i);
        if (row < rows)
            return (struct memory_row){.region = i,
                                       .heading = row == 0,
                                       .address = row == 0 ? map->regions[i].start
                                                           : memory_region_base(map, i) +
                                                                 (row - 1) * memory_row_bytes(map)};
        row -= rows;
    }
    return (struct memory_row){.region = map->region_count};
}

uint64_t memory_fitting_cell(const struct memory_map *map, uint64_t rows)
{
    struct memory_map trial = *map;
    trial.bytes_per_cell = MEMORY_CELL_LEAST;
    while (memory_rows(&trial) > rows && trial.bytes_per_cell < (uint64_t)1 << 40)
        trial.bytes_per_cell *= 2;
    /* If headings alone fill the screen, larger cells save no more rows. */
    while (trial.bytes_per_cell > MEMORY_CELL_LEAST) {
        uint64_t now = memory_rows(&trial);
        trial.bytes_per_cell /= 2;
        if (memory_rows(&trial) > rows && memory_rows(&trial) > now) {
            trial.bytes_per_cell *= 2;
            break;
        }
    }
    return trial.bytes_per_cell;
}
