#compdef mprof-ingest
# zsh completion for mprof-ingest, made from the table of its options
_arguments -s -S \
    '(-o --output)'{-o+,--output=}'[the session; default: TRACE with .db in place of .bin]:FILE:_files' \
    '(-f --force)'{-f,--force}'[replace an existing session]' \
    '(-q --quiet)'{-q,--quiet}'[print no progress bar and no summary]' \
    '--process=[which process of a run the session shows first: its name, PID, PID.N for the Nth program that it executed, or all for their sum (default: the one that used most)]:WHICH:(all)' \
    '--live[TRACE is still being recorded: keep the session up to date and readable until the program ends or you press Ctrl-C]' \
    '--index=[indexes of the table allocation: none (default), stack or all]:WHICH:(none stack all)' \
    '--bundle[put copies of the program, its libraries, their debug information and sources into the session: sqlite3 SESSION -Ax unpacks them]' \
    '--redact=-[leave out arguments, host, and the names of folders above ROOT, the root of the sources; default: the folder that they have in common]::ROOT:_files' \
    '--label=[note this in the table meta, as service=shop, in place of what the trace has under that key; up to 8 times]:KEY=TEXT:(service= release=)' \
    '--suppressions=[lines leak:PATTERN, as LeakSanitizer takes them, name the stacks that are not leaks; program: the lines that the program carries (mprof-run --suppressions)]:FILE:_files' \
    '--debug-dir=[look for separate debug files there too]:DIR:_files' \
    '--sysroot=[look for the program'\''s files below DIR]:DIR:_files' \
    '--cache=[keep names and types there for later calls, and use those of earlier ones; off: neither (default: mprof in $XDG_CACHE_HOME or ~/.cache)]:DIR:(off)' \
    '--dump=-[print the trace as text instead, one line a record; ORDER is file (default) or time (events only, merged)]::ORDER:(file time)' \
    '--compress[write the trace compressed, into FILE or in its own place]' \
    '--rebuild[TRACE is a session: compute its sums, peaks and column chunks again from its rows]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '*:FILE:_files'
