# Fingerprints of 128 bits, and the hash of the Java program.
plain() { sed -E 's/unicode=[0-9.]*/unicode=.../g'; }
printf 'The quick brown fox jumps over the lazy dog.\n...\nHello\n' >texts
printf 'Hello' >a
printf '{"text":"Hello","id":"x"}\n' >json
echo "--- text"
exits 0 sstore fingerprint --lines --bits 128 texts | plain
exits 0 sstore fingerprint --lines --hash java128 --weights frequency texts | plain
exits 0 sstore fingerprint --no-comments --bits 128 a
exits 0 sstore fingerprint --no-comments --bits 128 --jsonl --id-field id json
sstore fingerprint --recipe --bits 128 | plain
sstore fingerprint --recipe --hash java128 --bits 128 | plain
echo "--- 64 bits are the default"
sstore fingerprint --lines texts >first 2>messages
sstore fingerprint --lines --bits 64 --hash xxh3 texts 2>messages | cmp - first
sstore fingerprint --lines --bits 64 --format rec texts 2>messages | cmp - <(sstore fingerprint --lines --format rec texts)
echo "--- the header of binary records has the bits, the records are words"
for bits in 64 128; do
    sstore fingerprint --lines --bits $bits --format rec texts >texts.rec
    sstore fingerprint --lines --bits $bits --format rec --no-comments texts >words.rec
    head -c 16 texts.rec | od -A n -t x1
    tail -c +17 texts.rec | tr '\0' '\n' | head -n 1 | plain
    tail -c $(stat -c %s words.rec) texts.rec | cmp - words.rec
    echo "odd bytes: $(($(stat -c %s texts.rec) % (bits / 8 + 8)))"
    od --endian=little -A n -v -w$((bits / 8 + 8)) -t x8 words.rec
done
echo "--- the signs of margins are the bits; with java128, 0 gives a 1"
signs() { # LEAST OPTION...; LEAST: what gives a 1
    sstore fingerprint --no-comments --lines --margins --weights frequency "${@:2}" pairs | awk -F '[\t,]' -v least="$1" '{
        digits = ""
        for (i = 3; i <= NF; i += 4)
            digits = digits sprintf("%x", 8 * ($i >= least) + 4 * ($(i+1) >= least) + 2 * ($(i+2) >= least) + ($(i+3) >= least))
        print digits "\t" $2
    }' | cmp - <(sstore fingerprint --no-comments --lines --weights frequency "${@:2}" pairs)
}
printf 'one two\ncat cat sat sat\na b c cat\n' >pairs
signs 0.001 --bits 128
signs 0 --hash java128
echo "--- a table of 64-bit hashes serves all"
exits 0 sstore idf --lines table pairs texts
sstore fingerprint --lines --idf table --bits 128 pairs | sed -E 's/idf=[0-9a-f]*/idf=.../' | plain
echo "--- weighted features"
printf 'cat\t4\nbanana\t5.5\n\n\t1\n' | exits 0 sstore fingerprint --weighted --bits 128 --first-id 7
echo "--- what the Java program makes of its tokens"
for text in 'a' 'This is a test string for testing' 'cat cat cat sat' 'a b' '我们 都 爱	冰淇淋' '😀x'; do
    printf '%s' "$text" | tr -s ' \t\n\r\f' '\n' | sed '/^$/d; s/$/\t1/' | exits 0 sstore fingerprint --weighted --hash java128
done
printf 'cat\t3\nsat\t1\n' | sstore fingerprint --weighted --hash java128
echo 'plain words are its tokens, such as these 17 words are' >words
tr -s ' \n' '\n' <words | sed 's/$/\t1/' | sstore fingerprint --weighted --hash java128 |
    cmp - <(sstore fingerprint --no-comments --lines --hash java128 --weights frequency words)
echo "--- refused"
exits 2 sstore fingerprint --bits 96 texts
exits 2 sstore fingerprint --hash java texts
exits 2 sstore fingerprint --hash java128 --bits 64 texts
exits 2 sstore fingerprint --hash java128 --bits 64 --weighted texts
exits 2 sstore idf --bits 128 table texts
exits 2 sstore fingerprint --margins --bits 128 --format rec texts
