/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the programs that have a fault which a shipped graph finds. With the argument `healthy`
 * they do the same work without the fault.
 */
#ifndef MPROF_TESTS_PROGRAMS_GRAPHS_PACE_H
#define MPROF_TESTS_PROGRAMS_GRAPHS_PACE_H

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

/* Keeps the compiler from leaving out a block that nothing reads. */
template <class T> inline void use(T &thing)
{
    asm volatile("" : : "r"(&thing) : "memory");
}

inline bool is_healthy(int count, char **values)
{
    return count > 1 && std::strcmp(values[1], "healthy") == 0;
}

/* Returns how long ago this process began, by the 22nd field of /proc/self/stat. Allocates nothing.
 */
inline std::chrono::microseconds since_start()
{
    char text[1024] = "";
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, text, sizeof(text) - 1) < 0)
        text[0] = 0;
    if (file >= 0)
        close(file);
    const char *field = std::strrchr(text, ')');
    for (int i = 2; field && i < 22; i++)
        field = std::strchr(field + 1, ' ');
    if (!field)
        return {};
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const long long tick = 1000000 / sysconf(_SC_CLK_TCK);
    return std::chrono::microseconds(now.tv_sec * 1000000LL + now.tv_nsec / 1000 -
                                     std::atoll(field) * tick);
}

/* Returns that of the first call. */
inline std::chrono::microseconds start_of_rounds()
{
    static const std::chrono::microseconds start = since_start();
    return start;
}

/* Calls round(0), round(1), … at equal distances in time, so that each part of the run has its
 * share of the work. If a loaded machine was slow to start the program, they are longer: what came
 * before them stays within the first tenth of the run. */
template <class Round> void run_rounds(int rounds, std::chrono::microseconds distance, Round round)
{
    distance = std::max(distance, start_of_rounds() * 15 / rounds);
    auto next = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; i++) {
        round(i);
        std::this_thread::sleep_until(next += distance);
    }
}

#endif
