/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controls collect the points of a gesture and clear them when it is over. The memory of a cleared
 * vector stays. Healthy: they give it back by a swap with an empty vector.
 */
#include <vector>

#include "pace.h"

struct TouchPoint {
    float x, y, pressure;
    unsigned time;
};

struct Control {
    std::vector<TouchPoint> points;

    __attribute__((noinline)) void follow(float x, unsigned time)
    {
        points.push_back(TouchPoint{x, x, 1, time});
    }
    __attribute__((noinline)) void finish(bool healthy)
    {
        if (healthy)
            std::vector<TouchPoint>().swap(points);
        else
            points.clear();
    }
};

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    std::vector<Control> controls(40);
    for (Control &control : controls) {
        for (unsigned i = 0; i < 600; i++)
            control.follow(static_cast<float>(i), i);
        control.finish(healthy);
    }
    run_rounds(100, std::chrono::milliseconds(2), [](int) {}); /* the rest of the run */
    use(controls);
}
