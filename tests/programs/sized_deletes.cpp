// SPDX-License-Identifier: BSD-2-Clause
// Blocks deleted with their own size (below 2000 bytes) and with another (from 2000 on).
#include <cstddef>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct base {
    char data[2000];
};
struct derived : base {
    char more[100];
};
struct with_cookie {
    char data[100];
    ~with_cookie() { data[0] = 1; }
};
struct alignas(64) line {
    char data[1280];
};
struct alignas(64) cookie_line {
    char data[640];
    ~cookie_line() { data[0] = 1; }
};
struct empty {};

static NOINLINE void good()
{
    delete new int;
    delete new empty;
    delete[] new with_cookie[7];
    delete[] new std::string[20];
    delete new line;
    delete[] new cookie_line[2];
    ::operator delete(::operator new(1003, std::align_val_t{64}), std::size_t{1003}, std::align_val_t{64});
    ::operator delete(static_cast<void *>(nullptr), std::size_t{1234});
    ::operator delete(::operator new(0), std::size_t{0});
    std::vector<int> numbers(300);
    std::thread([] { delete new base; }).join();
}

static NOINLINE void bad_base()
{
    static base *volatile object;
    object = new derived; // no virtual destructor
    delete object;
}
static NOINLINE void bad_sized()
{
    ::operator delete(::operator new(2001), std::size_t{2002});
}
static NOINLINE void bad_array()
{
    ::operator delete[](::operator new[](2003), std::size_t{2000});
}
static NOINLINE void bad_aligned()
{
    ::operator delete(::operator new(2048, std::align_val_t{64}), std::size_t{1920}, std::align_val_t{64});
}

int main(int argc, char **)
{
    good();
    if (argc > 1)
        return 0;
    for (int i = 0; i < 3; i++)
        bad_base();
    bad_sized();
    bad_array();
    bad_aligned();
    return 0;
}
