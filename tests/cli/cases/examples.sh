# Help: of each command it fits on a screen of 24 lines and 80 columns, and has an example. The examples run as they are
# printed, each beside the files and stores that it names.
exec 2>&1
build_files()
{
    clustered 400 81 | awk '{ print $1 "\t" NR }' >pages.txt
    (head -5 pages.txt; fingerprints 20 82) | cut -f 1 >new.txt
    fingerprints 30 83 | awk '{ print $1 "\t" 1000 + NR }' >today.txt
    seq 3 9 >gone.txt
    echo 0123456789abcdef >token
    printf '%s\n' 'the quick brown fox' 'a lazy dog' >titles
    echo '{"text":"the quick brown fox","date":"2026-11-29"}' >pages.jsonl
    sstore build --quiet pages.store pages.txt
    echo ff 5000 | sstore add --quiet pages.store
    mkdir -p docs && echo 'the quick brown fox' >docs/guide.md
    sstore fingerprint docs/guide.md | sstore build --quiet --names docs.store
    rm -r docs && mkdir docs && echo 'a lazy dog' >docs/other.md
    sstore build --quiet part-1.store pages.txt
    sstore build --quiet part-2.store today.txt
    sstore build --quiet today.store today.txt
    sstore build --quiet yesterday.store pages.txt
    sstore scan --queries new.txt pages.txt >first.tsv
    sstore scan --queries new.txt pages.txt today.txt >second.tsv
}
mkdir files && (cd files && build_files)
fits() # LINES COMMAND...: help that takes at most so many lines
{
    "${@:2}" >text
    [ "$(wc -l <text)" -le "$1" ] || echo "FAILED: $(wc -l <text) lines instead of $1: ${*:2}"
    awk -v command="${*:2}" 'length > 79 { print "FAILED: " length " columns: " command ": " $0 }' text
}
run_example() # NAME EXAMPLE
{
    rm -rf "$1" && cp -r files "$1"
    [ "$1" = build ] && rm -r "$1/pages.store"
    # A service runs for a moment, and not at the port that other tests may use.
    [ "$1" = serve ] && set -- serve "timeout --preserve-status 1 ${2/serve/serve --listen unix:socket}"
    (cd "$1" && bash -euc -o pipefail "$2" </dev/null >../output 2>../errors) || { echo "FAILED: $2" && cat errors; }
    echo "$2" && ls "$1" | diff - <(ls files) | sed -n "s/^< /    makes /p"
}
fits 42 sstore --help
mkdir all && cp files/titles all
sstore --help | sed -n 's/^  \$ //p' >examples
[ "$(wc -l <examples)" = 2 ] && (cd all && bash -eu ../examples 2>/dev/null) || echo "FAILED: the examples of sstore --help"
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    fits 24 sstore $command --help
    sed -n 's/^  \$ //p' text >examples
    [ -s examples ] || echo "FAILED: $command has no example"
    while read -r example; do
        [[ $example == *"sstore $command"* ]] || echo "FAILED: not about $command: $example"
        run_example "$command" "$example"
    done <examples
    # The long help has every option, and the short one says how to get it, unless it has all.
    sstore $command --help=all >long
    [ "$(grep -c -e '^Usage: ' -e '^  or:  ' text)" = "$(sstore $command --help=table | grep -c ^form)" ] ||
        echo "FAILED: $command --help lacks a form"
    awk -F '\t' '$1 == "option" && $2 != "usage" && $2 != "version" { print "--" $2 }' <(sstore $command --help=table) | while read -r option; do
        grep -q -e "^ .*$option\b" long || echo "FAILED: $command --help=all lacks $option"
        grep -q -e "^ .*$option\b" text || grep -q -e --help=all text || echo "FAILED: $command --help hides $option"
    done
done
sstore stat --help=all
exits 2 sstore query --help=everything
sstore query -hall | cmp - <(sstore query --help=all)
