# The smallest and largest fingerprints and ids, and repeats of a record.
cat >input <<'END'
0 0
0 18446744073709551615
ffffffffffffffff 0
ffffffffffffffff 18446744073709551615
ffffffffffffffff 18446744073709551615
0 0
1 9007199254740993
8000000000000000 9223372036854775808
END
sstore build --quiet STORE input
sstore dump STORE
echo "--- 0"
sstore query STORE 0
echo "--- -1"
sstore query STORE ffffffffffffffff
echo "--- all"
sstore query -k 64 STORE 1
sstore verify STORE | sed 's/bytes .*/bytes N/'
echo "--- all equal"
yes 5 | head -10000 | sstore build --quiet --no-ids EQUAL
sstore dump EQUAL
yes 5 | head -10000 | sstore build --quiet --force EQUAL
sstore query --count EQUAL 5 6 7fff
sstore query --limit 3 EQUAL 5
sstore dump EQUAL | tail -1
