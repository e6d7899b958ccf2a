/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of classes that another library defines: this program has only their declarations. */
#include "elsewhere.h"
#include "corpus.h"

#include <fstream>
#include <memory>
#include <stdexcept>

static Widget *kept;
static void *hidden;

CASE(object_of_a_library)
{
    kept = new Widget(1);
    KNOWN(kept, "Widget", 1);
    hidden = new Widget(2);
    KNOWN(hidden, "Widget", 1);
}
CASE(derived_object_of_a_library)
{
    kept = new Label;
    KNOWN(kept, "Label", 1);
}
CASE(plain_object_of_a_library)
{
    auto *made = new Point3(1, 2);
    KEEP(made);
    KNOWN(made, "Point3", 1);
}
CASE(object_of_a_library_template)
{
    auto *made = new shop::Cart<int>;
    KEEP(made);
    KNOWN(made, "shop::Cart<int>", 1);
}
CASE(stream)
{
    hidden = new std::ofstream("/dev/null");
    IS(hidden, "std::basic_ofstream<char, std::char_traits<char>>", 1);
}
CASE(pointer_to_an_object_of_a_library)
{
    static std::unique_ptr<Widget> widget(new Label);
    KNOWN(widget.get(), "Label", 1);
    static auto point = std::make_unique<Point3>(1, 2);
    KNOWN(point.get(), "Point3", 1);
}

/* The program's own classes begin with one of the library's. */
class Button : public Widget
{
  public:
    Button() : Widget(7)
    {
    }
    int presses = 0;
};
struct Corner {
    Point3 at{1, 2};
    int weight = 0;
};
struct Marked : Point3 {
    Marked() : Point3(1, 2)
    {
    }
};
CASE(own_class_derived_from_a_library_class)
{
    kept = new Button;
    KNOWN(kept, "Button", 1);
}
CASE(own_class_with_a_library_member)
{
    static Corner *corner;
    corner = new Corner;
    KEEP(corner);
    IS(corner, "Corner", 1);
    static Marked *marked;
    marked = new Marked;
    KEEP(marked);
    IS(marked, "Marked", 1);
}
CASE(exception_of_the_library)
{
    try {
        throw std::runtime_error("not found");
    } catch (std::runtime_error &error) {
        KNOWN(&error, "std::runtime_error", 1);
    }
}
static APART Widget *either(int kind)
{
    if (kind)
        return new Widget(3);
    return new Label;
}
CASE(either_of_two)
{
    IS(either((int)corpus_one), "Widget", 1);
    IS(either((int)corpus_one - 1), "Label", 1);
}
Store *volatile store;
CASE(handle_of_the_library)
{
    store = store_open(sizeof(int));
    KEEP(store);
    KNOWN(store, "Store", 1);
}
struct Person {
    Person *next;
    int age;
};
struct Item {
    double weight;
    char name[20];
};
#define TALLOC_BLOCK(pointer) ((char *)(pointer) - TALLOC_HEADER)
CASE(types_as_text_for_talloc)
{
    static Person *person;
    person = talloc_zero(nullptr, struct Person);
    KEEP(person);
    KNOWN(TALLOC_BLOCK(person), "Person", 1);
    Item *items = talloc_array(nullptr, Item, (unsigned)corpus_few);
    KEEP(items);
    KNOWN(TALLOC_BLOCK(items), "Item", 5);
    Person *other = (Person *)talloc_size(nullptr, sizeof(Person));
    other->age = (int)corpus_one;
    person->next = other;
    KEEP(other);
    KNOWN(TALLOC_BLOCK(other), "Person", 1);
}
