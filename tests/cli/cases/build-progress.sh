# Progress for programs: an object a line, from reading to the last table. None where it is not asked for.
clustered 3000 51 >input
sstore build --progress json --plan 3 STORE input 2>progress
sed 's/^sstore:.*/(summary)/; s/"per_second":[0-9.e+]*,\?//; s/,}/}/; s/"fraction":[0-9.]*,\?/"fraction"/; s/,"seconds_left.*/}/' progress |
    sed 's/"phase":\("[a-z]*"\).*"done":\([0-9]*\).*"total":\([0-9]*\).*"table":\([0-9]*\).*/\1 \2 of \3, table \4/; s/"phase":\("[a-z]*"\).*"done":\([0-9]*\).*/\1 \2/' | tr -d '{}' | uniq
echo "--- shares go from 0 to 1"
grep -o '"fraction":[0-9.]*' progress | cut -d : -f 2 | sort -n -c
tail -n 2 progress | grep -c '"fraction":1.0'
echo "--- none"
sstore build --quiet QUIET input 2>&1
sstore build --progress none NONE input 2>&1
sstore build AUTO input 2>&1
exits 2 sstore build --progress some NEW input
echo "--- a merge tells, too"
sstore merge --quiet --progress json MERGED STORE 2>&1 | grep -o '"phase":"[a-z]*"' | uniq
echo "--- crowded records are all counted, and dealt again"
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%x\n", i * 7 }' >crowded
sstore build --quiet --memory 1M --progress json --plan 1 CROWDED crowded 2>crowded.progress
grep -o '"phase":"[a-z]*","done":[0-9]*,"total":300000' crowded.progress | sed 's/"done":[0-9]*,//' | uniq
echo "--- a shard goes through all records"
sstore shard --quiet --count 7 --only 2 --plan 1 --progress json CROWDED S 2>&1 | grep '"writing"' | tail -1 | grep -o '"done":300000,"total":300000'
