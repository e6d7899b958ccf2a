/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of a cell lie in an order that wastes half of it. Healthy: the large ones first. */
#include <memory>
#include <vector>

#include "pace.h"

struct PaddedCell {
    char kind;
    double value;
    char state;
    double weight;
    short owner;
};
struct PackedCell {
    double value, weight;
    int owner;
    char kind[2], state[2];
};

template <class Cell> __attribute__((noinline)) void make_cells()
{
    std::vector<std::unique_ptr<Cell>> cells(5000);
    for (auto &cell : cells)
        cell.reset(new Cell());
    use(cells);
}

int main(int count, char **values)
{
    if (is_healthy(count, values))
        make_cells<PackedCell>();
    else
        make_cells<PaddedCell>();
}
