// SPDX-License-Identifier: BSD-2-Clause
// stress SECONDS PLUGIN: threads allocate and check their blocks, load and unload libraries, fork
// and throw. Ends with status 1 if anything was not as it should be. SIGTERM ends it early.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

std::atomic<bool> over{false};
std::atomic<long> bad{0}, loads{0}, forks{0}, thrown{0};
std::atomic<long> events[2];

struct Block {
    unsigned char *memory;
    std::size_t size;
    unsigned char letter;
};

void check(const Block &block)
{
    for (std::size_t i = 0; i < block.size; i++)
        if (block.memory[i] != block.letter) {
            bad++;
            return;
        }
}

void allocate(unsigned number)
{
    std::vector<Block> blocks;
    unsigned seed = number + 1;
    while (!over) {
        const unsigned chance = static_cast<unsigned>(rand_r(&seed));
        events[number]++;
        if (blocks.size() < 300 || chance % 2) {
            const std::size_t size = 1 + chance % 2000;
            auto *memory =
                static_cast<unsigned char *>(chance % 8 < 2 ? calloc(1, size) : malloc(size));
            memset(memory, static_cast<int>(chance % 256), size);
            blocks.push_back({memory, size, static_cast<unsigned char>(chance % 256)});
            if (blocks.size() < 3000)
                continue;
        }
        Block &block = blocks[chance % blocks.size()];
        check(block);
        if (chance % 16 < 4) {
            block.memory = static_cast<unsigned char *>(realloc(block.memory, block.size + 40));
            memset(block.memory, block.letter, block.size + 40);
            block.size += 40;
            continue;
        }
        free(block.memory);
        block = blocks.back();
        blocks.pop_back();
    }
    for (const Block &block : blocks)
        free(block.memory);
}

void load(const char *plugin)
{
    while (!over) {
        void *library = dlopen(plugin, RTLD_NOW);
        auto make = reinterpret_cast<void *(*)(std::size_t)>(library ? dlsym(library, "plugin_make")
                                                                     : nullptr);
        auto drop =
            reinterpret_cast<void (*)(void *)>(library ? dlsym(library, "plugin_drop") : nullptr);
        if (!make || !drop) {
            bad++;
            return;
        }
        for (int i = 0; i < 50; i++)
            drop(make(70));
        dlclose(library);
        loads++;
        usleep(300);
    }
}

void spawn()
{
    while (!over) {
        const pid_t child = fork();
        int status;
        if (child == 0) {
            free(malloc(100));
            _exit(7);
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
            bad++;
        forks++;
        usleep(3000);
    }
}

void fail()
{
    while (!over) {
        try {
            throw std::runtime_error(std::string(100, 'x'));
        } catch (const std::exception &error) {
            if (strlen(error.what()) != 100)
                bad++;
        }
        thrown++;
        usleep(50);
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(atoi(argv[1]));
    signal(SIGTERM, [](int) { over = true; });
    std::vector<std::thread> threads;
    threads.emplace_back(allocate, 0u);
    threads.emplace_back(allocate, 1u);
    threads.emplace_back(load, argv[2]);
    threads.emplace_back(spawn);
    threads.emplace_back(fail);
    printf("ready\n");
    fflush(stdout);
    while (!over && std::chrono::steady_clock::now() < end)
        usleep(10000);
    over = true;
    for (std::thread &thread : threads)
        thread.join();
    const bool all = events[0] && events[1] && loads && forks && thrown;
    printf("%s events %ld %ld loads %ld forks %ld thrown %ld\n", bad || !all ? "BAD" : "ok",
           events[0].load(), events[1].load(), loads.load(), forks.load(), thrown.load());
    return bad || !all;
}
