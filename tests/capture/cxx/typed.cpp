/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names a type in every way that mprof_types.h has, once; typed.sh says what each must become.
 * From C++98 on. Ends with 0 if nothing was lost or leaked, recorded or not.
 */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "define_new.h"

namespace shop
{
struct Item {
    explicit Item(int id) : number(id)
    {
        if (id < 0)
            throw id;
    }
    virtual ~Item()
    {
        destroyed++;
    }
    int number;
    char rest[1000];
    static int destroyed;
};
int Item::destroyed;

struct Special : Item {
    Special() : Item(1)
    {
    }
    char more[1000];
};

struct Counted { /* it has a destructor, so its arrays have a cookie */
    Counted() : value(made++)
    {
        if (made == limit)
            throw made;
    }
    ~Counted()
    {
        destroyed++;
    }
    int value;
    static int made, destroyed, limit;
};
int Counted::made, Counted::destroyed, Counted::limit = -1;

struct Plain {
    double pair[3];
};

struct OwnNew {
    void *operator
#include "undef_new.h"
        new
#include "define_new.h"
        (std::size_t size)
    {
        return std::malloc(size);
    }
    void operator delete(void *address)
    {
        std::free(address);
    }
    char bytes[333];
};
} // namespace shop

struct IMAGE_BUFFER {
};
struct MESSAGE_TAG {
};

#if defined(__cpp_aligned_new)
struct alignas(128) Wide {
    Wide() : first(0)
    {
    }
    ~Wide()
    {
    }
    char first;
};
#endif

static void *keep[64];
static int kept;

/* Keeps the address, because optimisers drop allocations that nobody sees. */
template <class T> static T *seen(T *address)
{
    keep[kept++] = const_cast<void *>(static_cast<const volatile void *>(address));
    return address;
}

static int scalars()
{
    shop::Item *item = seen(new shop::Item(1));
    shop::Item *special = seen<shop::Item>(::new shop::Special);
    const volatile int *number = seen(new const volatile int(7));
    std::pair<int, short> *pair = seen(new std::pair<int, short>(3, 4));
    int **pointer = seen(new int *(0));
    shop::Plain *sum = seen(new (shop::Plain)) + 0;
    float &value = *new float(0.5f);
    seen(&value);
    bool good = value == 0.5f && item->number == 1 && special->number == 1 && *number == 7 &&
                pair->second == 4 && *pointer == 0 && sum != 0;
    delete item;
    delete special;
    return good && shop::Item::destroyed == 2;
}

static int arrays()
{
    shop::Counted *counted = seen(New_<shop::Counted>(5));
    shop::Plain *plain = seen(New_<shop::Plain>(7));
    int *image = seen(New_<int, IMAGE_BUFFER>(640 * 2));
    bool good = counted[4].value == 4 && plain != 0 && image != 0;
    delete[] counted;
    delete[] plain;
    delete[] image;
    return good && shop::Counted::destroyed == 5;
}

static int others_memory()
{
    char place[sizeof(shop::Item)];
    int *raw = LogMemoryType(static_cast<int *>(seen(std::malloc(10 * sizeof(int)))));
    void *message = seen(std::malloc(777));
    void *numbers = seen(std::malloc(9 * sizeof(short)));
    SetAllocationType<MESSAGE_TAG>(message);
    SetAllocationTypeAndCount<short>(numbers, 9);
#include "undef_new.h"
    shop::Item *placed = new (place)
#include "define_new.h"
        shop::Item(*seen(LogMemoryType(static_cast<int *>(std::calloc(1, sizeof(int))))));
    bool good = placed->number == 0 && raw != 0;
    placed->~Item();
#include "undef_new.h"
    shop::OwnNew *own = seen(new shop::OwnNew);
#include "define_new.h"
    delete own;
    return good;
}

/* The memory for an object whose constructor throws is freed. */
static int throwing()
{
    int caught = 0;
    try {
        seen(new shop::Item(-5));
    } catch (int id) {
        caught += id == -5;
    }
    shop::Counted::destroyed = 0;
    shop::Counted::limit = shop::Counted::made + 4;
    try {
        seen(New_<shop::Counted>(100));
    } catch (int) {
        caught++;
    }
    shop::Counted::limit = -1;
    return caught == 2 && shop::Counted::destroyed == 3;
}

static int aligned()
{
#if defined(__cpp_aligned_new)
    Wide *one = seen(new Wide), *many = seen(New_<Wide>(3));
    bool good = reinterpret_cast<std::size_t>(one) % 128 == 0 &&
                reinterpret_cast<std::size_t>(many) % 128 == 0;
    delete one;
    delete[] many;
    return good;
#else
    return 1;
#endif
}

int main()
{
    const int results[] = {scalars(), arrays(), others_memory(), throwing(), aligned()};
    for (unsigned i = 0; i < sizeof(results) / sizeof(*results); i++)
        if (!results[i])
            return static_cast<int>(i) + 1;
    return 0;
}
