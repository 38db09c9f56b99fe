# What decides without options: similarity; with -k or what only simhashes have, distance; with a store, its recipe.
numbers=$(seq -s ' ' 40)
printf '%s\n' "$numbers" "$numbers 41" "${numbers/ 20 / twenty }" "${numbers% 2? *} and so on" "other words" >lines
alike() { # the options of one call -- those of another: both drop the same for the same reason
    local -a one=() other=()
    while [ "$1" != -- ]; do one+=("$1") && shift; done
    shift && other=("$@")
    sstore dedup --quiet "${one[@]}" --removed list lines >kept && sstore dedup --quiet "${other[@]}" --removed second lines | same - kept
    same list second
    echo "${one[*]:-none}: dropped $(wc -l <list), measure $(cut -f 3 list | sort -u | paste -sd ' ')"
}
alike -- --hash minhash --bits 256 --features words --shingle 2 --similarity 0.8
alike --hash minhash -- --similarity 0.8
alike --similarity 0.95 -- --hash minhash --similarity 0.95
alike --bits 128 -- --hash minhash --bits 128 --similarity 0.8
alike --features chars -- --hash minhash --features chars --similarity 0.8
alike -k 8 -- --hash xxh3 -k 8
alike --weights sublinear -- --hash xxh3 -k 3
alike --hash xxh3 -- --hash xxh3 -k 3
sstore idf --lines table lines 2>/dev/null
alike --idf table -- --hash xxh3 --idf table -k 3
echo "--- of a store, the recipe"
sed -n 1p lines >first
for options in '--hash minhash --features chars --bits 128' '--hash minhash' '--features chars --bits 128'; do
    sstore fingerprint --lines $options first | sstore build --quiet -k 12 old.store
    alike --against old.store -- $options --against old.store
    rm -r old.store
done
echo "--- without a recipe, simhashes, and the store's distance"
sstore fingerprint --lines first | grep -v '^#' | sstore build --quiet -k 7 old.store
alike --against old.store -- -k 7 --against old.store
echo "--- a new store is of MinHashes, and says so at the next run"
sstore dedup --quiet --update new.store lines >kept
sstore stat new.store | grep recipe | cut -c 1-100
sstore dedup --quiet --update new.store lines
echo "--- what an option says is not taken from the recipe"
exits 1 sstore dedup --update new.store --features chars lines 2>&1
exits 1 sstore dedup --update new.store --bits 128 lines 2>&1
exits 1 sstore dedup --update new.store --hash xxh3 lines 2>&1
echo "--- a second run is as the first one, also with words that the recipe names"
echo 7 >stops
for options in "--stop-words stops" "--features chars --bits 512" "--weights frequency" "-k 9" "--hash java128" "--idf table"; do
    rm -rf new.store
    sstore dedup --quiet $options --update new.store lines >kept
    sstore dedup --quiet $options --update new.store lines | wc -l
done
echo "--- what is refused, and why"
rm -rf new.store && sstore dedup --quiet --update new.store lines >kept
exits 2 sstore dedup --weights sublinear --update new.store lines 2>&1
exits 2 sstore dedup --recall 0.9 -k 3 lines 2>&1
exits 1 sstore dedup --similarity 0.8 --against old.store lines 2>&1
exits 0 sstore dedup --quiet --recall 0.9 lines | same - kept
exits 0 sstore dedup --quiet --fingerprint-field 1 --no-header --hash minhash --tsv <(echo 0011223344556677)
exits 0 sstore fingerprint --lines --hash minhash first >ignored
exits 0 sstore dedup --exclude ignored lines 2>&1 | tail -n 2
