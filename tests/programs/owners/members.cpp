/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members that get their block from a store, from an object that is moved into them, or as an
 * element of an array. `owner FUNCTION: NAME` as in holders.cpp.
 */
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
    return tree.raw == tree.cells.first;
}
