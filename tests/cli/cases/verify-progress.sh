# verify reports its progress in records that are read, over tables, ids and contents of all segments.
clustered 3000 61 | sort -u | awk '{print $1, NR}' >input
sstore build --quiet --plan 2 STORE input
clustered 500 62 | awk '{print $1, 10000 + NR}' | sstore add --quiet --no-compact --plan 2 STORE
sstore verify --progress json STORE 2>progress | sed 's/bytes [0-9]*/bytes N/'
grep -o '"phase":"[a-z]*"' progress | uniq
grep -o '"fraction":[0-9.]*' progress | cut -d : -f 2 | sort -n -c && echo ascending
tail -n 1 progress | grep -c '"fraction":1.0'
echo "--- quiet"
sstore verify --quiet STORE 2>&1
