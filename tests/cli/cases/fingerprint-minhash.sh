# MinHashes: their widths, features and weights, and what they have not.
plain() { sed -E 's/unicode=[0-9.]*/unicode=.../g'; }
printf 'The quick brown fox jumps over the lazy dog.\n...\nHello\na b a b a b\n' >texts
echo "--- text"
exits 0 sstore fingerprint --lines --hash minhash texts | plain
exits 0 sstore fingerprint --no-comments --lines --hash minhash --bits 64 --weights frequency texts
sstore fingerprint --recipe --hash minhash --bits 1024 --features chars | plain
echo "--- the header of binary records has the bits"
sstore fingerprint --lines --hash minhash --bits 192 --format rec texts | head -c 16 | od -A n -t x1
echo "--- a store of them"
sstore fingerprint --lines --hash minhash --bits 128 texts 2>messages | exits 0 sstore build --quiet -k 19 sets.store
sstore stat sets.store | grep -E '^(records|distance|recipe)' | plain
sstore fingerprint --lines --hash minhash --bits 128 texts 2>messages | sstore query sets.store -
echo "--- weighted features are sets: a weight is how often a feature occurs"
printf 'a b\t3\nb a\t2\n\nhello\t1\nnot there\t0\n' | exits 0 sstore fingerprint --weighted --hash minhash --bits 64
printf 'a b\t1.5\n' | exits 1 sstore fingerprint --weighted --hash minhash
printf 'a b\t-1\n' | exits 1 sstore fingerprint --weighted --hash minhash
echo "--- what is refused"
exits 2 sstore fingerprint --hash minhash --bits 100 texts
exits 2 sstore fingerprint --hash minhash --bits 2048 texts
exits 2 sstore fingerprint --bits 256 texts
exits 2 sstore fingerprint --hash minhash --weights sublinear texts
exits 2 sstore fingerprint --hash minhash --idf table texts
exits 2 sstore fingerprint --hash minhash --feature-weights list texts
exits 2 sstore fingerprint --hash minhash --margins texts
