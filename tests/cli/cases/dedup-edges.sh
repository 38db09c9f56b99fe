# What a user's first commands may get wrong with 'sstore dedup', and what they then see.
export TMPDIR=$PWD
printf '{"id":%s,"text":"%s"}\n' 1 "a b c d" '"x"' "e f g" '"02"' "a b c d" >mixed.jsonl
printf 'id,text\n%s,a b c d\n%s,e f g\n%s,a b c d\n' 1 x 02 >mixed.csv
echo "--- ids of which some are numbers and some are texts are texts"
for file in mixed.jsonl mixed.csv; do
    sstore dedup --quiet --id-field id --removed list $file && cat list
    rm -rf new.store
    sstore dedup --id-field id --update new.store $file 2>&1 >/dev/null
    sstore dump --no-comments new.store | cut -f 2
    sstore dedup --quiet --id-field id --removed list --update new.store $file && cat list
done
echo "--- a store without names keeps those that are all numbers, in any order"
echo "x y z" | sstore fingerprint --lines --first-id 5 2>/dev/null | sstore build --quiet numbers.store
cp -r numbers.store other.store
sed 's/^x/17/' mixed.csv | sstore dedup --quiet --csv --id-field id --update numbers.store >/dev/null
sstore dump --no-comments numbers.store | cut -f 2 | sort -n | paste -sd ' '
sstore dedup --id-field id --update other.store mixed.csv 2>&1 >/dev/null
sstore dump --no-comments other.store | cut -f 2 | sort -n | paste -sd ' '
echo "--- a new store has names: those of the field, or the paths of files"
mkdir folder && echo "a b c d" >folder/a && echo "e f g" >folder/b
sstore dedup --quiet --update files.store folder
sstore get --name files.store folder/a | tail -n +2
sstore dedup --quiet --update numbered.store mixed.jsonl >/dev/null
sstore dump --no-comments numbered.store | cut -f 2 | paste -sd ' '
rm -rf new.store
for name in '' 'two\nlines'; do
    echo '{"id":"'"$name"'","text":"q r s"}' | exits 1 sstore dedup --id-field id --update new.store --jsonl - 2>&1
    absent new.store
done
echo "--- a key of --keep that no document has"
exits 1 sstore dedup --keep max:date --update none.store mixed.jsonl 2>&1
sstore dedup --quiet --keep max:date <(cat mixed.jsonl; echo '{"text":"e f g","date":1}') --jsonl | cut -c 1-10
echo "--- fingerprints that are taken as text"
printf '%s\t%s\n' ffd8e0c0c0e0f8ff a.png ffd8e0c0c0e0f8fe b.png 00d8e0c0c0e0f8fe c.png >h.tsv
exits 1 sstore dedup h.tsv 2>&1
exits 1 sstore dedup --csv <(tr '\t' ',' <h.tsv | sed 's/\(.*\),\(.*\)/\2,\1/') 2>&1 | sed 's/.*expected/expected/'
exits 1 sstore dedup <(printf 'hash\tpath\n'; cat h.tsv) --tsv 2>&1 | sed 's/.*expected/expected/'
exits 1 sstore dedup --jsonl <(echo '{"h":"ffd8e0c0c0e0f8ff"}') 2>&1 | sed 's/.*key/key/'
sstore dedup --quiet --no-header --fingerprint-field 1 h.tsv
sstore dedup - <h.tsv 2>&1 >/dev/null
echo "--- arrays of JSON as fingerprints: bytes, bits and parts, as build reads them"
bytes() { printf '{"h":[255,216,224,192,192,224,248,%s]}\n' "$@"; }
bytes 255 254 0 >bytes.jsonl
sstore dedup --quiet -k 1 --fingerprint-field h bytes.jsonl
printf '{"h":[%s,%s]}\n' 18446744073709551615 18446744073709551614 18446744073709551615 18446744073709551612 4294967296 7 >parts.jsonl
sstore dedup --quiet -k 1 --fingerprint-field h parts.jsonl
for file in bytes parts; do
    rm -rf new.store && sstore dedup --quiet --fingerprint-field h -k 0 --update new.store $file.jsonl >/dev/null
    sstore build --quiet -k 0 --fingerprint-field h --columns fingerprint built.store $file.jsonl
    sstore dump new.store | same - <(sstore dump built.store)
    rm -rf built.store
done
printf '{"h":[1,2,3,4]}\n' | exits 1 sstore dedup --fingerprint-field h - 2>&1
printf '{"h":[0.5]}\n' | exits 1 sstore dedup --fingerprint-field h - 2>&1
printf '{"h":null}\n' | exits 1 sstore dedup --fingerprint-field h - 2>&1
(bytes 1; printf '{"h":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}\n') | exits 1 sstore dedup --fingerprint-field h --jsonl - 2>&1
echo "--- a store is no folder of documents"
exits 1 sstore dedup files.store 2>&1
exits 1 sstore dedup folder files.store 2>&1
echo "--- --dry-run takes all options, and writes nothing"
sstore dedup --dry-run --id-field id --removed absent.list --update absent.store mixed.csv 2>&1
sstore dedup --dry-run --id-field id --removed absent.list --update other.store mixed.csv 2>&1
absent absent.list && absent absent.store
sstore stat --json other.store | grep -o '"records": *[0-9]*'
ls -d sstore-* 2>/dev/null
true
