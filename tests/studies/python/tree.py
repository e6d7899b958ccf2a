# SPDX-License-Identifier: BSD-2-Clause
# usage: tree.py TYPES: parses modules of the standard library, makes plain objects of the trees, and
# sends these through JSON. Then it writes the address and the type of each object that is live, or,
# if tracemalloc counts, the three lines that hold most as it says.
import ast
import ctypes
import gc
import json
import os
import sys
import tracemalloc


def parse(names):
    trees = {}
    for name in names:
        with open(os.path.join(os.path.dirname(os.__file__), name), encoding="utf-8") as source:
            text = source.read()
        trees[name] = ast.parse(text, name)
    return trees


def plain(tree):
    if isinstance(tree, ast.AST):
        fields = {"kind": type(tree).__name__}
        for name, value in ast.iter_fields(tree):
            fields[name] = plain(value)
        return fields
    if isinstance(tree, list):
        return [plain(item) for item in tree]
    return tree if isinstance(tree, (str, int, type(None))) else repr(tree)


def write(objects):
    return json.dumps(objects)


def read(text):
    return json.loads(text)


def tell(kept, file):
    """Goes to all objects that can be reached from those in `kept`."""
    seen, ahead = set(), list(kept)
    while ahead:
        thing = ahead.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        file.write("%d,%s\n" % (id(thing), type(thing).__name__))
        ahead.extend(gc.get_referents(thing))


def main():
    gc.disable()
    trees = parse(["ast.py", "inspect.py", "typing.py", "_pydecimal.py", "json/decoder.py", "json/encoder.py"])
    objects = {name: plain(tree) for name, tree in trees.items()}
    text = write(objects)
    again = read(text)
    if tracemalloc.is_tracing():
        for line in tracemalloc.take_snapshot().statistics("lineno")[:3]:
            print(line.traceback[0].lineno, line.count, line.size)
        return
    ctypes.CDLL(None).mprof_mark(b"built")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        tell([trees, objects, text, again], file)
    os._exit(0)


main()
