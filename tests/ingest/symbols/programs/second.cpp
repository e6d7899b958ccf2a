/* SPDX-License-Identifier: BSD-2-Clause */
// Shares COMDAT functions with shapes.cpp.
#include "shapes.h"

shapes::Table shapes::second(int count)
{
    Table table;
    for (int i = 0; i < count; i++)
        table[std::to_string(i)].push_back(i);
    return table;
}
