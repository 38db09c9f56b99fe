# Documents of words, against a model that compares all of them; then what the list and the examples show.
model=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../similarity_model.py")
if command -v python3 >/dev/null; then
    python3 "$model" "${SSTORE_TEST_CASES:-20}" "${SSTORE_TEST_SEED:-$RANDOM}" >&3 || echo FAILED
else
    echo "skipped: there is no python3" >&3
fi
numbers=$(seq -s ' ' 100)
printf '%s\n' "$numbers" "$numbers 101" "${numbers/ 50 / fifty }" "${numbers% 5? *} and so on" "other words" "" >lines.txt
exits 0 sstore dedup --lines --hash minhash --bits 256 --similarity 0.9 --removed removed.tsv lines.txt | cut -c 1-20
cat removed.tsv
exits 0 sstore dedup --lines --hash minhash --bits 256 --similarity 0.9 --weights frequency --strict --dry-run lines.txt
echo "--- of a store, the similarity is an estimate"
head -n 1 lines.txt | sstore fingerprint --lines --hash minhash --bits 256 | sstore build --quiet -k 40 old.store
exits 0 sstore dedup --lines --hash minhash --bits 256 --similarity 0.9 --against old.store --removed removed.tsv lines.txt | cut -c 1-20
cat removed.tsv
ls -d sstore-* 2>/dev/null
true
