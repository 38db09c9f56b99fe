# Pairs and clusters are found before the first one is printed, so a damaged block ends the command before. Pairs of two
# stores of several words are found while they are printed: those before a damaged block are right, and the command then
# names the block and exits 3.
exec 2>&1
damage() # STORE
{
    local table
    table=$(echo "$1"/seg-*/table-00.blk)
    flip "$table" $(($(stat -c %s "$table") - 6000))
}
fingerprints 15000 5 >first
{ cat first; sed 's/.$/0/' first; } >narrow
paste -d '' narrow narrow >wide
for bits in 64 128; do
    exits 0 sstore build --quiet --bits $bits STORE$bits $([ $bits = 64 ] && echo narrow || echo wide)
    exits 0 sstore pairs STORE$bits >expected
    damage STORE$bits
    exits 3 sstore pairs --memory 8M --threads 1 STORE$bits 2>message | grep -v '^# failed' >found
    echo "$bits bits: $(($(wc -l <found) * 10 / $(wc -l <expected))) tenths of the pairs"
    same found <(head -n "$(wc -l <found)" expected)
    sed 's/seg-[0-9a-f]*/SEGMENT/; s/block [0-9]* at offset [0-9]*/BLOCK/' message
    exits 3 sstore clusters --memory 8M STORE$bits 2>/dev/null
done
sstore build --quiet --bits 128 OTHER wide
exits 0 sstore build --quiet --force --bits 128 STORE128 wide
exits 0 sstore join STORE128 OTHER >expected
damage STORE128
exits 3 sstore join --memory 8M --threads 1 STORE128 OTHER >found 2>message
echo "join: $(($(wc -l <found) * 10 / $(wc -l <expected))) tenths of the pairs"
same found <(head -n "$(wc -l <found)" expected)
sed 's/seg-[0-9a-f]*/SEGMENT/; s/block [0-9]* at offset [0-9]*/BLOCK/' message
