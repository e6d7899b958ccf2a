/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shop with three faults of ownership: a cache of prices that nobody bounds, orders that hold
 * each other by shared_ptr and are never freed, and observers that stay in a list after their
 * window is closed.
 */
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Price {
    std::string text;
    int cents;
};

struct PriceCache {
    std::unordered_map<int, Price> prices;
};

struct Order {
    std::vector<int> items;
    std::shared_ptr<Order> replaces, replaced_by;
};

struct Window {
    std::string title;
    std::vector<char> pixels;
};

struct Observer {
    Window *window;
    int events;
};

struct Shop {
    PriceCache cache;
    std::list<Observer> observers;
    std::vector<std::unique_ptr<Window>> windows;
};

Shop *shop;

__attribute__((noinline)) void look_up_prices(int count)
{
    for (int i = 0; i < count; i++)
        shop->cache.prices[i] = Price{std::string(120, 'p'), i};
}

/* Each order knows the one that it replaces, and the other way round. */
__attribute__((noinline)) void change_orders(int count)
{
    for (int i = 0; i < count; i++) {
        auto first = std::make_shared<Order>(), second = std::make_shared<Order>();
        first->items.assign(50, i);
        second->items.assign(50, i);
        first->replaced_by = second;
        second->replaces = first;
    }
}

__attribute__((noinline)) void show_windows(int count)
{
    for (int i = 0; i < count; i++) {
        shop->windows.push_back(
            std::make_unique<Window>(Window{std::string(40, 'w'), std::vector<char>(64 << 10)}));
        shop->observers.push_back(Observer{shop->windows.back().get(), 0});
    }
    /* The windows are closed, but the observers keep them: release() gives up what owns them. */
    for (auto &window : shop->windows)
        static_cast<void>(window.release());
    shop->windows.clear();
}

int main()
{
    shop = new Shop;
    look_up_prices(5000);
    change_orders(300);
    show_windows(20);
    return 0;
}
