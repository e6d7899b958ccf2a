# bash completion for mprof-run
_mprof_run()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    case $word in
    --unwind=*) mapfile -t COMPREPLY < <(compgen -W 'auto eh fp instrument off' -- "${word#*=}") ;;
    --clock=*) mapfile -t COMPREPLY < <(compgen -W 'exact fast' -- "${word#*=}") ;;
    --follow=*) mapfile -t COMPREPLY < <(compgen -W 'all fork exec none' -- "${word#*=}") ;;
    --start-on=* | --stop-on=*) mapfile -t COMPREPLY < <(compgen -W 'signal file: rss> live> allocs> mark: call: call' -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "--output --force --open --live --session --unwind= --depth= --clock= --free-stacks --follow= --max-size= --sample= --compress --mmap --start-on= --start-after= --stop-on= --duration= --quiet --help --version" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    esac
}
complete -o filenames -F _mprof_run mprof-run
