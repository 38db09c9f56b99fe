# Stores of fingerprints of several words: what is built is dumped, and queries find what trying all records finds, in a
# batch, line by line, for the nearest, at and beyond the store's distance.
oracle=${BASH_SOURCE[0]%/cases/*}/wide_oracle.py
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3" >&3
    cat "${BASH_SOURCE[0]%.sh}.stdout"
    exit
fi
sort_records()
{
    sort -t "$(printf '\t')" -k 1,1 -k 2n,2
}
for bits in 128 192 256 512 1024; do
    python3 "$oracle" make $bits 1000 $bits >input
    { sed -n '1~83p' input | cut -f 1; python3 "$oracle" make $bits 4 1 | cut -f 1; } >queries
    k=$((bits / 16))
    exits 0 sstore build --quiet --force -k $k STORE input
    sstore dump STORE >records
    same records <(sort -u input | sort_records)
    exits 0 sstore verify --quiet STORE
    for distance in 0 $((k / 2)) $k $((k + 9)) $((bits * 3 / 8)) $((bits / 2)) $bits; do
        python3 "$oracle" near records queries $distance >expected
        sstore query -k $distance --input queries STORE >found
        same expected found
        sstore query -k $distance STORE <queries >found
        same expected found
        sstore query -k $distance --io pread STORE $(<queries) >found
        same expected found
        [ -s expected ] || echo "FAILED: $bits: nothing to find at $distance"
    done
    python3 "$oracle" nearest records queries >expected
    sstore query --nearest STORE <queries >found
    same expected found
    sstore query --nearest --input queries STORE >found
    same expected found
    echo "$bits: $(wc -l <records) records, nearest of $(wc -l <queries) queries: $(wc -l <expected)"
    # The store's own distance, counts, limits, JSON and other forms.
    python3 "$oracle" near records queries $k >expected
    same expected <(sstore query STORE --input queries)
    same <(cut -f 1 expected | uniq -c | awk '{print $2 "\t" $1}') <(sstore query --count STORE --input queries | grep -v '	0$')
    same <(awk '!seen[$1]++' expected) <(sstore query --limit 1 STORE --input queries)
    sstore query --json STORE --input queries | sed 's/[^":,]*"[a-z]*":"*\([^",}]*\)"*[,}]/\1\t/g; s/\t$//' >found
    same expected found
    sstore query --output-radix base64 STORE --input queries | cut -f 1,2 | tr '\t' '\n' >base64
    sstore build --quiet --force --no-ids --radix base64 FORMS base64
    same <(cut -f 1,2 expected | tr '\t' '\n' | sort -u) <(sstore dump --columns fingerprint FORMS)
    sstore query --output-radix bin STORE --input queries | head -1 | cut -f 1 | tr -d '\n' | wc -c
    # Without ids.
    exits 0 sstore build --quiet --force --no-ids -k $k PLAIN input
    sstore dump PLAIN >plain
    same <(cut -f 1 records | uniq | sed 's/$/\t-/') plain
    python3 "$oracle" near plain queries $k >expected
    same expected <(sstore query PLAIN --input queries)
done
echo "--- more bits than there are digits in a line of others"
head -3 input | cut -c 1-64 >narrow
exits 1 sstore query STORE <narrow 2>&1
exits 2 sstore query STORE $(head -1 narrow) 2>&1
exits 2 sstore query -k 1025 STORE $(head -1 queries) 2>&1
exits 0 sstore query --output-radix dec -k 0 STORE $(sed -n 1p input | cut -f 1) | python3 -c '
import sys
print([int(number) == int(sys.argv[1], 16) for number in input().split("\t")[:2]])' "$(sed -n 1p input | cut -f 1)"
exits 0 sstore build --quiet --force STORE narrow
exits 2 sstore query -k 257 STORE $(head -1 narrow) 2>&1
echo "--- lost leading zeros"
echo 1 | exits 0 sstore query --bits 256 -k 256 --limit 1 STORE | cut -f 1
echo "--- explained"
sstore query --explain STORE $(head -1 narrow) | sed -n '1p; s/, which.*//p'
sstore query --explain -k 256 STORE $(head -1 narrow) | sed -n "2p; s/, which.*//p"
