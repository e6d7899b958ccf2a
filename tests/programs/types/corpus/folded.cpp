/* SPDX-License-Identifier: BSD-2-Clause */
/* Similar classes, whose functions compilers fold into one; own containers and allocators. */
#include "corpus.h"

#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <vector>

namespace
{
struct Token {
    long begin, end;
};
struct Request {
    long user, time;
};
struct Colour {
    long red, green;
};
} // namespace

template <class T> APART static void fill(std::vector<T> &items)
{
    items.reserve(corpus_few);
    for (unsigned long i = 0; i < corpus_few; i++)
        items.push_back(T{1, 2});
}
CASE(vectors_of_alike)
{
    static std::vector<Token> tokens;
    static std::vector<Request> requests;
    static std::vector<Colour> colours;
    fill(tokens);
    fill(requests);
    fill(colours);
    IS(tokens.data(), "(anonymous namespace)::Token", 5);
    IS(requests.data(), "(anonymous namespace)::Request", 5);
    IS(colours.data(), "(anonymous namespace)::Colour", 5);
}
CASE(vectors_of_alike_grown)
{
    static std::vector<Token> tokens;
    static std::vector<Request> requests;
    for (unsigned long i = 0; i < corpus_few; i++) {
        tokens.push_back(Token{1, (long)i});
        IS(tokens.data(), "(anonymous namespace)::Token", tokens.capacity());
        requests.push_back(Request{2, (long)i});
        IS(requests.data(), "(anonymous namespace)::Request", requests.capacity());
    }
}
CASE(lists_of_alike)
{
    static std::list<Token> tokens;
    static std::list<Request> requests;
    for (unsigned long i = 0; i < corpus_few; i++) {
        tokens.push_back(Token{1, 2});
        requests.push_back(Request{1, 2});
    }
    IS(&tokens.back(), "std::_List_node<(anonymous namespace)::Token>", 1);
    IS(&requests.back(), "std::_List_node<(anonymous namespace)::Request>", 1);
}
CASE(shared_of_alike)
{
    static std::shared_ptr<Token> token = std::make_shared<Token>(Token{1, 2});
    static std::shared_ptr<Request> request = std::make_shared<Request>(Request{1, 2});
    IS(token.get(), "std::_Sp_counted_ptr_inplace<(anonymous namespace)::Token>", 1);
    IS(request.get(), "std::_Sp_counted_ptr_inplace<(anonymous namespace)::Request>", 1);
}
CASE(vectors_of_pointers)
{
    static std::vector<Token *> tokens;
    static std::vector<Request *> requests;
    tokens.push_back(new Token{1, 2});
    requests.push_back(new Request{1, 2});
    IS(tokens.data(), "(anonymous namespace)::Token *", 1);
    IS(requests.data(), "(anonymous namespace)::Request *", 1);
    IS(tokens[0], "(anonymous namespace)::Token", 1);
    IS(requests[0], "(anonymous namespace)::Request", 1);
}
CASE(uniques_of_alike)
{
    auto token = std::make_unique<Token>();
    auto request = std::make_unique<Request>();
    IS(token.get(), "(anonymous namespace)::Token", 1);
    IS(request.get(), "(anonymous namespace)::Request", 1);
    KEEP(token.release());
    KEEP(request.release());
}

/* ---- makers alike ------------------------------------------------------------------------ */

template <class T> APART static T *make(long first)
{
    T *made = new T;
    std::memset(static_cast<void *>(made), (int)first, sizeof *made);
    return made;
}
CASE(makers_of_alike)
{
    IS(make<Token>(1), "(anonymous namespace)::Token", 1);
    IS(make<Request>(2), "(anonymous namespace)::Request", 1);
    IS(make<Colour>(3), "(anonymous namespace)::Colour", 1);
}
template <class T> APART static T *make_many(size_t count)
{
    T *made = new T[count];
    std::memset(static_cast<void *>(made), 0, count * sizeof *made);
    return made;
}
CASE(makers_of_arrays_of_alike)
{
    IS(make_many<Token>(corpus_few), "(anonymous namespace)::Token", 5);
    IS(make_many<Request>(corpus_few), "(anonymous namespace)::Request", 5);
}
APART static Token *new_token(long at)
{
    return new Token{at, at + 1};
}
APART static Request *new_request(long at)
{
    return new Request{at, at + 1};
}
CASE(factories_of_alike)
{
    IS(new_token(1), "(anonymous namespace)::Token", 1);
    IS(new_request(1), "(anonymous namespace)::Request", 1);
}
struct Left {
    explicit Left(long v) : value(v), other(this)
    {
    }
    long value;
    void *other;
};
struct Right {
    explicit Right(long v) : value(v), other(this)
    {
    }
    long value;
    void *other;
};
APART static void *new_left(long v)
{
    return new Left(v);
}
APART static void *new_right(long v)
{
    return new Right(v);
}
CASE(handles_of_alike)
{
    IS(new_left(1), "Left", 1);
    IS(new_right(2), "Right", 1);
}

/* ---- own containers ---------------------------------------------------------------------- */

template <class T> class Vector
{
  public:
    APART void push(const T &item)
    {
        if (count_ == room_)
            grow();
        items_[count_++] = item;
    }
    T *data()
    {
        return items_;
    }
    size_t room() const
    {
        return room_;
    }

  private:
    void grow()
    {
        room_ = 2 * room_ + 4;
        T *items = new T[room_];
        for (size_t i = 0; i < count_; i++)
            items[i] = items_[i];
        delete[] items_;
        items_ = items;
    }
    T *items_ = nullptr;
    size_t count_ = 0, room_ = 0;
};
CASE(own_vectors)
{
    static Vector<Token> tokens;
    static Vector<Request> requests;
    static Vector<int> numbers;
    for (unsigned long i = 0; i < corpus_few; i++) {
        tokens.push(Token{1, 2});
        requests.push(Request{1, 2});
        numbers.push((int)i);
    }
    IS(tokens.data(), "(anonymous namespace)::Token", tokens.room());
    IS(requests.data(), "(anonymous namespace)::Request", requests.room());
    IS(numbers.data(), "int", numbers.room());
}
template <class T> class RawVector
{
  public:
    void push(const T &item)
    {
        if (count_ == room_) {
            room_ = 2 * room_ + 4;
            items_ = static_cast<T *>(std::realloc(items_, room_ * sizeof(T)));
        }
        items_[count_++] = item;
    }
    T *data()
    {
        return items_;
    }
    size_t room() const
    {
        return room_;
    }

  private:
    T *items_ = nullptr;
    size_t count_ = 0, room_ = 0;
};
CASE(own_vectors_by_realloc)
{
    static RawVector<Token> tokens;
    static RawVector<Colour> colours;
    for (unsigned long i = 0; i < corpus_few; i++) {
        tokens.push(Token{1, 2});
        colours.push(Colour{1, 2});
    }
    IS(tokens.data(), "(anonymous namespace)::Token", tokens.room());
    IS(colours.data(), "(anonymous namespace)::Colour", colours.room());
}
template <class T> class Ring
{
  public:
    explicit Ring(size_t room) : items_(new T[room]), room_(room)
    {
    }
    T *data()
    {
        return items_;
    }

  private:
    T *items_;
    size_t room_, head_ = 0;
};
struct Shape {
    explicit Shape(int k) : kind(k)
    {
    }
    virtual ~Shape()
    {
    }
    int kind;
};
struct Disc : Shape {
    Disc() : Shape(1)
    {
    }
    double radius = 2;
};
struct Box : Shape {
    Box() : Shape(2)
    {
    }
    double width = 3;
};
CASE(rings_beside_shapes)
{
    for (unsigned long i = 0; i < corpus_few; i++) {
        Ring<short> *ring = new Ring<short>(8);
        Shape *shape = new Disc;
        KNOWN(ring, "Ring<short>", 1);
        KNOWN(ring->data(), "short", 8);
        KNOWN(shape, "Disc", 1);
    }
}
CASE(one_of_two_shapes)
{
    for (unsigned long i = 0; i < 2 * corpus_one; i++) {
        Shape *shape = i == corpus_one ? (Shape *)new Disc : (Shape *)new Box;
        IS(shape, i == corpus_one ? "Disc" : "Box", 1);
    }
}
CASE(one_of_three_by_switch)
{
    for (unsigned long i = 0; i < 3 * corpus_one; i++) {
        Shape *shape;
        const char *name;
        switch (i) {
        case 0:
            shape = new Shape(0), name = "Shape";
            break;
        case 1:
            shape = new Disc, name = "Disc";
            break;
        default:
            shape = new Box, name = "Box";
        }
        IS(shape, name, 1);
    }
}
template <class T> struct Node {
    Node *next;
    T value;
};
template <class T> class Stack
{
  public:
    void push(const T &value)
    {
        top_ = new Node<T>{top_, value};
    }
    Node<T> *top()
    {
        return top_;
    }

  private:
    Node<T> *top_ = nullptr;
};
CASE(own_lists)
{
    static Stack<long> numbers;
    static Stack<const char *> texts;
    static Stack<Token> tokens;
    static Stack<Request> requests;
    numbers.push(3);
    texts.push("x");
    tokens.push(Token{1, 2});
    requests.push(Request{1, 2});
    IS(numbers.top(), "Node<long>", 1);
    IS(texts.top(), "Node<const char *>|Node<char const*>", 1);
    IS(tokens.top(), "Node<(anonymous namespace)::Token>", 1);
    IS(requests.top(), "Node<(anonymous namespace)::Request>", 1);
}

/* ---- own allocators ---------------------------------------------------------------------- */

template <class T> struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U> Counting(const Counting<U> &)
    {
    }
    T *allocate(size_t count)
    {
        return static_cast<T *>(std::malloc(count * sizeof(T)));
    }
    void deallocate(T *items, size_t)
    {
        std::free(items);
    }
    template <class U> bool operator==(const Counting<U> &) const
    {
        return true;
    }
    template <class U> bool operator!=(const Counting<U> &) const
    {
        return false;
    }
};
CASE(vectors_by_an_own_allocator)
{
    static std::vector<Token, Counting<Token>> tokens;
    static std::vector<Request, Counting<Request>> requests;
    for (unsigned long i = 0; i < corpus_few; i++) {
        tokens.push_back(Token{1, 2});
        requests.push_back(Request{1, 2});
    }
    IS(tokens.data(), "(anonymous namespace)::Token", tokens.capacity());
    IS(requests.data(), "(anonymous namespace)::Request", requests.capacity());
}
CASE(lists_by_an_own_allocator)
{
    static std::list<Token, Counting<Token>> tokens;
    tokens.push_back(Token{1, 2});
    IS(&tokens.back(), "std::_List_node<(anonymous namespace)::Token>", 1);
}
