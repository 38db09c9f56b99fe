# Questions that concern ids: a range of ids, against a slow model; wrong ranges, and records without ids.
exec 2>&1
model=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../identity_model.py")
if command -v python3 >/dev/null; then
    python3 "$model" "${SSTORE_TEST_CASES:-12}" "${SSTORE_TEST_SEED:-$RANDOM}" 2>&3
else
    echo "skipped: there is no python3" >&3
fi
for id in 1 20 300; do printf '84adfe0ad13e12cb\t%d\n84adfe0ad13e12ca\t%d\n' "$id" $((id + 5)); done >pages.txt
exits 0 sstore build --quiet pages.store pages.txt
echo "--- before matches are counted or limited"
exits 0 sstore query --ids 20-300 pages.store 84adfe0ad13e12cb
exits 0 sstore query --ids 20-300 --limit 1 --json pages.store 84adfe0ad13e12cb
exits 0 sstore query --ids 300 --nearest pages.store 84adfe0ad13e12c8
exits 0 sstore query --ids=-20 --count pages.store 84adfe0ad13e12cb
exits 0 sstore query --ids 26- --nearest --limit 1 pages.store 84adfe0ad13e12cb
cut -f 1 pages.txt >bare.txt
exits 0 sstore scan --ids 300- --queries bare.txt pages.txt | sort
echo "--- wrong ranges"
for range in - '' x 5-4 1-2-3 0x1-2 18446744073709551616 1-18446744073709551616 '1 - 2'; do
    exits 2 sstore query --ids "$range" pages.store 0
done
exits 2 sstore scan --ids 3-1 --queries bare.txt pages.txt
exits 2 sstore query --ids 1-2 --explain pages.store 0
exits 2 sstore scan --ids 1-2 --no-ids --queries bare.txt pages.txt
echo "--- queries with ids"
exits 0 sstore query --query-ids --exclude-self --input pages.txt pages.store
exits 0 sstore query --query-ids --count --header always --input pages.txt pages.store
sed 's/\(.*\)\t\(.*\)/{"fingerprint": "\1", "id": \2}/' pages.txt >pages.jsonl
head -1 pages.jsonl | exits 0 sstore query --query-ids --exclude-self --limit 2 --json --input - --format jsonl pages.store
head -1 pages.jsonl | exits 0 sstore query --query-ids --count --json --input - --format jsonl pages.store
exits 0 sstore query --exclude-self --nearest --id 20 pages.store
exits 0 sstore query --exclude-self --query-ids --ids 300- --id 20 pages.store
exits 2 sstore query --exclude-self pages.store 84adfe0ad13e12cb
exits 1 sstore query --query-ids --input bare.txt pages.store
echo 84adfe0ad13e12cb | exits 1 sstore query --exclude-self pages.store
echo "--- several stores"
printf '84adfe0ad13e12cf\t7\n84adfe0ad13e12cb\t1\n' | exits 0 sstore build --quiet 'other	one.store' -
exits 0 sstore query --also 'other	one.store' --ids=-20 pages.store 84adfe0ad13e12cb
exits 0 sstore query --also 'other	one.store' --limit 1 --json pages.store 84adfe0ad13e12cf
exits 0 sstore query --also 'other	one.store' --header always --nearest pages.store 84adfe0ad13e12cb
exits 0 sstore query --also 'other	one.store' --count pages.store 84adfe0ad13e12cb ff
exits 0 sstore query --also pages.store --also pages.store --limit 1 --ids 1 --exclude-self --id 1 pages.store
echo 84adfe0ad13e12cf | exits 0 sstore query --also 'other	one.store' --limit 2 pages.store
exits 1 sstore query --also absent.store pages.store 0
printf '%032x\n' 1 | exits 0 sstore build --quiet --bits 128 wide.store -
exits 1 sstore query --also wide.store pages.store 0
echo 1 | exits 0 sstore build --quiet --recipe mine mine.store -
echo 1 | exits 0 sstore build --quiet --recipe yours yours.store -
exits 1 sstore query --also yours.store mine.store 0
exits 2 sstore query --explain --also mine.store yours.store 0
exits 2 sstore query $(printf -- '--also=pages.store %.0s' {1..64}) pages.store 0
printf '84adfe0ad13e12c8\n84adfe0ad13e12b0\n84adfe0ad13e12b1\n' >new.txt
cp -r pages.store growing.store
exits 0 sstore add --quiet --if-new -k 1 --limit 2 --also 'other	one.store' --header always growing.store new.txt
exits 0 sstore add --quiet --if-new -k 2 --limit 1 --also 'other	one.store' --json growing.store new.txt
exits 0 sstore add --quiet --if-new --also pages.store --exclude new.txt growing.store new.txt
exits 2 sstore add --also pages.store growing.store new.txt
exits 1 sstore add --if-new --also wide.store growing.store new.txt
echo "--- groups"
printf '84adfe0ad13e12cb\t5\n84adfe0ad13e12ca\t5\n84adfe0ad13e12cf\t9\n%016x\t9\n%016x\t5\n' 0 255 >clips.txt
exits 0 sstore query --group --query-ids --header always --ids=-20 --input clips.txt pages.store
exits 0 sstore query --group --query-ids --count --input clips.txt pages.store
exits 0 sstore query --group --nearest --limit 1 --json --input clips.txt pages.store
exits 0 sstore query --group --nearest --exclude-self --also 'other	one.store' pages.store <clips.txt
exits 2 sstore query --group pages.store 0
exits 1 sstore query --group --input bare.txt pages.store
yes '0	7' | head -2000000 | exits 1 sstore query --group --input - pages.store
echo "--- without ids"
exits 0 sstore build --quiet --no-ids bare.store bare.txt
exits 1 sstore query --ids 1-2 bare.store 0
exits 1 sstore query --exclude-self --input pages.txt bare.store
exits 0 sstore query --query-ids --limit 1 --input pages.txt bare.store
exits 0 sstore query --also bare.store pages.store --limit 7 84adfe0ad13e12cb
exits 1 sstore query --also bare.store --ids 1-2 pages.store 0
exits 1 sstore scan --ids 1-2 --queries bare.txt bare.txt
