# Words found by ICU; without ICU, the reason.
one() { sstore fingerprint --no-comments "$@" | cut -f 1; }
printf '我的电脑' >chinese
printf 'my computer' >english
if sstore fingerprint --recipe --segment icu >recipe 2>reason; then
    grep -qE '^sstore-text-1 features=words shingle=1 segment=icu-[0-9.]+ weights=sublinear hash=' recipe || cat recipe
    [ "$(one --segment icu --shingle 1 <<<'电脑')" = "$(printf '电脑\t1\n' | one --weighted)" ] || echo "FAILED: the word is cut"
    [ "$(one --segment icu --shingle 2 <<<'a电脑')" = "$(printf 'a 电脑\t1\n' | one --weighted)" ] || echo "FAILED: two runs"
    [ "$(one --segment icu english)" = "$(one english)" ] || echo "FAILED: other scripts are cut"
    # All threads, and each with an iterator of its own.
    seq 3000 | sed 's/.*/我的电脑my computer &/' >many
    sstore fingerprint --lines --segment icu --threads 1 many >by_one
    sstore fingerprint --lines --segment icu --threads 4 many | cmp - by_one
    # An ICU that cannot be loaded.
    version=$(sed -E 's/.*segment=icu-([0-9]+).*/\1/' recipe)
    mkdir lib
    : >"lib/libicuuc.so.$version"
    LD_LIBRARY_PATH=lib exits 2 sstore fingerprint --segment icu chinese 2>reason
    grep -q "cutting texts into words needs ICU $version: install it (Debian: libicu$version)" reason || cat reason
    LD_LIBRARY_PATH=lib exits 0 sstore fingerprint chinese >pairs
else
    grep -q '^sstore: --segment icu: this library was built without ICU' reason || cat reason
    exits 2 sstore fingerprint --segment icu chinese 2>/dev/null
    exits 0 sstore fingerprint chinese >pairs
fi
sstore fingerprint --segment pairs chinese | cmp - <(sstore fingerprint chinese)
grep -c . pairs
exits 2 sstore fingerprint --segment icu --features chars chinese
exits 2 sstore fingerprint --segment words chinese
exits 2 sstore fingerprint --segment pairs --weighted chinese
