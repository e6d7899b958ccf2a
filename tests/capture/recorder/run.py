# SPDX-License-Identifier: BSD-2-Clause
"""mprof-run: names, refusals, statuses; the library's symbols and needs; linking."""
import glob
import os
import re
import shutil
import signal
import subprocess

import recording
from recording import check, sizes, unrecorded
from trace_text import Trace

build, source = recording.BUILD, os.environ["MPROF_SOURCE"]
run_path, library = build + "/bin/mprof-run", build + "/lib/libmprof.so"
folder = recording.folder("run-out")


def run(*arguments, **keywords):
    return subprocess.run([run_path, *arguments], capture_output=True, text=True, cwd=folder, **keywords)


def expect(result, status, text, what):
    check(result.returncode == status and text in result.stderr + result.stdout,
          f"{what}: {result.returncode} {result.stderr!r}")


expect(run("sh", "-c", "exit 7"), 7, "recorded", "the program's status")
expect(run("--", "sh", "-c", "kill -USR1 $$"), -signal.SIGUSR1, "recorded", "the program's signal")
expect(run("no-such-program"), 127, "no such program", "a program that is not there")
shutil.copy("/bin/true", folder + "/own-program")
expect(run("own-program"), 127, "own-program: is in this folder but not in PATH; write ./ before", "a program without ./")
os.unlink(folder + "/own-program")
expect(run("/etc/passwd"), 126, "not executable", "a file that is not a program")
expect(run(), 2, "mprof-run --help lists", "no program")
expect(run("--nonsense"), 2, "no option --nonsense; mprof-run --help lists", "an unknown option")
expect(run("--clock=slow", "true"), 2, "--clock takes one of exact fast, not \"slow\"; mprof-run --help", "a bad option")
expect(run("--sample=much", "true"), 2, '--sample takes SIZE, not "much"; mprof-run --help', "a bad size")
expect(run("-o", folder + "/absent/t.bin", "true"), 0, "error 2, no such folder; nothing is recorded. Name another place "
       "with MPROF_OUTPUT or mprof-run -o.", "a folder that is not there")
expect(run("-o", folder + "/absent/t.bin", "env", "-i", "true"), 0, "no trace was written", "no trace")
expect(run("--help"), 0, "--free-stacks", "--help")
expect(run("--version"), 0, "mprof-run ", "--version")
names = [name for name in os.listdir(folder) if name.endswith(".bin")]
check(all(re.fullmatch(r"mprof\.sh\.\d+\.bin", name) for name in names) and len(names) == 2,
      f"default names: {names}")
open(folder + "/there.bin", "w").write("mine")
expect(run("-o", "there.bin", "true"), 1, "--force", "a trace that exists")
check(open(folder + "/there.bin").read() == "mine", "it is left alone")
expect(run("--force", "-o", "there.bin", "true"), 0, "recorded", "--force")
check(Trace(folder + "/there.bin").header["state"] == "ended", "--force replaces it")

expect(run("--force", "-o", "there.bin", "sh", "-c", "sh -c true; true"), 0, "there.bin and .d: 2 processes, ",
       "what the run holds")
old, kept, named = (folder + "/there.bin.d/" + name for name in ("1", "notes", "2024"))
open(old, "wb").write(open(folder + "/there.bin", "rb").read(4096))
expect(run("-o", "there.bin", "true"), 1, "there.bin: exists already", "a run that exists")
open(named, "w").write("mine")
expect(run("--force", "-o", "there.bin", "true"), 1, "there.bin.d: cannot be replaced: it contains other files", "a name like a trace's")
check(os.path.exists(folder + "/there.bin") and os.path.exists(old), "nothing is removed where not all can be")
check(open(named).read() == "mine", "it is left alone, too")
os.unlink(named)
os.rename(folder + "/there.bin.d", folder + "/elsewhere")
os.symlink("elsewhere", folder + "/there.bin.d")
expect(run("--force", "-o", "there.bin", "true"), 1, "there.bin.d: cannot be replaced", "a link to a folder")
check(os.path.exists(folder + "/elsewhere/1"), "what the link leads to is left alone")
os.unlink(folder + "/there.bin.d")
os.rename(folder + "/elsewhere", folder + "/there.bin.d")
os.unlink(folder + "/there.bin")
expect(run("-o", "there.bin", "true"), 1, "there.bin.d: exists already; replace it with --force", "what is left of a run")
open(kept, "w").write("mine")
expect(run("--force", "-o", "there.bin", "true"), 1, "there.bin.d: cannot be replaced: it contains other files", "a file of someone else")
check(open(kept).read() == "mine" and os.path.exists(old), "it is left alone")
os.unlink(kept)
expect(run("--force", "-o", "there.bin", "true"), 0, "recorded " + folder + "/there.bin; mprof-ingest makes a session of it\n", "one process alone")
check(not os.path.exists(folder + "/there.bin.d"), "no folder without need")
os.mkdir(folder + "/there.bin.d")
open(folder + "/there.bin.d/4194999", "wb").write(bytes(4096))
open(folder + "/there.bin.d/4194999.2", "wb").close()
killed = "head -c 4096 /dev/zero > there.bin.d/4194999; mkdir there.bin.d/x; rmdir there.bin.d/x; true"
expect(run("--force", "-o", "there.bin", "sh", "-c", killed), 0, "recorded ", "traces that never began are replaced")
names = os.listdir(folder + "/there.bin.d")
check(len(names) == 3 and "4194999" not in names, f"a trace whose process ended before it began is removed: {names}")

# The ways in which tests/programs/executes.c executes a program.
unusual = ("fexecve", "place", "execveat", "empty", "relative", "call-execve", "call-execveat", "vfork")


def executes(program, says):
    """A recorded program executes one that would end because of the preloaded recorder. That one runs as it
    would alone: without the recorder, but with all else that is preloaded. One line says so."""
    spawns = ("import os; e = dict(os.environ); "
              f"[os.waitpid(os.posix_spawn('{program}', ['{program}'], e), 0)[1] == 0 or os._exit(1) for i in '1']; "
              f"os._exit(os.waitpid(os.posix_spawnp('{program}', ['x'], e), 0)[1] != 0)")
    script = program + ".script"
    open(script, "w").write(f"#!{program} -x\n")
    os.chmod(script, 0o755)
    for name, command, lines in (("sh", ["sh", "-c", f"{program}; exit $?"], 1), ("env", ["env", "A=1", program], 1),
                                 ("script", ["env", script], 1), ("posix_spawn", ["/usr/bin/python3", "-c", spawns], 2),
                                 *((how, [build + "/tests/executes", how, program], 1) for how in unusual)):
        one = run("--force", "--quiet", "-o", "executes.bin", *command)
        check(one.returncode == 0 and one.stdout == "", f"{name} executes {program}: {one}")
        check(one.stderr.count("\n") == lines and one.stderr.count(says) == lines, f"{name} {program}: {one.stderr!r}")


expect(subprocess.run(["sh", "-c", f"ulimit -s 64; {run_path} --force -o there.bin true; {run_path} nonsense"], capture_output=True,
                      text=True, cwd=folder), 127, "recorded ", "a small stack")

static = folder + "/static"
open(folder + "/empty.c", "w").write("int main(void) { return 0; }\n")
subprocess.run(["cc", "-static", "-o", static, folder + "/empty.c"], check=True)
expect(run(static), 1, "statically linked", "a static program")
for sanitizer in ("address", "thread"):
    sanitized = f"{folder}/sanitized-{sanitizer}"
    made = subprocess.run(["gcc", f"-fsanitize={sanitizer}", "-o", sanitized, folder + "/empty.c"], capture_output=True)
    if made.returncode == 0 and "san.so" in subprocess.run(["readelf", "-d", sanitized], capture_output=True, text=True).stdout:
        refused = run(sanitized)
        expect(refused, 1, "built with a sanitizer", f"a program with -fsanitize={sanitizer}")
        check(refused.stderr.count("\n") == 1, f"one line says so: {refused.stderr!r}")
        executes(sanitized, "built with a sanitizer")
other = folder + "/other"
if shutil.which("musl-gcc"):
    # musl with the name of uClibc's loader, by which the program is known.
    shutil.copy("/lib/ld-musl-x86_64.so.1", folder + "/ld-uClibc.so.0")
    subprocess.run(["musl-gcc", f"-Wl,-dynamic-linker,{folder}/ld-uClibc.so.0", "-o", other, folder + "/empty.c"], check=True)
    expect(run(other), 1, "neither glibc nor musl", "a program of another C library")
    executes(other, "is neither glibc nor musl")
    # A shell of glibc runs a program of musl, which runs a shell of glibc, which runs the first one again.
    open(folder + "/tree.c", "w").write("""#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    void *volatile block = malloc(1234);
    free(block);
    return argc > 1 ? execl("/bin/sh", "sh", "-c", argv[1], (char *)0) : 0;
}""")
    subprocess.run(["musl-gcc", "-o", folder + "/tree", folder + "/tree.c"], check=True)
    tree = run("--quiet", "-o", "tree.bin", "sh", "-c", "./tree './tree; exit $?'; exit $?")
    traces = [Trace(path) for path in (folder + "/tree.bin", *glob.glob(folder + "/tree.bin.d/*"))]
    check(tree.returncode == 0 and not tree.stderr and not unrecorded(folder + "/tree.bin") and
          sorted(sizes(one).get(1234, 0) for one in traces) == [0, 0, 1, 1], f"musl among others: {tree}, {len(traces)}")
    named = run("--quiet", "-o", "named.bin", "sh", "-c", "/lib/ld-musl-x86_64.so.1 ./tree; exit $?")
    counts = [sizes(Trace(path)).get(1234, 0) for path in (folder + "/named.bin", *glob.glob(folder + "/named.bin.d/*"))]
    check(named.returncode == 0 and sum(counts) == 1, f"musl's loader by its name: {named}, {counts}")
else:
    print("no musl-gcc here: its programs were not tried")
shutil.copy(build + "/tests/widgets", folder + "/setuid")
os.chmod(folder + "/setuid", 0o4755)
if os.geteuid() == 0:
    os.chown(folder + "/setuid", 65534, 65534)
    os.chmod(folder + "/setuid", 0o4755)
    expect(run(folder + "/setuid"), 1, "setuid", "a setuid program")

own = run("--quiet", "-o", "own.bin", build + "/tests/own_malloc")
check(own.returncode == 0 and own.stdout == "ran\n" and own.stderr.count("mprof: ") == 1
      and "its own malloc" in own.stderr, f"a program with its own malloc: {own}")
check(unrecorded(folder + "/own.bin") == [("own_malloc", 8)], f"a program with its own malloc: {unrecorded(folder + '/own.bin')}")

# An existing preload is kept, and ours comes first.
shown = run("--quiet", "-o", "preload.bin", "sed", "-nz", "s/^LD_PRELOAD=//p", "/proc/self/environ",
            env={**os.environ, "LD_PRELOAD": "libc.so.6"})
preloaded, _, others = shown.stdout.strip("\0").partition(":")
check(os.path.samefile(preloaded, library) and preloaded.endswith("/mprof/libmprof.so") and others == "libc.so.6",
      f"LD_PRELOAD: {shown.stdout!r}")

symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
exported = {line.split()[2] for line in symbols.stdout.splitlines()}
public = set(re.sub(r"global:|;|[{}]", " ", open(source + "/capture/mprof.map").read().split("local:")[0]).split())
check(exported == public, f"exported beside the list: {exported ^ public}")
needs = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
check(re.findall(r"NEEDED.*\[(.*)\]", needs) == ["libc.so.6"], f"the library needs more than libc: {needs}")

# Linked instead of preloaded. With -no-pie the address of malloc is the program's own stub.
program = source + "/tests/programs/widgets.c"
# The options to link with, as the page gives them.
wraps = ",".join(re.findall(r"--wrap=\w+", open(source + "/docs/other-allocators.md").read()))
check(wraps.count("wrap") == 25, f"{wraps.count('wrap')} names are wrapped")
for name, options, environment in (
        ("linked", ["-lmprof"], {"LD_LIBRARY_PATH": build + "/lib"}),
        ("linked-no-pie", ["-no-pie", "-lmprof"], {"LD_LIBRARY_PATH": build + "/lib"}),
        ("archive", ["-Wl," + wraps, build + "/lib/libmprof.a"], {}),
        ("static-archive", ["-static", "-Wl," + wraps, build + "/lib/libmprof.a"], {})):
    one = f"{folder}/{name}"
    made = subprocess.run(["cc", "-fno-builtin", "-o", one, program, "-L" + build + "/lib", "-Wl,--no-as-needed",
                           *options], capture_output=True, text=True)
    check(made.returncode == 0, f"{name} does not link: {made.stderr}")
    result = subprocess.run([one], env={**os.environ, **environment, "MPROF_OUTPUT": one + ".bin"},
                            capture_output=True, text=True)
    warned = "but not with -static: what its shared libraries allocate is not recorded" in result.stderr
    check(result.returncode == 0 and warned == (name == "archive"), f"{name}: {result}")
    check(result.stderr.count("\n") == warned, f"{name}: {result.stderr}")
    check(os.path.exists(one + ".bin") and sizes(Trace(one + ".bin"), 204).get(204) == 10000,
          f"{name}: 10,000 widgets")
    check(len(Trace(one + ".bin").resident) >= 2, f"{name}: it samples its resident set")

# A user who starts a program with other rights does not choose where it writes.
if os.geteuid() == 0:
    place = recording.folder("run-set-user-id")
    os.chmod(place, 0o777)
    shutil.copy(folder + "/archive", place)
    os.chown(place + "/archive", 65534, 65534)
    for mode, recorded in ((0o755, True), (0o4755, False)):
        os.chmod(place + "/archive", mode)
        result = subprocess.run([place + "/archive"], env={**os.environ, "MPROF_OUTPUT": place + "/chosen.bin"},
                                cwd=place, capture_output=True, text=True)
        check(result.returncode == 0, f"with rights of its own: {result}")
        check(os.path.exists(place + "/chosen.bin") == recorded, f"mode {mode:o}: {os.listdir(place)}")
        if recorded:
            os.remove(place + "/chosen.bin")


def run_static(name, *arguments):
    """Runs a static program of tests/programs with libmprof.a. Returns its exit status, its trace and the
    traces beside it."""
    one, trace = f"{folder}/static-{name}", f"{folder}/static-{name}.bin"
    made = subprocess.run(["cc", "-D_GNU_SOURCE", "-fno-builtin", "-static", "-I" + source, "-o", one, f"{source}/tests/programs/{name}.c",
                           "-Wl,--eh-frame-hdr," + wraps, build + "/lib/libmprof.a"], capture_output=True, text=True)
    check(made.returncode == 0, f"static {name} does not link: {made.stderr}")
    shutil.rmtree(trace + ".d", ignore_errors=True)
    for path in glob.glob(trace):
        os.unlink(path)
    ended = subprocess.run([one, *arguments], env={**os.environ, "MPROF_OUTPUT": trace}, capture_output=True, text=True)
    check(ended.stderr == "", f"static {name} {arguments}: {ended}")
    return ended.returncode, Trace(trace), [Trace(path) for path in glob.glob(trace + ".d/*")]


for way, status, end in (("return", 0, 0), ("exit", 3, 0), ("_exit", 4, 1), ("_Exit", 5, 1), ("quick_exit", 6, 1)):
    result, trace, _ = run_static("endings", way)
    check(result == status and trace.header["state"] == "ended" and trace.ends == [end],
          f"static endings {way}: {result}, {trace.header['state']}, {trace.ends[:9]}")
subprocess.run(["strip", folder + "/static-endings"], check=True)
expect(run("--force", "-o", "held.bin", folder + "/static-endings", "exit"), 3, "recorded ", "a static program that holds the recorder")
check(sizes(Trace(folder + "/held.bin"), 8000), "its blocks are recorded")
result, trace, others = run_static("forks", "exec")
check(result == 0 and trace.header["state"] == "exec" and trace.ends == [3] and len(others) == 1 and
      sizes(others[0], 1000) == {4000: 5}, f"static exec: {result} {trace.header['state']} {trace.ends}")
result, trace, others = run_static("forks", "failed-exec")
check(result == 0 and trace.ends == [3, 3, 0] and sizes(trace, 1000) == {1000: 9}, f"static failed exec: {result} {trace.ends}")
result, trace, others = run_static("forks", "many", "5")
check(result == 0 and len(others) == 5 and all(other.ends == [1] for other in others), f"static children: {result}")
result, trace, others = run_static("forks", "vfork")
check(result == 0 and trace.ends == [0] and len(others) == 1, f"static vfork: {result} {trace.ends}")

result, trace, _ = run_static("threads_named")
named = sorted(name for thread in trace.threads.values() for name in thread.names if name.startswith("called-"))
check(result == 0 and named == ["called-main", "called-thread"] and sizes(trace, 5000) == {5001: 1, 5002: 1},
      f"static names of threads, dlclose: {result} {[thread.names for thread in trace.threads.values()]}")

again = subprocess.run([folder + "/linked"], capture_output=True, text=True, env={
    **os.environ, "LD_LIBRARY_PATH": build + "/lib", "MPROF_OUTPUT": folder + "/linked.bin"})
check("exists: recording into" in again.stderr, f"a name that is taken is said: {again.stderr!r}")
recording.done()
