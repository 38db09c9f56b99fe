# Shards share out a store's records by their fingerprints' hash; merged again they are the store.
clustered 2000 41 | nl -w 1 -s ' ' | awk '{print $2, $1 * 7}' >input
head -n 50 input | awk '{print $1, $2 + 1}' >>input # some fingerprints have two ids
sstore build --quiet WHOLE input
sstore shard --quiet --count 5 WHOLE S
ls
for shard in S-*; do
    sstore verify "$shard" >/dev/null || echo "FAILED: $shard"
    sstore dump "$shard"
done | sort | cmp - <(sstore dump WHOLE | sort)
sstore merge --quiet MERGED S-*
same_blocks WHOLE MERGED
echo "--- both ids of a fingerprint are in one shard"
for shard in S-*; do sstore dump "$shard" | cut -f 1 | uniq -d; done | sort | cmp - <(sstore dump WHOLE | cut -f 1 | uniq -d)
echo "--- one shard alone, and with options"
sstore shard --quiet --count 5 --only 3 WHOLE ALONE
same_store ALONE-00003-of-00005 S-00003-of-00005
sstore shard --quiet --count 5 --only 3 --plan 2 --threads 1 --memory 1M WHOLE ALONE --force
sstore stat ALONE-00003-of-00005 | grep plan
echo "--- one of one is all"
sstore shard --quiet --count 1 WHOLE ONE
same_store WHOLE ONE-00000-of-00001
echo "--- usage"
exits 2 sstore shard WHOLE T
exits 2 sstore shard --count 0 WHOLE T
exits 2 sstore shard --count 3 --only 3 WHOLE T
exits 2 sstore shard --count 3 WHOLE
exits 2 sstore shard --count 3 WHOLE T extra
exits 1 sstore shard --count 3 MISSING T
ls -d T* 2>/dev/null
