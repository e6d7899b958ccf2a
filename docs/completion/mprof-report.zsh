#compdef mprof-report
# zsh completion for mprof-report, made from the table of its options
_arguments -s -S \
    '(-o --output)'{-o+,--output=}'[write to FILE, which appears when it is whole; default: standard output]:FILE:_files' \
    '--format=[text (default), csv, json, markdown, or html: one page about the whole session; of --check also github (annotations of a workflow) and sarif]:FORMAT:(text csv json markdown html github sarif)' \
    '--by=[group by user (the innermost function of your own code), function or site (the call site), type, line, module, thread or stack]:WHAT:(user function site type line module thread stack)' \
    '--top=[the largest N rows of a table, or all (default: 20)]:N:(all)' \
    '--filter=[only these allocations: a text of the filter language, or the name of a saved filter]:TEXT: ' \
    '--at=[only blocks that were live at TIME: 2.5s, peak, a mark, or a sum of these]:TIME:(start peak end)' \
    '--process=[which process of a run to report: its name, PID, PID.N for the Nth program that it executed, or all for their sum (default: the one that used most)]:WHICH:(all)' \
    '--suppress=[leaks: leave out what the lines leak:PATTERN of FILE name, as LeakSanitizer takes them]:FILE:_files' \
    '--kind=[leaks: only those of these kinds: unreachable, possibly, reachable or unknown, if the references were taken]:LIST:(unreachable possibly reachable unknown)' \
    '--check=[check the budgets of FILE instead of a report; the exit status is 3 if one is exceeded]:FILE:_files' \
    '--base=[the session to compare with: of diff, of retained, of budgets in percent, and of a page]:SESSION:_files' \
    '--junit=[also write the verdicts of --check to FILE in JUnit'\''s XML]:FILE:_files' \
    '--history=[append what --check measures to FILE, a line of JSON for each run; medians and a page read it]:FILE:_files' \
    '--label=[the label of the run in the history, as a commit]:TEXT: ' \
    '--verbose[1988: every size and every leak]' \
    '--normal[1988: sizes over 100 or with over 0.2% of the allocations, and leaks from 0.5% (default)]' \
    '--terse[1988: sizes with over 2% of the allocations, or over 1% and a known type, and leaks from 1%]' \
    '--leaktable[1988: print the leaks (default)]' \
    '--noleaktable[1988: leave out the leaks]' \
    '--offsets[1988: tell the call sites in a function apart in the leaks: a+n is n bytes after the start of a]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '*:SESSION:{compadd -- summary peak leaks functions types lines sizes short-lived findings fragmentation retained rss diff trend 1988; _files}'
