/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects by new and new[], with and without constructors and virtual functions. */
#include "truth.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Plain {
    int a, b, c;
};

struct Built {
    Built(int value) : value_(value), half_(value / 2)
    {
    }
    int value_;
    long half_;
};

struct Out {
    Out(int);
    ~Out();
    double numbers[4];
};
__attribute__((noinline)) Out::Out(int n)
{
    numbers[0] = n;
}
__attribute__((noinline)) Out::~Out()
{
    numbers[0] = 0;
}

struct Shape {
    virtual ~Shape()
    {
    }
    virtual double area() const
    {
        return 0;
    }
};
struct Circle : Shape {
    explicit Circle(double r) : radius(r)
    {
    }
    double area() const override
    {
        return radius * radius;
    }
    double radius;
};
struct Dot : Shape { /* the size of its base */
    double area() const override
    {
        return 1;
    }
};

struct Named {
    std::string name;
};

namespace depot
{
template <class T> struct Box {
    T content{};
    int number = 1;
};
} // namespace depot

static void *volatile sink;
template <class T> static void keep(T *pointer)
{
    sink = const_cast<void *>(static_cast<const void *>(pointer));
}

struct Owner {
    Plain *plain;
    Built *built;
    std::unique_ptr<Plain> owned;
    Shape *shape;
    int *numbers;
};

__attribute__((noinline)) static void objects(int n)
{
    TRUTH("Plain", 1);
    Plain *plain = new Plain;
    plain->a = n;
    keep(plain);
    TRUTH("Plain", 1);
    Plain *zeroed = new Plain();
    keep(zeroed);
    TRUTH("Built", 1);
    Built *built = new Built(n);
    keep(built);
    TRUTH("Out", 1);
    Out *out = new Out(n);
    keep(out);
    TRUTH("Named", 1);
    Named *named = new Named{"x"};
    keep(named);
    TRUTH("std::string", 1);
    std::string *text = new std::string("short");
    keep(text);
    TRUTH("std::vector<int>", 1);
    std::vector<int> *numbers = new std::vector<int>();
    keep(numbers);
    TRUTH("depot::Box<std::vector<std::string>>", 1);
    auto *box = new depot::Box<std::vector<std::string>>();
    keep(box);
    TRUTH("long", 1);
    long *number = new long(n);
    keep(number);
}

__attribute__((noinline)) static void shapes(int n)
{
    TRUTH("Circle", 1);
    Shape *shape = new Circle(n);
    keep(shape);
    TRUTH("Dot", 1);
    Shape *dot = new Dot;
    keep(dot);
    TRUTH("Shape", 1);
    Shape *plain = new Shape;
    keep(plain);
}

__attribute__((noinline)) static void arrays(std::size_t n)
{
    TRUTH("int", n);
    int *numbers = new int[n];
    numbers[0] = 1;
    keep(numbers);
    TRUTH("Plain", n);
    Plain *plains = new Plain[n];
    plains[0].a = 1;
    keep(plains);
    TRUTH("Out *", n);
    Out **pointers = new Out *[n];
    pointers[0] = nullptr;
    keep(pointers);
    TRUTH("Named", n);
    Named *named = new Named[n];
    keep(named);
    TRUTH("buffer", n);
    char *buffer = new char[n];
    buffer[0] = 'x';
    keep(buffer);
}

__attribute__((noinline)) static void members(Owner &owner, std::size_t n)
{
    TRUTH("Plain", 1);
    owner.plain = new Plain;
    TRUTH("Built", 1);
    owner.built = new Built(3);
    TRUTH("Plain", 1);
    owner.owned.reset(new Plain{1, 2, 3});
    TRUTH("Circle", 1);
    owner.shape = new Circle(2);
    TRUTH("int", n);
    owner.numbers = new int[n];
}

__attribute__((noinline)) static Built *factory(int n)
{
    TRUTH("Built", 1);
    return new Built(n);
}

__attribute__((noinline)) static std::unique_ptr<Shape> smart(int n)
{
    TRUTH("Circle", 1);
    return std::unique_ptr<Shape>(new Circle(n));
}

/* An arena: the objects that its user puts into the block do not give the block's type. */
__attribute__((noinline)) static char *new_block(std::size_t n)
{
    TRUTH("buffer", n);
    char *block = new char[n];
    block[0] = 'x';
    return block;
}

__attribute__((noinline)) static void placed(std::size_t n)
{
    Plain *plain = new (new_block(n * sizeof(Plain))) Plain{1, 2, 3};
    keep(plain);
}

__attribute__((noinline)) static void by_malloc(std::size_t n)
{
    TRUTH("Plain", n);
    Plain *plains = static_cast<Plain *>(std::malloc(n * sizeof(Plain)));
    plains[0].a = 3;
    keep(plains);
}

struct Problem {
    explicit Problem(int where) : line(where)
    {
    }
    virtual ~Problem()
    {
    }
    long line;
};
struct Refused : Problem {
    explicit Refused(int where) : Problem(where)
    {
    }
    long column = 3;
};

/* The C++ library's own data comes before the thrown object. libc++abi gets the block from a
 * function of its own, through memory, where no rule follows it. */
#ifdef _LIBCPP_VERSION
#define THROWN(type) TRUTH("?" type, 1)
#else
#define THROWN(type) TRUTH(type, 1)
#endif

__attribute__((noinline)) static void thrown(int n)
{
    try {
        THROWN("Refused");
        throw Refused(n);
    } catch (const Problem &problem) {
        keep(&problem);
    }
    try {
        THROWN("Plain");
        throw Plain{n, 2, 3};
    } catch (const Plain &plain) {
        keep(&plain);
    }
}

/* A map consists only of its tree, and only a union points to it. */
struct Value {
    typedef std::map<int, Plain> Members;
    union {
        long number;
        Members *members;
        char *text;
    };
};

__attribute__((noinline)) static void copied(Value &to, const Value &from)
{
    TRUTH("std::map<int, Plain>", 1);
    to.members = from.members ? new Value::Members(*from.members) : nullptr;
    keep(to.members);
}

int main(int argc, char **)
{
    std::size_t n = static_cast<std::size_t>(argc) + 10;
    static Owner owner;
    objects(argc);
    shapes(argc);
    arrays(n);
    members(owner, n);
    keep(factory(argc));
    keep(smart(argc).release());
    placed(n);
    by_malloc(n);
    thrown(argc);
    Value::Members none;
    Value from, to;
    from.members = &none;
    copied(to, from);
    return 0;
}
