# Some of what gawk can do, so that many of its allocations are reached.
BEGIN { FS = ":"; n = split("a b c d", parts, " "); for (i in parts) s = s parts[i]; x["a"]["b"] = 1; asort(parts); PROCINFO["sorted_in"] = "@ind_str_asc" }
function f(a, b) { return a ? f(a - 1, b "x") : length(b) }
{ count[$1]++; gsub(/o+/, "&&"); if (match($0, /r(.)t/, m)) y[m[1]] = m[0]; line[NR] = $0; printf "%s %d %5.2f\n", toupper($1), NF, $3 / 2 > "/dev/null" }
$3 ~ /^[0-9]+$/, $3 == 1000 { total += $3 }
END { for (k in count) t += count[k]; print f(30, ""), t, strftime("%Y", 0), sprintf("%c%s", 65, substr("hello", 2)), gensub(/(a)(b)/, "\\2\\1", "g", "abab"); "echo hi" | getline z; close("echo hi"); print z | "cat"; delete x; switch (z) { case /hi/: print "sw"; break; default: print "no" } while ((getline l < "/etc/passwd") > 0) q++; print q }
