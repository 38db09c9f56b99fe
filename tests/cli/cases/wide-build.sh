# The width of a new store: by --bits, or by its first input; nothing is left of a store that cannot be made.
exec 2>&1
paste -d '' <(fingerprints 40 1) <(fingerprints 40 2) <(fingerprints 40 3) <(fingerprints 40 4) >wide
cut -c 1-16 wide >narrow
bits() # STORE
{
    sstore stat --json "$1" | sed 's/.*"fingerprint_bits":\([0-9]*\),.*"distance":\([0-9]*\),.*/bits \1, distance \2/'
}
echo "--- shown by the first record of a file, a pipe, or the second file"
exits 0 sstore build FILE wide
cat wide | exits 0 sstore build PIPE
: >empty
exits 0 sstore build --quiet SECOND empty <(cat wide)
exits 0 sstore build --quiet NARROW narrow
for store in FILE PIPE SECOND NARROW; do bits $store; done
same_store FILE PIPE
same_store FILE SECOND
echo "--- a recipe comes before the first record"
{ echo "# recipe: pdq"; cat wide; } | exits 0 sstore build --quiet RECIPE
sstore stat RECIPE | sed -n '/^fingerprints .*bits/p; /recipe/p'
{ printf '\x89sstore\n\x05\x00\x00\x00\x80\x00\x00\x00these'; head -c 3 /dev/zero; words <<<'0123456789abcdef fedcba9876543210 0000000000000007'; } \
    >header.rec
exits 0 sstore build --quiet HEADER header.rec
sstore dump HEADER
sstore stat HEADER | sed -n '/^fingerprints .*bits/p; /recipe/p'
exits 1 sstore build HEADER2 --bits 64 header.rec
exits 1 sstore build HEADER2 header.rec header.rec wide
cat header.rec header.rec | exits 1 sstore build --format rec HEADER2
absent HEADER2
for width in '\x60\x00' '\x40\x04' '\xff\xff'; do
    { printf '\x89sstore\n\x05\x00\x00\x00'$width'\x00\x00these'; head -c 40 /dev/zero; } >other.rec
    exits 1 sstore build HEADER2 other.rec
done
absent HEADER2
echo "--- the distance: up to a quarter of the bits"
exits 0 sstore build --quiet -k 64 FAR wide
bits FAR
cat wide | exits 0 sstore build --quiet -k 17 FAR2
bits FAR2
exits 2 sstore build -k 65 FAR3 wide
cat wide | exits 2 sstore build -k 65 FAR3
exits 2 sstore build -k 17 FAR3 narrow
cat narrow | exits 2 sstore build -k 17 FAR3
exits 2 sstore build -k 17 FAR3 empty
exits 2 sstore build -k 17 --bits 64 FAR3
absent FAR3
exits 0 sstore build -k 17 --bits 128 EMPTY empty
bits EMPTY
sstore query EMPTY $(cut -c 1-32 wide | head -1)
echo "--- what makes it impossible is said before there are records"
exits 1 timeout 10 sstore build FILE < <(exec sleep 20)
cat wide | exits 0 sstore build --quiet --force FILE
ls FILE | wc -l
same <(cat FILE/seg-*/*.blk) <(cat PIPE/seg-*/*.blk)
echo "--- numbers of bits"
for number in 0 1 63 100 1088 -64 many; do exits 2 sstore build --bits $number NEW wide; done
absent NEW
echo "--- what looks like binary digits"
printf '%064d\n' 0 1 | exits 1 sstore build NEW
absent NEW
printf '%064d\n' 0 | exits 0 sstore build --quiet --bits 256 ZEROS
printf '%064d\n' 0 | exits 0 sstore build --quiet --radix bin BITS
sstore dump ZEROS
sstore dump BITS
printf '%064d\n' 0 | sstore query ZEROS
sstore query ZEROS $(printf '%064d' 0)
printf '{"fingerprint":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}\n' | exits 0 sstore build --quiet --format jsonl BYTES
sstore dump BYTES
echo "--- bits that are no multiple of 64"
cut -c 1-36 wide | exits 1 sstore build NEW
cut -c 1-36 wide | sed 's/$/000000000000/' | exits 0 sstore build --quiet FILLED
bits FILLED
echo "--- PDQ: lines of hash, quality and file name"
sed 's/$/,100,a picture.jpg/' wide >hashes.csv
exits 1 sstore build NEW hashes.csv
tr ',' '\t' <hashes.csv | exits 0 sstore build --quiet --columns fingerprint,- PDQ
same_store PDQ PIPE
echo "--- ids first"
nl -v 7 -w 1 wide | exits 1 sstore build NEW
nl -v 7 -w 1 wide | exits 0 sstore build --quiet --columns id,fingerprint IDS
sstore dump IDS | head -1
absent NEW
echo "--- fingerprints of texts"
printf '%s\n' 'one two three four' 'one two three five' 'something else' >texts
sstore fingerprint --bits 128 --lines texts | exits 0 sstore build --quiet TEXTS
sstore fingerprint --bits 128 --format rec --lines texts | exits 0 sstore build --quiet PAIRS
same_store TEXTS PAIRS
bits PAIRS
