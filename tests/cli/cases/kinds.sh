# A kind of goimagehash is kept, whichever input says it first: by an empty store, beside other inputs, and by a dump.
exec 2>&1
recipe_of() { sstore stat "$1" | grep recipe; }
kind() { fingerprints 20 "$2" | sed "s/^/$1:/"; } # LETTER SEED
kind p 1 >p
kind p 2 >other-p
kind d 3 >d
fingerprints 20 4 >plain
sed 's/$/ 7/' p >with-ids
first=$(head -1 p) query=$(head -1 d)
echo "--- an empty store"
for options in "" --no-ids "--pad --bits 64"; do
    sstore build --quiet --force --allow-empty $options STORE - </dev/null
    exits 0 sstore add --quiet --strict STORE p
    recipe_of STORE
done
exits 0 sstore add --quiet STORE other-p
exits 1 sstore add STORE d
exits 1 sstore add --if-new STORE d
exits 1 sstore remove STORE d
exits 1 sstore query STORE "$query"
exits 0 sstore add --quiet STORE plain
exits 0 sstore remove --quiet STORE plain
echo "--- a store that does not say its kind"
sstore build --quiet PLAIN plain
cp -r PLAIN before
exits 1 sstore add --strict PLAIN p
exits 1 sstore add --strict --if-new PLAIN p >answers
exits 1 sstore remove --strict PLAIN p
same PLAIN before
exits 0 sstore add PLAIN p
exits 1 sstore query --strict PLAIN "$first" | wc -l
exits 0 sstore query --count PLAIN "$first"
exits 0 sstore query --count --input p PLAIN | wc -l
recipe_of PLAIN
echo "--- several inputs"
exits 1 sstore build NEW p plain
exits 1 sstore build NEW plain p
exits 1 sstore build NEW p d
exits 1 sstore add STORE p plain
exits 0 sstore build --quiet NEW p other-p
exits 1 sstore build --recipe mine OWN p
absent OWN
exits 0 sstore build --quiet --recipe 'goimagehash p:' OWN p
echo "--- a dump, by itself and with others"
sstore build --quiet --recipe 'words of 3' WORDS plain
sstore build --quiet IDS with-ids
sstore build --quiet --pad PADDED - <<<p:123456789
for store in NEW WORDS PADDED; do
    for radix in hex dec base64; do
        for format in text jsonl; do
            sstore dump --radix $radix --format $format $store >dump.$format
            exits 0 sstore build --quiet --force --radix $radix COPY dump.$format
            cmp <(sstore dump $store) <(sstore dump COPY)
        done
    done
    sstore dump --radix bin $store | head -1
    sstore dump --format jsonl $store | head -2
    sstore dump --no-comments $store | head -1
    sstore dump --no-comments --format jsonl $store | head -1
done
sstore dump PADDED | cut -c 1-9 >cut
sed -i '1s/.*/# recipe: 36 bits, padded; goimagehash p:/' cut
sstore build --quiet --force --pad COPY cut
cmp <(sstore dump PADDED) <(sstore dump COPY)
for format in text jsonl; do
    sstore dump --format $format IDS >dump.$format
    for order in "dump.$format with-ids" "with-ids dump.$format" "dump.$format dump.$format"; do
        exits 0 sstore build --quiet --force COPY $order
        cmp <(sstore dump IDS) <(sstore dump COPY)
    done
done
sstore dump WORDS | exits 1 sstore add STORE -
sed 's/fingerprint_recipe":"[^"]*/fingerprint_recipe":"other/' dump.jsonl | exits 1 sstore add --format jsonl IDS -
echo "--- a recipe of any text and length is kept by a dump"
long=$(printf 'x%.0s' {1..3000})
printf '00ff00ff00ff00ff00ff0\t5\n10ff00ff00ff00ff00ff0\t6\n' >odd.txt
for recipe in 'C:\tools' "$long"; do
    sstore build --quiet --force --bits 84 --pad --recipe "$recipe" ODD odd.txt
    for format in text rec; do
        sstore dump --format $format ODD >odd.dump
        sstore build --quiet --force --strict --format $format COPY odd.dump
        cmp <(sstore dump ODD) <(sstore dump COPY) && sstore dump COPY | head -n 1 | wc -c
    done
    sstore dump --format jsonl ODD | cut -c 1-100
done
echo 00ff00ff00ff00ff | exits 2 sstore build OTHER - --recipe '12 bits, padded; mine'
absent OTHER
echo 00ff00ff00ff00ff | sstore build --quiet OTHER - --recipe ' 12 bits, padded; of that text, not of --pad'
sstore query --count OTHER 00ff00ff00ff00ff
