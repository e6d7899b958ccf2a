# SPDX-License-Identifier: BSD-2-Clause
"""Programs under a seccomp filter that was there before. They end as they would alone, whatever the filter
answers to the recorder's calls. If the recorder can do without these calls, everything is recorded."""
import re
import subprocess

import recording
from recording import check, sizes
from trace_text import Trace

source = open(recording.os.environ["MPROF_SOURCE"] + "/capture/os/seccomp/required_calls.c").read()
numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", subprocess.run(
    ["cc", "-E", "-dM", "-xc", "-"], input="#include <asm/unistd_64.h>", capture_output=True, text=True,
    check=True).stdout))
needed = dict(re.findall(r"CALL\((\w+), (true|false)", source))
check(len(needed) > 25, f"the table of calls: {needed}")
confined = recording.program("confined")
trace = recording.os.path.abspath("sandbox-out/trace.bin")
preload = ["env", "LD_PRELOAD=" + recording.BUILD + "/lib/libmprof.so", "MPROF_OUTPUT=" + trace]
run = [recording.BUILD + "/bin/mprof-run", "--quiet", "-o", trace]


def start(folder, answer, calls, *arguments):
    launcher = [recording.program("sandboxed"), answer, ",".join(numbers[call] for call in calls)]
    return subprocess.run([*launcher, *arguments, confined, "plain", "8000"], capture_output=True, text=True, cwd=folder)


def end_of(program):
    return program.returncode, program.stdout


def check_recorded(name, folder, program):
    check(not program.stderr, f"{name}: said {program.stderr}")
    traces = [Trace(path) for path in [folder + "/trace.bin", *recording.glob.glob(folder + "/trace.bin.[0-9]*"),
                                    *recording.glob.glob(folder + "/trace.bin.d/*")]]
    counts = [sizes(trace, 320) for trace in traces]
    check(counts == [{320: 1000, 500: 8000}, {400: 500}], f"{name}: {counts}")
    for trace in traces:
        wrong = trace.complain()
        check(not wrong and trace.header["state"] == "ended", f"{name}: {trace.header} {wrong}")


# mprof-run asks about files by their names. A program that does without is possible since glibc 2.41, whose fstat() is a
# call of its own.
needed_by_run = ("newfstatat",)


def check_call(answer, call, arguments):
    """Runs under a filter for one call. A call that the program itself needs ends it anyway."""
    name = f"{call} answered by {answer}, {arguments[0]}"
    folder = recording.folder("sandbox-out")
    alone = start(folder, answer, [call])
    program = start(folder, answer, [call], *arguments)
    check(end_of(program) == end_of(alone), f"{name}: {program}, alone {alone}")
    if alone.returncode != 0:
        return False
    if needed[call] == "true":
        lines = program.stderr.splitlines()
        check(len(lines) <= 1, f"{name}: said {lines}")
        check(answer != "kill" or call in program.stderr, f"{name}: said {lines}")
    else:
        check_recorded(name, folder, program)
    return True


# Errors meet only the library. For filters that kill, mprof-run has tried the calls before.
for answer, arguments, least in (("1", preload, 22), ("kill", run, 17)):
    done = [call for call in needed if (arguments is preload or call not in needed_by_run) and
            check_call(answer, call, arguments)]
    check(len(done) >= least, f"{answer}: only {len(done)} calls were tried: {done}")

# All calls at once that the recorder can do without.
spared = [call for call in needed if needed[call] == "false" and
          start(".", "kill", [call]).returncode == 0 and call not in ("fstat", "fallocate")]
for answer, arguments in (("1", preload), ("38", preload), ("trap", run), ("kill", run)):
    folder = recording.folder("sandbox-out")
    calls = [call for call in spared if arguments is preload or call not in needed_by_run]
    check_recorded(f"{answer} for {calls}", folder, start(folder, answer, calls, *arguments))

# The slots themselves are written.
folder = recording.folder("sandbox-out")
check_recorded("written", folder, start(folder, "1", ["fallocate", "pwritev2"], *preload))

# A call of mprof-run's own: its question to the loader does not appear in the program's output.
folder = recording.folder("sandbox-out")
program = subprocess.run([recording.program("sandboxed"), "1", numbers["dup2"], *run, confined, "plain"],
                         capture_output=True, text=True, cwd=folder)
check(end_of(program) == (0, "done\n"), f"dup2 answered by an error: {program}")

# No room can be had. One line says so, from the process that knows it.
folder = recording.folder("sandbox-out")
for answer, arguments in (("1", preload), ("kill", run)):
    program = start(folder, answer, ["fallocate", "pwrite64", "pwritev2"], *arguments)
    check(end_of(program) == (0, "done\n"), f"no room, {answer}: {program}")
    lines = set(program.stderr.splitlines())
    check(lines and all("recorded" in line for line in lines), f"no room, {answer}: said {lines}")

# The table names every call in the recorder's sources, but for those that are never made below a filter.
used = set()
for path in recording.glob.glob(recording.os.environ["MPROF_SOURCE"] + "/capture/**/*.[ch]", recursive=True):
    if not re.search(r"entry/(close|confine|map)|seccomp/(filters|required)|shadow_stack|arch_|run/(sandbox|attach|residency|references|escapes)", path):
        used |= set(re.findall(r"SYS_(\w+)", open(path).read()))
used -= {"clone", "wait4", "exit_group"}  # mprof-run's trials have made these by then
used -= {"socket", "connect", "getsockopt", "setsockopt", "recvmsg"}  # given_file_ask() makes these without a filter
used -= {"futex"}  # only if an observer attends, and mprof-run does not below a filter
check(used <= set(needed), f"not in required_calls.c: {used - set(needed)}")
recording.done()
