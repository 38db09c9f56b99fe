# stat says what a store holds; numbers of bytes and bits are left out here.
printf '1 1\n1 2\n3 3\nffff 4\n' | sstore build --quiet --plan 3 STORE
sstore stat STORE |
    sed 's/[0-9]*\.[0-9]*/N/g; /^\(tables\|ids\|directory\|manifest\|total\) /s/[0-9][0-9]*/N/; s/  */ /g'
echo "--- json"
sstore stat --json STORE >json
wc -l <json
grep -o '^{"record_count":4,"distinct_count":3,"removed_count":0,"fingerprint_bits":64,"has_ids":true,"has_names":false,"name_count":0,"distance":3,"words":\[{"radius":3,"table_count":3,"plan":"24:1,20:0,20:0"}\]' json
grep -o '"key_mask":"[0-9a-f]*","prefix_bits":[0-9]*,"radius":[0-9]*,"block_count":[0-9]*' json
grep -o '"[a-z_]*":' json | sort -u | tr -d '":' | tr '\n' ' '
echo
echo "--- of several words, each has a plan that a build takes"
for number in {1..99}; do printf $number | sha256sum | cut -c 1-48; done >rows
head -n 90 rows | sstore build --quiet --bits 192 -k 20 --plan 22,21,21 WIDE -
sstore stat WIDE | sed -n '/^Words/,/^$/p'
sstore stat --json WIDE | jq -c '.words == .segments[0].words, ([.words[].radius + 1] | add)'
for plan in $(sstore stat --json WIDE | jq -r '.words[].plan'); do
    sstore build --quiet --force --bits 192 -k 2 --plan "$plan" PLANNED rows || echo "FAILED: $plan"
done
tail -n 9 rows | sstore add --quiet --no-compact WIDE -
sstore stat WIDE | grep -A 3 '^Segments\|^Words' | sed 's/seg-.*/FOLDER/; s/  */ /g'
echo "--- the sizes are those of the files"
total=$(find STORE -type f -printf '%s\n' | awk '{sum += $1} END {print sum}')
grep -c "\"total\":{\"bytes\":$total," json
sstore stat STORE | grep -c "^total  *$total "
echo "--- the next id in JSON is exact, and null without ids"
printf '1\t9223372036854775808\n' | sstore build --quiet LARGE
sstore stat --json LARGE | grep -o '"next_id":[^,]*'
echo 1 | sstore build --quiet --no-ids NO_IDS
sstore stat --json NO_IDS | grep -o '"next_id":[^,]*'
echo "--- an empty name is no store"
exits 2 sstore stat ""
exits 2 sstore build ""
