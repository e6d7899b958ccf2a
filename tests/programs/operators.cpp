/* SPDX-License-Identifier: BSD-2-Clause */
// Every form of operator new, 100 blocks of each: form n asks for 1000 + n bytes an object.
#include <cstddef>
#include <new>

namespace
{
struct alignas(64) wide {
    char bytes[64];
};
void *volatile sink;
volatile std::size_t extra; // 0, which the compiler does not know
} // namespace

int main()
{
    const std::align_val_t aligned{128};
    for (int i = 0; i < 100; i++) {
        sink = ::operator new(1000 + extra);
        ::operator delete(sink);
        sink = ::operator new[](1001 + extra);
        ::operator delete[](sink);
        sink = ::operator new(1002 + extra, std::nothrow);
        ::operator delete(sink, std::nothrow);
        sink = ::operator new[](1003 + extra, std::nothrow);
        ::operator delete[](sink, std::nothrow);
        sink = ::operator new(1024 + 128 * (4 + extra), aligned);
        ::operator delete(sink, aligned);
        sink = ::operator new[](1024 + 128 * (5 + extra), aligned);
        ::operator delete[](sink, aligned);
        sink = ::operator new(1024 + 128 * (6 + extra), aligned, std::nothrow);
        ::operator delete(sink, aligned, std::nothrow);
        sink = ::operator new[](1024 + 128 * (7 + extra), aligned, std::nothrow);
        ::operator delete[](sink, aligned, std::nothrow);
        // As programs write it.
        wide *one = new wide;
        sink = one;
        delete one;
        char *many = new char[3000 + extra];
        sink = many;
        delete[] many;
        wide *row = new (std::nothrow) wide[50 + extra];
        sink = row;
        delete[] row;
    }
    return 0;
}
