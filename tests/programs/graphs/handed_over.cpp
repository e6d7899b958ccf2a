/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader thread makes messages that another thread frees, so the allocator's caches of the two
 * threads only fill and only empty. Healthy: messages go back to the reader, which reuses them.
 */
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

#include "pace.h"

struct Message {
    int number;
    char text[200];
};

static bool healthy;
static std::mutex lock;
static std::vector<std::unique_ptr<Message>> sent, returned;

__attribute__((noinline)) std::unique_ptr<Message> next_message()
{
    std::lock_guard<std::mutex> guard(lock);
    if (returned.empty())
        return std::make_unique<Message>();
    std::unique_ptr<Message> message = std::move(returned.back());
    returned.pop_back();
    return message;
}

static void read_messages()
{
    pthread_setname_np(pthread_self(), "reader");
    for (int i = 0; i < 2000; i++) {
        std::unique_ptr<Message> message = next_message();
        message->number = i;
        std::lock_guard<std::mutex> guard(lock);
        sent.push_back(std::move(message));
    }
}

static void handle_messages()
{
    pthread_setname_np(pthread_self(), "handler");
    std::vector<std::unique_ptr<Message>> batch;
    {
        std::lock_guard<std::mutex> guard(lock);
        batch.swap(sent);
    }
    if (!healthy)
        return; /* frees the batch here */
    std::lock_guard<std::mutex> guard(lock);
    for (auto &message : batch)
        returned.push_back(std::move(message));
}

static void free_returned()
{
    returned.clear();
}

int main(int count, char **values)
{
    healthy = is_healthy(count, values);
    std::thread reader([] {
        read_messages();
        std::thread(handle_messages).join();
        free_returned();
    });
    reader.join();
}
