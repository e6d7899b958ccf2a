# SPDX-License-Identifier: BSD-2-Clause
"""fork, raw clone, vfork, posix_spawn, exec: who records where, and that no process touches another's
trace."""
import recording
from recording import Recording, check, check_sound, sizes

forks = recording.program("forks")


def record(*arguments, **keywords):
    one = Recording("children-out", [forks, *arguments], **keywords)
    check(one.run.returncode == 0, f"{arguments}: ended with {one.run.returncode}: {one.run.stderr}")
    check(one.run.stderr == "", f"{arguments}: said {one.run.stderr!r}")
    check_sound(one)
    return one


many = record("many", "200")
check(len(many.others) == 200, f"200 children left {len(many.others)} traces")
check(sizes(many.main, 1000) == {1000: 600}, f"parent of many: {sizes(many.main, 1000)}")
children = sorted(size for trace in many.others for size in sizes(trace, 1000))
check(children == [2000 + i for i in range(200)], "each child has its own blocks and no other's")
check(all(list(sizes(trace, 1000).values()) == [5] for trace in many.others), "five of each")
parent_id = many.main.header["trace"]
check(all(f"parent-trace {parent_id}" in trace.process for trace in many.others),
      "each child names its parent's trace")
check(all(trace.header["state"] == "ended" and trace.ends == [1] for trace in many.others),
      "children that end by _exit seal their traces")
check(many.main.ends == [0], f"the parent's end is its own: {many.main.ends}")

clone = record("clone")
check(len(clone.others) == 1 and sizes(clone.others[0], 1000) == {2000: 5}, "the child of a raw clone")
check(sizes(clone.main, 1000) == {1000: 6}, "the parent of a raw clone")

family = record("grandchild")
check(sorted(size for trace in family.others for size in sizes(trace, 1000)) == [2000, 3000],
      "child and grandchild")

for way in ("vfork", "spawn"):
    one = record(way)
    check(sizes(one.main, 1000) == {1000: 6} and one.main.ends == [0],
          f"the parent of {way}: {sizes(one.main, 1000)}, ends {one.main.ends}")
    check(len(one.others) == 1 and sizes(one.others[0], 1000) == {4000: 5}, f"the program run by {way}")
one = record("vfork-exit")
check(len(one.others) == 0 and sizes(one.main, 1000) == {1000: 6} and one.main.ends == [0],
      "a vfork child that only exits leaves no trace")

executed = record("exec")
check(executed.main.header["state"] == "exec" and executed.main.ends == [3], "exec seals the old trace")
check(sizes(executed.main, 1000) == {1000: 3}, "before the exec")
check(len(executed.others) == 1 and sizes(executed.others[0], 1000) == {4000: 5}, "after the exec")

# The ways of tests/programs/executes.c.
for way in ("fexecve", "place", "execveat", "empty", "relative", "call-execve", "call-execveat", "vfork"):
    for follow, beside in (("all", 1), ("none", 0)):
        one = Recording("children-out", [recording.program("executes"), way, forks, "leaf"],
                        run_options=["--follow=" + follow])
        check(one.run.returncode == 0 and not one.run.stderr, f"{way}: {one.run}")
        check_sound(one)
        state = "ended" if way == "vfork" else "exec"
        check(one.main.header["state"] == state and sizes(one.main, 1000) == {1234: 1}, f"{way}: {one.main.header}")
        check([sizes(other, 1000) for other in one.others] == [{4000: 5}] * beside, f"{way}, {follow}: {one.others}")

failed = record("failed-exec")
check(failed.main.header["state"] == "ended" and failed.main.ends == [3, 3, 0], "an exec that fails goes on")
check(sizes(failed.main, 1000) == {1000: 9}, f"all of it is recorded: {sizes(failed.main, 1000)}")

alone = record("many", "3", run_options=["--follow=none"])
check(len(alone.others) == 0 and sizes(alone.main, 1000) == {1000: 9}, "--follow=none leaves the children out")
alone = record("spawn", run_options=["--follow=none"])
check(len(alone.others) == 0, "--follow=none leaves other programs out")
alone = record("exec", run_options=["--follow=none"])
check(len(alone.others) == 0 and sizes(alone.main, 1000) == {1000: 3}, "nor what is executed in its place")

forked = record("many", "3", run_options=["--follow=fork"])
check(len(forked.others) == 3, "--follow=fork: forked children")
check(not record("spawn", run_options=["--follow=fork"]).others, "--follow=fork: no programs that are executed")
check(not record("exec", run_options=["--follow=fork"]).others, "--follow=fork: nor in its own place")
check(not record("many", "3", run_options=["--follow=exec"]).others, "--follow=exec: no forked children")
for way in ("spawn", "exec"):
    one = record(way, run_options=["--follow=exec"])
    check(len(one.others) == 1 and sizes(one.others[0], 1000) == {4000: 5}, f"--follow=exec: {way}")
recording.done()
