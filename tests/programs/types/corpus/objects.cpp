/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects by new and new[]: classes, factories, unions, and how the line is written. */
#include "corpus.h"

#include <cstdlib>
#include <cstring>
#include <new>

struct Plain {
    int a, b, c;
};
struct Pod {
    long one, two, three;
};
struct Built {
    explicit Built(long value) : first(value), second(value / 2)
    {
    }
    long first, second;
};
struct Owned {
    Owned();
    ~Owned();
    char *text;
    int length;
};
APART Owned::Owned() : text(nullptr), length(0)
{
}
APART Owned::~Owned()
{
    length = -1;
}

class Shape
{
  public:
    virtual ~Shape()
    {
    }
    virtual double area() const
    {
        return 0;
    }
};
class Circle : public Shape
{
  public:
    explicit Circle(double r) : radius(r)
    {
    }
    double area() const override
    {
        return 3 * radius * radius;
    }
    double radius;
};
class Square : public Shape
{
  public:
    explicit Square(double s) : side(s)
    {
    }
    double area() const override
    {
        return side * side;
    }
    double side;
};

CASE(plain_object)
{
    Plain *plain = new Plain;
    plain->a = 1;
    KNOWN(plain, "Plain", 1);
}
CASE(plain_object_cleared)
{
    Plain *plain = new Plain();
    KNOWN(plain, "Plain", 1);
}
CASE(object_with_constructor)
{
    Built *built = new Built((long)corpus_few);
    KNOWN(built, "Built", 1);
}
CASE(object_with_constructor_elsewhere)
{
    Owned *owned = new Owned;
    KNOWN(owned, "Owned", 1);
}
CASE(object_that_may_fail)
{
    Plain *plain = new (std::nothrow) Plain;
    plain->b = 1;
    KNOWN(plain, "Plain", 1);
}
CASE(scalar)
{
    double *number = new double(0.5 * (double)corpus_few);
    KNOWN(number, "double", 1);
}
CASE(pointer)
{
    Plain **slot = new Plain *(nullptr);
    KNOWN(slot, "Plain *", 1);
}
CASE(polymorphic)
{
    Shape *shape = new Circle((double)corpus_few);
    KNOWN(shape, "Circle", 1);
}
CASE(polymorphic_base)
{
    Shape *shape = new Shape;
    KNOWN(shape, "Shape", 1);
}

/* ---- arrays ------------------------------------------------------------------------------ */

CASE(array_of_numbers)
{
    int *numbers = new int[corpus_few];
    numbers[0] = 1;
    KNOWN(numbers, "int", 5);
}
CASE(array_of_bytes)
{
    char *bytes = new char[4096];
    bytes[0] = 1;
    KNOWN(bytes, "buffer", 4096);
}
CASE(array_of_plain)
{
    Plain *plains = new Plain[corpus_few];
    plains[0].a = 1;
    KNOWN(plains, "Plain", 5);
}
CASE(array_with_destructors)
{
    Owned *owned = new Owned[corpus_few];
    KNOWN(owned, "Owned", 5);
}
CASE(array_of_pointers)
{
    Shape **shapes = new Shape *[corpus_few];
    shapes[0] = nullptr;
    KNOWN(shapes, "Shape *", 5);
}
CASE(array_of_rows)
{
    auto rows = new double[corpus_few][3];
    rows[0][1] = 2;
    IS(rows, "double|double[3]|double [3]", ANY_COUNT);
}
CASE(array_of_polymorphic)
{
    Circle *circles = static_cast<Circle *>(::operator new[](3 * sizeof(Circle)));
    for (int i = 0; i < 3; i++)
        new (&circles[i]) Circle(i);
    IS(circles, "Circle", 3);
}

/* ---- how the line is written ------------------------------------------------------------- */

struct Answer {
    const char *text;
    unsigned long length;
    int number;
};
static Answer *last_answer;
CASE(global_on_one_line)
{
    // clang-format off
    last_answer = new Answer; last_answer->length = corpus_few; last_answer->number = 1;
    // clang-format on
    KNOWN(last_answer, "Answer", 1);
}
CASE(global_on_two_lines)
{
    last_answer = new Answer;
    last_answer->length = corpus_few;
    KNOWN(last_answer, "Answer", 1);
}
CASE(local_on_one_line)
{
    // clang-format off
    Answer *answer = new Answer; answer->length = corpus_few; answer->text = "a";
    // clang-format on
    KNOWN(answer, "Answer", 1);
}
struct Session {
    Answer *answer;
    Plain *plain;
    Pod *pod;
};
static Session session;
CASE(members_on_one_line)
{
    // clang-format off
    session.answer = new Answer; session.plain = new Plain; session.pod = new Pod; session.pod->two = 3;
    // clang-format on
    KNOWN(session.answer, "Answer", 1);
    KNOWN(session.plain, "Plain", 1);
    KNOWN(session.pod, "Pod", 1);
}
CASE(two_new_on_one_line)
{
    // clang-format off
    Answer *answer = new Answer; Pod *pod = new Pod; answer->length = 1; pod->one = 2;
    // clang-format on
    KNOWN(answer, "Answer", 1);
    KNOWN(pod, "Pod", 1);
}
CASE(on_many_lines)
{
    // clang-format off
    Built *built =
        new
        Built
        (
            static_cast<long>(corpus_few)
        );
    // clang-format on
    KNOWN(built, "Built", 1);
}
CASE(in_a_loop_on_one_line)
{
    // clang-format off
    Answer *answers[3]; for (int i = 0; i < 3; i++) { answers[i] = new Answer; answers[i]->number = i; }
    // clang-format on
    for (Answer *answer : answers)
        KNOWN(answer, "Answer", 1);
}

/* ---- given away -------------------------------------------------------------------------- */

APART static void give(void *object)
{
    KEEP(object);
}
APART static void give_shape(Shape *shape)
{
    KEEP(shape);
}
CASE(given_as_void)
{
    give(new Pod);
    MADE_KNOWN("Pod", 1);
}
CASE(given_as_void_cleared)
{
    give(new Pod());
    MADE_KNOWN("Pod", 1);
}
CASE(given_as_void_with_values)
{
    give(new Pod{1, 2, 3});
    MADE_KNOWN("Pod", 1);
}
CASE(given_as_base)
{
    give_shape(new Square(2));
    MADE_KNOWN("Square", 1);
}
CASE(kept_as_void)
{
    void *object = new Plain;
    KNOWN(object, "Plain", 1);
}
CASE(cast_from_realloc)
{
    Pod *pods = static_cast<Pod *>(std::realloc(nullptr, corpus_few * sizeof(Pod)));
    pods[0].one = 1;
    KNOWN(pods, "Pod", 5);
}
struct Buffer {
    void *data;
    size_t size;
};
static Buffer buffer;
CASE(cast_from_realloc_of_void)
{
    buffer.data = std::realloc(buffer.data, corpus_few * sizeof(Pod));
    static_cast<Pod *>(buffer.data)[1].two = 2;
    KNOWN(buffer.data, "Pod", 5);
}
CASE(cast_from_realloc_by_bytes)
{
    size_t bytes = corpus_few * 24;
    KEEP(static_cast<Pod *>(std::realloc(nullptr, bytes)));
    MADE_KNOWN("Pod", 5);
}
CASE(cast_from_malloc)
{
    auto *plain = static_cast<Plain *>(std::malloc(12));
    plain->a = 1;
    KNOWN(plain, "Plain", 1);
}
CASE(cast_by_reinterpret)
{
    KEEP(reinterpret_cast<Plain *>(std::malloc(corpus_few * 12)));
    MADE_KNOWN("Plain", 5);
}

/* ---- factories --------------------------------------------------------------------------- */

APART static Shape *new_shape(bool circle, double size)
{
    if (circle)
        return new Circle(size);
    return new Square(size);
}
CASE(factory_of_two)
{
    for (unsigned long i = 0; i < 2 * corpus_one; i++)
        IS(new_shape(i == corpus_one, 2), i == corpus_one ? "Circle" : "Square", 1);
}
CASE(choice_of_two)
{
    for (unsigned long i = 0; i < 2 * corpus_one; i++) {
        Shape *shape = i == corpus_one ? static_cast<Shape *>(new Circle(1)) : new Square(1);
        IS(shape, i == corpus_one ? "Circle" : "Square", 1);
    }
}
struct Base {
    explicit Base(int k) : kind(k)
    {
    }
    int kind;
};
struct First : Base {
    First() : Base(1), a(2), b(3)
    {
    }
    int a;
    long b;
};
struct Second : Base {
    Second() : Base(2), x(2), y(3)
    {
    }
    float x;
    double y;
};
CASE(choice_of_two_plain)
{
    for (unsigned long i = 0; i < 2 * corpus_one; i++) {
        Base *base = i == corpus_one ? static_cast<Base *>(new First) : new Second;
        IS(base, i == corpus_one ? "First" : "Second", 1);
    }
}
template <class T> APART static T *make()
{
    return new T();
}
CASE(factory_template)
{
    IS(make<Plain>(), "Plain", 1);
    IS(make<Pod>(), "Pod", 1);
    IS(make<Answer>(), "Answer", 1);
}
template <class T, class... Arguments> static inline T *make_with(Arguments... arguments)
{
    return new T(arguments...);
}
CASE(factory_template_inline)
{
    Built *built = make_with<Built>(3);
    Circle *circle = make_with<Circle>(0.5);
    KNOWN(built, "Built", 1);
    KNOWN(circle, "Circle", 1);
}
class Hidden
{
  public:
    static Hidden *create(long value)
    {
        return new Hidden(value);
    }
    Hidden *copy() const
    {
        return new Hidden(*this);
    }
    long value() const
    {
        return value_;
    }

  private:
    explicit Hidden(long value) : value_(value), other_(0)
    {
    }
    long value_, other_;
};
CASE(factory_of_its_own)
{
    Hidden *hidden = Hidden::create((long)corpus_few);
    KNOWN(hidden, "Hidden", 1);
    KNOWN(hidden->copy(), "Hidden", 1);
}
typedef Shape *shape_factory(double);
APART static Shape *circle_factory(double size)
{
    return new Circle(size);
}
APART static Shape *square_factory(double size)
{
    return new Square(size);
}
CASE(factories_in_a_table)
{
    static shape_factory *const volatile factories[] = {circle_factory, square_factory};
    KNOWN(factories[0](1), "Circle", 1);
    KNOWN(factories[1](1), "Square", 1);
}

/* ---- unions, lambdas, local classes ------------------------------------------------------ */

union Number {
    long integer;
    double real;
};
CASE(array_of_unions)
{
    Number *numbers = new Number[corpus_few];
    numbers[0].real = 1;
    KNOWN(numbers, "Number", 5);
}
struct Value {
    enum { INTEGER, ARRAY } kind;
    union {
        long integer;
        Value *array;
    };
};
CASE(tagged_values)
{
    Value value;
    value.kind = Value::ARRAY;
    value.array = new Value[corpus_few];
    value.array[0].kind = Value::INTEGER;
    KNOWN(value.array, "Value", 5);
}
CASE(local_class)
{
    struct Local {
        int a;
        long b, c, d, e;
    };
    Local *local = new Local;
    local->a = 1;
    IS(local, "Local|local_class()::Local|local_class::Local", 1);
}
namespace
{
struct Unnamed {
    long a[7];
};
} // namespace
CASE(class_in_a_namespace_without_name)
{
    Unnamed *unnamed = new Unnamed;
    unnamed->a[0] = 1;
    KNOWN(unnamed, "(anonymous namespace)::Unnamed", 1);
}
namespace outer
{
namespace inner
{
struct Nested {
    struct Part {
        int a, b, c, d, e;
    };
    Part *part;
    long other;
};
} // namespace inner
} // namespace outer
CASE(nested_names)
{
    outer::inner::Nested *nested = new outer::inner::Nested;
    nested->part = new outer::inner::Nested::Part;
    nested->part->a = 1;
    KNOWN(nested, "outer::inner::Nested", 1);
    KNOWN(nested->part, "outer::inner::Nested::Part", 1);
}
template <class T> struct Cell {
    Cell *next;
    T value;
};
CASE(instances_of_a_template)
{
    auto *whole = new Cell<long>;
    auto *text = new Cell<const char *>;
    whole->next = nullptr;
    text->next = nullptr;
    KNOWN(whole, "Cell<long>", 1);
    KNOWN(text, "Cell<const char *>|Cell<char const*>", 1);
}
CASE(aligned_object)
{
    struct alignas(64) Wide {
        double values[16];
    };
    Wide *wide = new Wide;
    wide->values[0] = 1;
    IS(wide, "Wide|aligned_object()::Wide|aligned_object::Wide", 1);
}
struct Failure {
    int code;
    long details[3];
};
CASE(thrown)
{
    try {
        if (corpus_one == 1)
            throw Failure{3, {1, 2, 3}};
    } catch (const Failure &failure) {
        IS(&failure, "Failure", 1);
    }
}
