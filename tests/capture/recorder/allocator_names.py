# SPDX-License-Identifier: BSD-2-Clause
"""The functions that other allocators have under names of their own: jemalloc, tcmalloc, mimalloc, TBB, and
one with a prefix. Each block is recorded once, whichever module calls, and what is not recorded is named."""
import os
import subprocess
import sys

import recording
from recording import BUILD, Recording, check, check_sound, sizes

source = os.environ["MPROF_SOURCE"]
place = "/usr/lib/x86_64-linux-gnu/"
folder = recording.folder("allocator-names-programs")
FUNCTION = 6
ROUNDS, THREADS = 300, 3


def build(name, file, *options):
    path = f"{folder}/{name}"
    made = subprocess.run(["cc", "-O1", "-fno-builtin", "-pthread", "-o", path, f"{source}/tests/programs/{file}",
                           *options, f"-Wl,-rpath,{folder}"], capture_output=True, text=True)
    check(made.returncode == 0, f"{name} is not built: {made.stderr}")
    return path


def expected(run):
    return {int(size): int(count) for size, count in (line.split() for line in run.stdout.splitlines())}


def check_same(what, count, wanted):
    wrong = {size: (count.get(size, 0), n) for size, n in wanted.items() if count.get(size, 0) != n}
    check(len(wanted) > 3 and not wrong, f"{what}: size: (recorded, made): {wrong}")


def record(what, *arguments, environment=None, run_options=()):
    one = Recording("allocator-names", [*arguments], environment=environment, run_options=run_options)
    check(one.run.returncode == 0, f"{what}: {one.run}")
    return one


def problems(one):
    session = one.folder + "/session.db"
    run = subprocess.run([BUILD + "/bin/mprof-ingest", "-f", "-o", session, one.path], capture_output=True, text=True)
    check(run.returncode == 0, f"ingest: {run}")
    lines = run.stdout.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith("problems")), 0)
    return "\n".join(lines[at:-2])


def attach(what, program, wanted):
    """Records a program that runs already: its slots are changed as well."""
    path = recording.folder("allocator-names-attach") + "/trace.bin"
    gate = path + ".gate"
    open(gate, "wb").close()
    with subprocess.Popen([program, gate], stdout=subprocess.DEVNULL) as child:
        with subprocess.Popen([BUILD + "/bin/mprof-run", "-o", path, "--pid", str(child.pid)],
                              stderr=subprocess.PIPE, text=True) as run:
            said = run.stderr.readline()
            os.unlink(gate)
            check(child.wait() == 0, f"{what} attached: exit {child.returncode}")
            run.stderr.read()
    check("recording process" in said and os.path.exists(path), f"{what} attached: said {said!r}")
    check_same(f"{what} attached", sizes(recording.trace_text.Trace(path), 20000) if os.path.exists(path) else {}, wanted)


prefixed = build("libprefixed.so", "prefixed_allocator.c", "-shared", "-fPIC")
plain = build("plugins", "allocator_plugins.c")
missing, plugins = [], {}
for name, library in (("JEMALLOC", place + "libjemalloc.so.2"), ("TCMALLOC", place + "libtcmalloc_minimal.so.4"),
                      ("MIMALLOC", place + "libmimalloc.so.2"), ("TBB", place + "libtbbmalloc.so.2"),
                      ("PREFIXED", prefixed)):
    if not os.path.exists(library):
        missing.append(library)
        print(f"{library}: not installed")
        continue
    for binding in ("now", "lazy") if name == "JEMALLOC" else ("lazy",):
        program = build(f"{name}-{binding}", "allocator_names.c", "-D" + name, "-Wl,-z," + binding, library,
                        *(["-no-pie"] if binding == "lazy" else ["-pie"]))
        one = record(f"{name} {binding}", program)
        wanted = expected(one.run)
        check_same(f"{name} {binding}", sizes(one.main, 20000), wanted)
        check(one.run.stderr == "" and not one.main.bypassed, f"{name} {binding}: said {one.run.stderr!r}, {one.main.bypassed}")
        if name != "TBB":  # which calls malloc by fopen and dlopen when it begins
            check_sound(one)
            check(problems(one).endswith("none"), f"{name} {binding}: {problems(one)}")
        alone = subprocess.run([program], capture_output=True, text=True)
        check(alone.stdout == one.run.stdout, f"{name}: prints {one.run.stdout}, alone {alone.stdout}")
    plugins[name] = build(f"plugin-{name}.so", "allocator_names.c", "-DLIBRARY", "-D" + name, "-shared", "-fPIC", library), wanted
    # A library that the program begins with is recorded from its constructor on.
    one = record(f"{name} with the program", plain, "0", environment={"LD_PRELOAD": plugins[name][0]})
    check_same(f"{name} with the program", sizes(one.main, 20000), {size: n // THREADS for size, n in wanted.items() if size < 28000})
    if name in ("JEMALLOC", "MIMALLOC"):
        attach(name, program, wanted)
        aligned = {size: alignment for thread in one.main.threads.values() for _, _, _, size, alignment in thread.events()}
        which, alignment = (20002, 64) if name == "JEMALLOC" else (20005, 256)
        check(aligned.get(which) == alignment, f"{name}: alignment of {which}: {aligned.get(which)}")
    # A sample of all bytes stands for about as many as there are.
    if name in ("JEMALLOC", "PREFIXED"):
        one = record(f"{name} sampled", program, run_options=["--sample=64K"])
        total, bytes_made = sum(sizes(one.main, 20000).values()), sum(size * n for size, n in wanted.items())
        points = bytes_made / 65536
        check(0.75 * points < total < 1.1 * points, f"{name} sampled: {total} blocks, {points:.0f} points")

# A program without such an allocator does not get one from the recorder.
for what, (path, wanted) in plugins.items():
    one = Recording("allocator-names", [plain, "3", path])
    check(one.run.stdout.startswith("0 0\n0 0\n"), f"{what} loaded later: prints {one.run.stdout}")
    if "static TLS" in one.run.stdout: # as it is alone: jemalloc comes with the program
        continue
    # In each turn the constructor's calls are missing, and the child's are in its own trace. But malloc is recorded from
    # the constructor on, and as soon as mimalloc maps memory the recorder sees the library on the stack.
    runs, found = 6 if what == "PREFIXED" else 3, sizes(one.main, 20000)
    if what == "MIMALLOC":
        check(all(3 * n // THREADS <= found.get(size, 0) <= 6 * n // THREADS for size, n in wanted.items()) and
              found.keys() == wanted.keys(), f"{what} loaded later: {found}")
    else:
        check_same(f"{what} loaded later", found, {size: n // THREADS * runs for size, n in wanted.items()})
    for child in one.others:
        check_same(f"{what} loaded later, a child", sizes(child, 20000), {size: n // THREADS for size, n in wanted.items()})
    check(len(one.others) == 3, f"{what} loaded later: {len(one.others)} children")
    check(what != "TBB" or sizes(one.main).get(30000) == 3, "by dlsym")

# Functions that nobody knows, and those that end blocks without telling which, are named.
file = folder + "/unknown.c"
with open(file, "w", encoding="ascii") as text:
    text.write("#include <stddef.h>\nvoid *je_xyz_alloc(size_t), *je_malloc(size_t);\nvoid je_free(void *);\n"
               "int main(void) { je_free(je_malloc(9)); return !je_xyz_alloc(7777); }\n")
unknown = folder + "/unknown"
subprocess.run(["cc", "-o", unknown, file, prefixed, f"-Wl,-rpath,{folder}"], check=True)
one = record("unknown", unknown)
check([reason for reason, _ in one.main.bypassed] == [FUNCTION], f"unknown: {one.main.bypassed}")
check(one.run.stderr.count("\n") == 1 and "je_xyz_alloc" in one.run.stderr, f"unknown: said {one.run.stderr}")
check("not recorded" in problems(one) and "je_xyz_alloc" in problems(one), f"unknown: {problems(one)}")
# The program's own calls of an allocator that is linked into it.
inside = build("inside", "allocator_names.c", "-DPREFIXED", f"{source}/tests/programs/prefixed_allocator.c")
one = record("inside", inside)
check(one.main.bypassed == [(FUNCTION, "(the program)")], f"inside: {one.main.bypassed}")
# The same without its names: a program with jemalloc's messages, and one that has only one of them.
for what, messages, found in (("stripped", ["Malformed conf string", "Error in munmap(): %s"], True),
                              ("one message", ["Malformed conf string"], False)):
    path = folder + "/stripped"
    subprocess.run(["cc", "-s", "-o", path, "-x", "c", "-"], check=True, text=True, input="#include <stdlib.h>\n"
                   + "".join(f'const char *volatile text{i} = "<jemalloc>: {m}";\n' for i, m in enumerate(messages))
                   + "int main(void) { free(malloc(9)); return !text0; }\n")
    run = subprocess.run([recording.BUILD + "/bin/mprof-run", "-f", "-o", path + ".bin", path], capture_output=True, text=True)
    says = f"not recorded: {path}: its calls of jemalloc, presumably linked in" in run.stderr
    summary = subprocess.run([recording.BUILD + "/bin/mprof-ingest", "-f", path + ".bin"], capture_output=True, text=True).stdout
    named = f"not recorded: {path} (its calls of jemalloc, presumably linked in" in summary
    check((says, named) == (found, found), f"{what}: {run.stderr} {summary}")
if missing and not recording.wrong:
    sys.exit(77)
recording.done()
