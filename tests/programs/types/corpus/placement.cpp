/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that classes manage themselves: own operators new, placement, pools. */
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
APART static void give(void *object)
{
    KEEP(object);
}

/* ---- classes that allocate for themselves ------------------------------------------------ */

struct Pooled {
    static void *operator new(size_t size)
    {
        return std::malloc(size);
    }
    static void operator delete(void *object)
    {
        std::free(object);
    }
    long key;
    Pooled *next;
};
struct Apart {
    static void *operator new(size_t size);
    static void operator delete(void *object);
    long key, value;
};
APART void *Apart::operator new(size_t size)
{
    void *block = std::malloc(size);
    if (block == nullptr)
        throw std::bad_alloc();
    return block;
}
APART void Apart::operator delete(void *object)
{
    std::free(object);
}
struct Traced {
    Traced() : key(3)
    {
    }
    static void *operator new(size_t size)
    {
        return ::operator new(size);
    }
    static void *operator new[](size_t size)
    {
        return ::operator new[](size);
    }
    int key, value;
};
class Figure
{
  public:
    virtual ~Figure()
    {
    }
    static void *operator new(size_t size);
    static void operator delete(void *object)
    {
        std::free(object);
    }
    int edges = 0;
};
APART void *Figure::operator new(size_t size)
{
    return std::calloc(1, size);
}
class Triangle : public Figure
{
  public:
    Triangle()
    {
        edges = 3;
    }
    double side = 1;
};
CASE(own_operator_new)
{
    Pooled *pooled = new Pooled;
    pooled->key = 1;
    KNOWN(pooled, "Pooled", 1);
}
CASE(own_operator_new_apart)
{
    Apart *apart = new Apart;
    apart->key = 1;
    KNOWN(apart, "Apart", 1);
}
CASE(own_operator_new_that_calls_the_global)
{
    Traced *traced = new Traced;
    KNOWN(traced, "Traced", 1);
}
CASE(own_operator_new_of_arrays)
{
    Traced *traced = new Traced[corpus_few];
    KNOWN(traced, "Traced", 5);
}
CASE(own_operator_new_of_a_base)
{
    Figure *figure = new Triangle;
    KNOWN(figure, "Triangle", 1);
}
CASE(own_operator_new_given_away)
{
    give(new Apart);
    MADE_KNOWN("Apart", 1);
}

/* ---- placement --------------------------------------------------------------------------- */

CASE(placement_in_bytes)
{
    char *bytes = new char[4096];
    Built *built = new (bytes) Built(3);
    KEEP(built);
    KNOWN(bytes, "buffer", 4096);
}
CASE(placement_in_malloc)
{
    void *block = std::malloc(65536);
    Pod *pod = new (block) Pod;
    pod->one = 1;
    KEEP(pod);
    KNOWN(block, "buffer", 65536);
}
CASE(placement_of_one)
{
    void *block = std::malloc(sizeof(Built));
    KNOWN(new (block) Built(3), "Built", 1);
}
class Arena
{
  public:
    void *take(size_t size)
    {
        if (free_ == nullptr || free_ + size > end_) {
            free_ = new char[4096];
            end_ = free_ + 4096;
            MADE_KNOWN("buffer", 4096);
        }
        char *taken = free_;
        free_ += size;
        return taken;
    }
    template <class T> T *make()
    {
        return new (take(sizeof(T))) T();
    }

  private:
    char *free_ = nullptr, *end_ = nullptr;
};
CASE(arena_of_bytes)
{
    Arena arena;
    KEEP(arena.make<Pod>());
    KEEP(arena.make<Plain>());
}
class Slabs
{
  public:
    Pod *take()
    {
        if (left_ == 0) {
            slab_ = static_cast<Pod *>(::operator new(32 * sizeof(Pod)));
            left_ = 32;
            IS(slab_, "Pod", 32);
        }
        return &slab_[--left_];
    }

  private:
    Pod *slab_ = nullptr;
    int left_ = 0;
};
CASE(slab_of_one_kind)
{
    Slabs slabs;
    KEEP(new (slabs.take()) Pod());
}
struct Text {
    static Text *create(const char *text)
    {
        size_t length = std::strlen(text);
        Text *made = static_cast<Text *>(::operator new(sizeof(Text) + length));
        made->length = length;
        std::memcpy(made->characters, text, length + 1);
        return made;
    }
    size_t length;
    char characters[8];
};
CASE(record_with_text_behind)
{
    IS(Text::create("a text that is much longer than the record that it stands in"), "Text", 1);
}
