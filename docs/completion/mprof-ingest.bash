# bash completion for mprof-ingest
_mprof_ingest()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    case $word in
    --index=*) mapfile -t COMPREPLY < <(compgen -W 'none stack all' -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "--output --force --live --bundle --dump --rebuild --compress --debug-dir= --sysroot= --index= --quiet --help --version" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _mprof_ingest mprof-ingest
