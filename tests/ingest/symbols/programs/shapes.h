/* SPDX-License-Identifier: BSD-2-Clause */
#include <map>
#include <string>
#include <vector>

namespace shapes
{
using Table = std::map<std::string, std::vector<int>>;
Table second(int count);
} // namespace shapes
