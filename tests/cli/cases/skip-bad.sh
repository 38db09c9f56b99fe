# Rows that cannot be read: --skip-bad goes on without them, keeps them with their reasons, and the others are what they
# would be alone, with the ids of their rows.
exec 2>&1
tab=$'\t'
echo "--- rows in every place, on one thread and ahead"
fingerprints 3000 71 >good
awk '
    { while (k++ * k % 23 < 2) { print "?" n "\tx"; n++ } print; print $0 "\t" n + 0 >"expected"; n++ }
    END { print "last" }' good >mixed
grep -c . expected
wc -l <mixed
for threads in 1 0; do
    sstore build --quiet --force --threads=$threads --skip-bad=kept STORE mixed >messages 2>&1
    cut -d ';' -f 1 messages
    sstore dump STORE | sort >found
    sort -o expected expected
    same expected found
done
cut -f 4- kept >rows
grep -vxf good mixed >others
same rows others
echo "--- what is kept can be given again"
printf '%s\n' 84ad7e0ad13e1a8b "84ad7e0ad13e1a8c x" "84ad7e0ad13e1a8d${tab}7" >input
sstore build --force --quiet --skip-bad=kept STORE input
sed "s/^/kept: /" kept
cut -f 4- kept | cut -d ' ' -f 1 | cut -f 1 | sstore add STORE
sstore dump STORE
echo "--- a first row that differs from the others"
pair=84ad7e0ad13e1a8b84ad7e0ad13e1a8c
first() # ROW OTHER...
{
    printf '%s\n' "$@" >input
    exits 1 sstore build NEW input
    exits 0 sstore build --force --quiet --skip-bad NEW input
    sstore dump NEW
    sstore build --force --quiet NEW - <<<1
    exits 1 sstore add NEW input
    rm -r NEW
}
first "84ad7e0ad13e1a8b${tab}7" 84ad7e0ad13e1a8c 84ad7e0ad13e1a8d
first 84ad7e0ad13e1a8b "84ad7e0ad13e1a8c 8" "84ad7e0ad13e1a8d 9"
first 84ad7e0ad13e1a8b "84ad7e0ad13e1a8c 8" 84ad7e0ad13e1a8d
first 84ad7e0ad13e1a8b "84ad7e0ad13e1a8c 8"
first 84ad7e0ad13e1a8b $pair ${pair}
echo "--- blank lines and comments use up no number, bad rows do"
printf '%s\n' 84ad7e0ad13e1a8b "" "# a comment" zz "$tab " 84ad7e0ad13e1a8c >input
sstore build --quiet --skip-bad BLANK input
sstore dump BLANK
grep -v zz input | sstore build --force --quiet BLANK
sstore dump BLANK
echo "--- ids of a store that grows"
printf '%s\n' zz 84ad7e0ad13e1a8e | sstore add --quiet --skip-bad STORE
sstore dump STORE
echo "--- limits"
printf '%s\n' 1 x 2 y 3 >input
exits 1 sstore build --max-bad=1 NEW input
exits 0 sstore build --quiet --max-bad=2 NEW input
exits 1 sstore add --max-bad=0 NEW input
exits 2 sstore add --max-bad=x NEW input
exits 2 sstore add --skip-bad=- NEW input
exits 1 sstore add --skip-bad=input NEW input
exits 1 sstore add --skip-bad=none/kept NEW input
exits 1 sstore add NEW input
echo "--- an input of another form"
printf '%s\n' the cat sat >text
exits 1 sstore build --skip-bad=kept OTHER text
exits 1 sstore build --skip-bad OTHER input text
absent OTHER
wc -l <kept
echo "--- queries: in order, each bad row told at once where the writer waits"
printf '%s\n' 2 x 1 y 3 >queries
exits 0 sstore query -k 0 --count --skip-bad --input queries NEW
exits 0 sstore query -k 0 --count --skip-bad=kept NEW <queries
exits 0 sstore query -k 0 --nearest --skip-bad NEW - <queries
exits 1 sstore query -k 0 --count --max-bad=1 NEW <queries
exits 1 sstore query -k 0 --count --max-bad=1 --input queries NEW
exits 1 sstore query -k 0 --count NEW <queries
coproc sstore query -k 0 --count --skip-bad NEW
for row in 1 x 2; do
    echo "$row" >&"${COPROC[1]}"
    [ "$row" = x ] && continue
    read -r answer <&"${COPROC[0]}" && echo "$answer"
done
exec {COPROC[1]}>&-
wait
echo "--- adding what is new, line by line and as a file"
exits 0 sstore add --if-new --skip-bad -k 0 NEW <queries
exits 0 sstore add --if-new --skip-bad -k 0 NEW queries
echo "--- removals"
printf '%s\n' 1 - 2 >gone
exits 0 sstore remove --ids --skip-bad=kept NEW gone
cat kept
echo "--- scans, both sides"
exits 0 sstore scan -k 0 --skip-bad=kept --queries queries input >matches
sort matches
cat kept
echo "--- matches, edges, a sample, a page"
sstore scan -k 8 --skip-bad --queries queries input >unsorted
sort unsorted >matches
{ head -1 matches; echo x; sed 1d matches; sed 's/-$/7/' matches | head -1; } >damaged
exits 1 sstore collect damaged
sstore collect matches >expected
sstore collect --skip-bad=kept damaged >found
same expected found
cut -f 2- kept
printf '%s\n' '1 2' '2 3' '3 x' '4 5' >edges
exits 0 sstore clusters --edges edges --skip-bad=kept
cat kept
exits 1 sstore clusters --edges edges
exits 2 sstore clusters --skip-bad STORE
exits 0 sstore plan --sample mixed --skip-bad --json | wc -l
exits 0 sstore report STORE --queries queries --skip-bad -o - | wc -l | grep -c .
echo "--- binary rows: a tail, and an array that promises more"
words <<<"0000000000000001 0000000000000002" >two.u64
{ cat two.u64; printf 'abc'; } >tail.u64
exits 1 sstore build --quiet --force STORE tail.u64
exits 0 sstore build --quiet --force --skip-bad=kept STORE tail.u64
cat kept
sstore dump STORE
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (9,), }"; cat tail.u64; } >short.npy
exits 1 sstore build --quiet --force --max-bad=6 STORE short.npy
exits 0 sstore build --quiet --force --skip-bad=kept --max-bad=7 STORE short.npy
cat kept
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }"; cat tail.u64; } >long.npy
exits 1 sstore build --quiet --force --skip-bad=kept STORE long.npy
echo "--- a compressed input that ends early has lost an unknown number of rows"
gzip -c mixed | head -c 20000 >cut.gz
exits 1 sstore build --quiet --force --skip-bad=kept STORE cut.gz
zstd -qc mixed | head -c 20000 >cut.zst
exits 1 sstore build --quiet --force --skip-bad=kept STORE cut.zst
echo "--- a line that is too long, in the middle and at the end"
{ echo 1; head -c 17000000 /dev/zero | tr '\0' f; echo; echo 2; head -c 34000000 /dev/zero | tr '\0' f; } >long
exits 0 sstore build --quiet --force --skip-bad=kept STORE long
cut -f 1-3 kept
wc -c <kept
sstore dump STORE
exits 1 sstore build --quiet --force STORE long
echo "--- documents"
printf '%s\n' '{"text":"the cat sat"}' '{"text":7}' x '{"text":"a \u0064og ran"}' '{"text":' >documents
exits 1 sstore fingerprint --jsonl --no-comments documents
exits 0 sstore fingerprint --jsonl --no-comments --skip-bad=kept documents
cat kept
exits 0 sstore fingerprint --jsonl --margins --no-comments --max-bad=3 documents | wc -l
exits 1 sstore fingerprint --jsonl --no-comments --max-bad=2 documents
exits 0 sstore idf --jsonl --skip-bad table documents
printf '%s\n' '{"text":"the cat","id":"a"}' '{"text":"the cat","id":1}' '{"text":"the dog","id":"b"}' >named
exits 1 sstore fingerprint --jsonl --id-field id --no-comments named
exits 0 sstore fingerprint --jsonl --id-field id --no-comments --skip-bad=kept named
cat kept
exits 2 sstore fingerprint --weighted --skip-bad named
