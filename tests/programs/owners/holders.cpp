/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers in many places, each filled by a function of its own. `owner FUNCTION: NAME` says who
 * owns what that function allocates; a - stands for nobody. The script owners.sh reads these lines.
 */
#include <array>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#define NOINLINE __attribute__((noinline))

template <typename T> struct Stack {
    int used = 0;
    std::vector<T> items;
    NOINLINE void put(T item)
    {
        items.push_back(item);
        used++;
    }
};

struct Base {
    virtual ~Base() = default;
    std::vector<int> numbers;
    NOINLINE void base_fill() /* owner Base::base_fill: Base::numbers */
    {
        for (int i = 0; i < 100; i++)
            numbers.push_back(i);
    }
    virtual void run() = 0;
};

struct Inner {
    int before = 0;
    std::vector<int> values;
};

static void use(std::vector<int> &values)
{
    std::printf("%zu\n", values.size());
}

struct Shop : Base {
    std::vector<int> first, second;
    std::array<std::vector<int>, 4> shelves;
    std::vector<int> boxes[3];
    Inner inner;
    std::list<int> orders;
    std::deque<long> queue;
    std::map<int, std::vector<int>> by_number;
    std::unordered_map<int, int> prices;
    std::unique_ptr<std::vector<int>> elsewhere;
    Stack<short> stack;
    Stack<short> spare;

    NOINLINE void fill_first(int n) /* owner Shop::fill_first: Shop::first */
    {
        for (int i = 0; i < n; i++)
            first.push_back(i);
    }
    NOINLINE void fill_second(int n) /* owner Shop::fill_second: Shop::second */
    {
        second.resize((std::size_t)n);
    }
    NOINLINE void fill_shelf(int n) /* owner Shop::fill_shelf: Shop::shelves */
    {
        shelves[2].assign((std::size_t)n, 7);
    }
    NOINLINE void fill_any_box(int which) /* owner Shop::fill_any_box: Shop::boxes */
    {
        boxes[which].push_back(which);
    }
    NOINLINE void fill_inner(int n) /* owner Shop::fill_inner: Inner::values */
    {
        inner.values.reserve((std::size_t)n);
    }
    NOINLINE void fill_orders(int n) /* owner Shop::fill_orders: Shop::orders */
    {
        for (int i = 0; i < n; i++)
            orders.push_back(i);
    }
    NOINLINE void fill_queue(int n) /* owner Shop::fill_queue: Shop::queue */
    {
        for (int i = 0; i < n; i++)
            queue.push_back(i);
    }
    NOINLINE void fill_prices(int n) /* owner Shop::fill_prices: Shop::prices */
    {
        for (int i = 0; i < n; i++)
            prices[i] = i;
    }
    /* The map's node, and the vector in it, which is not a member of Shop. */
    NOINLINE void fill_by_number(int n) /* owner Shop::fill_by_number: Shop::by_number */
    {
        by_number[n].push_back(n);
    }
    NOINLINE void fill_elsewhere(int n) /* owner Shop::fill_elsewhere: Shop */
    {
        elsewhere->resize((std::size_t)n);
    }
    NOINLINE void fill_local(int n) /* owner Shop::fill_local: Shop */
    {
        std::vector<int> local;
        for (int i = 0; i < n; i++)
            local.push_back(i);
        use(local);
    }
    NOINLINE void fill_either(bool which, int n) /* owner Shop::fill_either: Shop */
    {
        std::vector<int> &chosen = which ? first : second;
        chosen.reserve((std::size_t)n);
        use(chosen);
    }
    NOINLINE void fill_other(Shop &other, int n) /* owner Shop::fill_other: Shop::second */
    {
        other.second.resize((std::size_t)n + first.size());
    }
    NOINLINE void fill_stack(short n) /* owner Shop::fill_stack: Shop::stack */
    {
        for (short i = 0; i < n; i++)
            stack.put(i);
    }
    NOINLINE void fill_spare(short n) /* owner Shop::fill_spare: Shop::spare */
    {
        for (short i = 0; i < n; i++)
            spare.put(i);
    }
    NOINLINE void fill_by_lambda(int n) /* owner Shop::fill_by_lambda: Shop::second */
    {
        std::function<void(int)> add = [this](int value) { second.push_back(value); };
        for (int i = 0; i < n; i++)
            add(i);
    }
    void run() override;
};

NOINLINE void Shop::run() /* owner Shop::run: Shop::first */
{
    first.insert(first.end(), 5000, 1);
}

struct Settings {
    std::vector<int> flags;
    std::string path;
};
static Settings settings;
static std::vector<int> cache;

NOINLINE static void fill_settings(int n) /* owner fill_settings: Settings::flags */
{
    settings.flags.resize((std::size_t)n);
}
NOINLINE static void fill_cache(int n) /* owner fill_cache: cache */
{
    cache.resize((std::size_t)n);
}
NOINLINE static void fill_argument(Shop *shop, int n) /* owner fill_argument: Shop::second */
{
    shop->second.resize((std::size_t)n);
}
NOINLINE static void fill_vector(std::vector<int> &values, int n) /* owner fill_vector: - */
{
    values.resize((std::size_t)n);
}

int main()
{
    auto shop = std::make_unique<Shop>(), other = std::make_unique<Shop>();
    shop->base_fill();
    shop->fill_first(100);
    shop->fill_second(100);
    shop->fill_shelf(100);
    for (int i = 0; i < 3; i++)
        shop->fill_any_box(i);
    shop->fill_inner(100);
    shop->fill_orders(10);
    shop->fill_queue(1000);
    shop->fill_prices(100);
    for (int i = 0; i < 10; i++)
        shop->fill_by_number(i);
    shop->elsewhere = std::make_unique<std::vector<int>>();
    shop->fill_elsewhere(200);
    shop->fill_local(100);
    shop->fill_either(shop->first.size() > 3, 1000);
    shop->fill_other(*other, 300);
    shop->fill_stack(50);
    shop->fill_spare(50);
    shop->fill_by_lambda(3000);
    shop->run();
    fill_settings(100);
    fill_cache(100);
    fill_argument(shop.get(), 10000);
    fill_vector(shop->first, 20000);
    return 0;
}
