# --similarity: the distance of MinHashes, by the recipe.
{
    echo "the quick brown fox jumps over the lazy dog and runs away from the old house by the river"
    echo "the quick brown fox jumps over the lazy dog and runs away from the old house by the lake"
    echo "something else entirely that has no words in common with these other two sentences here"
} >texts
sstore fingerprint --lines --hash minhash texts >minhashes
sstore fingerprint --lines --hash minhash --bits 512 texts >wide
sstore fingerprint --lines texts >simhashes
distance() { sstore stat "$1" | sed -n 's/^distance *//p'; }
echo "--- the distance of a store"
exits 0 sstore build --quiet --similarity 0.8 a.store minhashes
exits 0 sstore build --quiet --similarity 0.8 --recall 0.5 b.store minhashes
exits 0 sstore build --quiet --similarity 1 c.store minhashes
exits 0 sstore build --quiet --similarity 0.8 d.store wide
for store in a b c d; do distance $store.store; done
echo "--- of a question"
exits 0 sstore pairs --similarity 0.8 a.store | tee by_similarity | cut -f 2,4,5
exits 0 sstore pairs -k 37 a.store | cut -f 1-4 | cmp - <(cut -f 1-4 by_similarity)
exits 0 sstore pairs --similarity 0.8 --json a.store | sed 's/.*"other_id"/"other_id"/'
exits 0 sstore pairs --similarity 0.8 --header always a.store | sed -n 1p
exits 0 sstore pairs --similarity 0.95 a.store
exits 0 sstore clusters --similarity 0.8 a.store | cut -f 1,3,4
exits 0 sstore query --similarity 0.8 --input minhashes a.store | cut -f 3,4
exits 0 sstore scan --similarity 0.8 --queries minhashes minhashes | sstore collect | cut -f 3,4
exits 0 sstore join --similarity 0.8 a.store b.store | cut -f 2,4,5
exits 0 sstore dedup --quiet --hash minhash --similarity 0.8 texts
exits 0 sstore add --quiet --if-new --similarity 0.8 a.store minhashes | cut -f 3,4
exits 0 sstore plan -n 1M --bits 256 --similarity 0.8 >by_similarity
exits 0 sstore plan -n 1M --bits 256 -k 37 | cmp - by_similarity
echo "--- what is refused"
exits 1 sstore build --similarity 0.8 e.store simhashes
exits 1 sstore build --similarity 0.8 e.store <(grep -v '^#' minhashes)
ls e.store 2>/dev/null
exits 2 sstore build --similarity 0.5 e.store minhashes
exits 2 sstore build -k 3 --similarity 0.5 e.store minhashes
sstore build --quiet e.store simhashes
exits 1 sstore pairs --similarity 0.8 e.store
exits 1 sstore query --similarity 0.8 e.store 0
exits 1 sstore dedup --hash xxh3 --similarity 0.8 texts
exits 2 sstore pairs --similarity 0 a.store
exits 2 sstore pairs --similarity 1.01 a.store
exits 2 sstore pairs --similarity high a.store
exits 2 sstore pairs --similarity 0.8 --recall 1 a.store
exits 2 sstore pairs --recall 0.9 a.store
exits 2 sstore add --similarity 0.8 a.store minhashes
