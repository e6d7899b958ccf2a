# fish completion for mprof-run, made from the table of its options
function __mprof_options_of_run
    set -l behind
    for word in (commandline -opc)[2..-1]
        if test -n "$behind"
            set behind
            continue
        end
        switch $word
            case -p --pid --follow -o --output --rotate --keep --max-size --min-free --sample --unwind --depth --clock --residency --references --references-stop --start-on --start-after --stop-on --duration --toggle --session --check --base --format --verdict --junit --history --label
                set behind yes
            case --
                return 1
            case '-*'
            case '*'
                return 1
        end
    end
end
complete -c mprof-run -n '__mprof_options_of_run' -s p -l pid -r -F -d 'record the process PID, which runs already, until it ends, for --duration, or until Ctrl-C; it goes on as before'
complete -c mprof-run -n '__mprof_options_of_run' -l follow -x -a 'all fork exec none' -d 'record forked children and executed programs too: all (default), fork, exec or none'
complete -c mprof-run -n '__mprof_options_of_run' -s o -l output -r -F -d 'the trace (default: mprof.PROGRAM.PID.bin)'
complete -c mprof-run -n '__mprof_options_of_run' -s f -l force -d 'replace an existing TRACE and SESSION'
complete -c mprof-run -n '__mprof_options_of_run' -l compress -d 'write the trace compressed; this uses a second core, not the program\'s'
complete -c mprof-run -n '__mprof_options_of_run' -l rotate -x -d 'with --sample: begin a new trace every TIME (60s, 5m, 1h), with the blocks that are live; the complete ones are TRACE.r1, TRACE.r2, …'
complete -c mprof-run -n '__mprof_options_of_run' -l keep -x -d 'with --rotate: keep the N newest complete traces of this run'
complete -c mprof-run -n '__mprof_options_of_run' -l max-size -x -d 'stop recording when a trace has SIZE bytes (with K, M or G)'
complete -c mprof-run -n '__mprof_options_of_run' -l min-free -x -d 'stop recording when less than SIZE, or N%, of the disk is free (default: 1G or 5%, the smaller; 0: only when it is full)'
complete -c mprof-run -n '__mprof_options_of_run' -l sample -x -d 'record only a sample, one point in SIZE bytes on average'
complete -c mprof-run -n '__mprof_options_of_run' -l mmap -d 'record mmap, munmap, mremap and mprotect too, separately from the heap'
complete -c mprof-run -n '__mprof_options_of_run' -l free-stacks -d 'record the stacks of frees too'
complete -c mprof-run -n '__mprof_options_of_run' -l unwind -x -a 'auto eh fp instrument off' -d 'how stacks are taken: auto (default), fp, eh, instrument (the program is built with -finstrument-functions) or off'
complete -c mprof-run -n '__mprof_options_of_run' -l depth -x -d 'frames to keep of each stack (default: all)'
complete -c mprof-run -n '__mprof_options_of_run' -l clock -x -a 'exact fast' -d 'exact (default): read it for every event; fast: for every few'
complete -c mprof-run -n '__mprof_options_of_run' -l python -d 'record the functions of Python too, with file and line; sets PYTHONMALLOC=malloc'
complete -c mprof-run -n '__mprof_options_of_run' -l ecl -d 'record the functions of ECL (Embeddable Common Lisp) too, and the heap of its collector by Lisp type'
complete -c mprof-run -n '__mprof_options_of_run' -l sized-delete -d 'compare the size that C++\'s delete passes with that of the block'
complete -c mprof-run -n '__mprof_options_of_run' -l suppressions -d 'ask the program once for the leak suppressions that it carries (__lsan_default_suppressions)'
complete -c mprof-run -n '__mprof_options_of_run' -l residency -x -d 'when to read which pages of the program are in memory: every TIME (2s, 500ms, 1m), or off (default: when the resident set changes, at marks and the end, for at most 1 % of a core)'
complete -c mprof-run -n '__mprof_options_of_run' -l references -x -d 'take the references between blocks: end (of the program), SIGUSR1 or SIGUSR2 (to mprof-run), mark:NAME (the program sets this mark) or a time from the start (10s, 5m); the program stands still while they are taken; may be given more than once'
complete -c mprof-run -n '__mprof_options_of_run' -l references-stop -x -d 'with --references: take none if the program would stand still for longer (default: 2)'
complete -c mprof-run -n '__mprof_options_of_run' -l partial -d 'with --references: also if recording begins later than the program; earlier blocks are then not known'
complete -c mprof-run -n '__mprof_options_of_run' -l start-on -x -a 'signal file: rss\> live\> allocs\> mark: call: call' -d 'record nothing before this: signal (SIGUSR2 to mprof-run), file:PATH (the file exists), rss>SIZE, live>SIZE (more is allocated and not freed), allocs>N, mark:NAME (the program sets this mark), call:SYMBOL (the first allocation in that function or in one that it calls), call (the program calls mprof_resume())'
complete -c mprof-run -n '__mprof_options_of_run' -l start-after -x -d 'record nothing during the first SECONDS'
complete -c mprof-run -n '__mprof_options_of_run' -l stop-on -x -a 'signal file: rss\> live\> allocs\> mark: call: call' -d 'stop recording permanently on this; values as for --start-on'
complete -c mprof-run -n '__mprof_options_of_run' -l duration -x -d 'stop recording after it has lasted SECONDS'
complete -c mprof-run -n '__mprof_options_of_run' -l toggle -x -a 'SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1' -d 'this signal to the program turns recording off and on'
complete -c mprof-run -n '__mprof_options_of_run' -l open -d 'ingest the trace at the end and open the browser'
complete -c mprof-run -n '__mprof_options_of_run' -l live -d 'with --open: open it while the program runs; the program\'s output then goes to TRACE.out'
complete -c mprof-run -n '__mprof_options_of_run' -l session -r -F -d 'the session that --open or --check makes (default: TRACE with .db)'
complete -c mprof-run -n '__mprof_options_of_run' -l check -r -F -d 'if the program ends with status 0, ingest the trace and check the budgets of a file; the exit status is 3 if one is exceeded'
complete -c mprof-run -n '__mprof_options_of_run' -l base -r -F -d 'the session with which budgets in percent compare'
complete -c mprof-run -n '__mprof_options_of_run' -l format -x -a 'text csv json markdown github sarif' -d 'the format of the verdict (default: text)'
complete -c mprof-run -n '__mprof_options_of_run' -l verdict -r -F -d 'write the verdict to FILE instead of standard output'
complete -c mprof-run -n '__mprof_options_of_run' -l junit -r -F -d 'also write it to FILE in JUnit\'s XML'
complete -c mprof-run -n '__mprof_options_of_run' -l history -r -F -d 'append what was measured to FILE, a line of JSON for each run'
complete -c mprof-run -n '__mprof_options_of_run' -l label -x -a 'service= release=' -d 'note this in the trace, as service=shop; the session has it in the table meta; up to 8 times; a text without = is the label of the run in the history, as a commit'
complete -c mprof-run -n '__mprof_options_of_run' -s q -l quiet -d 'do not print where the trace is'
complete -c mprof-run -n '__mprof_options_of_run' -s h -l help -d 'print this text'
complete -c mprof-run -n '__mprof_options_of_run' -s V -l version -d 'print the version'
complete -c mprof-run -x -a '(__fish_complete_subcommand -- -p --pid --follow -o --output --rotate --keep --max-size --min-free --sample --unwind --depth --clock --residency --references --references-stop --start-on --start-after --stop-on --duration --toggle --session --check --base --format --verdict --junit --history --label)'
