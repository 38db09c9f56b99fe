# A program can talk to a query: each line is answered before the next is read.
printf '1 10\n2 20\nff 30\n' | sstore build --quiet STORE
talk()
{
    echo "--- $*"
    coproc TALK { sstore query "$@"; }
    local input=${TALK[1]} output=${TALK[0]} process=$TALK_PID line
    echo 'fe' >&$input
    read -r -t 60 line <&$output && echo "$line"
    echo '0x00FF some words that follow' >&$input
    read -r -t 60 line <&$output && echo "$line"
    printf '1\n2\n' >&$input
    read -r -t 60 line <&$output && echo "$line"
    read -r -t 60 line <&$output && echo "$line"
    # Half a line is not answered before the other half comes.
    printf 'f' >&$input
    read -r -t 0.3 line <&$output && echo "too early: $line"
    printf 'f\n' >&$input
    read -r -t 60 line <&$output && echo "$line"
    exec {input}>&-
    wait $process
    echo "exit $?"
}
talk -k 1 --limit 1 --columns fingerprint,- STORE
talk -k 1 --limit 1 --columns fingerprint,- STORE -
talk -k 1 --nearest --limit 1 --columns fingerprint,- STORE
talk -k 1 --count --columns fingerprint,- STORE
talk -k 1 --limit 1 --json --columns fingerprint,- STORE
