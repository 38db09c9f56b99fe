# Column names head the lines on a terminal, where columns are aligned and clusters have numbers, or everywhere with
# --header always. Elsewhere nothing changes: nor does a column stand elsewhere on a terminal than in a pipe.
needs_terminal "${BASH_SOURCE[0]}"
printf '%s\t%d\n' ff 1 fe 20 f0f0f0f0f0 300 f0f0f0f0f1 123456789 >records
printf '%s\n' ff 0 >queries
sstore build --quiet STORE records
sstore build --quiet OTHER records
sstore build --quiet --no-ids NOIDS <<<'ff'
sstore build --quiet WIDE <<<"$(printf '%032x' 255) 5"
awk '{ print $1 "\tname " $2 }' records | sstore build --quiet --names NAMED
printf '{"text":"%s","name":"page %s"}\n' "some text" 1 "other words" 2 >objects
printf '%s\t%d\n' some 1 text 2 >weights
terminal() { script -qec "sstore $* 2>/dev/null" /dev/null </dev/null | tr -d '\r' | sed -E $'s/\x1b\\[K//g'; }
while read -r command; do
    echo "--- $command"
    plain=$(sstore $command)
    [ "$(sstore $command --header never)" = "$plain" ] || echo "FAILED: never"
    [ "$(terminal $command --header never)" = "$plain" ] || echo "FAILED: never on a terminal"
    sstore $command --header always >headed
    head -n 1 headed
    # Below the header stand the same columns, and perhaps one more.
    awk -F '\t' 'NR > 1' headed | cut -f "1-$(awk -F '\t' '{ print NF; exit }' <<<"$plain")" | same - <(echo "$plain")
    terminal $command
    terminal $command | sed 's/ //g' | same - <(sed 's/ //g' headed)
done <<'END'
query STORE ff
query -k 0 STORE ff 0
query --count STORE ff 0
query NAMED --input queries
query STORE --output-radix dec ff
query NOIDS ff
query WIDE 000000000000000000000000000000ff
pairs STORE
pairs NAMED
join STORE OTHER
join NAMED OTHER
join STORE NAMED
clusters STORE
clusters STORE --drop
clusters STORE --representatives
clusters NAMED
dump STORE
dump STORE --columns id,fingerprint
scan --threads 1 --queries queries records
fingerprint --no-comments --lines queries
fingerprint --no-comments --jsonl --id-field name objects
fingerprint --no-comments --bits 128 --margins --lines queries
fingerprint --weighted weights
dump NAMED --no-comments
get NAMED 2
END
echo "--- below the recipe, which is for programs"
sstore fingerprint --lines --header always queries | sed 1s/unicode=.*//
echo "--- answers of a store that changes"
for how in always never; do
    cp -r STORE COPY && printf '%s\n' "ff 7" "ffffffff 8" | sstore add --quiet --if-new --header $how COPY && rm -r COPY
done
cp -r STORE COPY && printf '%s\n' "ff 7" "ffffffff 8" >two && terminal add --quiet --if-new COPY two
echo "--- without results"
sstore query -k 0 STORE 5 --header always
sstore pairs -k 0 STORE --header always
terminal query -k 0 STORE 5
sstore query STORE ff | sstore collect --header always
printf '1\t2\n2\t3\n' >edges
sstore clusters --edges edges --header always
echo "--- tables of people fit 80 columns on a terminal"
sstore add --quiet STORE <<<"5 7"
sstore add --quiet WIDE <<<"$(printf '%032x' 5) 7"
sstore build --quiet -k 31 WIDEST <<<"$(printf '%0256x' 5) 7"
sstore add --quiet --no-compact WIDEST <<<"$(printf '%0256x' 6) 8"
for command in "stat STORE" "stat WIDE" "stat WIDEST" "plan -n 10M" "plan -n 10M --bits 256 -k 31" "plan -n 1M --bits 1024 -k 200" \
    "plan -n 1M -k 16 --all"; do
    terminal $command >narrow
    sed -n '/^plan  /,/^recipe/p; /^Segments/,/^$/p; /^segment  folder/,/^$/p; /^Tables/,/^$/p; /key mask/,/^$/p; /Elias-Fano/,/^$/p; /^[ *] /{/: best balance/d;p}' narrow | sort -u | awk -v command="$command" \
        'length > 79 { print "FAILED: " length " columns: " command ": " $0 }'
    # Every number of the wide tables is in the narrow ones, where long names of plans go on below their beginning.
    awk 'NF == 1 && /^  [0-9]/ { sub(/,  /, "," $1 "  ", row) || sub(/, /, "," $1 " ", row); next } { print row; row = $0 } END { print row }' narrow >joined
    mv joined narrow
    sstore $command | tr -s ' ()' '\n' | sort -u | comm -23 - <(tr -s ' ()' '\n' <narrow | sort -u)
done
sstore plan -n 10M | head -1
terminal plan -n 10M | head -1
echo "--- never before JSON"
terminal query --json STORE ff | same - <(sstore query --json STORE ff)
exits 2 sstore query --json --header always STORE ff 2>&1
exits 2 sstore dump --format jsonl --header always STORE 2>&1
exits 2 sstore add --if-new --json --header always STORE two 2>&1
exits 2 sstore add --header always STORE two 2>&1
exits 2 sstore fingerprint --format rec --header always queries 2>&1
exits 2 sstore fingerprint --recipe --header always 2>&1
