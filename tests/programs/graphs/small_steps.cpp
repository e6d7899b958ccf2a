/* SPDX-License-Identifier: BSD-2-Clause */
/* A list reserves room for 16 more elements each time. Healthy: the vector doubles its room. */
#include <vector>

#include "pace.h"

struct Sample {
    double time, value;
};

__attribute__((noinline)) void append(std::vector<Sample> &samples, bool healthy)
{
    if (!healthy && samples.size() == samples.capacity())
        samples.reserve(samples.size() + 16);
    samples.push_back(Sample{0, 0});
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    std::vector<Sample> samples;
    for (int i = 0; i < 8000; i++)
        append(samples, healthy);
    use(samples);
}
