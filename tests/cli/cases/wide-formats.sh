# Fingerprints of several words in every format: what dump writes, build reads to the same store, if --bits says the width
# or if the input shows it.
oracle=${BASH_SOURCE[0]%/cases/*}/wide_oracle.py
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3" >&3
    cat "${BASH_SOURCE[0]%.sh}.stdout"
    exit
fi
exec 2>&1
again() # WHAT STORE OPTIONS OF BUILD
{
    rm -rf AGAIN
    exits 0 sstore build --quiet AGAIN "${@:3}"
    same_store "$2" AGAIN || echo "FAILED: $1"
}
for bits in 128 256 1024; do
    python3 "$oracle" make $bits 500 $bits >input
    exits 0 sstore build --quiet --force STORE input
    exits 0 sstore build --quiet --force --no-ids PLAIN input
    again "stdin, without --bits" STORE <input
    again "a compressed input, without --bits" STORE <(gzip <input) --compression gzip
    for radix in hex base64 bin; do
        sstore dump --radix $radix --columns id,fingerprint STORE >text
        again "text $radix" STORE --radix $radix --columns id,fingerprint text
        sstore dump --radix $radix --format jsonl STORE >text.jsonl
        again "JSON $radix" STORE --radix $radix --bits $bits text.jsonl
    done
    sstore dump PLAIN >text
    again "text without ids, and --bits" PLAIN --no-ids --bits $bits text
    tr a-f A-F <input | sed 's/^/0x/' >capitals
    again "0x and capitals" STORE capitals
    sed 's/\([0-9a-f]*\)\t\(.*\)/\1 \2/' input | python3 -c '
import json, sys
for line in sys.stdin:
    fingerprint, identifier = line.split()
    print(json.dumps({"id": int(identifier), "fingerprint": list(bytes.fromhex(fingerprint))}))' >bytes.jsonl
    again "bytes in JSON" STORE bytes.jsonl
    sstore dump --format rec STORE >records.rec
    again "pairs" STORE records.rec
    again "pairs, --bits" STORE --bits $bits records.rec
    tail -c +$((bits / 8 + 9)) records.rec >bare.rec # the header is as long as a pair, or two of these
    ((bits / 8 + 8 >= 16)) || echo FAILED
    again "pairs without header" STORE --bits $bits bare.rec
    sstore dump --format u64 PLAIN >fingerprints.u64
    again "words" PLAIN --no-ids --bits $bits fingerprints.u64
    same <(sstore dump --columns fingerprint PLAIN | sed 's/.\{16\}/&\n/g' | sed '/^$/d' | words) fingerprints.u64
    sstore dump --format npy STORE >records.npy
    again "NumPy words and ids" STORE --bits $bits records.npy
    sstore dump --format npy PLAIN >fingerprints.npy
    again "NumPy words" PLAIN --no-ids --bits $bits fingerprints.npy
    sstore dump --format npy-bytes PLAIN >bytes.npy
    again "NumPy bytes" PLAIN --no-ids bytes.npy
    head -c 128 records.npy | tail -c +11 | sed 's, *$,,'
    head -c 128 bytes.npy | tail -c +11 | sed 's, *$,,'
    head -c 16 records.rec | od -An -t x1z
    same <(tail -c +129 bytes.npy) <(sstore dump --columns fingerprint PLAIN | unhex)
    # Queries in these formats.
    sed -n '1~50p' input | cut -f 1 >queries
    sstore query -k 20 --input queries STORE >expected
    exits 0 sstore build --quiet --force --no-ids QUERIES queries
    for format in u64 npy npy-bytes; do
        sstore dump --format $format QUERIES >some
        sstore query -k 20 --format ${format%-bytes} --input some STORE >found
        same <(sort expected) <(sort found)
    done
done
echo "--- small numbers"
echo 17 | exits 0 sstore build --quiet --radix dec --bits 128 DECIMAL
sstore dump DECIMAL
echo '{"fingerprint": 17}' | exits 0 sstore build --quiet --force --format jsonl --bits 128 DECIMAL
sstore dump DECIMAL
