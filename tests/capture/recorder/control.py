# SPDX-License-Identifier: BSD-2-Clause
"""mprof.h: the same program in every kind of executable, recorded and not, and its pause."""
import os
import subprocess

import recording
from recording import Recording, check, check_sound, sizes
from trace_text import Trace

build, source = recording.BUILD, os.environ["MPROF_SOURCE"]
folder = recording.folder("control-programs")
marks = source + "/tests/programs/marks.c"
library = ["-L" + build + "/lib", "-Wl,--no-as-needed", "-lmprof"]
plugin_main = folder + "/plugin_main.c"
with open(plugin_main, "w") as file:
    file.write("""#include <dlfcn.h>
int main(int argc, char **argv)
{
    (void)argc;
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = (int (*)(void))dlsym(plugin, "plugin_main");
    return run();
}
""")


def build_program(name, *options, files=(marks,)):
    path = f"{folder}/{name}"
    made = subprocess.run(["cc", "-O1", "-fno-builtin", "-I" + source, "-o", path, *files, *options],
                          capture_output=True, text=True)
    if made.returncode != 0 and "-fuse-ld" in " ".join(options) and "cannot find" in made.stderr:
        return None
    check(made.returncode == 0, f"{name} is not built: {made.stderr}")
    return path


def check_trace(what, trace):
    check(trace.marks == ["begin", "steady", ""], f"{what}: marks {trace.marks}")
    check(sizes(trace, 3000) == {3000: 1, 3001: 1, 3002: 1, 3004: 1}, f"{what}: blocks {sizes(trace, 3000)}")
    events = [event for thread in trace.threads.values() for event in thread.events()]
    freed = [event[1] for event in events if event[0] == "free"]
    for size in (3000, 3001):
        address = next(event[1] for event in events if event[3] == size)
        check(address in freed, f"{what}: the block of {size}, ended while paused, ends in the trace")


variants = {
    "pie": ["-pie", "-fPIE"], "no-pie": ["-no-pie", "-fno-pie"], "no-pie-gold": ["-no-pie", "-fno-pie", "-fuse-ld=gold"],
    "no-pie-lld": ["-no-pie", "-fno-pie", "-fuse-ld=lld"], "gc": ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    "lto": ["-flto", "-O2"], "stripped": ["-s", "-no-pie", "-fno-pie"],
}
for name, options in variants.items():
    path = build_program(name, *options)
    if not path:
        print(f"{name}: this linker is not here")
        continue
    check(subprocess.run([path]).returncode == 0, f"{name}: runs unrecorded")
    one = Recording("control-out", [path])
    check(one.run.returncode == 0, f"{name}: {one.run}")
    check_trace(name, one.main)
for name, options in (("linked", library), ("linked-no-pie", ["-no-pie", "-fno-pie", *library])):
    path = build_program(name, *options)
    run = subprocess.run([path], env={**os.environ, "LD_LIBRARY_PATH": build + "/lib", "MPROF_OUTPUT": path + ".bin"})
    check(run.returncode == 0, f"{name}: {run}")
    check_trace(name, Trace(path + ".bin"))
static = build_program("static", "-static")
check(subprocess.run([static]).returncode == 0, "static: runs unrecorded")
plugin = build_program("plugin.so", "-shared", "-fPIC", "-Dmain=plugin_main")
one = Recording("control-out", [build_program("plugin-main", files=(plugin_main,)), plugin])
check(one.run.returncode == 0 and one.main.marks == ["begin", "steady", ""], f"plugin: {one.run} {one.main.marks}")
cxx = subprocess.run(["c++", "-x", "c++", "-I" + source, "-o", folder + "/cxx", marks], capture_output=True, text=True)
check(cxx.returncode == 0, f"C++: {cxx.stderr}")
check_trace("C++", Recording("control-out", [folder + "/cxx"]).main)
off = build_program("disabled", "-DMPROF_DISABLED")
check(Recording("control-out", [off]).main.marks == [], "MPROF_DISABLED leaves nothing")
recording.done()
