#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truth.py (NAME SESSION SOURCES)…: how many allocation sites of each program have a type, and how
many of those types are what the source line states.

A site is the innermost frame in the program's own sources that is not a function which only hands
memory on (HANDED_ON), with the function that called the allocator. If that function is the site's own, and not a library's, the statement's meaning is taken from the text alone: `sizeof(T)`, `sizeof(*variable)` where the variable is declared above it, `new T`,
a cast of the result, and Lua's macros that name a type. The truth is the type of the block's elements:
of `sizeof(T) + n` it is T, of `n + sizeof(void *)` nothing is known, and of sums and pointers it is what
the receiving variable points to. If the statement says nothing, the answer counts as typed
but neither as right nor as wrong.

Each `exact` type is compared with its own stack as well: the containers of the standard library whose
functions are called around the allocator name their elements. Status 1 where an exact type is wrong or so
contradicted, or of the inferred ones of a program, as it was built in one way, more than 2 % are wrong.
"""
import collections
import os
import re
import sqlite3
import sys

HANDED_ON = {
    "luaM_malloc_", "luaM_realloc_", "luaM_saferealloc_", "luaM_growaux_", "luaM_shrinkvector_",
    "luaC_newobj", "luaC_newobjdt", "l_alloc", "createstrobj",
    "sqlite3MemMalloc", "sqlite3MemRealloc", "mallocWithAlarm", "sqlite3Malloc", "sqlite3Realloc",
    "sqlite3MallocZero", "sqlite3DbMallocRaw", "sqlite3DbMallocRawNN", "sqlite3DbMallocZero", "dbMallocRawFinish",
    "sqlite3DbRealloc", "dbReallocFinish", "sqlite3DbReallocOrFree", "sqlite3_malloc", "sqlite3_malloc64",
    "sqlite3_realloc", "sqlite3_realloc64", "pcache1Alloc", "sqlite3PageMalloc",
    "emalloc_real", "ezalloc_real", "erealloc_real", "xmalloc", "xrealloc", "xcalloc", "xzalloc", "xnmalloc",
    "ximalloc", "xizalloc", "xicalloc", "xreallocarray", "ireallocarray", "xpalloc", "xirealloc", "maybe_realloc",
    "more_blocks", "recallocarray", "xrecallocarray", "xmallocz", "ZSTD_customMalloc", "ZSTD_customCalloc",
    "jv_mem_alloc", "jv_mem_calloc", "jv_mem_realloc", "jv_mem_alloc_unguarded", "jv_mem_calloc_unguarded",
    "jq_yyalloc", "jq_yyrealloc", "yyalloc", "yyrealloc",
    "sqlite3WhereMalloc", "sqlite3WhereRealloc", "sqlite3Fts5MallocZero",
}
NAME = r"(?:struct |class |const |unsigned |signed )*[A-Za-z_][\w:]*(?: ?\*)*"
INFERRED_WRONG_MAX = 0.02
SCALARS = {"int", "unsigned", "unsigned int", "long", "size_t", "char", "double", "uint64_t", "uint32_t",
           "int64_t", "i64", "u64", "u32", "u8", "void"}
CHARACTERS = {"char", "unsigned char", "uint8_t", "void", "sds"}


def read(path, cache={}):
    if path not in cache:
        try:
            with open(path, errors="replace") as file:
                cache[path] = file.read().split("\n")
        except OSError:
            cache[path] = []
    return cache[path]


def typedefs(sources):
    """Returns the names behind each record's typedef, alias or macro: {"robj": ["redisObject"]}.
    If a program has several, as for several systems, each of them may be meant."""
    names = collections.defaultdict(list)
    for folder, _, files in os.walk(sources):
        for file in files:
            if not file.endswith((".c", ".h", ".cc", ".cpp", ".y")):
                continue
            text = "\n".join(read(os.path.join(folder, file)))
            for tag, name in re.findall(r"typedef\s+(?:struct|union)\s+(\w+)\s*\{.*?\n\}\s*(\w+)\s*;", text, re.S):
                names[name].append(tag)
            for old, name in re.findall(r"typedef\s+(?:struct |union |enum )?([\w <>,:*]+?\**)\s+(\**\w+)\s*;", text):
                names[name.lstrip("*")].append(old + "*" * name.count("*"))
            for name, old in re.findall(r"\busing (\w+) = ([\w <>,:*]+);", text):
                names[name].append(old)
            for name, old in re.findall(r"^#\s*define[ \t]+(\w+)[ \t]+((?:struct )?[a-zA-Z_]\w*)[ \t]*$", text, re.M):
                names[name].append(old)
    return names


def unqualified(name):
    """Without namespaces and scopes, and of those without template arguments."""
    name = re.sub(r"\b(struct|class|const) ", "", name).replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"\w+(?:<[^<>]*>)?::", "", name)) != name:
        name = shorter
    return re.sub(r" ?\*", "*", name).strip()


def spellings(name, names, depth=0):
    """Returns all types that the name can mean: itself without namespaces, and those behind its typedefs."""
    name = unqualified(name)
    base, stars = name.rstrip("*").strip(), "*" * (len(name) - len(name.rstrip("*")))
    if not stars and (base in CHARACTERS or base == "buffer"):
        return {"buffer"}
    found = {base + stars}
    for other in names.get(base, ()) if depth < 9 else ():
        if unqualified(other) != base:
            found |= spellings(other + stars, names, depth + 1)
    return found


def agree(found, truth, names):
    """True where both can name one type. The arguments of a template may be spelled through names
    that only its scope knows, so that they have no say where they differ."""
    left, right = spellings(found, names), spellings(truth, names)
    return bool(left & right or {name.split("<")[0] for name in left if "<" in name} &
                {name.split("<")[0] for name in right if "<" in name})


def statement(path, line):
    """The text from the statement's begin to its semicolon; empty where there is no source."""
    lines = read(path)
    if not 0 < line <= len(lines):
        return ""
    first, last = line - 1, line - 1
    while first > 0 and line - first < 4 and not re.search(r"[;{}:]\s*(?:/[/*].*)?$", lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and last - line < 4 and ";" not in lines[last]:
        last += 1
    return " ".join(lines[first:last + 1])


def declared(path, line, variable):
    """Returns the type that `variable` points to by the nearest declaration above the line, or None."""
    for text in reversed(read(path)[max(0, line - 150):line]):
        found = re.search(r"(?:^|[(,;{]|\bconst)\s*(?!return\b)(" + NAME + r")\s*\*(?:[\w\s]+,\s*\*)*\s*" + re.escape(variable) + r"\b", text)
        if found and found.group(1).strip() not in ("sizeof", "return"):
            return found.group(1).strip()
    return None


def part_of(text, start, end):
    """(summand, multiplied) of the operand text[start:end] in the size that it is part of."""
    summand = multiplied = False
    while True:
        first, depth = start, 0
        while first > 0 and not (depth == 0 and text[first - 1] in "(,=;{?:"):
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text[first - 1], 0)
            first -= 1
        last, depth = end, 0
        while last < len(text) and not (depth == 0 and text[last] in "),;}?:"):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[last], 0)
            last += 1
        flat, depth = "", 0
        for at in range(first, last):
            depth += text[at] in "(["
            mark = "@" if start <= at < end else text[at]
            flat += mark if depth == 0 or mark == "@" else "_"
            depth -= text[at] in ")]"
        terms = re.split(r"(?<=[\w@_ ])[+-](?!>)", re.sub(r"@+", "@", flat))
        summand = summand or len(terms) > 1
        multiplied = multiplied or next(term for term in terms if "@" in term).strip() != "@"
        if first == 0 or text[first - 1] != "(" or last >= len(text) or re.search(r"\w\s*$", text[:first - 1]):
            return summand, multiplied
        start, end = first - 1, last + 1


def sized(path, line, text):
    """The type that the sizeof operators name: in a sum the first record that is added, otherwise the one that is multiplied or alone. None: there is no sizeof."""
    headers, elements, operands = [], [], 0
    for found in re.finditer(r"sizeof\s*(?:\(\s*(" + NAME + r")\s*\)|\(?\s*\*\s*(\w+)\b(?![.\->])\)?|\(?(\w+)\[0\]\)?)", text):
        operands += 1
        kind = found.group(1) or declared(path, line, found.group(2) or found.group(3))
        summand, multiplied = part_of(text, found.start(), found.end())
        if kind is None:
            continue
        if not summand:
            elements.append(kind)
        elif not multiplied and not kind.endswith("*") and kind not in SCALARS:
            headers.append(kind)
    # The size of a pointer is that of any, and a sum does not say what comes first: what the block
    # holds, or begins with, the variable says.
    if headers or elements and all(kind.endswith("*") for kind in elements):
        variable = re.search(r"(?:^|[;{}]|(\*))\s*(\w+)\s*=\s*(?:\([\w\s*]+\)\s*)?\w+\s*\(", text)
        kind = variable and declared(path, line, variable.group(2))
        # "*list = …" receives what the list points to; in "T *list = …" the star belongs to T.
        if kind and kind.endswith("*") and re.match(r"\s*\*", text[:variable.start(2)]):
            kind = kind[:-1].strip()
        if kind and kind not in CHARACTERS - {"sds"} | SCALARS:
            return [kind]
    if operands == 0:
        return None
    return headers[:1] or elements


def is_parameter(path, name):
    """True where `name` is a template's parameter somewhere in the file."""
    return re.search(r"\btemplate\s*<[^{;]*\b(?:typename|class)\s+" + re.escape(name) + r"\b", "\n".join(read(path)))


def stated(path, line):
    """The types that the statement names, each one a possible truth."""
    text = statement(path, line)
    for part in (read(path)[line - 1:line] + [text]):
        found = re.findall(r"\bnew (" + NAME + r")\s*[\[({;),<]", part)
        if found:
            return {kind for kind in found if not is_parameter(path, kind)}
    for macro in (r"luaM_new\(\w+,\s*(" + NAME + r")\)", r"luaM_newvector\(\w+,.*,\s*(" + NAME + r")\)",
                  r"luaM_reallocvector\(.*,\s*(" + NAME + r")\)", r"luaM_growvector\((?:[^,]*,){4}\s*(" + NAME + r"),",
                  r"luaM_shrinkvector\((?:[^,]*,){4}\s*(" + NAME + r")\)"):
        found += re.findall(macro, text)
    if "luaM_newblob" in text:
        found.append("char")
    if found:
        return set(found)
    if not re.search(r"alloc|luaC_newobj|luaM_", text):
        return set()
    found = sized(path, line, text)
    if found is None:
        found = re.findall(r"=\s*\(\s*(" + NAME + r")\s*\*\s*\)\s*\w*alloc", text)
    return set(found)


def sites_of(session, sources):
    """{(file, line, calling function, whether that is its own): {(type, confidence): allocations}}."""
    database = sqlite3.connect(session)
    frames = collections.defaultdict(list)
    begin = dict(database.execute("""SELECT sf.stack_id, min(sf.depth) FROM stack st JOIN stack_frame sf
        ON sf.stack_id = st.id AND sf.frame_id = st.call_site_frame_id GROUP BY 1"""))
    for stack, depth, function, file, line, module in database.execute(
            "SELECT stack_id, depth, function, file, line, module FROM v_stack ORDER BY stack_id, depth"):
        if depth >= begin.get(stack, 0):
            frames[stack].append((function, file or "", line or 0, module or ""))
    sites = collections.defaultdict(collections.Counter)
    for stack, kind, confidence, count in database.execute("""SELECT a.stack_id, t.name, t.confidence, count(*)
            FROM allocation a LEFT JOIN type t ON t.id = a.type_id WHERE a.arena_id = 0 GROUP BY 1, 2, 3"""):
        library = False
        for function, file, line, module in frames[stack]:
            if not os.path.realpath(file).startswith(os.path.realpath(sources) + "/"):
                if file and not re.search(r"/include/(c\+\+|x86_64)|/bits/|^$", file):
                    break  # a library's own
                library = library or not file and "libstdc++" not in module and module
                continue
            # A library without debug information has no sites of the program.
            if library and library != module:
                break
            if function not in HANDED_ON:
                inner = frames[stack][0][0]
                own = inner == function or inner in HANDED_ON
                sites[file, line, inner, own][kind, confidence] += count
                break
    return sites


# ---- what the frames of a stack say ------------------------------------------------------------

FAMILIES = {member: family for family, members in {
    "vector": "vector _Vector_base", "deque": "deque _Deque_base", "list": "list _List_base",
    "forward": "forward_list _Fwd_list_base", "tree": "set map multiset multimap _Rb_tree",
    "hash": "unordered_map unordered_set unordered_multimap unordered_multiset _Hashtable",
}.items() for member in members.split()}
# Containers that are named by a key and what is kept under it.
KEYED = {"map", "multimap", "unordered_map", "unordered_multimap"}


def arguments(text):
    """Returns the template arguments at the beginning of `text`, which follows a "<", and the rest."""
    found, depth, start = [], 0, 0
    for at, mark in enumerate(text):
        if mark in "<([{":
            depth += 1
        elif depth and mark in ">)]}":
            depth -= 1
        elif mark in ",>" and not depth:
            found.append(text[start:at])
            start = at + 1
            if mark == ">":
                return found, text[at + 1:]
    return found, ""


def container(function):
    """(family, elements, member function) of a member of a container of libstdc++; None: another one."""
    depth = 0
    for at, mark in enumerate(function):
        if not depth and (found := re.match(r"std::(?:__cxx11::)?(\w+)<", function[at:])):
            inside, rest = arguments(function[at + found.end():])
            if found.group(1) in FAMILIES and rest.startswith("::"):
                elements = inside[:2] if found.group(1) in KEYED else inside[1:2] \
                    if found.group(1) in ("_Rb_tree", "_Hashtable") else inside[:1]
                return FAMILIES[found.group(1)], elements, rest[2:]
        depth += mark in "<({["
        depth -= mark in ">)}]" and function[at - 1:at] != "-"
    return None


def is_allocator(function):
    """Returns true for a function between a container and operator new."""
    name = function.split("(")[0]
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    own = r"alloc\w*::allocate$|\b__detail::_Hashtable_alloc::|\b__detail::_\w*Alloc\w*Node::"
    return name.startswith("operator new") or bool(re.search(own, name))


def plain(name):
    """Without what compilers and libraries spell in more than one way."""
    name = re.sub(r"\b(const|struct|class)\b", "", name.replace("std::__cxx11::", "std::"))
    name = name.replace("std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string")
    name = re.sub(r"\blong unsigned int\b", "unsigned long", name)
    defaults = r", ?std::(?:allocator|less|hash|equal_to|default_delete|deque)<(?:[^<>]|<[^<>]*>)*>"
    while (shorter := re.sub(defaults, "", name)) != name:
        name = shorter
    return name.replace(" ", "")


def contradiction(kind, functions):
    """The frame that says that the block holds something else; None: there is none. `functions`
    from the allocator outward."""
    family, word = None, None
    for function in functions:
        if is_allocator(function):
            continue
        found = container(function)
        if found is None or found[2].startswith("construct") or family not in (None, found[0]):
            break
        if word and any(plain(word[1][0]) in plain(element) and "<" in element for element in found[1]):
            break  # a container in a container
        family, word = found[0], (function, found[1])
    if word is None or kind.startswith("std::__detail::_Hash_node_base") or plain(word[1][0]) == "bool":
        return None
    if kind == "buffer" and plain(word[1][0]) in ("char", "signedchar", "unsignedchar"):
        return None
    return None if all(plain(element) in plain(kind) for element in word[1]) else word[0]


def contradicted(session):
    """(type, frame) of each stack whose exact type its own frames contradict."""
    database = sqlite3.connect(session)
    functions = collections.defaultdict(list)
    for stack, function in database.execute("SELECT stack_id, function FROM v_stack ORDER BY stack_id, depth"):
        functions[stack].append(function)
    found = set()
    for stack, kind in database.execute("""SELECT DISTINCT a.stack_id, t.name FROM allocation a
            JOIN type t ON t.id = a.type_id WHERE t.confidence = 'exact'"""):
        frame = contradiction(kind, functions[stack])
        if frame is not None:
            found.add((kind, frame))
    return sorted(found)


# ---- the table ----------------------------------------------------------------------------------

def bad(counts):
    """True where a type that was said to be exact is wrong, or too many of the inferred ones are."""
    judged = counts["right inferred"] + counts["wrong inferred"]
    return counts["wrong exact"] + counts["denied"] > 0 or counts["wrong inferred"] > INFERRED_WRONG_MAX * judged


def report(name, session, sources, total):
    names, counts, wrong, untyped = typedefs(sources), collections.Counter(), [], []
    for (file, line, _, own), answers in sorted(sites_of(session, sources).items()):
        counts["sites"] += 1
        (kind, confidence), _ = answers.most_common(1)[0]
        counts[confidence or "unknown"] += 1
        where = f"{os.path.basename(file)}:{line}"
        if kind is None:
            untyped.append(where)
            continue
        truth = stated(file, line) if own else set()
        if not truth:
            counts["unstated"] += 1
            continue
        false = [(kind, confidence) for kind, confidence in answers
                 if kind is not None and not all(agree(kind, other, names) for other in truth)]
        # The worst of the site's answers, exact before inferred.
        confidence = min((confidence for _, confidence in false), default=confidence)
        counts["wrong " + confidence if false else "right " + confidence] += 1
        if false:
            wrong.append(f"wrong {confidence} {where}: {', '.join(sorted({kind for kind, _ in false}))}; "
                         f"the source says {', '.join(sorted(truth))}")
    denied = contradicted(session)
    counts["denied"] = len(denied)
    print_row(name, counts)
    total.update(counts)
    total["bad"] += bad(counts)
    return ([f"{name} {line}" for line in wrong] +
            [f"{name} contradicted {kind} in {frame}" for kind, frame in denied] +
            [f"{name} unknown {line}" for line in untyped])


def print_row(name, counts):
    typed = counts["exact"] + counts["inferred"]
    print(f"{name:<26}{counts['sites']:>6}{counts['exact']:>7}{counts['wrong exact']:>6}{counts['denied']:>7}"
          f"{counts['inferred']:>9}{counts['wrong inferred']:>6}{counts['unknown']:>8}"
          f"{100 * typed / max(1, counts['sites']):>7.1f}%{counts['right exact'] + counts['right inferred']:>7}"
          f"{counts['unstated']:>9}")


def main():
    given, remarks, total = sys.argv[1:], [], collections.Counter()
    print(f"{'program':<26}{'sites':>6}{'exact':>7}{'wrong':>6}{'denied':>7}{'inferred':>9}{'wrong':>6}"
          f"{'unknown':>8}{'typed':>8}{'right':>7}{'unstated':>9}")
    for at in range(0, len(given), 3):
        remarks += report(*given[at:at + 3], total)
    print_row("all", total)
    print("\n" + "\n".join(remarks))
    sys.exit(total["bad"] > 0)


if __name__ == "__main__":
    main()
