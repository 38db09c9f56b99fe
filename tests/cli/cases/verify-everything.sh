# However much is damaged, of all segments everything is told.
fingerprints 600 1 >input
sstore build --quiet --block-size 512 STORE input
fingerprints 300 2 | sstore add --no-compact --quiet STORE
head -n 100 input | sstore remove --no-compact --quiet STORE
shown()
{
    exits 3 sstore verify STORE 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
}
cp -r STORE WHOLE
again()
{
    rm -r STORE
    cp -r WHOLE STORE
}
set -- STORE/seg-*
for segment; do
    flip "$segment/directory.mdb" 100
    flip "$segment/table-00.blk" 4200
done
shown | sort
echo "--- files that are not there, a header, a size"
again
rm "$2/directory.mdb" "$3/ids.blk"
flip "$1/table-00.blk" 100
flip "$1/ids.blk" 4200
flip "$1/directory.mdb" 100
truncate -s -1 "$2/table-00.blk"
shown | sort
echo "--- a folder that is not there"
again
rm -r "$2"
flip "$1/ids.blk" 4200
flip "$3/ids.blk" 4200
shown | sort
echo "--- a manifest"
again
flip STORE/MANIFEST 100
shown
