# SPDX-License-Identifier: BSD-2-Clause
"""compare_addr2line.py SYMBOLIZE BINARY [COUNT]: compares our frames of random
addresses of code with those of addr2line -a -i -f -C. Every difference must belong to a class that
is named here, and is checked against the description of its class. Any other difference fails."""

import collections
import functools
import itertools
import os
import random
import re
import subprocess
import sys

symbolize, binary = sys.argv[1], os.path.realpath(sys.argv[2])
wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 1000


def run(*command, text=None, check=True):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=check,
                          errors="surrogateescape").stdout


def code_ranges():
    """Sections with code, except the linkage table, which addr2line does not know."""
    ranges = []
    for line in run("objdump", "-h", "-w", binary).splitlines():
        field = line.split()
        if len(field) > 6 and field[0].isdigit() and "CODE" in line and ".plt" not in field[1]:
            ranges.append((int(field[3], 16), int(field[2], 16)))
    return ranges


def random_addresses():
    generator = random.Random(1988)
    ranges = code_ranges()
    sizes = [size for _, size in ranges]
    total = sum(sizes)
    chosen = set()
    for _ in range(wanted):
        at = generator.randrange(total)
        for (start, size) in ranges:
            if at < size:
                chosen.add(start + at)
                break
            at -= size
    return sorted(chosen)


@functools.lru_cache(maxsize=None)
def place(text):
    """'dir/file.c:12 (discriminator 3)' as (normal path or None, line)."""
    text = re.sub(r" \(discriminator \d+\)$", "", text)
    path, _, line = text.rpartition(":")
    number = int(line) if line.isdigit() else 0
    if path in ("??", ""):
        return (None, 0)
    return (os.path.normpath(path), number)


def parse(output, address=r"0x[0-9a-f]{16}"):
    """Reads addr2line's format into {address: [(function, place), …]}."""
    result, frames, function = {}, None, None
    for line in output.splitlines():
        if re.fullmatch(address, line) and function is None:
            frames = result.setdefault(int(line, 16), [])
        elif function is None:
            function = line
        else:
            frames.append((function, place(line)))
            function = None
    return result


def elf_symbols():
    """Function symbols (start, end, name) as nm -C prints them, of the program and its libraries."""
    symbols = []
    for kind in ((), ("-D",)):
        for line in run("nm", "-C", "-S", "--defined-only", "--without-symbol-versions",
                        *kind, binary).splitlines():
            match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+ )?([tTwWi]) (.*)", line)
            if match:
                start = int(match[1], 16)
                symbols.append((start, start + int(match[2] or "0", 16), match[4]))
    return symbols


SYMBOLS = elf_symbols()
CLONE = re.compile(r"( \[clone [^]]*\])+$")
NAMES = {CLONE.sub("", name) for _, _, name in SYMBOLS}


@functools.lru_cache(maxsize=None)
def covering(address):
    return {name for start, end, name in SYMBOLS if start <= address < end}


@functools.lru_cache(maxsize=None)
def bare(function):
    """The name without qualification, template arguments, parameters and clone suffix."""
    name = re.sub(r" \[clone [^]]*\]| \(\.[^)]*\)|\[abi:[^]]*\]", "", function)
    name = name.replace("(anonymous namespace)", "anonymous").replace("operator()", "operator_call")
    name = re.sub(r"operator(->|<=>|<<=?|>>=?|<=?|>=?)(?=[<(]|$)",
                  lambda match: "operator_" + "".join(f"{ord(sign):x}" for sign in match[1]), name)
    name = name.replace("->", "")
    previous = None
    while previous != name:
        previous = name
        name = re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", name)
    name = re.sub(r"( const|&)*$", "", name)
    # In gcc's own "operator std::string" the blank belongs to the name.
    return re.split(r"::|(?<!operator) ", name)[-1].removesuffix(".cold")


def same_bare(mine, other):
    """Compares bare names. The destructor of a class without a name is "~" in debug information."""
    return bare(mine) == bare(other) or (bare(other) == "~" and bare(mine).startswith("~"))


@functools.lru_cache(maxsize=None)
def second_opinion():
    """Returns the frames that LLVM finds, which has its own reader of DWARF."""
    text = "".join(f"{address:#x}\n" for address in random_addresses())
    output = run("llvm-addr2line", "-a", "-i", "-f", "-e", binary, text=text)
    # One demangler for all, so that only the names themselves are compared.
    return parse(run("c++filt", text=output), r"0x[0-9a-f]+")


def nameless(function):
    return re.search(r"\+0x[0-9a-f]+$", function) is not None


def confirmed(address, ours, theirs):
    """True if LLVM finds the same calls at the same places. A name may also be addr2line's."""
    llvm = second_opinion()[address]
    if len(ours) != len(llvm):
        return False
    for mine, other, third in itertools.zip_longest(ours, llvm, theirs[:len(ours)]):
        same_name = same_bare(mine[0], other[0]) or (nameless(mine[0]) and other[0] == "??")
        if mine[1] != other[1] or not (same_name or (third and third[0] == mine[0])):
            return False
    return True


def classify_name(address, ours, theirs, depth):
    mine, other = ours[depth][0], theirs[depth][0]
    if mine == CLONE.sub("", other):
        # We show a part or copy of a function as that function.
        return "clone suffix"
    if depth == 0 and other in covering(address):
        # If DWARF has no linkage name, addr2line takes the ELF symbol that covers the address (the
        # outer function's, or its cold part's), even for a call inlined into it.
        return "ELF symbol instead of the inlined function"
    if mine in NAMES and same_bare(mine, other):
        # We take the name from the symbol at the function's start, even for an inlined call of a
        # function that also has code of its own, and so have the full name.
        return "function without a linkage name"
    return None


def classify(address, ours, theirs):
    """Returns the name of a difference's class, None for a difference without excuse."""
    if len(ours) == 1 and nameless(ours[0][0]):
        # addr2line names padding after the function before it.
        return None if covering(address) else "padding"
    if len(ours) != len(theirs):
        # Binutils 2.40 reads neither every DW_FORM_rnglistx nor split units.
        return "inlined calls that addr2line misses" if confirmed(address, ours, theirs) else None
    classes = set()
    for depth, (mine, other) in enumerate(zip(ours, theirs)):
        if mine[0] != other[0]:
            classes.add(classify_name(address, ours, theirs, depth) or "name that LLVM confirms")
        if mine[1] == other[1]:
            continue
        if mine[1] == (None, 0) and "/" not in (other[1][0] or "/") and other[1][1] == 0:
            classes.add("file only from an STT_FILE symbol")
        else:
            classes.add("place that LLVM confirms")
    if any("LLVM" in name for name in classes) and not confirmed(address, ours, theirs):
        return None
    return ", ".join(sorted(classes))


def examples(addresses, ours, theirs, name):
    """Prints differences of one class for reading, with --show CLASS."""
    for address in addresses:
        if ours[address] != theirs[address] and name == classify(address, ours[address],
                                                                 theirs[address]):
            report(address, ours[address], theirs[address])


def report(address, ours, theirs):
    print(f"{binary} {address:#x}: {len(ours)} frames, addr2line {len(theirs)}")
    for depth, (mine, other) in enumerate(zip(ours, theirs)):
        if mine != other:
            print(f"  [{depth}] ours   {mine}\n      theirs {other}")
    for depth, (mine, other) in enumerate(itertools.zip_longest(ours, second_opinion()[address])):
        if mine is None or other is None or bare(mine[0]) != bare(other[0]) or mine[1] != other[1]:
            print(f"  [{depth}] ours   {mine}\n      LLVM   {other}")


def main():
    addresses = random_addresses()
    text = "".join(f"{address:#x}\n" for address in addresses)
    ours = parse(run(symbolize, binary, text=text))
    theirs = parse(run("addr2line", "-a", "-i", "-f", "-C", "-e", binary, text=text))
    classes = collections.Counter()
    bad = 0
    for address in addresses:
        mine, reference = ours[address], theirs[address]
        if mine == reference:
            classes["same"] += 1
            continue
        name = classify(address, mine, reference)
        if name is None:
            bad += 1
            if bad <= 10:
                report(address, mine, reference)
        classes[name or "UNEXPLAINED"] += 1
    print(os.path.basename(binary), dict(classes))
    if "--show" in sys.argv:
        examples(addresses, ours, theirs, sys.argv[sys.argv.index("--show") + 1])
    if classes["padding"] * 2 > len(addresses):
        print("most addresses hold no function: the comparison says nothing")
        return 1
    return 1 if bad else 0


sys.exit(main())
