# The similarity of pairs of documents. cli.dedup-similarity compares it with a model.
printf '{"id": 7, "text": "a b c d"}\n{"id": 9, "text": "a b c e"}\n{"id": 11, "text": ""}\n{"id": 12, "text": "a b c d a b"}\n' >docs.jsonl
printf "%s\t%s\n" 7 9 7 12 7 7 7 11 11 11 >pairs.tsv
exits 0 sstore similarity --jsonl --id-field id --pairs pairs.tsv docs.jsonl
exits 0 sstore similarity --jsonl --id-field id --pairs pairs.tsv --weights frequency --min 0.6 docs.jsonl
exits 0 sstore similarity --jsonl --id-field id --pairs pairs.tsv --shingle 1 docs.jsonl
echo "--- from a store, of names with tabs and backslashes, and of files"
printf '{"id": "a\\\\b", "text": "one two three"}\n{"id": "c\\td", "text": "one two three"}\n' >named.jsonl
sstore fingerprint --jsonl --id-field id --hash minhash named.jsonl | sstore build --quiet --names named.store
sstore pairs named.store | exits 0 sstore similarity --jsonl --id-field id named.jsonl
mkdir texts
echo one two three four >texts/a
echo one two three five >texts/b
printf 'texts/a\ttexts/b\n' | exits 0 sstore similarity --recursive texts
echo "--- errors"
printf '7\t9\n7\t8\n' | exits 1 sstore similarity --jsonl --id-field id docs.jsonl
printf '7 9\n' | exits 1 sstore similarity --jsonl --id-field id docs.jsonl
printf '7\t9\n# failed: these are not all rows\n' | exits 1 sstore similarity --jsonl --id-field id docs.jsonl
printf '7\ta\\q\n' | exits 1 sstore similarity --jsonl --id-field id docs.jsonl
exits 1 sstore similarity --pairs none --jsonl docs.jsonl
exits 2 sstore similarity --min 2 docs.jsonl
exits 2 sstore similarity --jsonl
exits 2 sstore similarity --jsonl -
