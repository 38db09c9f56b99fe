# Raw little-endian words, by suffix or --format; another length than a multiple of 8 is an error with its place.
exec 2>&1
unhex <<<'01000000 00000000 efcdab89 67452301 ffffffff ffffffff' >words.u64
exits 0 sstore build --quiet STORE words.u64
sstore dump STORE
cp words.u64 words
exits 0 sstore build --quiet --format u64 OTHER words
same_store STORE OTHER
exits 0 sstore build --quiet --format u64 THIRD <words
same_store STORE THIRD
echo "--- as text"
exits 1 sstore build --format text TEXT words.u64
echo "--- lengths"
for length in 1 7 9 23; do
    head -c $length words >cut.u64
    exits 1 sstore build CUT cut.u64
    absent CUT
done
echo "--- empty"
: >empty.u64
exits 0 sstore build --quiet EMPTY empty.u64
sstore dump EMPTY
echo "--- more than a batch and more than a read"
fingerprints 40000 7 >many
words <many >many.u64
sstore build --quiet MANY many
sstore build --quiet RAW many.u64
same_store MANY RAW
echo "--- a suffix in capitals"
cp many.u64 MANY.U64
sstore build --quiet CAPITALS MANY.U64
same_store MANY CAPITALS
