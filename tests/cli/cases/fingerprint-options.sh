# Recipes, refused options, files that cannot be read, a full disk.
sstore fingerprint --recipe | sed 's/unicode=.*/unicode=.../'
sstore fingerprint --recipe --features chars --shingle 3 --weights presence | sed 's/unicode=.*/unicode=.../'
printf 'a\n' >a
exits 2 sstore fingerprint --recipe --weighted
exits 2 sstore fingerprint --features letters a
exits 2 sstore fingerprint --weights tf a
exits 2 sstore fingerprint --shingle 0 a
exits 2 sstore fingerprint --shingle 65 a
exits 2 sstore fingerprint --lines --weighted a
exits 1 sstore fingerprint absent
exits 1 sstore fingerprint .
exits 1 sstore fingerprint a >/dev/full
echo "--- a store that knows its recipe"
sstore fingerprint --lines a | exits 0 sstore build --quiet --recipe "$(sstore fingerprint --recipe)" STORE
exits 0 sstore query --recipe "$(sstore fingerprint --recipe)" STORE 1
exits 1 sstore query --recipe another STORE 1 2>&1 | sed 's/unicode=[0-9.]*/unicode=.../'
