# Compacting by tiers merges the newest segments, and keeps what they remove from older ones.
fingerprints 2000 1 | nl -v 0 -w 1 | awk '{print $2 "\t" $1}' >all
head -n 1000 all | sstore build --quiet STORE
segments() { sstore stat STORE | awk '/^Segments/ {at = 1; next} /^$/ {at = 0} at && /^ *[0-9]/ {print $2, $3}'; }
for i in 0 1 2; do
    sed -n "$((1001 + 20 * i)),$((1020 + 20 * i))p" all | sstore add --no-compact --quiet STORE
    sstore compact --quiet --tiered STORE
done
segments
echo "--- the fourth"
sed -n "1,7p;1001,1003p" all | sstore remove --no-compact --quiet STORE
sstore compact --quiet --tiered STORE
segments
sstore dump STORE | cmp - <(sed -n '8,1000p;1004,1060p' all | sort) && echo "as it was"
sstore query STORE --input <(sed -n '1,10p;1001,1005p' all | cut -f 1) | wc -l
exits 0 sstore verify STORE | cut -d , -f 1-2
echo "--- what was removed comes back"
head -n 7 all | sstore add --no-compact --quiet STORE
sstore dump STORE | cmp - <(sed -n '1,1000p;1004,1060p' all | sort) && echo "as it was"
echo "--- all of it removed"
sstore dump STORE | sstore remove --no-compact --quiet STORE
sstore dump STORE | wc -l
sstore query STORE "$(head -n 1 all | cut -f 1)"
sstore compact --quiet STORE
sstore stat STORE | grep -E '^(records|segments|removed) ' | sed 's/  */ /g'
sed 1q all | sstore add --no-compact --quiet STORE
sstore dump STORE | cmp - <(sed 1q all)
