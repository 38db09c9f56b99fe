# Directories that are lost or damaged are rebuilt from the block files; damage of these changes nothing.
clustered 2000 71 | nl -w 1 | awk '{print $2, $1}' >input
sstore build --quiet --block-size 256 STORE input
fingerprints 500 72 | sstore add --no-compact --quiet STORE
head -n 100 input | sstore remove --no-compact --quiet STORE
cut -c 1-16 input | head -n 300 >queries
sstore dump STORE >dump
sstore query STORE --input queries >answers
cp -r STORE WHOLE
directories() { find STORE -name directory.mdb | sort; }
answers()
{
    sstore dump STORE | cmp - dump && sstore query STORE --input queries | cmp - answers && echo "answers as before"
}
sums() { (cd "$1" && find . -type f ! -name MANIFEST | xargs cksum | cut -d ' ' -f 1-2 | sort); }
echo "--- all can be used"
sstore reindex STORE 2>&1
same_store STORE WHOLE
echo "--- one is gone"
rm "$(directories | head -n 1)"
exits 3 sstore query STORE 1 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
exits 3 sstore verify STORE 2>/dev/null
sstore reindex STORE 2>&1
answers
exits 0 sstore verify STORE | sed 's/bytes .*/bytes N/'
echo "--- two are damaged"
flip "$(directories | sed -n 2p)" 5000
truncate -s 100 "$(directories | sed -n 3p)"
exits 3 sstore stat STORE 2>/dev/null
exits 3 sstore add --no-compact --quiet STORE <<<'1 1' 2>/dev/null
sstore reindex STORE 2>&1
answers
echo "--- all of them"
sstore reindex --all --progress json STORE 2>&1 | grep -o '"phase":"[a-z]*"' | uniq
answers
sstore reindex --all --quiet STORE
same <(sums STORE) <(sums WHOLE)
echo "--- other commands go on"
sstore add --no-compact --quiet STORE <<<'1 1'
sstore compact --quiet STORE
sstore query -k 0 STORE 1
echo "--- a block is damaged"
table=$(find STORE -name table-01.blk)
rm "$(directories)"
flip "$table" 4196
cp -r STORE damaged
exits 3 sstore reindex STORE 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
same STORE damaged
flip "$table" 4196
sstore reindex --quiet STORE
sstore query -k 0 STORE 1
echo "--- an index is lost: a merge makes it of the records"
seq 1 300 | awk '{ printf "%032x\t%d\n", $1 * 7919, $1 }' | sstore build --quiet --id-index INTACT
for index in id-index word-01 id-index/table-00.blk; do
    cp -r INTACT LOST
    rm -r LOST/seg-*/$index
    for command in "get LOST 7" "reindex LOST" "compact LOST"; do
        exits 3 sstore $command 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
    done
    exits 0 sstore merge --quiet NEW LOST
    same NEW INTACT
    rm -r NEW LOST
done
rm -r INTACT/seg-*/id-index/directory.mdb
exits 0 sstore reindex --quiet INTACT
sstore get INTACT 7
echo "--- no store"
exits 1 sstore reindex missing 2>&1
exits 1 sstore reindex . 2>&1
