# SPDX-License-Identifier: BSD-2-Clause
# Blocks whose types the program states: see languages.py. -d:useMalloc gives every block to malloc.
import std/[tables, sets, strutils]
type
  Emp = ref object
    id: int
    name: string
  Node = ref object of RootObj
    next: Node
  Leaf = ref object of Node
    v: array[10, int]
var keep: seq[Emp]
var nodes: seq[Node]
var names: Table[string, int]
var seen: HashSet[int]
proc emp(i: int): Emp {.noinline.} =
  result = Emp(id: i) #=tyObject_Emp*
proc leaf(): Node {.noinline.} =
  result = Leaf() #=tyObject_Leaf*
proc numbers(n: int): seq[float] {.noinline.} =
  result = newSeq[float](n) #={tySequence_*,NF,NimSeq_*}
  result[3] = 1.0
proc text(i: int): string {.noinline.} =
  result = "a name that is long " & $i #=NimStrPayload
proc add(e: Emp) {.noinline.} =
  keep.add e #=tySequence_*
proc index(s: string, i: int) {.noinline.} =
  names[s] = i #={tySequence_*,NimStrPayload}
proc note(i: int) {.noinline.} =
  seen.incl i #=tySequence_*
proc repeated(n: int): string {.noinline.} =
  result = repeat('x', n) #=NimStrPayload
proc raw(n: int): ptr float {.noinline.} =
  result = cast[ptr float](alloc0(n * sizeof(float))) #={NF,float,double}
proc split(s: string): seq[string] {.noinline.} =
  result = s.split(' ') #={tySequence_*,NimStrPayload}
for i in 0 ..< 20:
  let e = emp(i)
  add e
  index(text(i), i)
  note(i)
nodes.add leaf()
let a = numbers(500)
let s = repeated(100)
let p = raw(20)
let words = split(text(3))
echo keep.len, " ", a[3], " ", s.len, " ", p[], " ", words.len, " ", names.len, " ", seen.len
quit(0)
