/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A viewer marks the moments "opened" and "closed" of a document. Its thumbnails stay in a cache
 * that nobody empties. Healthy: closing the document empties it.
 */
#include <memory>
#include <vector>

#include "mprof.h"
#include "pace.h"

struct Page {
    char text[500];
};
struct Thumbnail {
    unsigned char pixels[32 * 32];
};

static std::vector<std::unique_ptr<Thumbnail>> cache;

__attribute__((noinline)) void show_document()
{
    std::vector<std::unique_ptr<Page>> pages;
    for (int i = 0; i < 300; i++) {
        pages.push_back(std::make_unique<Page>());
        cache.push_back(std::make_unique<Thumbnail>());
    }
    use(pages);
}

int main(int count, char **values)
{
    cache.reserve(1000);
    mprof_mark("opened");
    show_document();
    if (is_healthy(count, values))
        cache.clear();
    mprof_mark("closed");
}
