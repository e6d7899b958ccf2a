# bash completion for mprof-tui
_mprof_tui()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    case $word in
    --view=*) mapfile -t COMPREPLY < <(compgen -W 'overview timeline grid functions' -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "--script --size --filter --view --ascii --man --help --version" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _mprof_tui mprof-tui
