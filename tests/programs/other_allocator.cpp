/* SPDX-License-Identifier: BSD-2-Clause */
// new and delete in their forms, with an allocator that brings its own.
#include <cstdio>
#include <map>
#include <new>
#include <string>

int main()
{
    std::map<int, std::string> map;
    for (int i = 0; i < 1000; i++)
        map[i] = std::string(static_cast<std::size_t>(100 + i % 10), 'x');
    int *volatile array = new int[1000];
    delete[] array;
    ::operator delete(::operator new(5000, std::nothrow));
    std::printf("%zu\n", map.size());
}
