# Stores of fingerprints of several words are added to, removed from, compacted, merged and split; each answers as a store
# of the same records that was built at once.
oracle=${BASH_SOURCE[0]%/cases/*}/wide_oracle.py
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3" >&3
    cat "${BASH_SOURCE[0]%.sh}.stdout"
    exit
fi
exec 2>&1
expect_records() # STORE FILE...
{
    sstore verify --quiet "$1"
    same <(sstore dump "$1") <(sort -u "${@:2}" | sort -t "$(printf '\t')" -k 1,1 -k 2n,2)
    python3 "$oracle" near <(sort -u "${@:2}") queries 20 >expected
    same expected <(sstore query -k 20 --input queries "$1")
    same expected <(sstore query -k 20 "$1" <queries)
}
for bits in 128 256; do
    echo "--- $bits"
    python3 "$oracle" make $bits 400 1 >first
    python3 "$oracle" make $bits 300 2 >second
    sed -n '1~37p' first second | cut -f 1 >queries
    exits 0 sstore build --quiet --force -k 20 STORE first
    exits 0 sstore add --no-compact STORE second
    exits 0 sstore add --no-compact STORE <second
    expect_records STORE first second
    echo "removed: records, fingerprints, ids"
    sed -n '2~7p' second >gone
    exits 0 sstore remove --no-compact STORE gone
    grep -vxFf gone <(sort -u first second) >left
    expect_records STORE left
    sed -n '3~11p' left | cut -f 1 >gone
    exits 0 sstore remove --no-compact STORE gone
    grep -vFf gone left >fewer
    expect_records STORE fewer
    sed -n '3~13p' fewer | cut -f 2 | sort -u >gone
    exits 0 sstore remove --no-compact --ids STORE gone
    awk 'NR == FNR {gone[$1]; next} !($2 in gone)' gone fewer >left
    expect_records STORE left
    exits 0 sstore compact STORE
    expect_records STORE left
    ls STORE | wc -l
    exits 0 sstore build --quiet --force -k 20 BUILT left
    same_blocks STORE BUILT
    rm -rf STORE/seg-*/directory.mdb STORE/seg-*/word-01/directory.mdb
    exits 3 sstore query -k 20 STORE --input queries
    exits 0 sstore reindex STORE
    expect_records STORE left
    exits 0 sstore build --quiet --force -k 20 OTHER first
    exits 0 sstore merge --quiet --force MERGED STORE OTHER
    expect_records MERGED left first
    exits 0 sstore shard --quiet --force --count 3 MERGED SHARD
    sstore dump SHARD-00000-of-00003 >dumps
    sstore dump SHARD-00001-of-00003 >>dumps
    sstore dump SHARD-00002-of-00003 >>dumps
    same <(sort dumps) <(sort -u left first)
done
echo "--- compacted, a store with a plan has the bytes of a build"
for plan in 3c1/2c1 4c1/3c1 2c1/3c1 5c2/2c1 4c1/4c1 3c2 22,21,21; do
    exits 0 sstore build --quiet --force -k 53 --plan $plan BUILT left
    head -n 200 left | exits 0 sstore build --quiet --force -k 53 --plan $plan STORE -
    tail -n +201 left | exits 0 sstore add --quiet --no-compact STORE
    exits 0 sstore compact --quiet STORE
    same <(cd BUILT && sha256sum seg-*/*.blk seg-*/*/*.blk | cut -d / -f 2-) \
        <(cd STORE && sha256sum seg-*/*.blk seg-*/*/*.blk | cut -d / -f 2-)
done
echo "--- compaction drops what was added and removed again"
head -n 5 left >few
exits 0 sstore build --quiet --force -k 20 FEW left
exits 0 sstore remove --no-compact --quiet FEW few
exits 0 sstore add --no-compact --quiet FEW <(head -n 1 few)
exits 0 sstore remove --no-compact --quiet FEW <(head -n 1 few)
exits 0 sstore compact --quiet --tiered FEW
tail -n +6 left >kept
expect_records FEW kept
echo "--- other widths"
python3 "$oracle" make 128 20 3 >narrow
exits 1 sstore add --no-compact STORE narrow
exits 1 sstore remove --no-compact STORE narrow
exits 0 sstore build --quiet NARROW narrow
exits 2 sstore merge MIXED STORE NARROW
absent MIXED
expect_records STORE left
echo "--- all inputs have the same"
exits 1 sstore build NEW first narrow
exits 1 sstore build NEW --bits 128 first
exits 1 sstore build NEW --bits 64 first
exits 1 sstore build NEW <(cat narrow first)
absent NEW
