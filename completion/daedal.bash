# bash completion of daedal(1)

# The words of the help that look like options, of one command.
_daedal_options() {
    "$1" help "$2" 2>/dev/null | sed -n 's/^  *\(-[-a-z]\)/\1/p' | grep -oE -- '--?[a-z][a-z-]*' |
        sort -u
}

# Files with one of the endings, and directories on the way to them.
_daedal_files() {
    local ending
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -d -- "$cur"))
    for ending in "$@"; do
        COMPREPLY+=($(compgen -f -X "!*.$ending" -- "$cur"))
    done
}

# Orders or variants of the method that the line names: "order 5, 9, 13", "variant modified, thesis".
_daedal_method_options() {
    local i method
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = --method ] && method=${COMP_WORDS[i + 1]}
    done
    COMPREPLY=($(compgen -W "$("$1" methods "$method" 2>/dev/null |
        sed -n "s/^$method:\([^ ]*\).*/\1/p" | tr ':' '\n' |
        grep -E "$([ "$2" = --order ] && echo '^[0-9]+$' || echo '^[a-z]')" | sort -u)" -- "$cur"))
}

# Parameters of the model text that the line names, behind those of a list "a,b,".
_daedal_parameters() {
    local i file before=
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == *.@(mo|bmo) ]] && file=${COMP_WORDS[i]}
    done
    [[ $cur == *,* ]] && before=${cur%,*},
    COMPREPLY=($(compgen -P "$before" -W "$("$1" check "$file" --list 2>/dev/null |
        sed -n '/^parameters/,/^variables/s/^  \([^ ]*\) .*/\1/p')" -- "${cur##*,}"))
}

_daedal() {
    local cur prev command IFS=$' \t\n'
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
    command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'run sweep verify sens fit bvp optimise compare check init steady linearise emit demo models methods formulations help version' -- "$cur"))
        return
    fi
    IFS=$'\n'
    case $prev in
    --method | --judge)
        if [[ $command == bvp ]]; then
            COMPREPLY=($(compgen -W $'gauss\nradau\nshooting\nprojected\nprojected-radau' -- "$cur"))
            return
        fi
        COMPREPLY=($(compgen -W "auto
$("$1" methods 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9_]*\) .*/\1/p')" -- "$cur"))
        return
        ;;
    --formulation)
        COMPREPLY=($(compgen -W "auto
residual
$("$1" formulations 2>/dev/null | sed -n 's/^\([a-z][a-z0-9_-]*\) .*/\1/p')" -- "$cur"))
        return
        ;;
    --order | --variant)
        _daedal_method_options "$1" "$prev"
        return
        ;;
    --by)
        case $command in
        sweep) COMPREPLY=($(compgen -W $'random\nlhs\nsobol' -- "$cur")) ;;
        optimise) COMPREPLY=($(compgen -W $'auto\ncollocation\nsimulation\nconditions' -- "$cur")) ;;
        *) _daedal_parameters "$1" ;;
        esac
        return
        ;;
    --over)
        compopt -o nospace 2>/dev/null
        _daedal_parameters "$1"
        COMPREPLY=("${COMPREPLY[@]/%/=}")
        return
        ;;
    --list) _daedal_files csv && return ;;
    --runs) COMPREPLY=($(compgen -d -- "$cur")) && compopt -o filenames 2>/dev/null && return ;;
    --keep | --sample | --seed | --jobs) return ;;
    --fit | --free | --vary)
        _daedal_parameters "$1"
        return
        ;;
    --input) _daedal_files csv && return ;;
    --corrector) COMPREPLY=($(compgen -W $'staggered\nsimultaneous' -- "$cur")) && return ;;
    --loss) COMPREPLY=($(compgen -W $'squares\nhuber\ncauchy' -- "$cur")) && return ;;
    --set-file) COMPREPLY=($(compgen -f -- "$cur")) && compopt -o filenames 2>/dev/null && return ;;
    --input-mode) COMPREPLY=($(compgen -W $'linear\ncubic\nstep' -- "$cur")) && return ;;
    --table) COMPREPLY=($(compgen -f -- "$cur")) && compopt -o filenames 2>/dev/null && return ;;
    --engine) COMPREPLY=($(compgen -W $'auto\ntape\nnative\nsoon\npetsc' -- "$cur")) && return ;;
    --linear-solver)
        COMPREPLY=($(compgen -W $'auto\ndense\nbanded\nsparse\ngmres' -- "$cur"))
        return
        ;;
    --index)
        COMPREPLY=($(compgen -W $'all\nstructural\ndifferentiation\nstrangeness\nperturbation\ntractability\nKronecker' -- "$cur"))
        return
        ;;
    --projection)
        COMPREPLY=($(compgen -W $'auto\nnone\nposition\nvelocity\nboth' -- "$cur"))
        return
        ;;
    --format)
        COMPREPLY=($(compgen -W $'c\nmodelica\nconditions' -- "$cur"))
        return
        ;;
    --error-test)
        COMPREPLY=($(compgen -W $'auto\nall\ndifferential\nfiltered' -- "$cur"))
        return
        ;;
    --init)
        COMPREPLY=($(compgen -W $'auto\nnone\ndifferential\nderivative' -- "$cur"))
        return
        ;;
    --adjoint)
        COMPREPLY=($(compgen -W $'discrete\ncontinuous' -- "$cur"))
        return
        ;;
    --small-steps)
        COMPREPLY=($(compgen -W $'harmonic\nromberg\nbulirsch' -- "$cur"))
        return
        ;;
    -o | --output)
        case $command in
        emit) _daedal_files c mo ;;
        init | steady) _daedal_files csv json ;;
        sweep) _daedal_files csv json mat h5 ;;
        *) _daedal_files csv json mat ;;
        esac
        return
        ;;
    --plot | --incidence) _daedal_files svg png pdf && return ;;
    --steps) _daedal_files txt && return ;;
    --csv | --history | --tableau) _daedal_files csv && return ;;
    --checkpoint | --resume) COMPREPLY=($(compgen -f -- "$cur")) && compopt -o filenames 2>/dev/null && return ;;
    --every) COMPREPLY=($(compgen -W '60s 10min 1h 500steps' -- "$cur")) && return ;;
    --signals-from) COMPREPLY=($(compgen -f -- "$cur")) && compopt -o filenames 2>/dev/null && return ;;
    --json) [[ $command == run || $command == verify || $command == sens || $command == fit || $command == sweep || $command == optimise ]] && _daedal_files json && return ;;
    --set | --start | --start-time | --stop | --tend | --rtol | --atol | --atol-of | --rtol-of | --interval | --points | \
        --first | --vars | --variables | --of | --gradient | --checkpoints | --memory | --sigma | --ignore | --loss-scale | --iterations | --fit-tolerance | --size | --max-step | --initial-step | --herk | --fixed-step | --max-steps | --max-order | --newton-iterations | --formula | --krylov-dimension | --krylov-kmp | --limit | --intervals | --max-intervals | --stages | --tube-x | --tube-y | --nominal | --signals | --inputs | --outputs | --span | --control | --integral | --at-end | --end | --minimise | --maximise | --path) return ;;
    --at) COMPREPLY=($(compgen -W 'steady' -- "$cur")) && return ;;
    esac
    case $command in
    run | sweep | verify | sens | bvp | optimise | check | init | steady | linearise | emit)
        case $cur in
        -*) COMPREPLY=($(compgen -W "$(_daedal_options "$1" "$command")" -- "$cur")) ;;
        *)
            _daedal_files mo bmo
            [[ $command == run || $command == verify ]] && COMPREPLY+=($(compgen -W "$("$1" models 2>/dev/null |
                sed -n '2,$s/ .*//p')" -- "$cur"))
            ;;
        esac
        ;;
    fit)
        case $cur in
        -*) COMPREPLY=($(compgen -W "$(_daedal_options "$1" "$command")" -- "$cur")) ;;
        *) _daedal_files mo bmo csv json mat ;;
        esac
        ;;
    compare)
        case $cur in
        -*) COMPREPLY=($(compgen -W "$(_daedal_options "$1" "$command")" -- "$cur")) ;;
        *) _daedal_files csv json mat ;;
        esac
        ;;
    methods)
        COMPREPLY=($(compgen -W "$("$1" methods 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9_]*\) .*/\1/p')" -- "$cur"))
        ;;
    models) COMPREPLY=($(compgen -W "$("$1" models 2>/dev/null | sed -n '2,$s/ .*//p')" -- "$cur")) ;;
    help)
        COMPREPLY=($(compgen -W $'run\nsweep\nverify\nsens\nfit\nbvp\noptimise\ncompare\ncheck\ninit\nsteady\nlinearise\nemit\ndemo\nmodels\nmethods\nformulations\nhelp\nversion' -- "$cur"))
        ;;
    esac
}

complete -F _daedal daedal
