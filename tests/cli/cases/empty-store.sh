# A store without records is a store.
: >input
exits 0 sstore build --quiet STORE input
exits 0 sstore dump STORE
exits 0 sstore query -k 64 STORE 1 ffffffffffffffff
exits 0 sstore query --nearest STORE 1
exits 0 sstore query --count STORE 1
exits 0 sstore query STORE </dev/null
exits 0 sstore query STORE --input input
exits 0 sstore verify STORE | sed 's/bytes .*/bytes N/'
exits 0 sstore stat STORE | head -3
exits 0 sstore stat --json STORE | grep -c '"record_count":0,"distinct_count":0'
exits 0 sstore build --quiet --no-ids PLAIN </dev/null
exits 0 sstore dump PLAIN
