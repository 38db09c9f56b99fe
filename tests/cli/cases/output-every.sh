# Whatever a command prints, and in whatever form: on a full disk it is a failure with a message, and so it is where the
# reader has gone and SIGPIPE is ignored; else that signal ends the command without noise. The commands come from
# 'sstore --help', and each needs its forms here.
exec 2>&1
clustered 400 91 >input
fingerprints 40 92 >others
echo "the cat sat on the mat" >text
printf 'cat\t2\nmat\t1\n' >features
yes $'0\t0' | head -n 20000 >couples
sstore build --quiet --id-index STORE input
sstore build --quiet OTHER input others
sstore build --quiet MANY others
while read -r record; do
    sstore add --quiet MANY - --no-compact <<<"$record" # segments, for a report that is longer than a stream's buffer
done < <(head -12 input)
sstore scan --queries others input others >matches
seq 20000 | awk '{ print $1 "\t" $1 % 1000 }' >edges
seq 0 300 >ids
awk '{ print $1 "\tthe name of " NR }' input | sstore build --quiet --names NAMED
sstore --help >help
sed -n 's/^  \([a-z]*\)  .*/\1/p' help >commands

# The arguments of a command with which it prints to stdout, one line for each form.
forms()
{
    case $1 in
    build | remove | reindex | compact | merge | shard | serve) ;; # they speak on stderr
    add) printf '%s\n' '--quiet --if-new STORE input' '--quiet --if-new --json STORE input' \
                       '--quiet --if-new --limit=1 STORE input' '--quiet --if-new --header=always STORE input' ;;
    query) printf '%s\n' '-k 64 STORE 1' '-k 64 --json STORE 1' '-k 64 --output-radix=dec STORE 1' '--header=always -k 64 STORE 1' \
                         '--count STORE 1' '--count --json STORE 1' \
                         '--explain STORE 1' '--nearest STORE 1' '--nearest --json STORE 1' '--input=input STORE' \
                         '--input=input --json STORE' '--input=input NAMED' '-k 64 --json NAMED 1' '--input=input --count STORE' '--limit=1 -k 64 STORE 1' '--output-radix=dec -k 64 STORE 1' \
                         '-k 64 --query-ids --id=0 STORE' '-k 64 --query-ids --id=0 --json STORE' '-k 64 --group --also=OTHER --id=0 STORE' ;;
    get) printf '%s\n' 'STORE 0' '--json STORE 0' '--header=always STORE 0' '--output-radix=dec STORE 0' '--input=ids STORE' 'NAMED 0' '--json NAMED 0' ;;
    scan) printf '%s\n' '--queries=others others' '--queries=others --no-ids others' '--header=always --queries=others others' ;;
    collect) printf '%s\n' 'matches' '--memory=64M matches matches' '--header=always matches' ;;
    pairs) printf '%s\n' '-k 16 STORE' '-k 16 --json STORE' '-k 16 NAMED' '-k 16 --header=always STORE' ;;
    clusters) printf '%s\n' '-k 16 STORE' '-k 16 --json STORE' '-k 16 --header=always STORE' '-k 16 --drop STORE' '-k 16 --drop --json STORE' \
                            '--representatives STORE' '--representatives --json STORE' '--singles STORE' \
                            '--singles --json STORE' '--edges edges' '--edges edges --json' \
                            '--edges edges --drop' '--edges edges --representatives' \
                            'NAMED' ;;
    join) printf '%s\n' 'STORE OTHER' '--json STORE OTHER' 'NAMED OTHER' '--header=always STORE OTHER' ;;
    plan) printf '%s\n' '-n 10M' '-n 10M --json' '-n 10M --all' '-n 10M --all --json' '-n 10M --html -' ;;
    report) printf '%s\n' 'STORE -o -' 'STORE --output=-' '--clusters --queries=others STORE -o -' \
                          '--clusters NAMED -o -' ;;
    stat) printf '%s\n' 'STORE' '--json STORE' 'MANY' '--json MANY' ;;
    verify) printf '%s\n' 'STORE' '--all STORE' ;;
    dump) printf '%s\n' 'STORE' '--format=text STORE' '--format=rec STORE' '--format=u64 STORE' '--format=jsonl STORE' '--format=npy STORE' '--format=npy-bytes STORE' '--header=always STORE' 'NAMED' '--format=jsonl NAMED' ;;
    fingerprint) printf '%s\n' 'text' '--lines text' '--format rec text' '--recipe' '--weighted features' '--margins text' '--header=always text' ;;
    dedup) printf '%s\n' '--quiet --lines text' '--quiet --files text' '--quiet --files --null text' '--quiet --lines --dry-run text text' ;;
    idf) printf '%s\n' '- text' ;;
    similarity) printf '%s\n' '--quiet --lines --pairs=couples text' ;;
    *) echo "FAILED: $1 has no forms in this test" >&2 ;;
    esac
    printf '%s\n' --help --help=all --usage --version
}

# What a command's help says of options that choose a form must have one: those that tell what is printed, and --format of
# its output.
check_forms()
{
    local option
    sstore "$1" --help=all | awk '
        /^ Input:/ { exit }
        /^ *(-., )?--/ { option = $0; sub(/^ *(-., )?/, "", option); sub(/[=[ ].*/, "", option) }
        /(^| )print( |$)/ && !/errors/ || /--format/ { print option }' | sort -u |
        while read -r option; do
            case $option in --help | --usage | --version) continue ;; esac
            forms "$1" | grep -q -e "$option" || echo "FAILED: $1 $option has no form in this test"
        done
}

# A pipe that nobody reads, on descriptor 4.
exec 4> >(:)
wait $!

tried=0
try()
{
    local code
    sstore "$@" >whole 2>message || echo "FAILED: exit $?: sstore $*: $(<message)"
    [ -s whole ] || echo "FAILED: sstore $* prints nothing"
    sstore "$@" >/dev/full 2>message
    code=$?
    [ "$code: $(<message)" = "1: sstore: cannot write to standard output: No space left on device" ] ||
        echo "FAILED: to a full disk: exit $code: sstore $*: $(<message)"
    # Of a pipe that nobody reads, and of one whose reader leaves after a byte, or perhaps only when all is written.
    (trap '' PIPE && exec sstore "$@") >&4 2>message
    code=$?
    [ "$code: $(<message)" = "1: sstore: cannot write to standard output: Broken pipe" ] ||
        echo "FAILED: to a pipe without a reader, SIGPIPE ignored: exit $code: sstore $*: $(<message)"
    ((tried += 2))
    [ "$1 $2" != "add --quiet" ] || return # which ignores it itself, so as to end what it has begun
    sstore "$@" >&4 2>message
    code=$?
    [ "$code: $(<message)" = "141: " ] ||
        echo "FAILED: to a pipe without a reader: exit $code: sstore $*: $(<message)"
    sstore "$@" 2>message | head -c 1 >/dev/null
    code=${PIPESTATUS[0]}
    [[ $code = 0 || $code = 141 ]] && [ ! -s message ] ||
        echo "FAILED: to a reader of one byte: exit $code: sstore $*: $(<message)"
    ((tried += 2))
}

commands=0
try --help
try --version
try help
while read -r command; do
    ((++commands))
    check_forms "$command"
    try help "$command"
    while read -ra form; do
        try "$command" "${form[@]}"
    done < <(forms "$command")
done <commands
((commands >= 17)) || echo "FAILED: 'sstore --help' names $commands commands"

# What speaks on stderr alone does its work whatever becomes of its words; a failure is told by the exit code then.
quietly()
{
    exits 0 sstore "$@" >/dev/full 2>/dev/full
    ((++tried))
}
quietly build BUILT input
quietly build --force --progress=json BUILT input
quietly add BUILT others
quietly remove BUILT input
quietly compact BUILT
quietly merge MERGED STORE OTHER
quietly shard --count=2 STORE part
exits 0 sstore dump BUILT | cut -f1 | same - <(sort others)
exits 0 sstore dump MERGED | cut -f1 | sort -u | same - <(sort -u input others)
exits 1 sstore build BUILT input >/dev/full 2>/dev/full
exits 2 sstore build --nonsense >/dev/full 2>/dev/full
echo "figure: outputs: $tried of $commands commands and of sstore itself, to a full disk and to pipes that nobody reads" >&3
