# Documents without their near-duplicates, from lines, JSON Lines, CSV, TSV and files; what is kept stays as it is.
export TMPDIR=$PWD
text="the quick brown fox jumps over the lazy dog near the old mill by the river at dawn"
other="a completely different sentence about banking regulations in the northern provinces"
printf '%s\n' "$text" "$other" "${text^^}!" "" "$text today" "" >lines
echo "--- lines: documents without words stay"
sstore dedup -k 8 lines
echo "--- stdin, a pipe, a compressed file and several files give the same"
sstore dedup -k 8 lines 2>/dev/null >unique
sstore dedup --quiet -k 8 <lines | same - unique
cat lines | sstore dedup --quiet -k 8 - | same - unique
sstore dedup --quiet -k 8 <(cat lines) | same - unique
gzip -k lines && sstore dedup --quiet -k 8 lines.gz | same - unique
head -2 lines >first && tail -n +3 lines >rest && sstore dedup --quiet --lines -k 8 first rest | same - unique
echo "--- the last, and its list"
sstore dedup --quiet -k 8 --keep last --removed list lines && cat list
echo "--- strictly, and only counted"
sstore dedup -k 8 --strict --dry-run lines 2>&1
echo "--- a large group stays"
sstore dedup -k 8 --max-group 2 lines 2>&1 | grep -v "^$"
echo "--- JSON Lines by the name; the newest, with names; a key without a value comes last"
cat >pages.jsonl <<END
{"url":"a","date":"2026-01-02","text":"$text"}
{"url":"b","date":"2026-01-03T10:00:00Z","text":"$text"}

{"url":"c","text":"$text."}
{"url":"d","date":"2026-01-03T12:30+02:00","text":"$text!"}
{"url":"e","date":null,"text":"$other"}
END
sstore dedup --keep max:date --id-field url --removed list pages.jsonl && cat list
sstore dedup --quiet --keep max:date <pages.jsonl | same - <(sstore dedup --quiet --keep max:date pages.jsonl)
echo "--- an array of objects becomes lines"
printf '[{"text":"%s"},\n {"text":"%s"}]' "$text" "$text" >array.json
sstore dedup --quiet array.json
echo "--- CSV with quotes, a semicolon between columns, CRLF, and no end of the last line"
printf 'id;text\r\n1;"%s ""x"";\r\nmore"\r\n2;%s\r\n3;"%s x more"' "$text" "$other" "$text" >pages.csv
sstore dedup --quiet pages.csv | cat -A
echo "--- a header once"
sstore dedup --quiet pages.csv pages.csv | same - <(sstore dedup --quiet pages.csv)
echo "--- a table without a header, by numbers of columns"
printf 'x\t%s\ny\t%s\n' "$text" "$text" | sstore dedup --quiet --tsv --no-header --text-field 2 --keep last
echo "--- hashes with paths"
printf '%s  %s\n' ffd8e0c0c0e0f8ff a.png ffd8e0c0c0e0f8fe b.png 00d8e0c0c0e0f8fe c.png | tr -s ' ' '\t' |
    sstore dedup --quiet --tsv --no-header --fingerprint-field 1 --removed list --id-field 2 && cat list
echo "--- numbers in JSON as fingerprints"
printf '{"h":%s,"n":%d}\n' 18446744073709551615 1 18446744073709551614 2 12345678901234567 3 |
    tee numbers.jsonl | sstore dedup --quiet --fingerprint-field h --radix dec --keep min:n
sstore dedup --quiet --fingerprint-field h numbers.jsonl | same - <(sed 2d numbers.jsonl)
printf '{"h":%s}\n' 1000000000000000 1000000000000001 '"00038d7ea4c68000"' |
    sstore dedup --quiet -k 1 --fingerprint-field h 2>&1
echo "--- files"
mkdir -p folder/inner && echo "$text" >folder/a && echo "$text" >folder/inner/b && echo "$other" >folder/c
printf '\x89PNG\0\0' >folder/picture
sstore dedup folder
sstore dedup --quiet --files -0 folder/a folder/c folder/inner/b | tr '\0' ' ' && echo
echo "--- a store of what was seen"
sstore dedup -k 8 --update seen.store lines >/dev/null
sstore dedup --update seen.store --removed list lines && cat list
echo "$other" | sstore dedup --quiet --against seen.store
sstore dump --no-comments seen.store | cut -f 2 | sort -n | paste -sd ' '
echo "--- a store with names: what is kept instead is named, and what is added gets its name"
sstore fingerprint --recursive folder 2>/dev/null | sstore build --quiet --names named.store
mkdir new && cp folder/a new/copy && echo "another page on rivers, mills and dogs that nobody has seen before" >'new/\page'
sstore dedup --removed list --update named.store new && cat list
sstore dedup --quiet --removed list --id-field url --update named.store pages.jsonl && cat list
sstore dedup --quiet --removed list --against named.store lines && cat list
sstore dump --no-comments named.store | cut -f 2 | sort
echo "--- the names of the list are those that other commands read"
printf '{"url":"%s","text":"'"$text"'"}\n' b '#a' - 'c#' >odd.jsonl
sstore fingerprint --jsonl --id-field url odd.jsonl 2>/dev/null | sstore build --quiet --names odd.store
sstore dedup --quiet --removed list --id-field url odd.jsonl >/dev/null && cat list
cut -f 1 list | sstore remove --names odd.store
sstore dump --no-comments odd.store | cut -f 2
echo "--- nothing, and one"
: | sstore dedup
echo "$text" | sstore dedup
printf 'id,text\n' | sstore dedup --csv
printf '%s' "$text" | sstore dedup --quiet | od -An -c | tail -1
echo "--- nothing is left"
ls -d sstore-* 2>/dev/null
true
