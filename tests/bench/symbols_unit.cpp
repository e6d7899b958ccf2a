/* SPDX-License-Identifier: BSD-2-Clause */
// A unit of common C++ with much debug information, for symbols.sh.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct Part {
    std::map<std::string, std::vector<int>> table;
    std::unordered_map<int, std::unique_ptr<std::set<std::string>>> sets;
    std::function<int(int)> work;
};

int bench_unit(const std::string &text)
{
    std::regex pattern("([a-z]+)([0-9]*)");
    Part part;
    part.work = [&](int n) { return n + static_cast<int>(text.size()); };
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
        std::ostringstream out;
        out << at->str() << part.work(3);
        part.table[out.str()].push_back(static_cast<int>(at->position()));
        auto &set = part.sets[static_cast<int>(at->length())];
        if (set == nullptr)
            set = std::make_unique<std::set<std::string>>();
        set->insert(at->str());
    }
    std::vector<std::string> names;
    for (auto &entry : part.table)
        names.push_back(entry.first);
    std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return b < a; });
    return static_cast<int>(names.size());
}
