(( $+functions[_ralph-gate_keys] )) ||
_ralph-gate_keys() {
    local -a keys place
    local i
    for (( i = 1; i < CURRENT - 1; i++ )); do
        if [[ "${words[i]}" == (-C|--root) ]]; then
            place+=("${words[i]}" "${(Q)words[i+1]}")
        fi
    done
    keys=("${(@f)$(ralph-gate sessions --keys $place 2>/dev/null)}")
    compadd -a keys
}

(( $+functions[_ralph-gate_keys_or_files] )) ||
_ralph-gate_keys_or_files() {
    _ralph-gate_keys
    _files
}
