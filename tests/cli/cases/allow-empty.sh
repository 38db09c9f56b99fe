# A store is not replaced by one without records, unless that is asked for: the program that should have written them may have
# failed. A first store may be empty.
fingerprints 50 1 >good
: >empty
printf '' | gzip >empty.gz
printf '' | zstd -q >empty.zst
: >empty.u64
: >empty.rec
npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }" >empty.npy
echo '# a comment' >comment
sstore build --quiet STORE good
cp -r STORE COPY
{ exits 1 sstore build --force STORE -; } < <(false)
for input in empty empty.gz empty.zst empty.u64 empty.rec empty.npy comment; do
    exits 1 sstore build --quiet --force STORE $input 2>&1
done
exits 1 sstore build --quiet --force STORE empty.u64 empty.u64
exits 1 sstore build --quiet --force --no-ids --progress json STORE empty 2>&1 | grep -v phase
same_store STORE COPY
exits 1 sstore build --quiet --force NEW empty
absent NEW

echo "--- merge and shard"
exits 0 sstore build --quiet EMPTY empty
cp -r EMPTY OTHER
exits 1 sstore merge --quiet --force STORE EMPTY OTHER
same_store STORE COPY
exits 0 sstore merge --quiet --force STORE EMPTY COPY
sstore dump STORE | cmp - <(sstore dump COPY)
exits 0 sstore shard --quiet --count 2 STORE S
cp -r S-00001-of-00002 PART
exits 1 sstore shard --quiet --count 2 --force EMPTY S
exits 1 sstore shard --quiet --count 2 --force --only 1 EMPTY S
same_store S-00001-of-00002 PART
echo 1 | sstore build --quiet ONE
exits 0 sstore shard --quiet --count 2 --force ONE S # of which one part is empty
for part in S-0000?-of-00002; do sstore dump $part; done

echo "--- where it is asked for"
exits 0 sstore build --quiet --force --allow-empty STORE empty
exits 0 sstore dump STORE
exits 0 sstore merge --quiet --force --allow-empty COPY EMPTY OTHER
exits 0 sstore dump COPY
exits 0 sstore shard --quiet --count 2 --force --allow-empty EMPTY S
for part in S-0000?-of-00002; do sstore dump $part; done
exits 0 sstore build --quiet --allow-empty FIRST empty
