/* SPDX-License-Identifier: BSD-2-Clause */
// errno stays the same after each call of mprof_types.h, and after new and delete.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "mprof_types.h"

namespace
{

const int mark = 4711;
int failed;

void expect(const char *call)
{
    if (errno != mark) {
        std::fprintf(stderr, "errno after %s: %d\n", call, errno);
        failed = 1;
    }
    errno = mark;
}

struct Tag;
struct Thrower {
    Thrower()
    {
        throw 1;
    }
};
struct Item {
    int values[10];
    ~Item()
    {
    }
};

} // namespace

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        errno = mark;                                                                              \
        call;                                                                                      \
        expect(#call);                                                                             \
    } while (0)

#include "define_new.h"

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        Item *one = 0, *many = 0, *tagged = 0;
        int *raw = 0;
        KEEPS(one = new Item());
        KEEPS(many = New_<Item>(5));
        KEEPS((tagged = New_<Item, Tag>(5)));
        KEEPS(raw = LogMemoryType(static_cast<int *>(std::malloc(40))));
        KEEPS(SetAllocationType<long>(raw));
        KEEPS(SetAllocationTypeAndCount<long>(raw, 5));
        KEEPS(delete one);
        KEEPS(delete[] many);
        KEEPS(delete[] tagged);
        KEEPS(std::free(raw));
        errno = mark;
        try {
            new Thrower();
        } catch (int) {
        }
        expect("new of what throws");
    }
    return failed;
}
