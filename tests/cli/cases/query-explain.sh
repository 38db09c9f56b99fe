# --explain tells table by table what was expected and what was read.
clustered 3000 3 >input
sstore build --quiet --plan 4 --block-size 256 STORE input
query=$(sed -n 2000p input)
sstore query --explain STORE $query >explained
sed 's/  */ /g' explained | head -1
sed -n '2,6p' explained | awk '{print $1, $2, $(NF - 5)}'
echo "--- matches are those of the query; probes, blocks and candidates are at least one a table"
awk -v n="$(sstore query --count STORE $query | cut -f 2)" '$1 == "total" {print ($NF == n ? "as many" : "FAILED")}' explained
awk 'NR > 1 && NR < 6 && ($(NF - 5) < 1 || $(NF - 3) < 1 || $(NF - 1) < 0) {print "FAILED: " $0}' explained
echo "--- farther away than probing pays"
sstore query --explain -k 30 STORE $query | sed 's/  */ /g' | awk 'NR == 2 {print $5, $(NF - 1)} END {print $1}'
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
