# SPDX-License-Identifier: BSD-2-Clause
# usage: many_types.py FILE HOW: makes objects of many types, and writes "ADDRESS,TYPE,SIZE" of all that can be
# reached, as Python itself tells. Then it ends by os._exit() if HOW is "exit".
import array
import collections
import ctypes
import gc
import os
import subprocess
import sys
import threading
import time


class Row:
    def __init__(self, number):
        self.name = "row %d" % number
        self.place = (number + 0.5, number * 1000003)


class Slots:
    __slots__ = ("items", "other")

    def __init__(self, number):
        self.items = [number + 1000, bytes(200 + number)]
        self.other = {number + 2000: frozenset([str(number) + " texts"])}


class Text(str):
    pass


class Numbers(list):
    pass


def generator(number):
    yield number + 0.25


def build():
    made = []
    for i in range(60):
        made += [Row(i), Slots(i), Text("%d text" % i), Numbers([i + 300]), bytearray(100 + i), array.array("d", [i])]
        made += [collections.OrderedDict(a=i), collections.deque([i + 400]), complex(i, 1), (lambda: i)]
        made += [Row(i).__init__, generator(i), 10 ** 30 + i, {i + 500}, memoryview(b"%d" % i), type("Made%d" % i, (), {"x": i + 0.75})]
    made += [made, sys.float_info, sys.int_info]  # the collector has never seen the last two
    return made


def tell(file, roots):
    """Goes to all objects that can be reached."""
    seen, ahead, lines = {id(roots), id(sys.modules)}, list(roots), []
    while ahead:
        thing = ahead.pop()
        if id(thing) not in seen:
            seen.add(id(thing))
            if not isinstance(thing, type(os)):  # modules lead to everything
                lines.append("%d,%s,%d\n" % (id(thing), type(thing).__name__, sys.getsizeof(thing)))
                ahead.extend(gc.get_referents(thing))
    ctypes.CDLL(None).mprof_mark(b"told")
    file.writelines(lines)
    file.close()


def sleep():
    while True:
        time.sleep(0.0003)


def main(name, how):
    local = ["x" * 3000 + name, 2.0 ** len(name)]
    only_here = "y" * 4000 + name
    if how == "exit":
        gc.freeze()
    try:  # its process shares this one's memory, and calls _exit()
        subprocess.call(["/nowhere"])
    except OSError:
        pass
    for _ in range(20):  # they end where they stand when the interpreter ends, and their stacks are gone
        threading.Thread(target=sleep, daemon=True).start()
    tell(open(name, "w", encoding="utf-8"), kept + [local, only_here])
    if how == "exit":
        os._exit(0)
    kept.append((local, only_here))


kept = build()
main(*sys.argv[1:])
