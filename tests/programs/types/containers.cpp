/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks that the containers of the standard library allocate. */
#include "truth.h"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

struct Point {
    int x, y, z;
};

/* The libraries have different names for their nodes, and libc++ rounds the sizes of strings. */
#ifdef _LIBCPP_VERSION
#define MAP_NODE "std::__tree_node<std::__value_type<int, Point>, void *>"
#define SET_NODE "std::__tree_node<std::string, void *>"
#define LIST_NODE "std::__list_node<Point *, void *>"
#define HASH_NODE "std::__hash_node<std::__hash_value_type<long, Point>, void *>"
#define SHARED "std::__shared_ptr_emplace<Point, std::allocator<Point>>"
#define STRING_LENGTH(length) (((length) + 16) / 16 * 16)
#else
#define MAP_NODE "std::_Rb_tree_node<std::pair<const int, Point>>"
#define SET_NODE "std::_Rb_tree_node<std::string>"
#define LIST_NODE "std::_List_node<Point *>"
#define HASH_NODE "std::__detail::_Hash_node<std::pair<const long, Point>, false>"
#define SHARED "std::_Sp_counted_ptr_inplace<Point>"
#define STRING_LENGTH(length) ((length) + 1)
#endif

namespace shop
{
template <class T> struct Shelf {
    T item;
    long place;
};
} // namespace shop

template <class T> static void use(T &thing)
{
    asm volatile("" : : "r"(&thing) : "memory");
}

static void vectors()
{
    std::vector<int> numbers;
    TRUTH("int", 100);
    numbers.reserve(100);
    use(numbers);
    std::vector<Point> points;
    TRUTH("Point", 1);
    points.push_back(Point());
    use(points);
    std::vector<std::string> words;
    TRUTH("std::string", 4);
    words.reserve(4);
    use(words);
    TRUTH("shop::Shelf<std::vector<unsigned long>>", 2);
    std::vector<shop::Shelf<std::vector<unsigned long>>> shelves(2);
    use(shelves);
    TRUTH("const char *", 8);
    std::vector<const char *> texts(8);
    use(texts);
}

static void nodes()
{
    std::map<int, Point> map;
    TRUTH(MAP_NODE, 1);
    map[3] = Point();
    use(map);
    std::set<std::string> set;
    TRUTH(SET_NODE, 1);
    set.insert("x");
    use(set);
    std::list<Point *> list;
    TRUTH(LIST_NODE, 1);
    list.push_back(nullptr);
    use(list);
    std::unordered_map<long, Point> hashed;
    TRUTH(HASH_NODE, 1);
    hashed.emplace(4, Point());
    use(hashed);
    TRUTH("Point *", 8);
    std::deque<Point> deque;
    use(deque);
}

static void strings()
{
    std::string text;
    TRUTH("std::string buffer", STRING_LENGTH(200));
    text.reserve(200);
    use(text);
    TRUTH("std::string buffer", STRING_LENGTH(50));
    std::string other(50, 'x');
    use(other);
}

static void pointers()
{
    TRUTH(SHARED, 1);
    std::shared_ptr<Point> shared = std::make_shared<Point>();
    use(shared);
    TRUTH("Point", 1);
    std::unique_ptr<Point> single = std::make_unique<Point>();
    use(single);
    TRUTH("Point", 7);
    std::unique_ptr<Point[]> several = std::make_unique<Point[]>(7);
    use(several);
}

int main()
{
    vectors();
    nodes();
    strings();
    pointers();
    return 0;
}
