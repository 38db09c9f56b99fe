# dump prints fingerprint<TAB>id, ascending by both.
printf 'ff 2\n1 18446744073709551615\nff 10\nff 1\nABC 7\n' | sstore build --quiet STORE
sstore dump STORE
echo "--- as many as went in"
fingerprints 20000 91 | sort -u >input
sstore build --quiet --no-ids MANY input
same <(sed 's/$/\t-/' input) <(sstore dump MANY)
exits 1 sstore dump missing 2>/dev/null
