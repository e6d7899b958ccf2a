/* SPDX-License-Identifier: BSD-2-Clause */
/* Each map tile loads its own copy of one table of colours. Healthy: all share it. */
#include <memory>
#include <vector>

#include "pace.h"

struct Colors {
    unsigned char rgb[100003];
};
struct Tile {
    std::shared_ptr<Colors> colors;
    char name[16];
};

__attribute__((noinline)) std::shared_ptr<Colors> load_colors()
{
    return std::make_shared<Colors>();
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    std::shared_ptr<Colors> shared = healthy ? load_colors() : nullptr;
    std::vector<Tile> tiles(12);
    for (Tile &tile : tiles)
        tile.colors = healthy ? shared : load_colors();
    use(tiles);
}
