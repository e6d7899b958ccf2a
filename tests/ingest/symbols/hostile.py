# SPDX-License-Identifier: BSD-2-Clause
"""hostile.py WAY PROGRAM: replaces debug information of the program (its build-id stays) by other data
that asks for more time or memory than its size allows. WAY: lines, nesting, ranges, units, bomb, cut.
The types that functions of the program return, according to the new data: unions, bases."""

import os
import struct
import subprocess
import sys
import zlib

way, program = sys.argv[1:3]


def sections(data):
    """Returns name -> (offset of its header, offset, size)."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [table + i * size for i in range(count)]
    strings, = struct.unpack_from("<Q", data, headers[names] + 0x18)
    found = {}
    for at in headers:
        name = strings + struct.unpack_from("<I", data, at)[0]
        found[bytes(data[name:data.index(0, name)]).decode()] = (at, *struct.unpack_from("<QQ", data, at + 0x18))
    return found


def read():
    with open(program, "rb") as file:
        return bytearray(file.read())


def replace(contents):
    """Gives sections new contents. Removes the sections of debug information that are not named."""
    names = [name for name in sections(read()) if name.startswith(".debug_") and name not in contents]
    command = ["objcopy"]
    for number, (name, content) in enumerate(contents.items()):
        path = f"{program}.{number}"
        with open(path, "wb") as file:
            file.write(content)
        command += ["--remove-section", name, "--add-section", f"{name}={path}"]
    for name in names:
        command += ["--remove-section", name]
    subprocess.run(command + [program], check=True)


def text():
    at, _, size = sections(read())[".text"]
    return struct.unpack_from("<Q", read(), at + 0x10)[0], size


START, SIZE = text()


def uleb(value):
    out = b""
    while True:
        value, low = value >> 7, value & 127
        out += bytes([low | (128 if value else 0)])
        if not value:
            return out


def abbreviation(number, tag, children, *attributes):
    out = uleb(number) + uleb(tag) + bytes([children])
    for name, form in attributes:
        out += uleb(name) + uleb(form)
    return out + b"\0\0"


LOW, HIGH, RANGES, NAME, LINES = (0x11, 0x01), (0x12, 0x07), (0x55, 0x17), (0x03, 0x08), (0x10, 0x17)


def unit(body):
    body = struct.pack("<HIB", 4, 0, 8) + body
    return struct.pack("<I", len(body)) + body


def head(number=1):
    return uleb(number) + struct.pack("<QQ", START, SIZE)


if way == "lines":  # one byte per row, twenty million of them
    program_bytes = b"\0" + uleb(9) + b"\2" + struct.pack("<Q", START) + b"\x12" * 20000000 + b"\0\1\1"
    tables = bytes([1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0a.c\0\0\0\0\0"
    rest = struct.pack("<I", len(tables)) + tables + program_bytes
    replace({".debug_abbrev": abbreviation(1, 0x11, 0, LOW, HIGH, LINES) + b"\0",
             ".debug_info": unit(head() + struct.pack("<I", 0)),
             ".debug_line": struct.pack("<IH", len(rest) + 2, 4) + rest})
elif way == "nesting":  # a million blocks, each inside the one before
    replace({".debug_abbrev": abbreviation(1, 0x11, 1, LOW, HIGH) + abbreviation(2, 0x0B, 1) + b"\0",
             ".debug_info": unit(head() + uleb(2) * 1000000 + b"\0" * 1000001)})
elif way == "ranges":  # fifty thousand functions, each of the same twenty thousand pieces
    replace({".debug_abbrev": abbreviation(1, 0x11, 1, LOW, HIGH) + abbreviation(2, 0x2E, 0, RANGES) + b"\0",
             ".debug_info": unit(head() + (uleb(2) + struct.pack("<I", 0)) * 50000 + b"\0"),
             ".debug_ranges": b"".join(struct.pack("<QQ", i % SIZE, i % SIZE + 1) for i in range(20000)) + b"\0" * 16})
elif way == "units":  # the same for units
    one = unit(uleb(1) + struct.pack("<QI", START, 0))
    replace({".debug_abbrev": abbreviation(1, 0x11, 0, LOW, RANGES) + b"\0", ".debug_info": one * 50000,
             ".debug_ranges": b"".join(struct.pack("<QQ", i % SIZE, i % SIZE + 1) for i in range(20000)) + b"\0" * 16})
elif way == "bomb":  # 256 KiB that become 256 MiB
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 24)) for _ in range(16)) + packer.flush()
    replace({".debug_abbrev": abbreviation(1, 0x11, 1, LOW, HIGH) + b"\0",
             ".debug_info": struct.pack("<IIQQ", 1, 0, 1 << 28, 1) + packed})
    data = read()
    at = sections(data)[".debug_info"][0]
    struct.pack_into("<Q", data, at + 8, 0x800)
    with open(program, "wb") as file:
        file.write(data)
elif way in ("unions", "bases"):
    TYPE, SIZE1, PLACE = (0x49, 0x13), (0x0B, 0x0B), (0x38, 0x0B)
    table = (abbreviation(1, 0x11, 1, LOW, HIGH) + abbreviation(2, 0x2E, 0, LOW, HIGH, TYPE) +
             abbreviation(3, 0x0F, 0, TYPE) + abbreviation(4, 0x17, 1, NAME, SIZE1) +
             abbreviation(5, 0x0D, 0, TYPE, PLACE) + abbreviation(6, 0x13, 1, NAME, SIZE1) +
             abbreviation(8, 0x1C, 0, TYPE, PLACE) + b"\0")
    body = head() + uleb(2) + struct.pack("<QQI", START, SIZE, 0)
    at = 11 + len(body)  # of the pointer, after the unit's head
    body = body[:-4] + struct.pack("<I", at) + uleb(3) + struct.pack("<I", at + 5)
    at += 5
    if way == "unions":  # eight, each of a thousand of the next
        for level in range(8):
            inner = at + 4 + 1000 * 6 + 1
            body += uleb(4) + b"u\0" + bytes([24]) + (uleb(5) + struct.pack("<IB", inner, 0)) * 1000 + b"\0"
            at = inner
        body += uleb(6) + b"s\0" + bytes([24]) + b"\0"
    else:  # a class of 40 bytes, whose empty base derives from itself
        base = at + 4 + 6 + 1
        body += uleb(6) + b"s\0" + bytes([40]) + uleb(8) + struct.pack("<IB", base, 0) + b"\0"
        body += uleb(6) + b"e\0" + bytes([1]) + uleb(8) + struct.pack("<IB", base, 0) + b"\0"
    replace({".debug_abbrev": table, ".debug_info": unit(body + b"\0")})
elif way == "cut":
    os.truncate(program, os.path.getsize(program) // 2)
