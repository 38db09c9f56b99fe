# gzip and zstd streams of every format make the stores that their contents make: by suffix, by what text begins with,
# or by --compression.
exec 2>&1
fingerprints 12000 61 | nl -v 500000 -w 1 | awk '{print $2 "\t" $1}' >all.txt
hex_ids <all.txt | words >all.rec
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (12000, 2), }"; cat all.rec; } >all.npy
cut -f 1 all.txt | words >all.u64
sstore build --quiet EXPECTED all.txt
sstore build --quiet ORDINALS all.u64
try() # EXPECTED, arguments of build
{
    local expected=$1
    shift
    exits 0 sstore build --quiet STORE "$@"
    same_store "$expected" STORE
    rm -r STORE
}
echo "--- by suffix"
for format in txt rec npy u64; do
    gzip -k all.$format
    zstd -qk all.$format
    expected=EXPECTED
    [ $format != u64 ] || expected=ORDINALS
    try $expected --bits 64 all.$format.gz
    try $expected --bits 64 all.$format.zst
    try $expected --bits 64 --threads 1 all.$format.gz
    try $expected --bits 64 --threads 1 all.$format.zst
done
cp all.npy.gz ALL.NPY.GZ
cp all.u64.zst ALL.U64.ZST
try EXPECTED --bits 64 ALL.NPY.GZ
try ORDINALS ALL.U64.ZST
cp all.txt.gz all.gz
try EXPECTED all.gz
try EXPECTED --format rec all.rec.gz
echo "--- text by what it begins with"
try EXPECTED <all.txt.gz
try EXPECTED - <all.txt.zst
try EXPECTED <(cat all.txt.zst)
cp all.txt.gz odd-name
try EXPECTED odd-name
try EXPECTED --format text odd-name
echo "--- by --compression"
try EXPECTED --format rec --compression gzip <all.rec.gz
try EXPECTED --bits 64 --format npy --compression zstd - <all.npy.zst
try ORDINALS --format u64 --compression zstd <all.u64.zst
try EXPECTED --compression gzip odd-name
try EXPECTED --compression auto odd-name
cp all.rec named.rec.gz
try EXPECTED --compression none named.rec.gz
cp all.rec.zst named.rec.gz
try EXPECTED --compression zstd named.rec.gz
echo "--- several members or frames, empty ones and such as are skipped among them"
head -4000 all.txt >one
tail -n +4001 all.txt | head -c 40001 >two
tail -n +4001 all.txt | tail -c +40002 >three
: >none
{ gzip -c none; gzip -c one; gzip -c none none two; gzip -c three none; } >parts.gz
try EXPECTED parts.gz
try EXPECTED <parts.gz
skipped='5f2a4d18 0b000000 0102030405060708090a0b 502a4d18 00000000'
{ unhex <<<"$skipped"; zstd -qc one none two; unhex <<<"$skipped"; zstd -qc --check three; unhex <<<"$skipped"; } \
    >parts.zst
try EXPECTED parts.zst
try EXPECTED <parts.zst
while IFS= read -r line; do gzip -c <<<"$line"; done < <(head -50 one) >lines.gz
exits 0 sstore build --quiet LINES lines.gz
same <(head -50 one | sort) <(sstore dump LINES)
echo "--- several inputs of all kinds in one build; assigned ids count over all of them"
cut -f 1 all.txt | head -4000 >one.txt
cut -f 1 all.txt | tail -n +4001 | head -7 | gzip >two.txt.gz
tail -c +32057 all.u64 | head -c 32000 | zstd -q >three.u64.zst
{ npy_header 1 "{'descr': '<i8', 'fortran_order': False, 'shape': (3993,), }"; tail -c +64057 all.u64; } | gzip >four.npy.gz
try ORDINALS one.txt two.txt.gz - four.npy.gz --compression auto --format auto < <(
    cut -f 1 all.txt | tail -n +4008 | head -4000 | zstd -q)
try ORDINALS one.txt two.txt.gz three.u64.zst four.npy.gz
echo "--- queries and samples"
head -200 one.txt >queries
sstore query --input queries EXPECTED >expected
gzip -k queries
zstd -qk queries
same expected <(sstore query --input queries.gz EXPECTED)
same expected <(sstore query --input - EXPECTED <queries.zst)
same expected <(sstore query EXPECTED <queries.gz)
same expected <(sstore query EXPECTED - <queries.zst)
words <queries | zstd -q >queries.u64.zst
same expected <(sstore query --input queries.u64.zst EXPECTED)
same expected <(sstore query --format u64 --compression zstd EXPECTED <queries.u64.zst)
cmp <(sstore plan --sample all.txt) <(sstore plan --sample all.txt.gz)
cmp <(sstore plan --sample all.txt) <(sstore plan --sample all.rec.zst)
echo "--- what expands a lot"
head -c 16000000 /dev/zero | gzip >zeros.u64.gz
exits 0 sstore build --quiet --no-ids --memory 4M ZEROS zeros.u64.gz
sstore dump ZEROS
