# Every command that meets damage exits 3 and prints no answer that is wrong.
clustered 3000 61 >input
sstore build --quiet STORE input
sstore dump STORE >expected
damage()
{
    echo "--- $1"
    exits 3 sstore dump STORE 2>/dev/null | grep -v "^# failed" | diff - expected | grep -c '^<'
    for io in pread mmap memory; do
        exits 3 sstore query -k 64 --io $io STORE 0 2>/dev/null >found
        cut -f 2,4 found | sort | comm -23 - <(sort expected) | wc -l
    done
}
table=$(find STORE -name table-00.blk)
cp "$table" saved
flip "$table" $(($(stat -c %s "$table") / 2))
damage "a table"
cp saved "$table"
cp STORE/MANIFEST saved
flip STORE/MANIFEST 20
damage "the manifest"
exits 3 sstore stat STORE 2>/dev/null
exits 3 sstore query STORE 1 2>message
sed 's/^\(sstore: STORE\/MANIFEST\): .*/\1/' message
