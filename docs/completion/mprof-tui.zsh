#compdef mprof-tui
# zsh completion for mprof-tui, made from the table of its options
_arguments -s -S \
    '--filter=[begin with this filter, a text or the name of a stored graph]:TEXT: ' \
    '--view=[begin with this view: overview, timeline, memory, tree, functions, types, leaks, allocations, sizes, lifetimes, threads, arenas, source, diff, graphs, sql or detail]:NAME:(overview timeline memory tree functions types leaks allocations sizes lifetimes threads arenas source diff graphs sql detail)' \
    '--process=[which process of a run to show: its name, PID, PID.N for the Nth program that it executed, or all for their sum (default: the one that used most)]:WHICH:(all)' \
    '--theme=[the colours: dark or light, for such a ground; colour-blind, for a dark ground; mono, with patterns in place of colours (default: mono with NO_COLOR, light if COLORFGBG names a light ground, otherwise dark)]:NAME:(dark light colour-blind mono)' \
    '--ascii[show only ASCII characters]' \
    '--fresh[begin with the overview of everything, not where you left the session]' \
    '--live[SESSION is the trace of a program that still runs: show it as it grows]' \
    '(-y --yes)'{-y,--yes}'[if SESSION is a trace, make the session without a question; with --live replace one that exists]' \
    '--script=[read keys from FILE (- is standard input) and write screens as text, without a terminal]:FILE:_files' \
    '--size=[screen size for --script (default: 80x24)]:WxH: ' \
    '--list-graphs[list the stored graphs of SESSION, of your folder and those that ship, and end; with this and the next options SESSION may be left out]' \
    '--export-graph=[print a stored graph, and end]:NAME: ' \
    '--import-graph=[store the graph of the file NAME.graph under NAME in SESSION, or in your folder if none is named or it cannot be written, and end]:FILE:_files' \
    '--delete-graph=[delete a graph from SESSION, or from your folder if it is not stored there, and end]:NAME: ' \
    '--rename-graph=[rename a graph of SESSION, or of your folder if it is not stored there, and end]:OLD=NEW: ' \
    '--run-graph=[run a text of the filter language, whose steps '\''write "FILE"'\'' make files, print its number or how many rows it has, and end]:TEXT: ' \
    '--allow-write[with --run-graph: let the stored graphs that TEXT uses write files, too]' \
    '--list-settings[list the settings of SESSION and of your folder, and end]' \
    '--add-setting=[store a setting in SESSION, or in your folder for all sessions, and end: '\''hide WORD'\'' (a namespace, class, module or function is not your own code), '\''show WORD'\'' (it is, although it is hidden by default), '\''wrapper FUNCTION'\'' (it only wraps an allocator, so the call site is its caller) or '\''source FROM=TO'\'' (source files whose path begins with FROM lie under TO here)]:SETTING:(hide show wrapper source)' \
    '--delete-setting=[delete a setting from SESSION, or from your folder, and end]:SETTING:(hide show wrapper source)' \
    '--print-config[print a configuration with all keys and actions, for $XDG_CONFIG_HOME/mprof/tui.conf, in which every line is a comment, and end]' \
    '--man[print the manual page, for man -l]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '*:FILE:_files'
