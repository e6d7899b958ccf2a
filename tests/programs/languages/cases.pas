// SPDX-License-Identifier: BSD-2-Clause
// Blocks whose types the program states: see languages.py. The unit cmem gives every block to malloc.
{$mode objfpc}{$H+}
program cases;
uses cmem, sysutils, classes;
type
  PRec = ^TRec;
  TRec = record id: integer; v: array[0..9] of double; end;
  TEmp = class name: string; id: integer; constructor Create(i: integer); end;
var
  r: PRec; e: TEmp; a: array of double; m: array of array of integer; l: TList; s: string; t: TStringList; p: pointer; u: unicodestring;
constructor TEmp.Create(i: integer);
begin
  id := i;
  name := 'a long name ' + inttostr(i); //=
end;
procedure rec; begin
  new(r); //=
  r^.id := 1;
end;
procedure emp; begin
  e := TEmp.Create(4); //=
end;
procedure numbers(n: integer); begin
  setlength(a, n); //=
end;
procedure matrix(n: integer); begin
  setlength(m, n, n); //=
end;
procedure list; begin
  l := TList.Create; //=
  l.Add(e); //=
end;
procedure text(n: integer); begin
  s := stringofchar('x', n); //=
end;
procedure strings; begin
  t := TStringList.Create; //=
  t.Add(s + inttostr(3)); //=
end;
procedure raw(n: integer); begin
  getmem(p, n); //=
end;
procedure wide; begin
  u := s; //=
end;
begin
  rec; emp; numbers(500); matrix(7); list; text(100); strings; raw(333); wide;
  writeln(e.name, a[3], m[2][2], length(u));
  halt(0);
end.
