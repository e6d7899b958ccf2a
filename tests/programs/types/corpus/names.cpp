/* SPDX-License-Identifier: BSD-2-Clause */
/* flags: -g0 */
/* Without debug information: types that the symbols of the standard library's functions name. The
 * numbers of elements are known for numbers and pointers alone. */
#include "corpus.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

struct Point {
    long x, y;
};
struct Person {
    std::string name;
    int age;
};
static const char *const long_text = "a text that is too long to stand in the string itself";

template <class T> static APART void grow(std::vector<T> &elements)
{
    for (unsigned long i = 0; i < corpus_few; i++)
        elements.emplace_back();
}
CASE(vectors_without_debug_information)
{
    static std::vector<Point> points;
    static std::vector<int> numbers;
    static std::vector<Point *> pointers;
    grow(points);
    grow(numbers);
    grow(pointers);
    IS(points.data(), "Point", 1);
    IS(numbers.data(), "int", 8);
    IS(pointers.data(), "Point *", 8);
}
CASE(nodes_without_debug_information)
{
    static std::map<int, Point> map;
    static std::set<long> set;
    static std::unordered_map<int, Point> table;
    map[1].x = 1;
    set.insert(3);
    table[1].x = 1;
    IS(&map[1], "std::_Rb_tree_node<std::pair<const int, Point>>", 1);
    IS(&*set.begin(), "std::_Rb_tree_node<long>", 1);
    IS(&table[1], "std::__detail::_Hash_node<std::pair<const int, Point>, false>", 1);
}
CASE(deque_without_debug_information)
{
    static std::deque<Point> points;
    for (int i = 0; i < 100; i++)
        points.push_back({});
    IS(&points.back(), "Point", 1);
}
/* The text of a name is copied in a function of the vector of people. */
CASE(texts_in_elements)
{
    static std::vector<Person> people;
    static std::map<std::string, std::string> texts;
    const Person person{long_text, 3};
    for (unsigned long i = 0; i < corpus_few; i++)
        people.push_back(person);
    texts[long_text] = long_text;
    IS(people.data(), "Person", 1);
    IS(people[0].name.data(), "std::string buffer", ANY_COUNT);
    IS(people[4].name.data(), "std::string buffer", ANY_COUNT);
    IS(texts.begin()->first.data(), "std::string buffer", ANY_COUNT);
    IS(texts.begin()->second.data(), "std::string buffer", ANY_COUNT);
}
