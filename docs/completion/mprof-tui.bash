# bash completion for mprof-tui, made from the table of its options
_mprof_tui()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    --filter) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --view) mapfile -t COMPREPLY < <(compgen -W 'overview timeline memory tree functions types leaks allocations sizes rss retained lifetimes threads arenas source diff graphs sql detail' -- "$word") ;;
    --process) mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word") ;;
    --theme) mapfile -t COMPREPLY < <(compgen -W 'dark light colour-blind mono' -- "$word") ;;
    --script) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --size) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --graph) mapfile -t COMPREPLY < <(compgen -W 'list export import delete rename run run-all' -- "$word") ;;
    --setting) mapfile -t COMPREPLY < <(compgen -W 'list add delete' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--filter= --view= --process= --theme= --ascii --fresh --live --yes --script= --size= --graph= --setting= --print-config --man --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_tui mprof-tui
