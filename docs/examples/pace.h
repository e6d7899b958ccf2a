/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the programs that have a fault which a shipped graph finds. With the argument `healthy`
 * they do the same work without the fault.
 */
#ifndef MPROF_TESTS_PROGRAMS_GRAPHS_PACE_H
#define MPROF_TESTS_PROGRAMS_GRAPHS_PACE_H

#include <chrono>
#include <cstring>
#include <thread>

/* Keeps the compiler from leaving out a block that nothing reads. */
template <class T> inline void use(T &thing)
{
    asm volatile("" : : "r"(&thing) : "memory");
}

inline bool is_healthy(int count, char **values)
{
    return count > 1 && std::strcmp(values[1], "healthy") == 0;
}

/* Calls round(0), round(1), … at equal distances in time, so that each part of the run has its
 * share of the work. */
template <class Round> void run_rounds(int rounds, std::chrono::microseconds distance, Round round)
{
    auto next = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; i++) {
        round(i);
        std::this_thread::sleep_until(next += distance);
    }
}

#endif
