# Matches come in query order, then ascending by distance, fingerprint and id, one line for each matching record.
cat >input <<'END'
84adfe0ad13e12cb 1
84adfe0ad13e12cb 900
84adfe0ad13e12cb 20
84adfe0ad13e12ca 5
84adfe0ad13e12c9 6
84adfe0ad13e12cf 3
84adfe0ad13e1bcb 7
0000000000000000 8
END
sstore build --quiet STORE input
echo "--- a pair of sentences that differ in 3 bits"
sstore query STORE 84ad7e0ad13e1a8b
echo "--- several queries, one of them twice, one without a match"
exits 0 sstore query STORE 84ADFE0AD13E12CB 0x1 ffff 1
echo "--- no match"
exits 0 sstore query STORE ffff
echo "--- distances"
sstore query -k 0 STORE 84adfe0ad13e12cb
sstore query --distance=1 STORE 84adfe0ad13e12cb
sstore query STORE 84adfe0ad13e12cb -k 64 | cut -f 2-
echo "--- limit"
sstore query --limit 2 STORE 84adfe0ad13e12cb 0
sstore query --limit 18446744073709551615 STORE 0
echo "--- count"
sstore query --count STORE 84adfe0ad13e12cb ffff 0
sstore query --count --limit 2 STORE 84adfe0ad13e12cb ffff 0
echo "--- the radix of the answers"
for radix in hex dec signed base64 bin; do
    sstore query -k 1 --output-radix $radix STORE 84adfe0ad13e12cb | head -n 4 | tail -n 1
    sstore query --count --output-radix $radix STORE ffffffffffffffff
done
echo "--- nearest"
sstore query --nearest STORE 84adfe0ad13e12cb ffff
sstore query --nearest -k 3 STORE 84adfe0ad13e12c8 ffff
sstore query --nearest --count -k 3 STORE 84adfe0ad13e12c8 ffff
sstore query --nearest --limit 1 STORE 84adfe0ad13e12cb
