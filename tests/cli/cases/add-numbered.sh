# Without ids the ids continue; without ids in the store a fingerprint is there once.
fingerprints 100 1 >first
fingerprints 30 2 >second
sstore build --quiet --recipe r STORE first
exits 0 sstore add --no-compact STORE second
exits 0 sstore add --no-compact STORE second
cat first second second >all
sstore dump --no-comments STORE | cmp - <(nl -v 0 -w 1 all | awk '{print $2 "\t" $1}' | sort -k 1,1 -k 2n,2) && echo "ids continue"
sstore stat STORE | grep '^next' | sed 's/  */ /g'
echo "--- once removed, an id is not assigned again"
tail -n 1 second | exits 0 sstore remove --no-compact STORE
head -n 1 first | exits 0 sstore add --no-compact STORE
sstore dump STORE | grep -c "$(head -n 1 first)"
sstore compact --quiet STORE
sstore dump STORE | cut -f 2 | sort -n | tail -n 1
echo "--- no ids"
sstore build --quiet --no-ids SET first
cat first second | exits 0 sstore add --no-compact SET
sort first | head -n 3 | exits 0 sstore remove --no-compact SET
echo 5 | exits 2 sstore remove --no-compact --ids SET
sstore dump --no-comments SET | cut -f 1 | cmp - <(sort first second | sed '1,3{/./b};' | sort | comm -23 - <(sort first | head -n 3)) && echo "a set"
