#compdef mprof-run
# zsh completion for mprof-run, made from the table of its options
_arguments -s -S \
    '(-p --pid)'{-p+,--pid=}'[record the process PID, which runs already, until it ends, for --duration, or until Ctrl-C; it goes on as before]:PID:_files' \
    '--follow=[record forked children and executed programs too: all (default), fork, exec or none]:WHAT:(all fork exec none)' \
    '(-o --output)'{-o+,--output=}'[the trace (default: mprof.PROGRAM.PID.bin)]:TRACE:_files' \
    '(-f --force)'{-f,--force}'[replace an existing TRACE and SESSION]' \
    '--compress[write the trace compressed; this uses a second core, not the program'\''s]' \
    '--rotate=[with --sample: begin a new trace every TIME (60s, 5m, 1h), with the blocks that are live; the complete ones are TRACE.r1, TRACE.r2, …]:TIME: ' \
    '--keep=[with --rotate: keep the N newest complete traces of this run]:N: ' \
    '--max-size=[stop recording when a trace has SIZE bytes (with K, M or G)]:SIZE: ' \
    '--min-free=[stop recording when less than SIZE, or N%, of the disk is free (default: 1G or 5%, the smaller; 0: only when it is full)]:SIZE: ' \
    '--sample=[record only a sample, one point in SIZE bytes on average]:SIZE: ' \
    '--mmap[record mmap, munmap, mremap and mprotect too, separately from the heap]' \
    '--free-stacks[record the stacks of frees too]' \
    '--unwind=[how stacks are taken: auto (default), fp, eh, instrument (the program is built with -finstrument-functions) or off]:HOW:(auto eh fp instrument off)' \
    '--depth=[frames to keep of each stack (default: all)]:N: ' \
    '--clock=[exact (default): read it for every event; fast: for every few]:HOW:(exact fast)' \
    '--python[record the functions of Python too, with file and line; sets PYTHONMALLOC=malloc]' \
    '--ecl[record the functions of ECL (Embeddable Common Lisp) too, and the heap of its collector by Lisp type]' \
    '--sized-delete[compare the size that C++'\''s delete passes with that of the block]' \
    '--suppressions[ask the program once for the leak suppressions that it carries (__lsan_default_suppressions)]' \
    '--residency=[when to read which pages of the program are in memory: every TIME (2s, 500ms, 1m), or off (default: when the resident set changes, at marks and the end, for at most 1 % of a core)]:WHEN: ' \
    '--references=[take the references between blocks: end (of the program), SIGUSR1 or SIGUSR2 (to mprof-run), mark:NAME (the program sets this mark) or a time from the start (10s, 5m); the program stands still while they are taken; may be given more than once]:WHEN: ' \
    '--references-stop=[with --references: take none if the program would stand still for longer (default: 2)]:SECONDS: ' \
    '--partial[with --references: also if recording begins later than the program; earlier blocks are then not known]' \
    '--start-on=[record nothing before this: signal (SIGUSR2 to mprof-run), file:PATH (the file exists), rss>SIZE, live>SIZE (more is allocated and not freed), allocs>N, mark:NAME (the program sets this mark), call:SYMBOL (the first allocation in that function or in one that it calls), call (the program calls mprof_resume())]:WHAT:(signal file\: rss\> live\> allocs\> mark\: call\: call)' \
    '--start-after=[record nothing during the first SECONDS]:SECONDS: ' \
    '--stop-on=[stop recording permanently on this; values as for --start-on]:WHAT:(signal file\: rss\> live\> allocs\> mark\: call\: call)' \
    '--duration=[stop recording after it has lasted SECONDS]:SECONDS: ' \
    '--toggle=[this signal to the program turns recording off and on]:SIGNAL:(SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1)' \
    '--open[ingest the trace at the end and open the browser]' \
    '--live[with --open: open it while the program runs; the program'\''s output then goes to TRACE.out]' \
    '--session=[the session that --open or --check makes (default: TRACE with .db)]:FILE:_files' \
    '--check=[if the program ends with status 0, ingest the trace and check the budgets of a file; the exit status is 3 if one is exceeded]:BUDGETS:_files' \
    '--base=[the session with which budgets in percent compare]:SESSION:_files' \
    '--format=[the format of the verdict (default: text)]:FORMAT:(text csv json markdown github sarif)' \
    '--verdict=[write the verdict to FILE instead of standard output]:FILE:_files' \
    '--junit=[also write it to FILE in JUnit'\''s XML]:FILE:_files' \
    '--history=[append what was measured to FILE, a line of JSON for each run]:FILE:_files' \
    '--label=[note this in the trace, as service=shop; the session has it in the table meta; up to 8 times; a text without = is the label of the run in the history, as a commit]:KEY=TEXT:(service= release=)' \
    '(-q --quiet)'{-q,--quiet}'[do not print where the trace is]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '(-)1:PROGRAM:_command_names -e' '*::ARGUMENT:_normal'
