# The keys of sessions, where one is wanted; whatever the function above says everywhere else.
_ralph_gate_with_keys() {
    _ralph__gate "$@"

    local cur="$2" prev="$3" word before="" key quoted
    local -a command=() place=() keys=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$before" in
            -C|--root)
                place+=("$before" "$word")
                ;;
            @OPTIONS@)
                ;;
            *)
                [[ "$word" == -* ]] || command+=("$word")
                ;;
        esac
        before="$word"
    done

    case "${command[0]-}" in
        memory)
            case "${command[1]-}" in
                @MEMORY@)
                    ;;
                *)
                    return 0
                    ;;
            esac
            ;;
        run|@COMMANDS@)
            ;;
        *)
            return 0
            ;;
    esac
    if [[ "${command[0]}" == run ]]; then
        [[ "$prev" == --session ]] || return 0
    else
        case "$prev" in
            @OPTIONS@)
                return 0
                ;;
        esac
    fi
    while IFS= read -r key; do
        printf -v quoted %q "$key"
        if [[ "$key" == "$cur"* || "$quoted" == "$cur"* ]]; then
            keys+=("$quoted")
        fi
    done < <("$1" sessions --keys ${place[@]+"${place[@]}"} 2>/dev/null)
    if [[ ${#keys[@]} -gt 0 && "$cur" != -* ]]; then
        COMPREPLY=("${keys[@]}")
    fi
}

complete -F _ralph_gate_with_keys -o bashdefault -o default ralph-gate
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _ralph_gate_with_keys -o nosort -o bashdefault -o default ralph-gate
fi
