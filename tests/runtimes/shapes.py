# SPDX-License-Identifier: BSD-2-Clause
# Allocates blocks of known sizes in every kind of Python function. bytearray(N) takes N + 1 bytes from
# malloc; allocate(N) calls malloc itself, without the interpreter's lock.
import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
allocate = libc.malloc
events = ctypes.CDLL("./events.so")
kept = []


def keep(size):
    kept.append(bytearray(size))


def call_from_c():
    numbers = (ctypes.c_int * 2)(2, 1)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

    def compare(a, b):
        allocate(104001)
        keep(104099)
        return a[0] - b[0]

    libc.qsort(numbers, 2, 4, kind(compare))


def generator():
    allocate(104101)
    yield 1
    keep(104199)


async def coroutine():
    keep(104299)


class Made:
    def __init__(self):
        self.data = [i for i in range(3) if keep(104399) is None]

    def __del__(self):
        keep(104499)


def größe():
    keep(104599)


def 函数():
    keep(104699)


def 𐎀():
    keep(104799)


def deep(level):
    if level == 0:
        return allocate(104801), keep(104899)
    return deep(level - 1)


def made_texts():
    """Code objects that live where another one has been."""
    for i in range(60):
        names = {"keep": keep}
        exec("def made%d():%s    keep(%d)\nmade%d()\n" % (i, "\n" * (i + 1), 105000 + i, i), names)
    for i in range(60):
        exec("def same():\n%s    keep(%d)\n%ssame()\n" % ("\n" * i, 106000 + i, "\n" * (60 - i)), {"keep": keep})


def worker(barrier, size):
    for _ in range(3):
        barrier.wait()
        for _ in range(100):
            allocate(size)
            kept.append(bytearray(size + 100))


def threads():
    barrier = threading.Barrier(2)
    all_threads = [threading.Thread(target=worker, args=(barrier, size)) for size in (107001, 107002)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


def processes():
    child = os.fork()
    if child == 0:
        allocate(104901)
        os._exit(0)
    os.waitpid(child, 0)
    said = subprocess.run(["/bin/echo", "unharmed"], capture_output=True, check=True)
    assert (said.stdout, said.stderr) == (b"unharmed\n", b""), said
    said = subprocess.run([sys.executable, "-S", "-c", "b = [bytearray(104911)]"], capture_output=True, check=True)
    assert said.stderr == b"", said


def sub_interpreter():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    other = interpreters.create()
    interpreters.run_string(other, "def inner():\n    global kept\n    kept = bytearray(104921)\ninner()\n")
    interpreters.destroy(other)


def on_signal(number, frame):
    keep(104931)


def signals():
    signal.signal(signal.SIGUSR1, on_signal)
    signal.raise_signal(signal.SIGUSR1)


def interrupted():
    """Handlers of the machine's signals record blocks while the interpreter is anywhere."""
    events.begin()
    while events.count() < 30:
        for _ in generator_of_makers(3):
            sorted([3, 1, 2], key=lambda n: -n)
    events.end()


def generator_of_makers(count):
    for i in range(count):
        yield type("T%d" % i, (), {"f": lambda self: i})().f()


@atexit.register
def at_exit():
    keep(104941)


def main():
    call_from_c()
    for _ in generator():
        pass
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    Made()
    größe()
    函数()
    𐎀()
    deep(600)
    made_texts()
    threads()
    processes()
    sub_interpreter()
    signals()
    interrupted()
    # They allocate without the lock until the process ends.
    for _ in range(2):
        threading.Thread(target=events.busy, daemon=True).start()
    events.await_busy(2)


main()
