# sstore get: records by id, with an id index and without; ids that are missing, and wrong ones.
exec 2>&1
clustered 300 71 | awk '{ print $1 "\t" NR % 290 }' >pages.txt # some ids have two records
exits 0 sstore build --quiet --id-index pages.store pages.txt
exits 0 sstore build --quiet plain.store pages.txt
same_records() # IDS...: as a look at all records finds them
{
    exits 0 sstore get pages.store "$@" | sort >got
    printf '%s\n' "$@" | awk 'NR == FNR { wanted[$1]; next } $2 in wanted' - pages.txt | sort | diff - got
    sstore get plain.store "$@" 2>said | sort | diff - got
    cat said
}
same_records 7
same_records 3 17 289 0
same_records $(seq 0 289)
echo "--- forms"
exits 0 sstore get --json pages.store 200
exits 0 sstore get --header always --output-radix dec pages.store 200
seq 40 50 | exits 0 sstore get --input - pages.store | wc -l
printf '# ids\n7\n\n' | exits 0 sstore get --input - pages.store
printf '7\n8\n' | exits 0 sstore get --input - pages.store
echo "--- ids that no record has"
exits 1 sstore get pages.store 5 290 18446744073709551615
seq 280 320 | exits 1 sstore get --input - pages.store | tail -1
exits 1 sstore get plain.store 290
echo "--- large ids, and records that were removed, added again and merged"
for i in $(seq 40); do printf '%016x\t%d\n' $((i * 7919)) $((9007199254740992 + i)); done >large.txt
exits 0 sstore build --quiet --id-index large.store large.txt
exits 0 sstore get large.store 9007199254740993 9007199254741032
echo 7 | exits 0 sstore remove --quiet --ids --no-compact pages.store
exits 1 sstore get pages.store 7
exits 0 sstore add --quiet --no-compact pages.store pages.txt
same_records 7 8
exits 0 sstore compact --quiet pages.store
same_records 7 8
exits 0 sstore verify pages.store | sed 's/: records.*//'
exits 0 sstore merge --quiet merged.store pages.store large.store
exits 0 sstore get merged.store 9007199254740994 8
exits 0 sstore shard --quiet --count 2 merged.store part
for part in part-0000?-of-00002; do sstore get $part 9007199254740994 2>/dev/null; done
echo "--- an index is added"
exits 0 sstore compact --quiet --id-index plain.store
exits 0 sstore get plain.store 12
exits 0 sstore compact --quiet --id-index plain.store
exits 2 sstore compact --tiered --id-index plain.store | head -1
rm pages.store/seg-*/id-index/directory.mdb
exits 3 sstore get pages.store 7
exits 0 sstore reindex --quiet pages.store
same_records 7
echo "--- usage, and stores without ids"
exits 2 sstore get | head -1
exits 2 sstore get pages.store | head -1
exits 2 sstore get pages.store x | head -1
exits 2 sstore get --input x pages.store 7 | head -1
exits 2 sstore build --id-index --no-ids other.store pages.txt | head -1
cut -f 1 pages.txt | exits 0 sstore build --quiet --no-ids bare.store
exits 1 sstore get bare.store 7
exits 2 sstore compact --id-index bare.store
exits 1 sstore get absent.store 7
echo "--- queries of a stored record"
exits 0 sstore query --id 12 pages.store | sort >got
sstore get pages.store 12 | cut -f 1 | sstore query pages.store | sort | diff - got
exits 0 sstore query --id 12 --count --json pages.store
{ sstore query --id 12 pages.store && sstore query --id 13 pages.store; } >one_by_one
exits 0 sstore query --id 12 --id 13 pages.store | cmp - one_by_one
exits 0 sstore query --id 9007199254740993 -k 2 large.store
exits 1 sstore query --id 9999 pages.store
exits 1 sstore query --id 1 bare.store
exits 2 sstore query --id 1 pages.store 7 | head -1
exits 2 sstore query --id 1 --input x pages.store | head -1
exits 2 sstore query --id x pages.store | head -1
