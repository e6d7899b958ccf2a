/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory resources, and pools of the standard library. */
#include "corpus.h"

#include <cstdlib>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

struct Point {
    int x, y, z;
};

/* A resource that calls malloc in its own code. */
class Counting : public std::pmr::memory_resource
{
    void *do_allocate(size_t size, size_t) override
    {
        return std::malloc(size);
    }
    void do_deallocate(void *block, size_t, size_t) override
    {
        std::free(block);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        return this == &other;
    }
};
static Counting counting;

CASE(pmr_vector)
{
    static std::pmr::vector<Point> points(corpus_few);
    KNOWN(points.data(), "Point", 5);
}
CASE(pmr_map)
{
    static std::pmr::map<int, Point> points;
    points[3].x = 1;
    KNOWN(&points[3], "std::_Rb_tree_node<std::pair<const int, Point>>", 1);
}
CASE(pmr_list)
{
    static std::pmr::list<Point> points;
    points.push_back(Point{1, 2, 3});
    KNOWN(&points.back(), "std::_List_node<Point>", 1);
}
CASE(pmr_text)
{
    static std::pmr::string text(100, 'x');
    KNOWN(text.data(), "buffer|std::string buffer", ANY_COUNT);
}
CASE(pmr_vector_of_an_own_resource)
{
    static std::pmr::vector<Point> points(corpus_few, &counting);
    IS(points.data(), "Point", 5);
}
CASE(pmr_map_of_an_own_resource)
{
    static std::pmr::map<long, long> numbers(&counting);
    numbers[3] = 1;
    KNOWN(&numbers[3], "std::_Rb_tree_node<std::pair<const long, long>>", 1);
}
CASE(monotonic)
{
    static std::pmr::monotonic_buffer_resource pool;
    static std::pmr::vector<Point> points(&pool);
    points.reserve(corpus_few);
    KNOWN(points.data(), "buffer", ANY_COUNT);
    static std::pmr::map<int, Point> map(&pool);
    for (int i = 0; i < 100; i++)
        map[i].x = i;
    KNOWN(&map[99], "buffer", ANY_COUNT);
}
CASE(monotonic_on_an_own_resource)
{
    static std::pmr::monotonic_buffer_resource pool(4096, &counting);
    static std::pmr::vector<Point> points(&pool);
    points.reserve(corpus_few);
    KNOWN(points.data(), "buffer", ANY_COUNT);
}
CASE(unsynchronized_pool)
{
    static std::pmr::unsynchronized_pool_resource pool;
    static std::pmr::list<Point> points(&pool);
    points.push_back(Point{1, 2, 3});
    KNOWN(&points.back(), "buffer", ANY_COUNT);
}
CASE(synchronized_pool)
{
    static std::pmr::synchronized_pool_resource pool;
    static std::pmr::map<int, Point> points(&pool);
    points[3].x = 1;
    KNOWN(&points[3], "buffer", ANY_COUNT);
}
CASE(pool_gives_a_large_block)
{
    static std::pmr::unsynchronized_pool_resource pool;
    static std::pmr::vector<Point> points(&pool);
    points.resize(1000000);
    /* Larger than the pool keeps, so it gets its own block. */
    IS(points.data(), "Point|buffer", ANY_COUNT);
}
CASE(resource_asked_alone)
{
    void *block = std::pmr::new_delete_resource()->allocate(64 + corpus_few);
    IS(block, "buffer", ANY_COUNT);
}
