# SPDX-License-Identifier: BSD-2-Clause
"""The program does not see the recorder's variables, and what it executes is recorded whatever it does with its
environment. A program that cannot be recorded runs as it would alone, and has a trace that says why."""
import os
import shutil
import subprocess

import recording
from recording import Recording, check, program, sizes, unrecorded

RUN = recording.BUILD + "/bin/mprof-run"

# The output of env is the same: everything else that is preloaded stays, byte for byte.
for preload in (None, "", "libc.so.6", "libc.so.6 libm.so.6:", ":libm.so.6"):
    variables = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | ({} if preload is None else {"LD_PRELOAD": preload})
    alone = subprocess.run(["env"], env=variables, capture_output=True, text=True)
    one = recording.folder("environment-out")
    run = subprocess.run([RUN, "-q", "-o", one + "/trace.bin", "env"], env=variables, capture_output=True, text=True)
    check(run.stdout == alone.stdout and not run.stderr, f"env with LD_PRELOAD {preload!r}: {run}")

# Each way to execute, whatever happens to the environment before.
HOW = ("execve", "execve-nothing", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "syscall",
       "posix_spawn", "posix_spawnp", "system", "popen", "wordexp")
for how in HOW:
    for what in ("keep", "preload") + ("clear",) * (how != "fexecve") + ("set",) * (how == "wordexp"):
        one = Recording("environment-out", [program("environment"), how, what], stdin=subprocess.DEVNULL)
        leaves = sum(sizes(trace).get(4321, 0) for trace in one.others)
        check(one.run.returncode == 0 and not one.run.stderr, f"{how} {what}: {one.run}")
        check(leaves == 1 and one.main and not unrecorded(one.path), f"{how} {what}: {leaves} leaves, {unrecorded(one.path)}")

# A start script that sets LD_PRELOAD itself, an empty environment, make and its shell.
open("environment.make", "w").write(f"all:\n\t@env -i {program('environment')} leaf\n\t@LD_PRELOAD=libm.so.6 {program('environment')} leaf\n")
one = Recording("environment-out", ["make", "-sf", os.path.abspath("environment.make")])
check(sum(sizes(trace).get(4321, 0) for trace in one.others) == 2 and one.run.returncode == 0, f"make: {one.run}")


def build(name, *options):
    """Builds a program that prints a line, and executes its second argument if the first is "and"."""
    made = subprocess.run(["gcc", "-w", "-o", f"{work}/{name}", "-x", "c", "-", *options], capture_output=True, text=True,
                          input='#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n'
                                'int main(int c, char **v) { puts("ran");\n#ifdef BARE\nexecve(v[2], v + 2, v + c);\n#endif\n'
                                'return c == 3 && *v[1] == 97 ? system(v[2]) : 0; }')
    return f"{work}/{name}" if made.returncode == 0 else None


def alike(what, command, found, says, stdout="ran\n"):
    """The program gives the same output as alone, with one line that says why it is not recorded."""
    one = Recording("environment-out", command)
    check((one.run.returncode, one.run.stdout) == (0, stdout), f"{what}: {one.run}")
    check("ld.so" not in one.run.stderr and one.run.stderr.count("\n") == (says != ""), f"{what}: {one.run.stderr!r}")
    check(says in one.run.stderr and unrecorded(one.path) == found, f"{what}: {one.run.stderr!r} {unrecorded(one.path)}")
    return one


work = recording.folder("environment-work")
static = build("static", "-static")
small = build("small", "-m32")
if small and subprocess.run(["sh", "-c", f"{small} >/dev/null 2>&1"]).returncode == 0:
    open(work + "/script", "w").write(f"#!{small}\n")
    os.chmod(work + "/script", 0o755)
    alike("32 bits", ["env", small], [("small", 2)], "not a 64-bit x86 program")
    alike("32 bits by a script", ["sh", "-c", work + "/script; exit $?"], [("small", 2)], "not a 64-bit x86 program")
    # The lines of mprof-run at the end.
    says = subprocess.run([RUN, "-f", "-o", one.path, "sh", "-c", f"{small} 2>/dev/null; {small} 2>/dev/null; {static}"],
                          capture_output=True, text=True).stderr
    check(f"not recorded: {small}: not a 64-bit x86 program (2 times)\n" in says and
          f"not recorded: {static}: statically linked\n" in says and "trace.bin; " in says, f"at the end: {says}")
else:
    print("no gcc -m32 here, or its programs do not run: not tried")
one = alike("a static program", ["env", static, "and", program("environment") + " leaf"], [("static", 1)], "")
# Programs that a static one executes are recorded as before.
check(sum(sizes(trace).get(4321, 0) for trace in one.others) == 1, "below a static program")
says = subprocess.run([RUN, "-f", "-o", one.path, program("own_malloc")], capture_output=True, text=True)
check("nothing was recorded" in says.stderr and f"not recorded: {program('own_malloc')}: it has its own allocator" in says.stderr
      and says.returncode == 0, f"a main program with its own allocator: {says}")
# A program that the recorder does not see being executed.
one = Recording("environment-out", [program("environment"), "raw3"])
check(one.run.returncode == 0 and unrecorded(one.path) == [("sleep", 9)], f"by a raw system call: {one.run} {unrecorded(one.path)}")
# One that ends at once, and those that a static program executes without an environment.
if os.cpu_count() <= 16 and "Seccomp:\t0" in open("/proc/self/status").read() and (
        os.geteuid() == 0 or int(open("/proc/sys/kernel/perf_event_paranoid").read()) <= 2):
    one = Recording("environment-out", [program("environment"), "raw0"])
    check(one.run.returncode == 0 and unrecorded(one.path) == [("sleep", 9)], f"that ends at once: {one.run} {unrecorded(one.path)}")
    command = f"for i in 1 2 3; do {static} and 'exec env -i /bin/true; :'; done; /bin/true; {program('environment')} leaf"
    one = Recording("environment-out", ["sh", "-c", command])
    check(unrecorded(one.path) == [("static", 1)] * 3, f"recorded below a static program: {unrecorded(one.path)}")
    command = f"{build('bare', '-static', '-DBARE')} and /bin/true"
    one = Recording("environment-out", ["sh", "-c", command + ";" + command + " && sh -c :"])
    check(unrecorded(one.path) == [("bare", 1)] * 2 + [("true", 9)] * 2, f"below a static program: {unrecorded(one.path)}")
else:
    print("the kernel does not tell of executed programs here: not tried")
if os.geteuid() == 0:
    # Another root folder, without the recorder's library; and one that has it.
    root = work + "/root"
    plain = build("plain")
    for path in [plain, *(line.split()[-2] for line in subprocess.run(
            ["ldd", plain], capture_output=True, text=True).stdout.splitlines() if "/" in line)]:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    alike("chroot", ["chroot", root, plain], [], "cannot read the recorder's library")
    # A library that the user who executes may not read. The trace cannot be made either: it is counted.
    locked = work + "/locked"
    os.makedirs(locked)
    for name in ("bin", "lib"):
        shutil.copytree(f"{recording.BUILD}/{name}", f"{locked}/{name}", symlinks=False,
                        ignore=lambda folder, names: [n for n in names if not n.startswith(("libmprof.so", "mprof-run", "mprof"))])
    os.chmod(locked, 0o700)
    RUN, there = locked + "/bin/mprof-run", recording.folder("environment-out")
    run = subprocess.run([RUN, "-q", "-o", there + "/trace.bin", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh",
                          "-c", "echo ran"], capture_output=True, text=True)
    check(run.stdout == "ran\n" and run.returncode == 0 and run.stderr.count("\n") == 1 and
          "cannot read the recorder's library" in run.stderr, f"other rights: {run}")
    data = open(there + "/trace.bin", "rb").read(440)
    check(int.from_bytes(data[436:440], "little") + len(unrecorded(there + "/trace.bin")) == 1, "it is counted")
if shutil.which("go"):
    # A runtime that keeps the environment of its start, and executes by its own system calls.
    open(work + "/raw.go", "w").write(
        'package main\n// #include <stdlib.h>\nimport "C"\nimport ("os"; "syscall")\n'
        f'func main() {{ C.free(C.malloc(77)); syscall.Exec("{program("environment")}", []string{{"x", "leaf"}}, os.Environ()) }}\n')
    made = subprocess.run(["go", "build", "-o", work + "/raw", work + "/raw.go"], capture_output=True, text=True,
                          env={**os.environ, "HOME": work, "GOCACHE": work + "/cache", "GO111MODULE": "off"})
    if made.returncode == 0:
        one = Recording("environment-out", [work + "/raw"])
        check(sum(sizes(trace).get(4321, 0) for trace in one.others) == 1, f"cgo: {one.run}")
recording.done()
