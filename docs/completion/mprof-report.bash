# bash completion for mprof-report, made from the table of its options
_mprof_report()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'text csv json markdown html github sarif' -- "$word") ;;
    --by) mapfile -t COMPREPLY < <(compgen -W 'user function site type line module thread stack' -- "$word") ;;
    --top) mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word") ;;
    --filter) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --at) mapfile -t COMPREPLY < <(compgen -W 'start peak end' -- "$word") ;;
    --process) mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word") ;;
    --suppress) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --kind) mapfile -t COMPREPLY < <(compgen -W 'unreachable possibly reachable unknown' -- "$word") ;;
    --check) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --base) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --junit) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --history) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --label) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--output= --format= --by= --top= --filter= --at= --process= --suppress= --kind= --check= --base= --junit= --history= --label= --verbose --normal --terse --leaktable --noleaktable --offsets --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <({ compgen -W 'summary peak leaks functions types lines sizes short-lived findings fragmentation retained rss diff trend 1988' -- "$word"; compgen -f -- "$word"; }) ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_report mprof-report
