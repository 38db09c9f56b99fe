# Records are added, removed and compacted; readers see the whole of each.
clustered 600 1 | nl -w 1 | awk '{print $2 "\t" $1 + 100}' >all
head -n 400 all >first
tail -n 250 all >second # the first 50 of them are in `first`, too
sstore build --quiet --plan 4 STORE first
exits 0 sstore add --no-compact STORE second
sstore dump STORE | cmp - <(sort -k 1,1 -k 2n,2 all) && echo "all are there, once"
sstore stat STORE | grep -E '^(records|segments) ' | sed 's/  */ /g'
sstore query STORE --input <(head -n 30 second | cut -f 1) >got
brute_force all <(head -n 30 second | cut -f 1) 3 | cmp - got && echo "queries find them"

echo "--- nothing new"
exits 0 sstore add --no-compact STORE first second
sstore stat STORE | grep -E '^segments ' | sed 's/  */ /g'

echo "--- removed: records, fingerprints, ids"
head -n 5 second | exits 0 sstore remove --no-compact STORE
sed -n '6,9p' second | cut -f 1 | exits 0 sstore remove --no-compact STORE -
sed -n '10,12p' second | cut -f 2 | exits 0 sstore remove --no-compact --ids STORE
head -n 12 second | exits 0 sstore remove --no-compact STORE
echo "--- removed: ids of records that have a fingerprint, too"
sed -n '13,15p' second | hex_ids | words >third.rec
exits 0 sstore remove --no-compact --ids STORE third.rec
sed -n '16,18p' second | exits 0 sstore remove --no-compact --columns fingerprint,id --ids STORE
sed -n '18,20p' second | exits 0 sstore remove --no-compact --ids --columns=-,id STORE -
head -n 20 second | sort >gone
sort all | comm -23 - gone | sort -k 1,1 -k 2n,2 >left
sstore dump STORE | cmp - left && echo "the others are left"
sstore stat STORE | grep -E '^(records|segments|removed) ' | sed 's/  */ /g'
exits 0 sstore verify STORE | cut -d , -f 1-2

echo "--- and added again"
exits 0 sstore add --no-compact --quiet STORE second
sstore dump STORE | cmp - <(sort -k 1,1 -k 2n,2 all) && echo "all are there, once"

echo "--- compacted"
exits 0 sstore compact STORE 2>message
sed 's/bytes [0-9]*/bytes N/g' message
sstore stat STORE | grep -E '^(records|segments|removed|plan) ' | sed 's/  */ /g'
sstore build --quiet --plan 4 FRESH all
same_blocks STORE FRESH
exits 0 sstore compact --quiet STORE
same_blocks STORE FRESH
exits 0 sstore compact --quiet --plan 2 --block-size 1K STORE
sstore build --quiet --force --plan 2 --block-size 1K FRESH all
same_blocks STORE FRESH
ls STORE | sed 's/seg-.*/SEGMENT/'
