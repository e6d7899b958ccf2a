// SPDX-License-Identifier: BSD-2-Clause
// Blocks whose types the program states: see languages.py. With --DRT-gcopt=gc:manual, malloc has every block.
import core.stdc.stdlib, core.stdc.stdio;
struct V3 { float x, y, z; }
struct Pair(A, B) { A a; B b; }
class Emp { int id; string name; V3[4] p; this(int i) { id = i; } }
class Boss : Emp { Emp[] under; this(int i) { super(i); } }
interface Sized { int size(); }
class Crate : Sized { int[30] k; int size() { return k[2]; } }
__gshared Object[] keep; __gshared void*[] kept; __gshared int[string] table; __gshared V3[] vs; __gshared string[] texts;
pragma(inline, false) Emp emp() { return new Emp(1); } //={cases.,}Emp
pragma(inline, false) Boss boss() { return new Boss(3); } //={cases.,}Boss
pragma(inline, false) Crate crate() { return new Crate; } //={cases.,}Crate
pragma(inline, false) V3* vector() { return new V3; } //={cases.,}V3
pragma(inline, false) V3* raw() { auto p = cast(V3*) malloc(V3.sizeof * 8); p[0].x = 1; return p; } //={cases.,}V3
pragma(inline, false) void names(int i) { table[i % 2 ? "one" : "two"] = i; } //=
pragma(inline, false) void append(int i) { vs ~= V3(i, 1, 2); } //={cases.,}V3
pragma(inline, false) double[] numbers(int n) { return new double[](n); } //=double
pragma(inline, false) ubyte[] bytes(int n) { return new ubyte[](n); } //=ubyte
pragma(inline, false) string joined(string a) { return a ~ " and more"; } //=char
pragma(inline, false) Pair!(int, double)* pair() { return new Pair!(int, double)(1, 2.0); } //={cases.,}Pair!(int, double){.Pair,}
pragma(inline, false) int delegate() closure(int i) { int[9] k = i; return () => k[3] + i; } //=
void main(string[] args)
{
    const n = cast(int) args.length * 40;
    keep ~= emp(); keep ~= boss(); keep ~= crate(); kept ~= vector(); kept ~= raw();
    foreach (i; 0 .. n) { append(i); names(i); }
    auto d = numbers(n * 100); auto b = bytes(n * 1000); auto f = closure(n);
    texts ~= joined(args[0]); kept ~= pair();
    printf("%d %f %d %d\n", cast(int) keep.length, d[1], b[2], f());
    exit(0);
}
