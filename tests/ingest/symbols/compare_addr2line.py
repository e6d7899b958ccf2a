"""compare_addr2line.py SYMBOLIZE BINARY [COUNT]: frames of random addresses of code, ours against
those of addr2line -a -i -f -C. Every difference must belong to a class that is named here, and
is checked for being what the class says; anything else fails."""

import collections
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
    """Sections with code, but for the linkage table, which addr2line does not know."""
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


def place(text):
    """'dir/file.c:12 (discriminator 3)' as (normal path or None, line)."""
    text = re.sub(r" \(discriminator \d+\)$", "", text)
    path, _, line = text.rpartition(":")
    number = int(line) if line.isdigit() else 0
    if path in ("??", ""):
        return (None, 0)
    return (os.path.normpath(path), number)


def parse(output):
    """{address: [(function, place), …]} of addr2line's format."""
    result, frames, function = {}, None, None
    for line in output.splitlines():
        if re.fullmatch(r"0x[0-9a-f]{16}", line) and function is None:
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
            match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+ )?([tTwWiuV]) (.*)", line)
            if match:
                start = int(match[1], 16)
                symbols.append((start, start + int(match[2] or "0", 16), match[4]))
    return symbols


SYMBOLS = elf_symbols()
NAMES = {name for _, _, name in SYMBOLS}


def covering(address):
    return {name for start, end, name in SYMBOLS if start <= address < end}


def bare(function):
    """The name without qualification, template arguments, parameters and clone suffix."""
    name, previous = re.sub(r" \[clone [^]]*\]", "", function), None
    name = name.replace("(anonymous namespace)", "anonymous")
    while previous != name:
        previous = name
        name = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    return name.replace(" const", "").split("::")[-1].split(" ")[-1]


def second_opinion(address):
    """The frames by elfutils, which has a DWARF reader of its own."""
    lines = run("eu-addr2line", "-i", "-f", "-e", binary, f"{address:#x}", check=False).splitlines()
    frames = list(zip(lines[0::2], (place(re.sub(r":(\d+):\d+$", r":\1", at)) for at in lines[1::2])))
    return [(re.sub(r" inlined at .*", "", name), at) for name, at in frames]


def classify(address, ours, theirs):
    """The name of the class of a difference; None for a difference without excuse."""
    if len(ours) == 1 and re.search(r"\+0x[0-9a-f]+$", ours[0][0]):
        # addr2line names padding after the function in front of it.
        return None if covering(address) else "padding"
    if len(ours) != len(theirs):
        return None
    classes = set()
    for depth, (mine, other) in enumerate(zip(ours, theirs)):
        if mine[0] != other[0]:
            # With no linkage name in DWARF addr2line takes the ELF symbol that covers the address
            # (for the outer function, or its cold part), even for a call inlined into it.
            if depth == 0 and other[0] in covering(address):
                classes.add("ELF symbol instead of the inlined function")
            elif depth + 1 == len(ours) and mine[0] in NAMES and bare(mine[0]) == bare(other[0]):
                # We take it from the symbol at the function's beginning, and have the full name.
                classes.add("function without a linkage name")
            else:
                return None
        if mine[1] != other[1]:
            if mine[1] == (None, 0) and "/" not in (other[1][0] or "/") and other[1][1] == 0:
                classes.add("file only from an STT_FILE symbol")
            else:
                return None
    return ", ".join(sorted(classes))


def report(address, ours, theirs):
    print(f"{binary} {address:#x}: {len(ours)} frames, addr2line {len(theirs)}")
    for depth, (mine, other) in enumerate(zip(ours, theirs)):
        if mine != other:
            print(f"  [{depth}] ours   {mine}\n      theirs {other}")
    print(f"  elfutils {[(name[:40], at) for name, at in second_opinion(address)]}")


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
    if classes["same"] * 2 < len(addresses) and "--any" not in sys.argv:
        print("fewer than half agree outright: the comparison says nothing")
        return 1
    return 1 if bad else 0


sys.exit(main())
