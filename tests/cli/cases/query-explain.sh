# --explain tells table by table what was expected and what was read.
clustered 3000 3 >input
sstore build --quiet --plan 4 --block-size 256 STORE input
query=$(sed -n 2000p input)
sstore query --explain STORE $query >explained
head -1 explained
awk '$1 == "0" || $1 == "total" {print $1, $2, $(NF - 3)}' explained
sed -n 3p explained | grep -oE 'key mask [0-9a-f]{16}  expected( +[0-9.]+){2}$' | grep -o '^key mask'
awk 'length > 79 { print "FAILED: " length " columns: " $0 }' explained
echo "--- matches are those of the query; probes, blocks and candidates are at least one a table"
awk -v n="$(sstore query --count STORE $query | cut -f 2)" '$1 == "total" {print ($NF == n ? "as many" : "FAILED")}' explained
awk '$1 == "0" && ($(NF - 3) < 1 || $(NF - 2) < 1 || $(NF - 1) < 1) {print "FAILED: " $0}' explained
echo "--- farther away than probing pays"
sstore query --explain -k 30 STORE $query >explained
awk 'NR == 2 {print $4, $(NF - 1)} /^Used/ {print $1}' explained
awk 'length > 79 { print "FAILED: " length " columns: " $0 }' explained
echo "--- of several words"
paste -d '' input input | sstore build --quiet -k 10 WIDE
sstore query --explain -k 60 WIDE $query$query >explained
head -3 explained
awk 'length > 79 { print "FAILED: " length " columns: " $0 }' explained
echo "--- nothing to read in an empty store"
sstore build --quiet EMPTY /dev/null
exits 0 sstore query --explain EMPTY 1 | awk '$1 == "total" {print $NF}'
echo "--- usage"
exits 2 sstore query --explain STORE 2>/dev/null
exits 2 sstore query --explain STORE - </dev/null 2>/dev/null
exits 2 sstore query --explain STORE 1 2 2>/dev/null
exits 2 sstore query --explain --input input STORE 2>/dev/null
exits 2 sstore query --explain --json STORE 1 2>/dev/null
exits 2 sstore query --explain --nearest STORE 1 2>/dev/null
exits 2 sstore query --explain STORE xyz 2>/dev/null
