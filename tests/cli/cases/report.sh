# report writes one page: with the numbers of 'sstore stat', escaped texts, and nothing that is fetched. What it
# shows of them is checked in a browser (browser.pages).
export SOURCE_DATE_EPOCH=1700000000
clustered 3000 95 >input
sstore build --quiet STORE input
sstore report STORE -o page.html
ls
# The block of numbers in a page.
numbers()
{
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>/\1/p' "$1"
}
# The figures of the store are those of 'sstore stat'.
check_store()
{
    cmp <(jq .store data) <(sstore stat --json "$1" | jq .)
}
numbers page.html >data
echo "--- the figures of stat"
check_store STORE
jq -c '.store.record_count, .path, .name, .main_segment' data
echo "--- h of table 0, counted in a dump"
sstore dump STORE | cut -f1 | uniq | {
    declare -A counts=()
    read -r before
    while read -r value; do
        ((upper = 0x${before:0:8} ^ 0x${value:0:8}, h = 32))
        while ((upper > 0)); do ((upper >>= 1, h--)); done
        ((counts[$h] += 1))
        before=$value
    done
    IFS=, read -ra differences <<<"$(jq -r '.tables[0].difference_counts | @csv' data)"
    for h in {33..63}; do ((differences[32] += differences[h])); done
    for h in "${!counts[@]}"; do
        [ "${differences[$h]}" = "${counts[$h]}" ] || echo "FAILED: h $h occurs ${counts[$h]} times"
    done
    echo "${#counts[@]} different h"
}
echo "--- parts that are only there if they are asked for"
jq 'has("queries")' data
head -200 input | sed 's/$/\n0123456789abcdef/' >queries
sstore report STORE -o all.html --queries queries --clusters
numbers all.html >data
jq -c '.queries | .given_count, .misses.count + .hits.count' data
sstore clusters STORE | awk '{ print $1 }' | sort -n | tail -1 >largest
[ "$(jq '.clusters.examples[0].size' data)" = "$(<largest)" ] || echo "FAILED: the largest cluster has $(<largest) records"
sstore clusters STORE | awk -v largest="$(<largest)" '$1 == largest { print $2 }' | head -5 | while read -r fingerprint; do
    grep -q "\"fingerprint\":\"$fingerprint\"" data || echo "FAILED: $fingerprint is in the largest cluster"
done
removable=$(jq '.clusters | .record_count - .cluster_count' data)
[ "$removable" = "$(sstore clusters --drop STORE | wc -l)" ] || echo "FAILED: $removable could be removed"
sstore dump STORE | awk '{ print $1 "\t<name> " $2 }' | sstore build --quiet --names -k "$(sstore stat --json STORE | jq .distance)" NAMED
sstore report NAMED -o named.html --clusters
sstore clusters STORE | awk -v largest="$(<largest)" '$1 == largest { print "\\u003cname\\u003e " $3 }' | head -5 | while read -r name; do
    grep -qF "\"id\":\"$name\"" named.html || echo "FAILED: $name is not there"
done
echo "--- of a store of up to about a million records, also without --clusters; or from a sample"
sstore report STORE -o unasked.html
sstore report STORE -o all.html --clusters=all
cmp unasked.html all.html
clustered 700 8 | awk '{ print $1 "\t" NR }' | sstore build --quiet -k 5 SAMPLED
sstore dump SAMPLED | cut -f 1 | sort -u >distinct
sstore query --count SAMPLED --input distinct | awk '$2 > 1' >near
sstore report SAMPLED -o sampled.html --clusters=sample
numbers sampled.html >data
grep -q "\"is_sample\":true,\"sampled_count\":$(wc -l <distinct),\"near_count\":$(wc -l <near)," data || echo "FAILED: another sample"
grep -oE '"fingerprint":"[0-9a-f]{16}' data | cut -d'"' -f4 >shown
sort -u shown | comm -23 - distinct
wc -l <shown | awk '{ print ($1 >= 10 && $1 <= 25 ? "examples" : "FAILED: " $1) }'
sstore dump SAMPLED | awk '{ print $1 "\tname " $2 }' | sstore build --quiet --names -k 5 SAMPLED-NAMES
sstore report SAMPLED-NAMES -o - --clusters=sample | grep -o '"id":"name [0-9]*"' | wc -l | awk '{ print ($1 >= 10 ? "names" : "FAILED: " $1) }'
head -500 distinct | sstore remove --quiet --no-compact SAMPLED
sstore report SAMPLED -o - --clusters=sample | grep -q "\"sampled_count\":$(($(wc -l <distinct) - 500))," || echo "FAILED: removed ones are counted"
for count in 0 1; do
    head -$count input | sstore build --quiet --no-ids FEW$count -
    sstore report FEW$count -o - --clusters=sample | grep -o '"sampled_count":[0-9]*,"near_count":[0-9]*'
done
exits 2 sstore report STORE -o new.html --clusters=some 2>&1
echo "--- what comes from elsewhere is text"
name="<b onload='x'>&\"STORE"
sstore build --quiet --recipe "</title><script>alert(1)</script> & \"q\" 'a' "$'\xe2\x80\xae' "$name" input
sstore report "$name" -o hostile.html
grep -o '<script[^>]*>' hostile.html
grep -c '<b \|onload=.x.>\|alert(1)<' hostile.html
numbers hostile.html | grep -c '[<>&]'
numbers hostile.html | jq -c '.path, .name, .store.recipe'
echo "--- nothing is fetched, and the policy names the style and the script"
grep -cE 'src=|href=|url\(|@import|style="|<link|<img' page.html all.html hostile.html
grep -oE 'https?:[^"]*' page.html
page=$(<page.html)
style=${page#*<style>} script=${page##*<script>}
printf %s "${style%%</style>*}" | sha256sum | cut -d' ' -f1 | unhex | base64 >style-hash
printf %s "${script%%</script>*}" | sha256sum | cut -d' ' -f1 | unhex | base64 >script-hash
grep -qF "style-src 'sha256-$(<style-hash)'; script-src 'sha256-$(<script-hash)';" page.html || echo "FAILED: other hashes"
echo "--- other stores"
for count in 0 1; do
    head -$count input | sstore build --quiet --no-ids SMALL$count -
    sstore report SMALL$count -o - --clusters --queries queries | numbers - | jq -c '[.store.record_count, (.clusters | .is_sample, .cluster_count, .record_count)]'
done
head -3 input | sstore add --no-compact --quiet STORE -
sstore remove --no-compact --quiet STORE - <<<"$(head -1 input)"
sstore report STORE -o - | grep -o '"is_removal":[a-z]*' | uniq -c
echo "--- fingerprints of 256 bits"
paste -d '' <(fingerprints 4000 1) <(fingerprints 4000 2) <(fingerprints 4000 3) <(fingerprints 4000 4) >wide
sed -n '1~5s/^\(.*\)[0-7]$/\18/p' wide >near
cat near >>wide
sstore build --quiet -k 31 WIDE wide
sed 's/$/\t7/' near >wide-queries
sstore report WIDE -o wide.html --queries wide-queries --clusters
numbers wide.html >data
check_store WIDE
for word in 1 2 3 4; do
    cut -c $((16 * word - 15))-$((16 * word)) wide | sort -u | wc -l
done >values
jq '.tables[.groups[].first].count' data | diff values -
jq .queries.given_count data
sstore clusters WIDE | awk '{ print $2 }' | sort >clustered
grep -oE '"fingerprint":"[0-9a-f]{64}' data | cut -d'"' -f4 | sort >shown
[ "$(comm -12 shown clustered | wc -l)" -ge 10 ] && [ -z "$(comm -23 shown clustered)" ] || echo "FAILED: other clusters"
exits 1 sstore report WIDE -o wide.html --queries queries 2>&1
echo "--- words that are always the same are not searched"
sed 's/^.\{32\}/00000000000000000123456789abcdef/' wide | sstore build --quiet -k 20 --no-ids SKEWED -
sstore report SKEWED -o - | numbers - | jq -c '[.store.words[] | select(.radius < 0)] | length'
: | sstore build --quiet --bits 1024 EMPTY -
sstore report EMPTY -o - --clusters | numbers - | jq -c '.store | .record_count, .fingerprint_bits'
echo "--- the file: replaced as a whole, also where a link leads; its mode stays"
echo old >old.html
chmod 600 old.html
ln -s old.html link.html
sstore report SMALL1 -o link.html
cmp old.html <(sstore report SMALL1 -o -)
stat -c '%a %F' old.html link.html
umask 027
sstore report SMALL1 --output new.html
stat -c %a new.html
mkfifo pipe
head -1 pipe &
sstore report SMALL1 -o pipe
wait $!
ls
echo "--- plan --html"
check_plans()
{
    sstore plan "$@" --html plan.html
    numbers plan.html >data
    jq -c .kind data
    cmp <(jq .plan data) <(sstore plan "$@" --all --json | jq .)
    sstore plan "$@" --html - | cmp - plan.html
}
check_plans -n 10M
check_plans -n 10M --bits 256 -k 31
echo "--- errors"
exits 2 sstore report STORE 2>&1
exits 2 sstore report -o page.html 2>&1
exits 2 sstore report STORE OTHER -o page.html 2>&1
exits 1 sstore report MISSING -o page.html 2>&1
exits 1 sstore report STORE -o no/page.html 2>&1
exits 1 sstore report STORE -o STORE 2>&1
exits 1 sstore report STORE -o page.html --queries missing 2>&1
echo 'no hex' | exits 1 sstore report STORE -o page.html --queries - 2>&1
exits 2 sstore plan -n 10M --html plan.html --json 2>&1
exits 1 sstore plan -n 10M --html /dev/full 2>&1
sstore report SMALL1 -o - | cmp - new.html
echo "--- a signal: no page is written"
sstore dump STORE | sed 's/\t.*//' | awk '{ for (i = 0; i < 300; i++) print }' >many-queries
sstore report STORE --progress json -o signal.html --queries many-queries 2>signalled &
while kill -0 $! && [ ! -s signalled ]; do sleep 0.01; done # it is at work
kill -TERM $!
wait $!
echo "exit $?"
grep -v '^{' signalled
ls | grep -c signal.html || true
