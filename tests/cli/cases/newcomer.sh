# What a new user gives by mistake: files of other kinds, texts and numbers where something else is expected. It is read, or
# the message has a remedy. Those that need no other program are run here.
exec 2>&1
try() { exits 1 sstore fingerprint --jsonl "$@" | grep -v '^#'; }
printf '{"text":"the cat sat","id":7}\n{"text":"a dog ran","id":8}\n' >lines.jsonl
sstore fingerprint --jsonl --id-field id lines.jsonl >expected
echo "--- JSON in other forms is read: an array, objects over several lines, a BOM, compressed, as a pipe"
printf '[{"text":"the cat sat","id":7},{"text":"a dog ran","id":8}]' >array
printf '\n[\n {"text":"the cat sat",\n  "id":7},\n {"text":"a dog ran","id":8}\n]\n' >lines
printf '{\n "text":"the cat sat",\n "id":7\n}\n{\n "text":"a dog ran",\n "id":8\n}\n' >pretty
printf '\xef\xbb\xbf' | cat - lines.jsonl >bom
printf '\xef\xbb\xbf' | cat - array >bom-array
for file in array lines pretty bom bom-array; do
    gzip -c $file >$file.gz
    for form in $file $file.gz; do
        sstore fingerprint --jsonl --id-field id $form >found
        same expected found
        cat $form | sstore fingerprint --jsonl --id-field id >found
        same expected found
    done
done
iconv -t UTF-16LE array | sstore fingerprint --jsonl --id-field id --encoding UTF-16LE >found
same expected found
sstore fingerprint --jsonl --no-comments array lines.jsonl pretty
printf '[{"text":"the cat sat"},' | try
printf '[{"text":"the cat sat"},7]' | try
echo "--- rows that cannot be read"
printf '{"text":"the cat sat"}\n{"text":7}\n' | try
printf '{"text":"the cat sat"}\nx\n' | try
printf '{"text":"the cat sat"}\nx\ny\n' | try --max-bad 1
printf '{"body":"the cat sat"}\n' | try
echo "--- CSV and lines of text"
printf '%s\n' id,text '7,"the cat, sat"' '8,"a ""dog"" ran"' >table.csv
try table.csv
exits 0 sstore fingerprint --no-comments --lines table.csv
exits 0 sstore fingerprint --no-comments table.csv
exits 0 sstore fingerprint --no-comments --csv table.csv
echo the cat | try
printf '%s\n' 'id;text' '7;the cat, sat' >semi.csv
gzip -k table.csv
exits 0 sstore fingerprint --no-comments --lines semi.csv | cat
exits 0 sstore fingerprint --no-comments table.csv.gz
exits 0 sstore fingerprint --no-comments --csv table.csv.gz
echo "--- JSON that is taken as text"
printf '%s\n' '{"text":"a cat"}' '{"text":"a dog"}' >objects.jsonl
printf '%s\n' '[' ' {"text": "a cat"},' ' {"text": "a dog"}' ']' >array.json
for input in objects.jsonl array.json; do
    exits 0 sstore fingerprint --no-comments --lines $input
    exits 0 sstore fingerprint --no-comments $input
    exits 0 sstore fingerprint --no-comments --jsonl $input
done
echo "--- lines that are fingerprints, or have columns"
sstore fingerprint --lines --no-comments table.csv >hex.tsv 2>/dev/null
printf '%s\n' 9570149208162304715 '' -9570149208162304715 | tr -d - >decimal
printf '1\tthe cat\n2\ta dog\n' >table.tsv
printf 'the cat\n2\ta dog\n' >prose.tsv
printf 'the cat\n84adfe2d013e12cb\n' >hex-in-text
printf '84adfe2d013e12cb the cat\n1234567890\n' >numbers
cut -f 1 hex.tsv >hex
for file in hex hex.tsv decimal table.tsv prose.tsv hex-in-text numbers; do
    exits 0 sstore fingerprint --no-comments --lines $file | grep -v '^[0-9a-f]\{16\}.[0-9]'
done
printf 'caf\xe9 noir\n' | exits 0 sstore fingerprint --no-comments --lines | tail -n 1
printf 'caf\xe9 noir\n' | exits 0 sstore fingerprint --no-comments --lines --encoding ISO-8859-1 >found
printf 'café noir\n' | sstore fingerprint --no-comments --lines | same - found
echo "--- files of other kinds"
{ printf 'PAR1\x15\x00'; } | cat >table.parquet
printf '%%PDF-1.4\n' >page.pdf
printf 'PK\x03\x04\x14\x00' >page.docx
printf 'BZh91AY&SY\x00' >texts.bz2
printf '\x89PNG\r\n\x1a\n\x00\x00' >picture.png
printf 'BZh, PAR1 and PK are how this text begins' >text
for file in table.parquet page.pdf page.docx texts.bz2 picture.png; do
    exits 1 sstore fingerprint --lines $file | grep -v '^#'
    exits 0 sstore fingerprint --binary --no-comments $file | wc -l
done
exits 0 sstore fingerprint --no-comments text
mkdir mixed && cp text page.pdf mixed
exits 0 sstore fingerprint --no-comments --recursive mixed
echo ff | sstore build --quiet A.store -
exits 1 sstore fingerprint A.store
echo "--- texts where fingerprints are expected"
sstore fingerprint --lines text | sstore build --quiet STORE -
exits 2 sstore query STORE "$(cat text)"
exits 2 sstore query STORE the cat
exits 2 sstore query STORE zz9
cat text | sstore fingerprint --lines | sstore query STORE - | cut -f 3-
for command in build add query pairs; do
    exits 2 sstore $command --lines STORE text
    exits 2 sstore $command --text-field body STORE text
done
exits 2 sstore build --line STORE text
exits 1 sstore clusters text
echo "--- records as operands"
exits 1 sstore remove STORE 2
exits 1 sstore add STORE 00ff
exits 1 sstore add STORE none
echo 7 | sstore remove --ids STORE -
echo "--- a store in the place of a file"
exits 1 sstore collect STORE
exits 1 sstore scan --queries STORE text
