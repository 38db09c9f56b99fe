# A command that writes rows fails in a pipe: what reads them does not take a part for all, and makes no store.
exec 2>&1
printf '%s\n' '{"text":"the cat sat"}' '{"text":"the dog sat"}' 'no object' >docs
echo "--- texts that cannot be read, in each format; the same command can then be given again"
for format in text rec; do
    exits 1 sstore fingerprint --jsonl --format $format docs >rows
    exits 1 sstore build STORE - <rows
    exits 1 sstore build --skip-bad --no-ids STORE - <rows
    absent STORE
done
sstore fingerprint --jsonl --skip-bad docs | sstore build --quiet STORE -
sstore stat STORE | head -1
echo "--- a mistyped option, a file that is not there"
exits 2 sstore fingerprint --jsonlines docs 2>/dev/null | exits 1 sstore build NEW -
exits 1 sstore fingerprint --jsonl --no-comments none | exits 1 sstore build NEW -
exits 1 sstore fingerprint --jsonl --format rec none | exits 1 sstore build --format rec NEW -
exits 2 sstore fingerprint --jsonl --format text --weighted docs 2>/dev/null | exits 1 sstore add STORE -
absent NEW
echo "--- through other programs"
exits 1 sstore fingerprint --jsonl docs >rows 2>/dev/null
cat rows rows | LC_ALL=C sort -u | exits 1 sstore build NEW -
gzip -c rows | exits 1 sstore build NEW -
sed 's/$/\r/' rows | exits 1 sstore build NEW -
head -3 rows | sstore build --quiet NEW - && sstore stat NEW | head -1
rm -r NEW
exits 1 sstore query -k 0 --count --input rows STORE
exits 1 sstore add --if-new STORE rows | cut -f 2-
exits 1 sstore remove STORE rows
sstore stat STORE | head -1
echo "--- a dump of a damaged store"
fingerprints 3000 5 | sstore build --quiet BIG
flip "$(find BIG -name '*.blk' | sort | head -1)" 9000
for format in text jsonl rec u64 npy; do
    exits 3 sstore dump --format $format BIG 2>/dev/null >part.$format
    skip=--skip-bad
    [ $format != npy ] || skip="--bits 64" # the array says how many rows it has, so the missing ones are bad rows
    exits 1 sstore build --format $format $skip NEW part.$format | sed 's/:[0-9]*:/:N:/; s/[0-9]* bytes/N bytes/; s/offset [0-9]*/offset N/'
    absent NEW
done
echo "--- not where the output fails, or on a terminal"
sstore fingerprint --jsonl docs 2>/dev/null | head -2 | grep -c failed
if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec 'sstore fingerprint --jsonl docs' /dev/null </dev/null | grep -c '^# failed'
else
    echo 0
fi
true
