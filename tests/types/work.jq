# Makes jq parse, compile and run; given to it as a program.
import "m" as m;
def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 
[paths],
(tojson|fromjson),
[range(20)|fac],
(to_entries? // [.[]]), m::f(3),
([.[]?|tostring]|sort|unique|join(",")),
(reduce range(100) as $i ({}; .[$i|tostring] = [$i])|keys|length),
([limit(5;repeat(1))]),
(try error("x") catch .),
("a,b"|split(",")), input_line_number, ({} | .a.b.c=1), now|tostring, @base64 "x\(1)", (tostring|ltrimstr("a")|explode|implode),
(path(..)|length),
({"a":1}*{"b":{"c":2}}),
("abc" | .[1:2]),
([3,1,2]|sort_by(.)|group_by(.)|min_by(.)), input, $__loc__, $ENV.PATH, env.HOME, (now|strftime("%Y"))
