# Names in the store: where they come from, where they are shown, what they find, and what is wrong with them.
exec 2>&1
mkdir docs
for i in 1 2 3; do (seq 200; echo $i) >docs/page-$i.txt; done
echo "a page about other things" >"docs/odd name.txt"
echo "--- a folder of documents: store, look up, near ones, delete, add"
sstore fingerprint --recursive docs | exits 0 sstore build --names docs.store
exits 0 sstore get --name docs.store docs/page-1.txt
exits 0 sstore query -k 6 --name docs/page-1.txt docs.store
exits 0 sstore remove --names docs.store <<<docs/page-1.txt
sstore fingerprint docs/page-1.txt docs/page-2.txt | exits 0 sstore add docs.store
sstore stat docs.store | grep -i name
sstore stat --json docs.store | grep -oE '"(has_names|name_count)":[a-z0-9]*'
echo "--- every command that prints records"
exits 0 sstore dump docs.store
exits 0 sstore dump --columns id,fingerprint docs.store | tail -n 2
exits 0 sstore dump --format jsonl --no-comments docs.store
exits 0 sstore dump --format rec docs.store | wc -c
exits 0 sstore query -k 6 --json --name docs/page-3.txt docs.store
sstore fingerprint docs/page-3.txt | exits 0 sstore query -k 6 --header always docs.store
exits 0 sstore pairs -k 6 docs.store
exits 0 sstore pairs -k 6 --json docs.store | head -n 1
exits 0 sstore join -k 6 --header always docs.store docs.store | head -n 2
exits 0 sstore clusters -k 6 --header always docs.store
exits 0 sstore clusters -k 6 --drop --json docs.store
exits 0 sstore get --json --header never docs.store 2
echo "--- and back"
for format in text jsonl; do
    sstore dump --format $format docs.store | exits 0 sstore build --quiet --force --names --format $format again.store
    sstore dump again.store | diff - <(sstore dump docs.store)
done
echo "--- rewritten stores"
sstore dump docs.store | exits 0 sstore build --quiet --names --first-id 100 part.store
exits 0 sstore merge --quiet merged.store docs.store part.store
exits 0 sstore get --name --json merged.store docs/page-1.txt
exits 0 sstore merge --quiet --raise-ids raised.store docs.store again.store
exits 0 sstore get --name --json raised.store docs/page-1.txt
exits 2 sstore merge --quiet mixed.store docs.store again.store | sed 's/[0-9]* has/N has/'
exits 0 sstore shard --quiet --count 2 docs.store shard
sstore dump docs.store | sort | diff - <(for part in shard-0000?-of-00002; do sstore dump "$part"; done | sort -u)
exits 0 sstore compact --quiet --plan 2 docs.store
exits 0 sstore reindex --quiet --all docs.store
exits 0 sstore verify docs.store
echo "--- forms of input: hashes with paths, spaces, JSON, a name first, other columns"
printf '%s\t%s\n' 84ad7e0ad13e1a8b 'my pictures/one.jpg' 84ad7e0ad13e1a8c two.jpg >hashes.tsv
exits 0 sstore build --names pictures.store hashes.tsv
exits 0 sstore query --name two.jpg pictures.store
exits 0 sstore query --query-ids --name two.jpg --name 'my pictures/one.jpg' pictures.store
exits 1 sstore query --name two.jpg --name none.jpg pictures.store
exits 2 sstore get pictures.store two.jpg
exits 1 sstore remove --names pictures.store two.jpg
tr '\t' ' ' <hashes.tsv | exits 0 sstore build --quiet --force --names other.store
sstore dump other.store | diff - <(sstore dump pictures.store)
printf '%s\t%s\n' two.jpg 84ad7e0ad13e1a8c | exits 0 sstore build --quiet --force --names --columns name,fingerprint other.store
exits 0 sstore dump other.store
printf '{"hash":"%s","url":"https://a.example/?q=\\u00e9\\t%s"}\n' 84ad7e0ad13e1a8b 1 84ad7e0ad13e1a8c 2 |
    exits 0 sstore build --quiet --force --names --format jsonl --fingerprint-field hash --id-field url other.store
exits 0 sstore dump other.store
exits 0 sstore dump --format jsonl other.store
printf '84ad7e0ad13e1a8b\tx\ty\n' | exits 0 sstore build --quiet --force --names --columns fingerprint,-,name other.store
exits 0 sstore dump --no-comments other.store
echo "--- names that a terminal or a reader would take for something else"
printf 'ff\t%s\n' '\x1b[31mred' '-' >strange
exits 1 sstore build --names strange.store strange
printf 'ff\t%s\n' '\x1b[31mred' '\x2d' '\x23c' '--help' '\\x41' "$(head -c 65536 /dev/zero | tr '\0' n)" >strange
exits 0 sstore build --names strange.store strange
exits 0 sstore query strange.store ff | cut -c 1-60
exits 0 sstore get --name -- strange.store - --help '#c' $'\e[31mred' '\x41'
exits 1 sstore get --name strange.store $'\e[32mgreen'
exits 1 sstore query --name $'\e[32mgreen' strange.store
sstore dump strange.store | exits 0 sstore remove --names strange.store
echo "--- wrong names"
printf 'ff\tname\n' | exits 1 sstore build bad.store
printf '{"fingerprint":"ff","id":"name"}\n' | exits 1 sstore build --format jsonl bad.store
for name in 'a\b' 'a\xFF' '\' '' 'a\x00' 'a\x0ab' 'two	fields'; do
    printf 'ff\t%s\n' "$name" | exits 1 sstore build --names bad.store
done
(printf 'ff\t'; head -c 65537 /dev/zero | tr '\0' n) | exits 1 sstore build --names bad.store
printf 'ff\n' | exits 1 sstore build --names bad.store
for id in '"a\u0000"' '"a\nb"' '""' null true '[1]' 1.5; do
    printf '{"fingerprint":"ff","id":%s}\n' "$id" | exits 1 sstore build --names --format jsonl bad.store
done
printf '{"fingerprint":"ff","escaped_name":"a\\\\q"}\n' | exits 1 sstore build --names --format jsonl bad.store
printf '\xff\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0' >words.rec
exits 1 sstore build --names bad.store words.rec
absent bad.store
printf 'ff\t%s\n' 'good' 'a\b' '\\\\server' | exits 0 sstore build --names --skip-bad bad.store
exits 0 sstore dump bad.store
echo "--- a store without names, and records of one with names"
sstore build --quiet plain.store <<<'ff 1'
exits 1 sstore get --name plain.store 1
exits 1 sstore query --name 1 plain.store
exits 1 sstore remove --names plain.store <<<1
sstore dump docs.store | exits 1 sstore remove plain.store
exits 1 sstore remove --columns fingerprint,name plain.store hashes.tsv
exits 0 sstore remove pictures.store hashes.tsv
exits 1 sstore add docs.store <<<'ff'
exits 2 sstore merge none.store docs.store plain.store
exits 2 sstore build --names --no-ids none.store hashes.tsv
exits 2 sstore remove --names --ids docs.store hashes.tsv
exits 2 sstore remove --absent gone docs.store hashes.tsv
printf '%s\n' none 'a\\b' none | exits 0 sstore remove --names --absent gone.txt docs.store
cat gone.txt
exits 2 sstore query --name a --id 1 docs.store
exits 2 sstore get --name docs.store ''
echo "--- damage"
file=$(ls docs.store/seg-*/names/names.blk)
flip "$file" $(($(stat -c %s "$file") - 4000))
exits 3 sstore get docs.store 2 | sed 's/seg-[0-9a-f]*/SEGMENT/g; s/offset [0-9]*/offset N/'
exits 3 sstore verify docs.store | sed 's/seg-[0-9a-f]*/SEGMENT/g; s/offset [0-9]*/offset N/'
echo "--- a lost index, a lost file of names, and lost names"
printf 'ff\ta.md\nf0\tb.md\n' | sstore build --quiet --names lost.store
cp -r lost.store copy.store
rm lost.store/seg-*/names/table-00.blk
exits 3 sstore get --name lost.store a.md 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/g'
sstore merge --quiet mended.store lost.store
exits 0 sstore get --name mended.store a.md
sstore verify --quiet mended.store
rm lost.store/seg-*/names/names.blk
exits 3 sstore get lost.store 1 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/g'
exits 3 sstore merge new.store lost.store 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/g'
rm -r copy.store/seg-*/names
exits 3 sstore get copy.store 1 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/g'
