# Completion of sstore for bash. The command itself knows what may follow: 'sstore --complete WORD...' prints it.
_sstore()
{
    local words=() word rest i
    # bash splits words at = and :, by COMP_WORDBREAKS; the command takes them whole.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == [=:] ]] && ((${#words[@]} > 0 && i > 1)); then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    COMPREPLY=()
    while IFS=$'\t' read -r word rest; do
        case $word in
        :files) compopt -o default ;; # by readline, which quotes names
        :folders) compopt -o dirnames ;;
        *) COMPREPLY+=("$word") ;;
        esac
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
}
complete -F _sstore sstore
