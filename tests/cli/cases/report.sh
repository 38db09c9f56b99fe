# report writes one page: with the figures of 'sstore stat', escaped texts, and nothing that is fetched or run.
export SOURCE_DATE_EPOCH=1700000000
clustered 3000 95 >input
sstore build --quiet STORE input
sstore report STORE -o page.html
ls
# The text of a page: without markup, one cell or label a line, and numbers without spaces.
page_text()
{
    sed 's/\xe2\x80\xaf//g; s/<wbr>//g; s/<title>[^<]*<\/title>//g; s/<[^>]*>/\n/g' "$1" | grep -v '^ *$'
}
page_text page.html >text
echo "--- the figures of stat"
sstore stat --json STORE >json
for part in tables ids directory manifest total; do
    bytes=$(grep -o "\"$part\":{\"bytes\":[0-9]*" json | grep -o '[0-9]*$')
    [ "$part" != tables ] || part='all tables'
    grep -A1 -x "$part" text | grep -qx "$bytes" || echo "FAILED: $part are not $bytes bytes"
done
grep -A1 -x Records text
grep -o '"bits_per_fingerprint":[0-9]*\.[0-9]\{4\}' json | cut -d: -f2 | while read -r bits; do
    grep -qx "$(printf %.2f "$bits")" text || echo "FAILED: no table of $bits bits per fingerprint"
done
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
    sed -n '/^Symbols of table 0$/,/^Symbols of table 1$/p' text >symbols
    for h in "${!counts[@]}"; do
        grep -A1 -x "$h" symbols | grep -qx "${counts[$h]}" || echo "FAILED: h $h occurs ${counts[$h]} times"
    done
    echo "${#counts[@]} different h"
}
echo "--- parts that are only there if they are asked for"
grep -c 'id="queries"\|id="clusters"\|id="segments"' page.html
head -200 input | sed 's/$/\n0123456789abcdef/' >queries
sstore report STORE -o all.html --queries queries --clusters
page_text all.html >text
grep -o '400 of 400 queries were timed at distance 3' text
sstore clusters STORE | awk '{ print $1 }' | sort -n | tail -1 >largest
grep -A5 'The largest clusters' text | grep -qxF "$(<largest)" || echo "FAILED: the largest cluster has $(<largest) records"
sstore clusters STORE | awk -v largest="$(<largest)" '$1 == largest { print $2 }' | head -5 | while read -r fingerprint; do
    grep -qx "$fingerprint" text || echo "FAILED: $fingerprint is in the largest cluster"
done
# The page begins with the answer, and with names if there is a table.
grep -A3 -x Near-duplicates text | sed 's/[0-9][0-9]*/N/g'
[ "$(grep -A1 -x Near-duplicates text | tail -1)" = "$(sstore clusters --drop STORE | wc -l)" ] || echo "FAILED: another number"
grep -o 'id="clusters"\|id="queries"\|id="size"\|<details><summary>How\|id="tables"' all.html
sstore dump STORE | cut -f 2 | sort -nu | awk '{ print $1 "\t<name> " $1 }' | sstore names --from - names
sstore report STORE -o named.html --clusters --id-table names
sstore clusters STORE | awk -v largest="$(<largest)" '$1 == largest { print "&lt;name&gt; " $3 }' | head -5 | while read -r name; do
    grep -qF "<td>$name</td>" named.html || echo "FAILED: $name is not there"
done
echo 1 | awk '{ print $1 "\tother" }' | sstore names --from - few
exits 1 sstore report STORE -o few.html --clusters --id-table few 2>/dev/null
absent few.html
echo "--- of a store of up to about a million records, also without --clusters; or from a sample"
sstore report STORE -o unasked.html
sstore report STORE -o all.html --clusters=all
cmp unasked.html all.html
clustered 700 8 | awk '{ print $1 "\t" NR }' | sstore build --quiet -k 5 SAMPLED
sstore dump SAMPLED | cut -f 1 | sort -u >distinct
sstore query --count SAMPLED --input distinct | awk '$2 > 1' >near
sstore report SAMPLED -o sampled.html --clusters=sample
page_text sampled.html >text
grep -qF "of $(wc -l <distinct) sampled fingerprints have one within 5 bits" text || echo "FAILED: another sample"
grep -qF "$(wc -l <near) of them have another record within 5 bits" text || echo "FAILED: not $(wc -l <near) of them"
sed -n '/^Those with the most/,$p' text | grep -xE '[0-9a-f]{16}' | sort -u | comm -23 - distinct
sed -n '/^Those with the most/,$p' text | grep -cxE '[0-9a-f]{16}' | awk '{ print ($1 >= 10 && $1 <= 25 ? "examples" : "FAILED: " $1) }'
sstore dump SAMPLED | awk '{ print $2 "\tname " $2 }' | sort -n | sstore names --from - own-names
sstore report SAMPLED -o - --clusters=sample --id-table own-names | grep -c '<td>name [0-9]*</td>' | awk '{ print ($1 >= 10 ? "names" : "FAILED: " $1) }'
head -500 distinct | sstore remove --quiet --no-compact SAMPLED
sstore report SAMPLED -o - --clusters=sample | page_text - | grep -qF "of $(($(wc -l <distinct) - 500)) sampled" || echo "FAILED: removed ones are counted"
for count in 0 1; do
    head -$count input | sstore build --quiet --no-ids FEW$count -
    sstore report FEW$count -o - --clusters=sample | page_text - | grep -A2 -x Near-duplicates
done
exits 2 sstore report STORE -o new.html --clusters=some 2>&1
echo "--- what comes from elsewhere is text"
name="<b onload='x'>&\"STORE"
sstore build --quiet --recipe "</title><script>alert(1)</script> & \"q\" 'a' "$'\xe2\x80\xae' "$name" input
sstore report "$name" -o hostile.html
grep -c '<script\|<b \|onload=.x.>' hostile.html
grep -o 'recipe: .*' hostile.html
grep -o '<h1>.*</h1>' hostile.html
echo "--- nothing is fetched, and the policy names the style"
grep -cE 'https?:|src=|href=|url\(|@import|style="|<script|<link|<img' page.html all.html hostile.html
sed -n 's/.*<style>\(.*\)<\/style>.*/\1/p' page.html | tr -d '\n' | sha256sum | cut -d' ' -f1 | unhex | base64 >hash
grep -qF "'sha256-$(<hash)'" page.html || echo "FAILED: style_hash of tools/report/style.c must be $(<hash)"
echo "--- other stores"
for count in 0 1; do
    head -$count input | sstore build --quiet --no-ids SMALL$count -
    sstore report SMALL$count -o - --clusters --queries queries | grep -o 'The store has no records\|No record has a near-[a-z]*'
done
head -3 input | sstore add --no-compact --quiet STORE -
sstore remove --no-compact --quiet STORE - <<<"$(head -1 input)"
sstore report STORE -o - | page_text - | grep -x 'adds\|removes' | uniq -c
echo "--- fingerprints of 256 bits"
paste -d '' <(fingerprints 4000 1) <(fingerprints 4000 2) <(fingerprints 4000 3) <(fingerprints 4000 4) >wide
sed -n '1~5s/^\(.*\)[0-7]$/\18/p' wide >near
cat near >>wide
sstore build --quiet -k 31 WIDE wide
sed 's/$/\t7/' near >wide-queries
sstore report WIDE -o wide.html --queries wide-queries --clusters
page_text wide.html >text
sstore stat --json WIDE >json
for part in tables fingerprints ranks ids directory manifest total; do
    bytes=$(grep -o "\"$part\":{\"bytes\":[0-9]*" json | grep -o '[0-9]*$')
    case $part in tables) part='all tables' ;; fingerprints) part='whole fingerprints' ;; esac
    grep -A1 -x "$part" text | grep -qx "$bytes" || echo "FAILED: $part are not $bytes bytes"
done
grep -o '"bits_per_fingerprint":[0-9]*\.[0-9]\{4\}' json | cut -d: -f2 | while read -r bits; do
    grep -qx "$(printf %.2f "$bits")" text || echo "FAILED: no table of $bits bits per word"
done
for word in 1 2 3 4; do
    cut -c $((16 * word - 15))-$((16 * word)) wide | sort -u | wc -l
done >values
sed -n '/^Words of the fingerprints$/,/^lower half/p' text | awk '/:/ { print before[2] } { before[2] = before[1]; before[1] = $0 }' | diff values -
grep -o '[0-9]* of [0-9]* queries were timed at distance [0-9]*' text
grep -o "This is the store's own plan" text
grep -x 'raw: [0-9]* bytes a record' text | uniq
sstore clusters WIDE | awk '{ print $2 }' | sort >clustered
grep -xE '[0-9a-f]{64}' text | sort >shown
[ "$(comm -12 shown clustered | wc -l)" -ge 10 ] && [ -z "$(comm -23 shown clustered)" ] || echo "FAILED: other clusters"
exits 1 sstore report WIDE -o wide.html --queries queries 2>&1
echo "--- words that are always the same are not searched"
sed 's/^.\{32\}/00000000000000000123456789abcdef/' wide | sstore build --quiet -k 20 --no-ids SKEWED -
sstore report SKEWED -o - | page_text - >text
grep -c -x 'not searched' text
grep -o "The store's words have other plans\|Words that queries do not search are left out" text
: | sstore build --quiet --bits 1024 EMPTY -
sstore report EMPTY -o - --clusters | grep -o 'The store has no records'
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
sstore plan -n 10M --html plan.html
grep -o '<title>sstore plan.*</title>' plan.html | head -1
page_text plan.html >text
sstore plan -n 10M | sed '/^$/,$d; 1d; s/^\*//' | awk '{ print $1 }' | while read -r plan; do
    grep -qx "$plan" text || echo "FAILED: the plan $plan is missing"
done
sstore plan -n 10M --html - | cmp - plan.html
sstore plan -n 10M --bits 256 -k 31 --html plan.html
grep -o '<title>sstore plan.*</title>' plan.html | head -1
page_text plan.html >text
grep -x '.* for each of 4 words' text
sstore plan -n 10M --bits 256 -k 31 | sed '/^$/,$d; 1d; s/^\*//' | awk '{ print $1 }' | while read -r plan; do
    grep -qx "$plan" text || echo "FAILED: the plan $plan is missing"
done
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
echo "--- one cluster"
printf '%s\n' 'ff 1' 'fe 2' 'f0f0f0f0 3' | sstore build --quiet ONE
sstore report ONE -o - | grep -o 'are in 1 clusters\?:'
