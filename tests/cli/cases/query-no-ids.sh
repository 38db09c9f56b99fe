# In a store without ids a fingerprint is one record, and its id is printed as `-`.
printf '1 5\n1 6\n3 7\n' | sstore build --quiet --no-ids STORE
sstore query STORE 1
sstore query --count STORE 1
sstore query --nearest STORE 7
sstore dump STORE
sstore stat STORE | grep -E '^(records|fingerprints|ids) '
