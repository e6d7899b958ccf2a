# SPDX-License-Identifier: BSD-2-Clause
"""python_trees.py FILES FOLDER...: parses, compiles and dumps FILES Python sources: very many stacks."""
import ast
import json
import os
import sys


def sources(folders):
    for top in folders:
        for folder, names, leaves in os.walk(top):
            names.sort()
            yield from (os.path.join(folder, leaf) for leaf in sorted(leaves) if leaf.endswith('.py'))


def shape(node):
    if isinstance(node, ast.AST):
        return {'kind': type(node).__name__, **{f: shape(v) for f, v in ast.iter_fields(node)}}
    return [shape(one) for one in node] if isinstance(node, list) else repr(node)


for path, _ in zip(sources(sys.argv[2:]), range(int(sys.argv[1]))):
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        tree = ast.parse(text)
        compile(tree, path, 'exec')
        if len(text) < 40000:
            json.loads(json.dumps(shape(tree)))
            ast.unparse(tree)
    except (SyntaxError, UnicodeDecodeError, RecursionError, ValueError):
        pass
