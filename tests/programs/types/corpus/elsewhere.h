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

#ifdef DEFINED
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
