/* SPDX-License-Identifier: BSD-2-Clause */
/* A module of C++ for deepbind.c: its blocks come from operator new. */
#include <cstddef>
#include <string>

extern "C" void *plugin_make(std::size_t size);
extern "C" void plugin_drop(void *block);
extern "C" char *plugin_text(std::size_t size);

extern "C" void *plugin_make(std::size_t size)
{
    return new char[size + 10];
}

extern "C" void plugin_drop(void *block)
{
    delete[] static_cast<char *>(block);
}

extern "C" char *plugin_text(std::size_t size)
{
    std::string text(size, 'x');
    return new char[text.size() + 1]();
}
