/* SPDX-License-Identifier: BSD-2-Clause */
// Templates, lambdas, local types, virtual calls and inlined library code.
#include "shapes.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <unordered_map>

namespace shapes
{
template <typename T, int N> struct Grid {
    std::vector<T> cells;
    Grid() : cells(N)
    {
    }
    template <typename F> auto each(F function)
    {
        std::vector<decltype(function(cells[0]))> results;
        for (auto &cell : cells)
            results.push_back(function(cell));
        return results;
    }
};

namespace
{
struct Hidden {
    std::string name;
    ~Hidden()
    {
        name += "x";
    }
};
} // namespace

struct Base {
    virtual ~Base() = default;
    virtual int area(int) const = 0;
};

template <class T> struct Leaf : Base {
    T value{};
    int area(int side) const override
    {
        return (int)sizeof(T) * side;
    }
};
} // namespace shapes

static shapes::Table table;

template <int N> static int climb(int x)
{
    if constexpr (N == 0) {
        return x;
    } else {
        auto numbers = std::make_unique<std::vector<int>>(x + N, N);
        std::sort(numbers->begin(), numbers->end(), [](int a, int b) { return a > b; });
        return climb<N - 1>((*numbers)[0] + x);
    }
}

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        table[argv[i]].push_back(i);
    shapes::Grid<double, 12> grid;
    auto texts = grid.each([&](double value) { return std::to_string(value + argc); });
    std::unordered_map<std::string, std::function<int(int)>> functions;
    functions["sum"] = [&](int k) { return k + argc; };
    functions["size"] = [texts](int k) { return k + (int)texts.size(); };
    shapes::Hidden hidden{argv[0]};
    std::unique_ptr<shapes::Base> small = std::make_unique<shapes::Leaf<long>>();
    std::unique_ptr<shapes::Base> large = std::make_unique<shapes::Leaf<std::string>>();
    try {
        if (argc > 5)
            throw std::runtime_error("many" + hidden.name);
    } catch (const std::exception &error) {
        std::cerr << error.what();
    }
    std::cout << climb<12>(argc) << functions["sum"](2) + functions["size"](3)
              << small->area(2) + large->area(3) << shapes::second(argc).size() << "\n";
}
