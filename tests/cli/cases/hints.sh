# Inputs that are often given by mistake: the message says what they seem to be and what to do, and a BOM is skipped.
needs_terminal "${BASH_SOURCE[0]}"
exec 2>&1
tab=$'\t'
try() # NAME: an input on stdin that build refuses
{
    echo "--- $1"
    exits 1 sstore build "${@:2}" STORE
    absent STORE
}
echo 18446744073709551615 | try "decimal fingerprints"
echo -5 | try "signed fingerprints"
echo 99999999999999999999 | try "too large a number"
echo 0xff00 | try "hex for decimal" --radix dec
echo 1e18 | try "a double for decimal" --radix dec
echo 1234567890123e45 | try "16 hex digits for decimal" --radix dec
echo '-99999999999999999999' | try "too small a number" --radix dec
echo AAAAAAAAAP8= | try "base64"
printf '%064d\n' 1011 | try "binary digits"
echo 00000000000000ff | try "hex for base64" --radix base64
echo 12 84ad7e0ad13e1a8b | try "ids first"
printf '%s\n' fingerprint,id ff,1 | try "a CSV file with a header"
printf '%s\n' ff,1 | try "a CSV file"
printf '%s\n' 'ff;1' | try "a CSV file with semicolons"
printf '%s\n' '"ff"' | try "quotes"
printf '%s\n' "fp${tab}id" "ff${tab}1" | try "a header"
printf '%s\n' "ff${tab}1" "fp${tab}id" | try "words that are no header"
printf '%s\n' '{"fp":"ff"}' | try "JSON lines"
printf '\xff\xfef\x00f\x00\n\x00' | try "UTF-16"
printf '\xfe\xff\x00f\x00f\x00\n' | try "UTF-16, most significant byte first"
npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }" | try "an array without suffix"
echo 0000000000000a0b 000000000000000c | words | try "words without suffix"
printf 'BZh91AY&SY' | try "a file of bzip2"
printf '\xfd7zXZ\x00\x00\x04' | try "a file of xz"
printf '\x04\x22\x4d\x18d@' | try "a file of LZ4"
printf 'PK\x03\x04\x14\x00' | try "a ZIP file"
echo '[{"fingerprint":"ff"},{"fingerprint":"fe"}]' | try "an array of JSON"
printf '%s\n' ff "$(printf '\x01')" | try "a control character"
echo "--- a BOM, CRLF, and both"
printf '\xef\xbb\xbfff 1\r\n\xef\xbb\xbffe 2\r\n' >bom
exits 1 sstore build STORE bom
printf '\xef\xbb\xbfff 1\r\nfe 2\r\n' >bom
cp bom bom2
sstore build --quiet STORE bom bom2 && sstore dump STORE
printf '\xef\xbb\xbfff\n' | sstore query -k 0 STORE
printf '\xef\xbb\xbf' | exits 0 sstore query STORE
echo "--- stores and files, and their order"
echo ff >queries
exits 1 sstore query queries 1
exits 1 sstore stat queries
exits 1 sstore merge NEW queries
exits 1 sstore build queries STORE
exits 1 sstore add STORE STORE
exits 2 sstore query ff STORE
exits 2 sstore query STORE queries
exits 1 sstore query --input STORE STORE
exits 1 sstore scan --queries STORE queries
mkdir folder
exits 1 sstore build NEW folder
exits 1 sstore scan --queries folder queries
absent NEW
echo "--- a terminal as input"
sleep 0.1 | script -qec 'sstore query STORE' /dev/null | tr -d '\r' | head -1
script -qec 'sstore query STORE ff' /dev/null </dev/null | tr -d '\r'
rm -r STORE
echo "--- texts, where fingerprints are expected, and tables of other programs"
text="The quick brown fox jumps over the lazy dog"
echo "$text" | try "a line of text"
printf '%s\n' 84ad7e0ad13e1a8b "$text" | try "text below a fingerprint"
printf 'Les élèves étaient là, près du bord\n' | try "text beyond ASCII"
echo "{\"text\":\"$text\"}" | try "JSON lines of texts" --format jsonl
printf 'PAR1\x15\x04' | try "a Parquet file"
printf '%s\n' '"84ad7e0ad13e1a8b","1"' | try "a CSV file with quotes"
echo "--- a file as STORE"
echo "$text" >text
exits 1 sstore build text NEW
exits 1 sstore build --force text queries
exits 1 sstore add text queries
cat text
echo "--- many documents in a file that is taken as one"
yes "{\"text\":\"$text\"}" | head -3 >docs.jsonl
exits 0 sstore fingerprint --no-comments docs.jsonl
exits 0 sstore fingerprint --no-comments <docs.jsonl
exits 0 sstore fingerprint --no-comments --jsonl docs.jsonl
yes "$text" | head -1000 >lines
exits 0 sstore fingerprint --no-comments lines
exits 0 sstore fingerprint --no-comments lines text
