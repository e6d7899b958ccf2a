/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members that get their block from a store, from an object that is moved into them, or as an
 * element of an array. `owner FUNCTION: NAME` as in holders.cpp.
 */
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Leaf {
    long values[3];
};
struct Shard {
    std::map<int, Leaf> map;
    std::vector<int> log;
};
struct Cells {
    int *first;
};

struct Tree {
    int *raw = nullptr;
    std::unique_ptr<char[]> buffer;
    std::vector<Leaf> leaves;
    std::string title;
    std::unique_ptr<Leaf> leaf;
    std::shared_ptr<Leaf> shared;
    Shard shards[4];
    std::vector<Shard> more{4};
    Leaf *plain = nullptr;
    Cells cells{};
    char *text = nullptr;

    NOINLINE void take_raw(std::size_t n) /* owner Tree::take_raw: Tree::raw */
    {
        raw = new int[n];
    }
    NOINLINE void take_buffer(std::size_t n) /* owner Tree::take_buffer: Tree::buffer */
    {
        buffer = std::make_unique<char[]>(n);
    }
    NOINLINE void move_in(std::size_t n) /* owner Tree::move_in: Tree::leaves */
    {
        std::vector<Leaf> made(n);
        leaves = std::move(made);
    }
    NOINLINE void assign(std::size_t n) /* owner Tree::assign: Tree::leaves */
    {
        leaves = std::vector<Leaf>(n);
    }
    NOINLINE void make_leaf() /* owner Tree::make_leaf: Tree::leaf */
    {
        leaf = std::make_unique<Leaf>();
    }
    NOINLINE void make_shared() /* owner Tree::make_shared: Tree::shared */
    {
        shared = std::make_shared<Leaf>();
    }
    NOINLINE void reset_leaf() /* owner Tree::reset_leaf: Tree::leaf */
    {
        leaf.reset(new Leaf);
    }
    NOINLINE void name(const char *text) /* owner Tree::name: Tree::title */
    {
        title = std::string(text);
    }
    NOINLINE void log_in(int i) /* owner Tree::log_in: Shard::log */
    {
        shards[i].log.push_back(i);
    }
    NOINLINE void log_more(int i) /* owner Tree::log_more: Shard::log */
    {
        more[i].log.push_back(i);
    }
    NOINLINE void take_plain() /* owner Tree::take_plain: Tree::plain */
    {
        plain = new Leaf;
    }
    NOINLINE void take_cells(std::size_t n) /* owner Tree::take_cells: Cells::first */
    {
        cells.first = (int *)std::malloc(n * sizeof(int));
    }
    NOINLINE void take_text(const char *from) /* owner Tree::take_text: Tree::text */
    {
        text = strdup(from);
    }
};

std::vector<int> numbers;
std::unique_ptr<Leaf> global_leaf;
Leaf *global_raw;
Shard global_shards[2];

static NOINLINE void add_number(int i) /* owner add_number: numbers */
{
    numbers.push_back(i);
}
static NOINLINE void make_global() /* owner make_global: global_leaf */
{
    global_leaf = std::make_unique<Leaf>();
}
static NOINLINE void take_global() /* owner take_global: global_raw */
{
    global_raw = new Leaf;
}
static NOINLINE void log_global(int i) /* owner log_global: Shard::log */
{
    global_shards[i].log.push_back(i);
}
static NOINLINE void remember(int i) /* owner remember: remembered */
{
    static std::vector<int> remembered;
    remembered.push_back(i);
}

/* The variables of threads, by address, through a function that initializes them, and in a class. */
static thread_local std::vector<int> scratch;
thread_local std::unique_ptr<char[]> thread_text;
thread_local Leaf *thread_leaf;
static thread_local Shard thread_shard;
thread_local int *thread_rows[4];

static NOINLINE void scratch_in(int i) /* owner scratch_in: scratch */
{
    scratch.push_back(i);
}
static NOINLINE void thread_text_in(std::size_t n) /* owner thread_text_in: thread_text */
{
    thread_text.reset(new char[n]);
}
static NOINLINE void thread_leaf_in() /* owner thread_leaf_in: thread_leaf */
{
    thread_leaf = new Leaf;
}
static NOINLINE void thread_shard_in(int i) /* owner thread_shard_in: Shard::log */
{
    thread_shard.log.push_back(i);
}
static NOINLINE void thread_row_in(int i) /* owner thread_row_in: thread_rows */
{
    thread_rows[i] = new int[30];
}
static NOINLINE void thread_sum(int i) /* owner thread_sum: sums */
{
    static thread_local std::vector<double> sums;
    sums.assign((std::size_t)i + 9, 0.5);
}

/* Inlined containers whose address is computed. */
static std::map<std::string, int> counts;
struct Store {
    std::array<Shard, 3> shards;
    std::map<std::string, std::vector<int>> groups;
    NOINLINE void log_array(int i) /* owner Store::log_array: Shard::log */
    {
        shards[(std::size_t)i % 3].log.push_back(i);
    }
    NOINLINE void group(const std::string &name) /* owner Store::group: Store::groups */
    {
        groups[name];
    }
};
static Store store;
static NOINLINE void count_name(const std::string &name) /* owner count_name: counts */
{
    counts[name]++;
}

/* A place that a loop moves: the code before the call alone would tell the first one. */
struct Spot {
    int key;
    Spot *left, *right;
};
struct Search {
    Spot *root = nullptr;
    long spots = 0;
    NOINLINE void insert(int key) /* owner Search::insert: Search */
    {
        Spot **at = &root;
        while (*at)
            at = key < (*at)->key ? &(*at)->left : &(*at)->right;
        *at = new Spot{key, nullptr, nullptr};
        spots++;
    }
};
/* A member of a class with many members, in a large object, and one of a row of such objects. */
struct Line {
    std::string peer, name;
    std::vector<char> in, out;
    std::map<int, int> marks;
};
struct Wire {
    Line lines[4];
    std::map<int, Line> by_number;
    std::vector<Line> more;
    std::string title;
    NOINLINE void open(int number) /* owner Wire::open: Line::in */
    {
        Line &line = more[(std::size_t)number];
        line.in.insert(line.in.end(), 40, 'x');
    }
    NOINLINE void rename(std::string text) /* owner Wire::rename: Wire::title */
    {
        title = std::move(text);
        title += ", and a text that does not fit into a short string";
    }
};
Wire *wire;
static NOINLINE void make_wire() /* owner make_wire: wire */
{
    if (!wire)
        wire = new Wire;
}

int main(int count, char **)
{
    static Tree tree;
    const char *text = "a text that is far too long for the inside of a string";
    tree.take_raw(count + 5);
    tree.take_buffer(count + 100);
    tree.move_in(count + 4);
    tree.assign(count + 40);
    tree.make_leaf();
    tree.make_shared();
    tree.reset_leaf();
    tree.name(text);
    tree.log_in(count);
    tree.log_more(count);
    tree.take_plain();
    tree.take_cells(count + 9);
    tree.take_text(text);
    add_number(count);
    make_global();
    take_global();
    log_global(count);
    remember(count);
    scratch_in(count);
    thread_text_in(count + 70);
    thread_leaf_in();
    thread_shard_in(count);
    thread_row_in(count);
    thread_sum(count);
    store.log_array(count);
    store.group("a");
    count_name("b");
    static Search search;
    search.insert(3);
    search.insert(2);
    search.insert(count + 3);
    make_wire();
    wire->more.resize((std::size_t)count + 8);
    wire->open(count);
    wire->rename("short");
    if (count > 100) /* they are used */
        return (int)(scratch.size() + thread_shard.log.size() + thread_leaf->values[1]) +
               thread_rows[count % 4][3] + thread_text[3];
    return tree.raw == tree.cells.first;
}
