/* SPDX-License-Identifier: BSD-2-Clause */
/* Two constructors with the same code. If the linker keeps one, the call does not tell which. */
struct Meter {
    explicit Meter(long start);
    long read, last, next;
};
struct Ledger {
    explicit Ledger(long start);
    long first, open, closed;
};
__attribute__((noinline)) Meter::Meter(long start) : read(start), last(1), next(2)
{
}
__attribute__((noinline)) Ledger::Ledger(long start) : first(start), open(1), closed(2)
{
}

static void *volatile sink;

int main(int argc, char **)
{
    sink = new Meter(argc);
    sink = new Ledger(argc);
    return 0;
}
