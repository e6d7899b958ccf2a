/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list reserves room for 16 more elements each time, and a text is reallocated 43 times. Healthy:
 * the vectors double their room. In both, texts of rising sizes wait in a queue: they are no
 * buffer.
 */
#include <deque>
#include <stdlib.h>
#include <string>
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

__attribute__((noinline)) void lengthen()
{
    char *text = nullptr;
    for (size_t size = 16; size < 1 << 20; size += size / 4 + 16)
        text = static_cast<char *>(realloc(text, size));
    use(*text);
    free(text);
}

__attribute__((noinline)) std::string make_text(int number)
{
    return std::string(100 + number % 900, 'x');
}

__attribute__((noinline)) void wait_in_queue()
{
    std::deque<std::string> queue;
    for (int i = 0; i < 9000; i++) {
        queue.push_back(make_text(i));
        if (queue.size() > 20)
            queue.pop_front();
    }
}

int main(int count, char **values)
{
    const bool healthy = is_healthy(count, values);
    for (int list = 0; list < (healthy ? 20 : 1); list++) {
        std::vector<Sample> samples;
        for (int i = 0; i < 8000; i++)
            append(samples, healthy);
        use(samples);
    }
    wait_in_queue();
    if (!healthy)
        lengthen();
}
