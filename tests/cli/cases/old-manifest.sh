# A manifest that was put back from before, or that is another store's: nothing that a writer does then costs the data of the
# manifest that belongs there.
fingerprints 300 1 >input
sstore build --quiet STORE input
sstore build --quiet OTHER input
cp -r STORE CHANGED
echo "00000000000000ff 5001" | sstore add --no-compact --quiet CHANGED
head -n 3 input | sstore remove --no-compact --quiet CHANGED
cp CHANGED/MANIFEST before
sstore compact --quiet CHANGED
cp -r CHANGED KEPT
for manifest in before OTHER/MANIFEST; do
    echo "--- $manifest"
    cp "$manifest" CHANGED/MANIFEST
    echo 1 >one
    for command in "add CHANGED one" "remove CHANGED one" "compact CHANGED" "reindex CHANGED" "add --if-new CHANGED one"; do
        exits 3 sstore $command 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
    done
    cp KEPT/MANIFEST CHANGED/MANIFEST
    same CHANGED KEPT
    sstore verify CHANGED
done
echo "--- a build in its place, asked for"
cp before CHANGED/MANIFEST
exits 0 sstore build --quiet --force CHANGED input
ls -d CHANGED/seg-* | wc -l
sstore verify CHANGED
echo "--- an older one whose segments are all there, or none, and changes that fail"
echo nonsense >malformed
rm -r CHANGED
cp -r OTHER CHANGED
cp CHANGED/MANIFEST before
echo "00000000000000ff 5001" | sstore add --no-compact --quiet CHANGED
rm -r KEPT
cp -r CHANGED KEPT
cp before CHANGED/MANIFEST
exits 1 sstore add --no-compact --quiet CHANGED malformed
exits 1 sstore build --quiet --force CHANGED malformed
cp KEPT/MANIFEST CHANGED/MANIFEST
same CHANGED KEPT
rm CHANGED/MANIFEST
exits 1 sstore build --quiet CHANGED input
exits 1 sstore build --quiet --force CHANGED malformed
cp KEPT/MANIFEST CHANGED/MANIFEST
same CHANGED KEPT
sstore verify CHANGED
