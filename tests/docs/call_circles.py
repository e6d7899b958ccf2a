#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks by the symbols of the objects that no rooms call each other in a circle, and no many files of a room.

usage: call_circles.py BUILD SOURCE. A room is a folder. --files lists the circles of files, too.
"""
import collections
import json
import os
import subprocess
import sys

build, source = sys.argv[1:3]
FILES_MOST = 5


def symbols(files, *options):
    """Yields (file, letter, name) of each global symbol."""
    for first in range(0, len(files), 200):
        text = subprocess.run(["nm", "-A", "-g", *options, *files[first : first + 200]], check=True,
                              capture_output=True, text=True).stdout
        for line in text.splitlines():
            path, rest = line.split(":", 1)
            letter, name = rest.split()[-2:]
            yield path, letter, name.split("@")[0]


def circles(arrows):
    """Returns the strongly connected parts of more than one node (Tarjan, SIAM J. Comput. 1(2), 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for to in arrows[node]:
            if to not in number:
                visit(to)
            if to in stack:
                low[node] = min(low[node], low[to])
        if low[node] == number[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in list(arrows):
        if node not in number:
            visit(node)
    return found


sys.setrecursionlimit(10000)
sources = {}
for command in json.load(open(os.path.join(build, "compile_commands.json"), encoding="utf-8")):
    name = os.path.relpath(command["file"], source)
    words = command["command"].split()
    path = os.path.join(command["directory"], words[words.index("-o") + 1])
    if name.endswith(".c") and name.split("/")[0] != "tests" and os.path.isfile(path):
        sources[path] = name
library = subprocess.run(["cc", "-print-file-name=libc.so.6"], check=True, capture_output=True, text=True)
of_libc = {name for _, _, name in symbols([library.stdout.strip()], "-D", "--defined-only")}
defined, used = collections.defaultdict(set), []
for path, letter, name in symbols(sorted(sources)):
    # A plug-in has functions of libc's names for itself alone.
    if name not in of_libc and letter == "U":
        used.append((sources[path], name))
    elif name not in of_libc:
        defined[name].add(sources[path])
rooms, files, calls = (collections.defaultdict(set) for _ in range(3))
for caller, name in used:
    for callee in defined[name] if len(defined[name]) == 1 else ():
        ends = os.path.dirname(caller), os.path.dirname(callee)
        if ends[0] == ends[1]:
            files[caller].add(callee)
        else:
            rooms[ends[0]].add(ends[1])
            calls[ends].add(f"{caller} calls {name}() of {callee}")
if "--files" in sys.argv:
    for circle in circles(files):
        print(f"{len(circle)} files: {' '.join(circle)}")
bad = circles(rooms)
for circle in circles(files):
    room = os.path.dirname(circle[0])
    headers = [open(os.path.join(source, room, name), encoding="utf-8").read()
               for name in os.listdir(os.path.join(source, room)) if name.endswith(".h")]
    if len(circle) > FILES_MOST and not any("call each other in a circle" in " ".join(text.split()) for text in headers):
        print(f"{len(circle)} files of {room}/ call each other in a circle, and no header there says why: {circle}")
        bad.append([room])
for circle in [circle for circle in bad if len(circle) > 1]:
    print("rooms call each other in a circle: " + ", ".join(circle))
    for ends in sorted(calls):
        if ends[0] != ends[1] and ends[0] in circle and ends[1] in circle:
            print(f"  {min(calls[ends])}, and {len(calls[ends]) - 1} more")
print(f"{len(sources)} objects, {len(rooms)} rooms that call others, {len(bad)} circles")
sys.exit(1 if bad or len(rooms) < 30 else 0)
