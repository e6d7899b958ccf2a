/* SPDX-License-Identifier: BSD-2-Clause */
// Blocks freed as they should be (sizes below 2000) and as they should not (from 2000 on).
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct part {
    char data[1000];
    virtual ~part() {}
};
struct whole : part {
    char more[100];
};
struct alignas(64) line {
    char data[1280];
};

static NOINLINE void good()
{
    std::free(std::malloc(1001));
    std::free(std::realloc(std::calloc(1, 1002), 1003));
    ::operator delete(::operator new(1004));
    ::operator delete[](::operator new[](1005));
    ::operator delete(::operator new(1006), std::size_t{1006});
    ::operator delete[](::operator new[](1007), std::size_t{1007});
    ::operator delete(::operator new(1008, std::nothrow));
    ::operator delete[](::operator new[](1009, std::nothrow), std::nothrow);
    ::operator delete(::operator new(1010, std::align_val_t{64}), std::align_val_t{64});
    ::operator delete[](::operator new[](1011, std::align_val_t{64}), std::size_t{1011}, std::align_val_t{64});
    part *object = new whole;
    delete object;
    std::unique_ptr<part> owner(new whole);
    delete[] new std::string[20];
    delete new line;
    std::vector<int> numbers(300);
    std::string text(1500, 'x');
    std::free(::strdup(text.c_str()));
}

static NOINLINE void bad_array_by_delete()
{
    ::operator delete(::operator new[](2001));
}
static NOINLINE void bad_single_by_array()
{
    ::operator delete[](::operator new(2002));
}
static NOINLINE void bad_new_by_free()
{
    std::free(::operator new(2003));
}
static NOINLINE void bad_array_by_free()
{
    std::free(::operator new[](2004));
}
static NOINLINE void bad_malloc_by_delete()
{
    ::operator delete(std::malloc(2005), std::size_t{2005});
}
static NOINLINE void bad_aligned_by_delete()
{
    ::operator delete(::operator new(2006, std::align_val_t{64}));
}
static NOINLINE void bad_new_by_realloc()
{
    std::free(std::realloc(::operator new(2007), 1700));
}

int main()
{
    for (int i = 0; i < 3; i++) {
        good();
        bad_array_by_delete();
        bad_single_by_array();
        bad_new_by_free();
        bad_array_by_free();
        bad_malloc_by_delete();
        bad_aligned_by_delete();
        bad_new_by_realloc();
    }
    return 0;
}
