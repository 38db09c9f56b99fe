# What README shows first, on files of a reader's own: lines, TSV, JSON Lines and two files without their near-copies. The
# command is README's. Copies differ in case and punctuation here, so that another program knows them: the first of each stays.
project=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../..")
recipe=$(sed -n "s/^\\$ \\(sstore dedup.*\\) docs.txt > unique.txt$/\\1/p" "$project/README.md")
[ -n "$recipe" ] || echo "FAILED: README has no recipe"
seed=$RANDOM
echo "figure: seed $seed" >&3
# Lines of text, a quarter of them copies of earlier ones, some empty or without a word: texts COPIES
texts()
{
    awk -v seed="$seed" -v copies="$1" 'BEGIN {
        srand(seed)
        for (i = 0; i < 400; i++) {
            text = ""
            for (j = 0; j < 30; j++) text = text sprintf("w%x ", rand() * 65536)
            if (i > 0 && rand() < copies) text = toupper(line[int(rand() * i)]) "!"
            line[i] = rand() < 0.02 ? "" : rand() < 0.02 ? "..." : text
            print line[i]
        }
    }'
}
# The first of lines that differ in case and punctuation only, by their field; those without a word all stay.
firsts() { awk -F '\t' -v field="$1" '{ key = tolower($field); gsub(/[^a-z0-9 ]/, "", key); sub(/ +$/, "", key) } key == "" || !seen[key]++' "$2"; }
for copies in 0.25 0; do
    texts $copies >docs.txt
    $recipe --quiet docs.txt >unique.txt
    firsts 1 docs.txt | same - unique.txt
    awk '{ print "url" NR "\t" $0 "\tmore" }' docs.txt >docs.tsv
    $recipe --quiet --no-header --text-field 2 docs.tsv >unique.tsv
    firsts 2 docs.tsv | same - unique.tsv
    sed 's/.*/{"url":"u","text":"&"}/' docs.txt >docs.jsonl
    $recipe --quiet docs.jsonl >unique.jsonl
    sed 's/.*/{"url":"u","text":"&"}/' unique.txt | same - unique.jsonl
    head -n 150 docs.txt >first.txt
    tail -n +151 docs.txt >second.txt
    $recipe --quiet --lines first.txt second.txt >both.txt
    same unique.txt both.txt
    [ "$copies" = 0 ] && same docs.txt unique.txt
    echo "$(($(wc -l <docs.txt) > $(wc -l <unique.txt))): some lines are gone"
done
