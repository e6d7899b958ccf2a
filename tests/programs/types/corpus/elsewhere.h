/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes whose constructors, and most tables, are in a library without debug information.
 * The library is this file, with DEFINED. */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

class Widget
{
  public:
    explicit Widget(int kind);
    virtual ~Widget();
    virtual int kind() const;

  private:
    int kind_;
    char name_[20];
};
class Label : public Widget
{
  public:
    Label();
    ~Label() override;

  private:
    void *text_;
};
class Point3
{
  public:
    Point3(int x, int y);
    ~Point3();

  private:
    int x_, y_;
    char unit_[36];
};
namespace shop
{
template <class T> class Cart
{
  public:
    Cart();
    ~Cart();

  private:
    T *first_, *last_;
};
extern template class Cart<int>;
} // namespace shop

/* A handle, which is only declared. */
typedef struct _Store Store;
extern "C" Store *store_open(unsigned long element);

/* talloc's macros pass the type as text. There is a header before the memory. */
#define TALLOC_HEADER 96
extern "C" void *_talloc_zero(const void *context, unsigned long size, const char *name);
extern "C" void *_talloc_array(const void *context, unsigned long element, unsigned count,
                               const char *name);
extern "C" void *talloc_named_const(const void *context, unsigned long size, const char *name);
#define talloc_zero(context, type) ((type *)_talloc_zero(context, sizeof(type), #type))
#define talloc_array(context, type, count)                                                         \
    ((type *)_talloc_array(context, sizeof(type), count, #type))
#define talloc_size(context, size) talloc_named_const(context, size, __FILE__ ":1")

#ifdef DEFINED
#include <stdlib.h>
struct _Store {
    long words[12];
    void *data;
};
Store *store_open(unsigned long element)
{
    Store *made = (Store *)calloc(1, sizeof(Store));
    made->words[0] = (long)element;
    return made;
}
static void *talloc_take(unsigned long size, char **made)
{
    *made = (char *)calloc(1, TALLOC_HEADER + size);
    return *made;
}
void *_talloc_zero(const void *, unsigned long size, const char *)
{
    char *made;
    return talloc_take(size, &made) ? made + TALLOC_HEADER : NULL;
}
void *_talloc_array(const void *context, unsigned long element, unsigned count, const char *name)
{
    return _talloc_zero(context, element * count, name);
}
void *talloc_named_const(const void *context, unsigned long size, const char *name)
{
    return _talloc_zero(context, size, name);
}
Widget::Widget(int kind) : kind_(kind), name_()
{
}
Widget::~Widget()
{
}
int Widget::kind() const
{
    return kind_;
}
Label::Label() : Widget(1), text_(nullptr)
{
}
Label::~Label()
{
}
Point3::Point3(int x, int y) : x_(x), y_(y), unit_()
{
}
Point3::~Point3()
{
}
namespace shop
{
template <class T> Cart<T>::Cart() : first_(nullptr), last_(nullptr)
{
}
template <class T> Cart<T>::~Cart()
{
}
template class Cart<int>;
} // namespace shop
#endif

#endif
