/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers in libstdc++'s debug mode, whose classes are in other namespaces. Their functions are
 * the same for elements of one size, so compilers merge them. */
#define _GLIBCXX_DEBUG
#include "corpus.h"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

struct Place {
    double x, y;
};
struct Range {
    float low[3], high[3];
};

CASE(elements_of_one_size)
{
    static std::vector<Place> places(21 * corpus_one);
    static std::vector<std::array<float, 4>> arrays(22 * corpus_one);
    static std::vector<std::optional<Place>> optionals(23 * corpus_one);
    static std::vector<Range> ranges(24 * corpus_one);
    KNOWN(places.data(), "Place", 21);
    KNOWN(arrays.data(), "std::array<float, 4>", 22);
    KNOWN(optionals.data(), "std::optional<Place>", 23);
    KNOWN(ranges.data(), "Range", 24);
}
CASE(pointers_and_numbers)
{
    static std::vector<long> numbers(20 * corpus_one);
    static std::vector<std::unique_ptr<int>> pointers;
    pointers.push_back(std::make_unique<int>(1));
    pointers.push_back(nullptr);
    KNOWN(numbers.data(), "long", 20);
    KNOWN(pointers.data(), "std::unique_ptr<int>", 2);
    KNOWN(pointers[0].get(), "int", 1);
}
CASE(nodes)
{
    static std::map<int, Place> map;
    static std::list<Range> list;
    static std::unordered_map<int, Place> table;
    map[1];
    list.push_back({});
    table[3];
    KNOWN(&map[1], "std::_Rb_tree_node<std::pair<const int, Place>>", 1);
    KNOWN(&list.front(), "std::_List_node<Range>", 1);
    KNOWN(&table[3], "std::__detail::_Hash_node<std::pair<const int, Place>, false>", 1);
}
CASE(container_itself)
{
    auto *made = new std::vector<Place>(corpus_few);
    KEEP(made);
    KNOWN(made, "std::vector<Place>", 1);
    KNOWN(made->data(), "Place", 5);
}
