# Progress: one fraction of the whole command, which never decreases, in every command that may take long; and on a
# terminal a line that appears after a second, never between answers, and leaves nothing behind.
needs_terminal "${BASH_SOURCE[0]}"
clustered 4000 71 >input
fingerprints 300 72 >others
sstore build --quiet STORE input
sstore build --quiet OTHER others
gzip -k input
seq 0 300 >ids
sstore scan --queries others input others >matches
seq 20000 | awk '{ print $1 "\t" $1 % 1000 }' >edges
echo >checked
check() # COMMAND...: at least one object, the fractions of all of them ascend, and the answers are the same
{
    sstore "$@" --progress none >plain 2>/dev/null
    rm -rf NEW* && sstore "$@" --progress json 2>objects | cmp - plain || echo "FAILED: other answers: $*"
    grep -o '"fraction":[0-9.e-]*' objects | cut -d : -f 2 >fractions
    [ -s fractions ] || echo "FAILED: no fraction: $*"
    sort -g -c fractions || echo "FAILED: $*"
    awk '$1 > 1 || $1 < 0' fractions
    echo "$1" >>checked
    rm -rf NEW*
}
echo "--- from files"
check build --plan 3 NEW input.gz
check merge --plan 3 NEW STORE OTHER
check shard --count 2 --plan 2 STORE NEW
check query --input input STORE
check query --nearest --input others STORE
check query STORE 1
check get --input ids STORE
check scan --queries others input.gz
check collect matches
check pairs STORE
check clusters STORE
check clusters --edges edges
check join STORE OTHER
check report --queries others --clusters -o NEW STORE
check verify STORE
printf '0\t%s\n' $(seq 0 999) >couples
check dump STORE
check dedup --lines input.gz
check dedup --strict --keep last --lines input
check dedup --files input others
check fingerprint --lines input.gz
check fingerprint input others
check idf --lines NEW input.gz
check similarity --pairs couples --lines input.gz
check reindex --all STORE
check compact --block-size 8K STORE
check remove STORE others
echo "--- additions: reading, and everything after it"
for how in '' --if-new '--if-new --publish-every=100'; do
    cp -r STORE NEW
    sstore add --no-compact $how --progress json NEW others 2>objects >/dev/null
    grep -o '"fraction":[0-9.e-]*' objects | cut -d : -f 2 >fractions
    sort -g -c fractions
    for phase in reading writing; do
        grep -q "\"phase\":\"$phase\"" objects || echo "FAILED: nothing of $phase: $how"
    done
    rm -r NEW
done
echo "--- an addition that leaves out all its records: they have been counted"
sstore dump STORE | sstore add --no-compact --progress json STORE - 2>&1 | grep '"counting"' | tail -n 1 | grep -o '"done":[0-9]*,"total":[0-9]*'
echo add >>checked
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    sstore $command --usage | grep -q -e --progress || continue
    grep -qx $command checked || echo "FAILED: $command has --progress and no test"
done
echo "--- from a pipe: numbers, and no fraction before the length is known"
cat input | sstore build --quiet --progress json --plan 1 NEW 2>&1 | grep '"reading"' | grep -c fraction
cat input | sstore scan --progress json --queries others 2>&1 >/dev/null | tail -1 | sed 's/,"per_second.*/}/'
cat others | sstore query --count --progress json STORE 2>&1 >/dev/null | tail -1 | sed 's/,"per_second.*/}/'

# The rest is on a terminal. Its reader is slow, so the commands take some seconds: slow COMMAND... writes the answers to
# `answers` and what the terminal gets to `terminal`.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%06x%06x\n", i * 7919 % 16777216, i * 104729 % 16777216 }' >many
for i in 1 2 3 4 5 6 7 8 9; do cat many; done | sstore build --quiet --plan 1 MANY
slow()
{
    export slow_command="$*"
    script -qec '$slow_command | while head -c 300000 >part && [ -s part ]; do cat part && sleep 0.2; done >answers' \
        log </dev/null >terminal
}
check_terminal() # the lines of the terminal: percentages ascend, the time is there, and at the end the line is erased
{
    tr '\r' '\n' <terminal | sed 's/\x1b\[K//' | grep -o '^[0-9]* %' >percentages
    [ "$(wc -l <percentages)" -ge 2 ] || echo "FAILED: $(wc -l <percentages) lines"
    sort -n -c percentages && awk '$1 > 100' percentages
    tr '\r' '\n' <terminal | grep -o '[0-9]* s left' >times
    [ -s times ] || echo "FAILED: no time left"
    [ "$(tail -c 4 terminal | od -An -tx1 | tr -d ' ')" = 0d1b5b4b ] || echo "FAILED: the line is still there"
}
echo "--- a line on a terminal"
sstore dump MANY >expected
slow sstore dump MANY
cmp answers expected
check_terminal
echo "--- numbers and their rate for a pipe"
script -qec '(cat many; sleep 1.1; cat many; sleep 0.2) | sstore scan --queries others >answers' log </dev/null >terminal
tr '\r' '\n' <terminal | sed 's/\x1b\[K//' | grep -q '^scanning: [0-9.]* K, [0-9.]* K\?/s$' || cat -v terminal
echo "--- none once answers go to the same terminal"
answers() # what a terminal keeps: a line that was drawn before the first answer, on a slow machine, is erased
{
    script -qec "$1" log </dev/null | tr -d '\r' | sed -E $'1s/^(\x1b\\[K[^\x1b]*)*\x1b\\[K//'
}
cmp <(answers 'sstore dump --header never MANY') expected
cmp <(answers 'sstore pairs --header never STORE') <(sstore pairs STORE)
