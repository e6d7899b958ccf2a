/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers and allocators of the program's own, which call operator new as a function. */
#include "corpus.h"

#include <cstddef>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct Trade {
    long id;
    int price;
};
struct Sample {
    std::string name;
    double weight;
};
struct Grid {
    double cells[5];
};
static Trade *trades;

/* ---- operator new as a function ---------------------------------------------------------- */

CASE(cast_of_operator_new)
{
    trades = static_cast<Trade *>(::operator new(corpus_few * sizeof(Trade)));
    KNOWN(trades, "Trade", 5);
}
CASE(cast_of_operator_new_kept_in_a_local)
{
    Trade *made = static_cast<Trade *>(operator new(corpus_few * sizeof(Trade)));
    made[0].id = 3;
    KEEP(made);
    KNOWN(made, "Trade", 5);
}
CASE(c_cast_of_operator_new)
{
    Trade *made = (Trade *)::operator new(corpus_few * sizeof *made);
    trades = made;
    KNOWN(made, "Trade", 5);
}
CASE(cast_of_operator_new_array)
{
    trades = static_cast<Trade *>(::operator new[](corpus_few * sizeof(Trade)));
    KNOWN(trades, "Trade", 5);
}
CASE(cast_of_operator_new_with_alignment)
{
    trades =
        static_cast<Trade *>(::operator new (corpus_few * sizeof(Trade), std::align_val_t{64}));
    KNOWN(trades, "Trade", ANY_COUNT);
}
CASE(cast_of_operator_new_without_throw)
{
    trades = static_cast<Trade *>(::operator new(corpus_few * sizeof(Trade), std::nothrow));
    KNOWN(trades, "Trade", 5);
}
/* It may end in a jump to the operator, and leave no frame. */
static APART Trade *many_trades(size_t rows, size_t columns)
{
    return static_cast<Trade *>(::operator new(rows * columns * sizeof(Trade)));
}
CASE(jump_to_operator_new)
{
    KEEP(many_trades(corpus_few, 2));
    KNOWN(corpus_sink, "Trade", 10);
}
/* The caller passes bytes. */
static APART void *room_for(size_t bytes)
{
    return ::operator new(bytes);
}
CASE(wrapper_of_operator_new)
{
    trades = static_cast<Trade *>(room_for(corpus_few * sizeof(Trade)));
    KNOWN(trades, "Trade", 5);
}

struct Header {
    size_t length;
    unsigned magic;
};
static APART char *text_after_header(size_t length)
{
    auto *header = static_cast<Header *>(::operator new(sizeof(Header) + length));
    header->length = length;
    header->magic = 1;
    return reinterpret_cast<char *>(header + 1);
}
CASE(header_by_operator_new)
{
    char *text = text_after_header(40 * corpus_one);
    text[0] = 1;
    KEEP(text);
    KNOWN(text, "Header", 1);
}

/* An object of a derived class stays one, whatever divides its size. */
struct Plain {
    int kind;
};
struct Longer : Plain {
    int more[3];
};
static APART Plain *plain_or_longer(int kind)
{
    if (kind)
        return new Longer;
    return new Plain;
}
CASE(object_of_a_derived_class)
{
    Plain *made = plain_or_longer((int)corpus_one);
    made->kind = 1;
    KEEP(made);
    IS(made, "Longer", 1);
}

/* ---- a class's operator new that takes more bytes ---------------------------------------- */

struct Message {
    int kind;
    int length;
    explicit Message(int kind) : kind(kind), length(0)
    {
    }
    void *operator new(size_t size, size_t more)
    {
        return ::operator new(size + more);
    }
    void operator delete(void *made)
    {
        ::operator delete(made);
    }
};
CASE(object_and_more_bytes)
{
    auto *message = new (30 * corpus_one) Message(4);
    KEEP(message);
    KNOWN(message, "Message", 1);
}
struct Letter {
    int kind;
    int length;
    explicit Letter(int kind);
    void *operator new(size_t size, unsigned more)
    {
        return malloc(size + more);
    }
    void operator delete(void *made)
    {
        free(made);
    }
};
APART Letter::Letter(int kind) : kind(kind), length(1)
{
}
CASE(object_and_more_bytes_of_malloc)
{
    auto *letter = new ((unsigned)(30 * corpus_one)) Letter(4);
    KEEP(letter);
    KNOWN(letter, "Letter", 1);
}

/* ---- containers -------------------------------------------------------------------------- */

template <class T> class Array
{
    T *items = nullptr;
    size_t used = 0, room = 0;

  public:
    void push(T value)
    {
        if (used == room)
            grow();
        new (&items[used++]) T(std::move(value));
    }
    APART void grow()
    {
        const size_t wanted = room ? 2 * room : 4;
        T *fresh = static_cast<T *>(::operator new(wanted * sizeof(T)));
        for (size_t i = 0; i < used; i++) {
            new (fresh + i) T(std::move(items[i]));
            items[i].~T();
        }
        ::operator delete(items);
        items = fresh;
        room = wanted;
    }
    T *data()
    {
        return items;
    }
};
CASE(own_array)
{
    static Array<Trade> records;
    static Array<Sample> objects;
    static Array<int> numbers;
    static Array<std::pair<int, Grid>> pairs;
    for (unsigned i = 0; i < corpus_few; i++) {
        records.push({1, 2});
        objects.push({"x", 2});
        numbers.push(3);
        pairs.push({});
    }
    KNOWN(records.data(), "Trade", 8);
    KNOWN(objects.data(), "Sample", 8);
    KNOWN(numbers.data(), "int", 8);
    KNOWN(pairs.data(), "std::pair<int, Grid>", 8);
}

/* ---- typed allocators by any name -------------------------------------------------------- */

template <class T> struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U> explicit Counting(const Counting<U> &)
    {
    }
    T *allocate(size_t count)
    {
        void *made = ::operator new(count * sizeof(T));
        return static_cast<T *>(made);
    }
    void deallocate(T *made, size_t)
    {
        ::operator delete(made);
    }
};
template <class T, class U> bool operator==(const Counting<T> &, const Counting<U> &)
{
    return true;
}
template <class T, class U> bool operator!=(const Counting<T> &, const Counting<U> &)
{
    return false;
}
static APART void *take_or_end(size_t size)
{
    void *made = malloc(size);
    if (!made)
        abort();
    return made;
}
template <class T> struct Ending {
    using value_type = T;
    Ending() = default;
    template <class U> explicit Ending(const Ending<U> &)
    {
    }
    T *allocate(size_t count)
    {
        return (T *)take_or_end(count * sizeof(T));
    }
    void deallocate(T *made, size_t)
    {
        free(made);
    }
};
template <class T, class U> bool operator==(const Ending<T> &, const Ending<U> &)
{
    return true;
}
template <class T, class U> bool operator!=(const Ending<T> &, const Ending<U> &)
{
    return false;
}
CASE(vectors_of_own_allocators)
{
    static std::vector<Trade, Counting<Trade>> counted(corpus_few);
    static std::vector<Trade, Ending<Trade>> ended(corpus_few);
    static std::vector<std::string, Ending<std::string>> texts(corpus_few);
    KNOWN(counted.data(), "Trade", 5);
    KNOWN(ended.data(), "Trade", 5);
    KNOWN(texts.data(), "std::string", 5);
}
CASE(nodes_of_own_allocators)
{
    static std::map<int, Trade, std::less<int>, Counting<std::pair<const int, Trade>>> map;
    static std::list<Trade, Ending<Trade>> list;
    map[1];
    list.push_back({});
    KNOWN(&map[1], "std::_Rb_tree_node<std::pair<const int, Trade>>", 1);
    KNOWN(&list.front(), "std::_List_node<Trade>", 1);
}

/* ---- storage ----------------------------------------------------------------------------- */

/* A table that asks the standard allocator for aligned storage, and keeps bytes before its
 * elements. */
template <size_t N> struct alignas(N) Aligned {
};
template <size_t N, class Allocator> static void *take_aligned(Allocator *, size_t bytes)
{
    std::allocator<Aligned<N>> allocator;
    return allocator.allocate((bytes + N - 1) / N);
}
template <class K, class V> class Table
{
  public:
    using value_type = std::pair<const K, V>;
    APART void resize(size_t count)
    {
        std::allocator<value_type> *allocator = nullptr;
        control = static_cast<char *>(
            take_aligned<alignof(value_type)>(allocator, count + count * sizeof(value_type)));
        slots = reinterpret_cast<value_type *>(control + count);
    }
    char *control = nullptr;
    value_type *slots = nullptr;
};
CASE(table_in_aligned_storage)
{
    static Table<int, Trade> trades_by_number;
    static Table<long, Grid> grids;
    trades_by_number.resize(8 * corpus_one);
    grids.resize(8 * corpus_one);
    KNOWN(trades_by_number.control, "std::pair<const int, Trade>", ANY_COUNT);
    KNOWN(grids.control, "std::pair<const long, Grid>", ANY_COUNT);
}
/* A vector of storage, for the elements of the class around it. */
template <class T> class Ring
{
    using Storage = std::aligned_storage_t<sizeof(T), alignof(T)>;
    std::vector<Storage> storage;

  public:
    explicit Ring(size_t count) : storage(count)
    {
    }
    void *data()
    {
        return storage.data();
    }
};
CASE(ring_in_aligned_storage)
{
    static Ring<Trade> ring(corpus_few);
    IS(ring.data(), "Trade|std::aligned_storage<16, 8>::type", ANY_COUNT);
}
/* Bytes in a standard container are bytes, whatever class holds it. */
template <class T> class Blob
{
    std::vector<unsigned char> bytes;

  public:
    explicit Blob(size_t count) : bytes(count * sizeof(T))
    {
    }
    void *data()
    {
        return bytes.data();
    }
};
CASE(bytes_in_a_class_of_something)
{
    static Blob<Trade> blob(corpus_few);
    KNOWN(blob.data(), "buffer|unsigned char", 80);
}
