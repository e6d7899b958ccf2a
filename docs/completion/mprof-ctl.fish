# fish completion for mprof-ctl, made from the table of its options
complete -c mprof-ctl -s w -l wait -x -d 'seconds to wait before the request is withdrawn (default: 5)'
complete -c mprof-ctl -l references-stop -x -d 'take no references if the program would stand still for longer (default: 2)'
complete -c mprof-ctl -l partial -d 'take references also if recording began later than the program; earlier blocks are then not known'
complete -c mprof-ctl -s q -l quiet -d 'print only errors'
complete -c mprof-ctl -s h -l help -d 'print this text'
complete -c mprof-ctl -s V -l version -d 'print the version'
complete -c mprof-ctl -n 'test (count (commandline -opc)) -eq 1' -a '(pgrep -x mprof-run)'
complete -c mprof-ctl -n 'test (count (commandline -opc)) -gt 1' -f -a 'status pause resume mark snapshot references rotate stop'
