#compdef mprof-ctl
# zsh completion for mprof-ctl, made from the table of its options
_arguments -s -S \
    '(-w --wait)'{-w+,--wait=}'[seconds to wait before the request is withdrawn (default: 5)]:SECONDS: ' \
    '--references-stop=[take no references if the program would stand still for longer (default: 2)]:SECONDS: ' \
    '--partial[take references also if recording began later than the program; earlier blocks are then not known]' \
    '(-q --quiet)'{-q,--quiet}'[print only errors]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '1:PID or TRACE:{compadd -- $(pgrep -x mprof-run); _files}' '2:COMMAND:(status pause resume mark snapshot references rotate stop)' '3:NAME: '
