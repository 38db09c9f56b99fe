# Pairs of little-endian words, fingerprint and id, by suffix or --format; another length than a multiple of 16 is an
# error with its place.
exec 2>&1
printf '1\t10\n123456789abcdef0\t18446744073709551615\nffffffffffffffff\t0\n1\t9\n' >text
words <<<'0000000000000001 000000000000000a 123456789abcdef0 ffffffffffffffff
ffffffffffffffff 0000000000000000 0000000000000001 0000000000000009' >pairs.rec
sstore build --quiet TEXT text
exits 0 sstore build --quiet STORE pairs.rec
sstore dump STORE
same_store TEXT STORE
cp pairs.rec PAIRS.REC
exits 0 sstore build --quiet CAPITALS PAIRS.REC
same_store TEXT CAPITALS
exits 0 sstore build --quiet STDIN --format rec <pairs.rec
same_store TEXT STDIN
echo "--- without the ids"
exits 0 sstore build --quiet --no-ids PLAIN pairs.rec
sstore dump PLAIN
echo "--- together with other formats"
head -c 32 pairs.rec >some.rec
tail -2 text >rest
exits 0 sstore build --quiet MIXED some.rec rest
same_store TEXT MIXED
echo "--- lengths"
for length in 1 8 15 17 40; do
    head -c $length pairs.rec >cut.rec
    exits 1 sstore build CUT cut.rec
    absent CUT
done
echo "--- empty"
: >empty.rec
exits 0 sstore build --quiet EMPTY empty.rec
sstore dump EMPTY
echo "--- more than a batch and more than a read"
fingerprints 40000 7 | nl -v 1000000 -w 1 | awk '{print $2 "\t" $1}' >many
hex_ids <many | words >many.rec
sstore build --quiet MANY many
sstore build --quiet RAW many.rec
same_store MANY RAW
