# Inputs whose fields mean something else than the default says: the message leads to an option that reads them, and
# never to one that stores something else.
exec 2>&1
tab=$'\t'
try() # NAME [OPTION...]: an input on stdin that build refuses
{
    echo "--- $1"
    exits 1 sstore build "${@:2}" STORE
    absent STORE
}
read_by() # OPTION...: an input on stdin that build then reads
{
    exits 0 sstore build --quiet --force "$@" STORE
    sstore dump "${dump[@]}" STORE
    rm -rf STORE
}
dump=()
decimals() { printf '%s\n' 9120176390958531057 -1234567890123456789 123456789012345; }
decimals | try "decimal fingerprints, of which one can be hex"
decimals | sed '1!G;h;$!d' | try "the same, reversed"
decimals | sed 's/.*/{"fingerprint":"&"}/' | try "the same in JSON" --format jsonl
{ decimals; awk 'BEGIN { for (i = 1; i < 2000; i++) print "9" i % 7 "0176390958531" 100 + i % 900 }'; } | try "thousands"
decimals | try "hex, as it was said" --radix hex
{ fingerprints 3 7; echo 9120176390958531057; } | try "a decimal number below hex"
printf '%s\n' 84ad7e0ad13e1a8b84ad7e0ad13e1a8c 9120176390958531057 | try "one below hex of 128 bits"
printf '%s\n' 9120176390958531057 | try "one for a store of 64 bits" --bits 64
pairs() { printf '%s\n' "9120176390958531057${tab}1" "8120176390958531057${tab}2"; }
pairs | try "decimal fingerprints with ids"
printf '%s\n' "1234567890123456789${tab}84ad7e0ad13e1a8b" | try "long ids in front of hex"
printf '%s\n' "1234567890123456789${tab}-1234567890123456789" | try "long ids in front of negative fingerprints"
negative() { printf '%s\n' "1${tab}9120176390958531057" "2${tab}-8120176390958531057"; }
negative | try "negative fingerprints behind ids"
negative | try "the same as decimal" --radix dec
printf '%s\n' "1${tab}812017639" "2${tab}-812017639" | try "negative fingerprints of 32 bits"
printf '%s\n' "84ad7e0ad13e1a8b${tab}-5" | try "a negative id"
echo "--- the remedies"
dump=(--radix signed)
decimals | read_by --radix dec
pairs | read_by --radix dec
negative | read_by --radix dec --columns id,fingerprint
echo "--- rows without a value, by any word, are no comments, and --skip-bad leaves them out"
for word in ERROR error Failed FALSE N/A - none nan '#N/A' '#NULL!' '#VALUE!' '#REF!' '#DIV/0!' '#NAME?' '#NUM!'; do
    printf '%s\n' 84ad7e0ad13e1a8b "$word" 84ad7e0ad13e1a8d >rows
    exits 1 sstore build STORE rows
    sstore build --quiet --skip-bad --force STORE rows 2>skipped
    sstore dump STORE | cut -f 2 | xargs
    rm -r STORE
    printf '%s\n' "7${tab}84ad7e0ad13e1a8b" "8${tab}$word" | sstore build --columns id,fingerprint STORE 2>skipped
    cut -d ';' -f 2- skipped
    absent STORE
done
printf '%s\n' "#N/A is a comment?" "#NAME" "# N/A" 84ad7e0ad13e1a8b | try "a field of a spreadsheet"
printf '%s\n' "#NAME" "# N/A" "#" 84ad7e0ad13e1a8b | read_by
nulls() { printf '%s\n' "1${tab}$1" "2${tab}9120176390958531057" "3${tab}8120176390958531057"; }
nulls '\N' | try "a first row with NULL in the place of its fingerprint"
nulls NULL | try "the same as a word"
nulls NULL | try "the first remedy alone" --columns id,fingerprint
nulls '\N' | read_by --columns id,fingerprint --skip-bad --radix dec
printf '%s\n' "84ad7e0ad13e1a8b${tab}\\N" "84ad7e0ad13e1a8c${tab}2" "84ad7e0ad13e1a8d${tab}3" | try "an id of NULL"
dump=()
names() { printf '%s\n' "img 0.jpg${tab}84ad7e0ad13e1a8b" "img 1.jpg${tab}84ad7e0ad13e1a8d"; }
names | try "names in front of fingerprints"
names | tr -d ' ' | tr '\t' ' ' | try "the same with spaces"
names | read_by --columns -,fingerprint
printf '%s\n' "zz${tab}5" | try "no name, since no fingerprint follows"
named() { names | sed 's/\(.*\)\t\(.*\)/{"id":"\1","fingerprint":"\2"}/'; }
named | try "names as ids of JSON" --format jsonl
named | read_by --format jsonl --columns fingerprint
echo "--- blank lines before rows: ids are not the numbers of lines"
dump=()
tell() { printf "$1" | sstore "${@:2}" -; }
tell '1\n\n2\n' build STORE
tell '\n \n1\n\t\n\n2\n\n\n' build --force STORE
tell '1\n2\n\n\n' build --force STORE
tell '\xef\xbb\xbf\r\n1\n2' build --force STORE
tell '1\n\n2\n' build --quiet --force STORE
tell '1\t5\n\n2\t6\n' build --force STORE
tell '1\n\n2\n' build --force --no-ids STORE
tell '1\n\n2\n' remove STORE
tell '# a comment\n1\nx\n\n2\n' build --skip-bad --force STORE
tell '1\n\n2\n' add STORE
tell '1\n\n2\n' add --strict STORE
{ fingerprints 5000 8; echo; fingerprints 5000 9; echo; } >rows
sstore build --force STORE rows rows
rm -r STORE
echo "--- JSON of names and fingerprints, and of fingerprints alone"
map='{"img 0.jpg":"84ad7e0ad13e1a8b","img 1.jpg":"84ad7e0ad13e1a8d"}'
echo "$map" >map.jsonl
try "an object of names" <map.jsonl
try "the same as JSON Lines" --format jsonl <map.jsonl
sed 's/[{,:]/&\n  /g' map.jsonl | try "the same over several lines" --format jsonl
if ! command -v jq >/dev/null; then
    echo "jq is not installed: what it prints is written here" >&3
    jq() { [[ $2 == keys* ]] && names | cut -f 1 || names | cut -f 2; }
fi
jq -r '.[]' map.jsonl | read_by
jq -r 'keys_unsorted[]' map.jsonl
echo '["84ad7e0ad13e1a8b","84ad7e0ad13e1a8d"]' >array
try "an array of fingerprints" <array
try "the same as JSON Lines" --format jsonl <array
sed 's/[[,]/&\n  /g' array | try "the same over several lines" --format jsonl
jq -r '.[]' array | read_by
echo '{"hash":"84ad7e0ad13e1a8b"}' | try "JSON Lines with another key" --format jsonl
echo '{"hash":"84ad7e0ad13e1a8b"}' | read_by --format jsonl --fingerprint-field hash
echo '[{"hash":"84ad7e0ad13e1a8b"}]' | try "an array of objects"
numbers='[9120176390958531057, -8120176390958531057]'
echo "$numbers" | try "an array of numbers"
echo "$numbers" | tr -d '[] ' | tr , '\n' | read_by --radix dec
printf '%s\n' "img0.jpg${tab}9120176390958531057" "img1.jpg${tab}-8120176390958531057" | try "names and decimal numbers"
printf '%s\n' "img0.jpg${tab}-8120176390958531057" | try "the same as decimal" --radix dec
printf '%s\n' "img0.jpg${tab}-8120176390958531057" | read_by --radix dec --columns -,fingerprint
echo "--- the keys that there are"
keys() { printf '%s\n' "$1" | sstore fingerprint --jsonl "${@:2}" --no-comments; }
keys '{"body":"the cat sat","n":[1,{"text":"x"}],"a \"b\\":{"text":2},"url":"u","more":1}'
keys '{"a":1,"b":2,"c":3,"d":4}'
keys '{"text":"the cat sat","page":{"id":7}}' --id-field id
keys '{}'
keys "{\"$(printf 'k%.0s' {1..300})\":1,\"\\u001b\":2,\"$(printf '\x7f')\":3}"
keys '{"page":{"body":"the cat"}}' --text-field page.text
exit 0
