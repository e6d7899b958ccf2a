/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointers in members of all kinds. For each it prints the address of the pointer, that to which it
 * leads, and how mprof should name the member.
 */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Leaf {
    long number = 7;
    char rest[40] = {};
};

struct Seed {
    long number = 8;
    char rest[24] = {};
};

static void tell(const void *where, const void *to, const char *name)
{
    std::printf("%p %p %s\n", where, to, name);
}

/* Tells of a pointer that the program sees. */
template <typename Pointer> static void tell_of(const Pointer &pointer, const char *name)
{
    tell(&pointer, pointer, name);
}

/* The same, and lets it lead to a new block. */
template <typename T> static void put(T *&place, const char *name)
{
    place = new T;
    tell_of(place, name);
}

struct Point {
    long x = 0;
    Leaf *at = nullptr;
};

struct Middle {
    Point points[2];
    Point one;
};

struct Deep {
    long before = 0;
    Middle middle;
    Leaf *table[2][3] = {};
};

struct Plain {
    Leaf *plain = nullptr;
};

struct Polymorphic {
    virtual ~Polymorphic()
    {
    }
    Leaf *same = nullptr;
};

struct OtherPolymorphic {
    virtual ~OtherPolymorphic()
    {
    }
    Leaf *other = nullptr;
};

struct Between : Polymorphic {
    Point point;
};

struct Several : Plain, Between, OtherPolymorphic {
    Leaf *own = nullptr;
    char last = 'l';
};

/* Its member lies in what Several leaves free at its end. */
struct Tail : Several {
    char more = 'm';
    Leaf *tail = nullptr;
};

struct Shared {
    virtual ~Shared()
    {
    }
    long number = 0;
    Leaf *shared = nullptr;
};

struct OtherShared {
    virtual ~OtherShared()
    {
    }
    Leaf *second = nullptr;
    int number = 0;
};

struct Left : virtual Shared {
    Leaf *left = nullptr;
};

struct Right : virtual Shared {
    Leaf *right = nullptr;
};

struct Diamond : Left, Right {
    Leaf *bottom = nullptr;
};

struct Deeper : virtual OtherShared, Diamond {
    Leaf *deeper = nullptr;
    char last = 'l';
};

/* It has no data, and lies at the beginning of Light. */
struct Table {
    virtual ~Table()
    {
    }
};

struct Light : virtual Table {
    Leaf *light = nullptr;
};

namespace outer
{
template <typename T> struct Wrap {
    T value;
    struct Inner {
        Leaf *leaf = nullptr;
    } inner;
};
} /* namespace outer */

struct Choice {
    int kind = 0;
    union {
        Leaf *leaf;
        Seed *seed;
        long number;
    };
    union {
        Seed *only;
        char bytes[8];
    } named;
    struct {
        Leaf *inside;
    };
};

/* An array of them has its length before the first. */
struct Counted {
    ~Counted()
    {
    }
    Leaf *counted = nullptr;
    long number = 0;
};

struct Flexible {
    long count;
    Point points[];
};

struct Containers {
    std::string text;
    std::vector<Leaf *> pointers;
    std::vector<Point> points;
    std::vector<std::vector<Leaf *>> rows;
    std::list<Point> list;
    std::forward_list<Point> forward;
    std::deque<Point> deque;
    std::map<int, Point> map;
    std::set<Leaf *> set;
    std::unordered_map<int, Point> table;
    std::unordered_set<Leaf *> unordered;
    std::unique_ptr<Leaf> unique;
    std::unique_ptr<Point[]> several;
    std::shared_ptr<Point> shared;
    std::shared_ptr<Leaf> adopted;
    std::weak_ptr<Point> weak;
    std::optional<Point> optional;
    std::variant<int, Point, std::string> variant;
    std::function<long()> function;
    std::pair<int, Leaf *> pair;
    std::tuple<int, Leaf *> tuple;
    std::array<Point, 2> array;
    std::map<std::string, std::vector<Leaf *>> nested;
};

Deep *deep;
Several *several;
Tail *tail;
Left *left;
Diamond *diamond;
Deeper *deeper;
Light *light;
outer::Wrap<Point> *wrap;
Choice *choice, *other_choice;
Counted *counted;
Flexible *flexible;
Containers *containers;

static void tell_records()
{
    deep = new Deep;
    put(deep->middle.points[0].at, "Deep::middle.points[].at");
    put(deep->middle.points[1].at, "Deep::middle.points[].at");
    put(deep->middle.one.at, "Deep::middle.one.at");
    put(deep->table[1][2], "Deep::table[]");
    several = new Several;
    put(several->plain, "Several::plain");
    put(several->same, "Several::same");
    put(several->point.at, "Several::point.at");
    put(several->other, "Several::other");
    put(several->own, "Several::own");
    tail = new Tail;
    put(tail->own, "Tail::own");
    put(tail->tail, "Tail::tail");
    diamond = new Diamond;
    put(diamond->left, "Diamond::left");
    put(diamond->right, "Diamond::right");
    put(diamond->bottom, "Diamond::bottom");
    put(diamond->shared, "Diamond::shared");
    left = new Left;
    put(left->left, "Left::left");
    put(left->shared, "Left::shared");
    deeper = new Deeper;
    put(deeper->left, "Deeper::left");
    put(deeper->right, "Deeper::right");
    put(deeper->bottom, "Deeper::bottom");
    put(deeper->deeper, "Deeper::deeper");
    put(deeper->shared, "Deeper::shared");
    put(deeper->second, "Deeper::second");
    light = new Light;
    put(light->light, "Light::light");
    wrap = new outer::Wrap<Point>;
    put(wrap->value.at, "outer::Wrap<Point>::value.at");
    put(wrap->inner.leaf, "outer::Wrap<Point>::inner.leaf");
    choice = new Choice;
    put(choice->leaf, "Choice::leaf");
    put(choice->named.only, "Choice::named.only");
    put(choice->inside, "Choice::inside");
    other_choice = new Choice;
    put(other_choice->seed, "Choice::seed");
    counted = new Counted[3];
    put(counted[0].counted, "Counted::counted");
    put(counted[2].counted, "Counted::counted");
    flexible = static_cast<Flexible *>(std::malloc(sizeof(Flexible) + 3 * sizeof(Point)));
    put(flexible->points[0].at, "Flexible::points[].at");
    put(flexible->points[2].at, "Flexible::points[].at");
}

static void tell_containers()
{
    containers = new Containers;
    Containers &all = *containers;
    all.text = std::string(100, 't');
    tell(&all.text, all.text.data(), "Containers::text");
    all.pointers.assign(3, nullptr);
    tell(&all.pointers, all.pointers.data(), "Containers::pointers");
    put(all.pointers[1], "Leaf *[]");
    all.points.resize(3);
    tell(&all.points, all.points.data(), "Containers::points");
    put(all.points[2].at, "Point::at");
    all.rows.resize(2);
    tell(&all.rows, all.rows.data(), "Containers::rows");
    all.rows[1].assign(2, nullptr);
    tell(&all.rows[1], all.rows[1].data(), "std::vector<Leaf *>::_M_impl");
    all.list.resize(2);
    put(all.list.back().at, "std::_List_node<Point>::_M_storage.at");
    all.forward.resize(2);
    put(all.forward.front().at, "std::_Fwd_list_node<Point>::_M_storage.at");
    all.deque.resize(2);
    put(all.deque[1].at, "Point::at");
    put(all.map[5].at, "std::_Rb_tree_node<std::pair<const int, Point>>::_M_storage.second.at");
    all.set.insert(new Leaf);
    tell_of(*all.set.begin(), "std::_Rb_tree_node<Leaf *>::_M_storage");
    put(all.table[5].at,
        "std::__detail::_Hash_node<std::pair<const int, Point>, false>::_M_storage.second.at");
    all.unordered.insert(new Leaf);
    tell_of(*all.unordered.begin(), "std::__detail::_Hash_node<Leaf *, false>::_M_storage");
    all.unique = std::make_unique<Leaf>();
    tell(&all.unique, all.unique.get(), "Containers::unique");
    all.several = std::make_unique<Point[]>(4);
    tell(&all.several, all.several.get(), "Containers::several");
    put(all.several[3].at, "Point::at");
    all.shared = std::make_shared<Point>();
    tell(&all.shared, all.shared.get(), "Containers::shared");
    put(all.shared->at, "std::_Sp_counted_ptr_inplace<Point>::_M_impl.at");
    all.weak = all.shared;
    tell(&all.weak, all.weak.lock().get(), "Containers::weak");
    all.adopted = std::shared_ptr<Leaf>(new Leaf);
    tell(&all.adopted, all.adopted.get(), "Containers::adopted");
    all.optional = Point{};
    put(all.optional->at, "Containers::optional.at");
    all.variant = Point{};
    put(std::get<Point>(all.variant).at, "Containers::variant.at");
    put(all.pair.second, "Containers::pair.second");
    put(std::get<Leaf *>(all.tuple), "Containers::tuple");
    put(all.array[1].at, "Containers::array[].at");
    Leaf *captured = new Leaf;
    std::string text(50, 'c');
    all.function = [captured, text] { return captured->number + static_cast<long>(text.size()); };
    all.nested["the longest of all names that are in it"].assign(2, nullptr);
    auto &entry = *all.nested.begin();
    tell(&entry.first, entry.first.data(),
         "std::_Rb_tree_node<std::pair<const std::string, std::vector<Leaf *>>>::_M_storage.first");
    tell(
        &entry.second, entry.second.data(),
        "std::_Rb_tree_node<std::pair<const std::string, std::vector<Leaf *>>>::_M_storage.second");
    put(entry.second[1], "Leaf *[]");
}

int main()
{
    tell_records();
    tell_containers();
    return 0;
}
