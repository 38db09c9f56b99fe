# Fingerprints of a field that likely mean something else give the warnings of 'sstore build'.
export TMPDIR=$PWD
warns() { sstore dedup "$@" 2>&1 >/dev/null | grep warning: || echo "no warning"; }
built() { sstore build --force b.store "$@" 2>&1 >/dev/null | grep warning:; }
echo "--- ids in the first column"
paste <(seq 1000 1059) <(fingerprints 60 1) >ids.tsv
warns --tsv --no-header --fingerprint-field 1 ids.tsv
warns --tsv --no-header --fingerprint-field 2 ids.tsv
echo "--- decimal numbers as hex, as build says it"
fingerprints 60 2 | tr a-f 1-6 >decimal.tsv
warns --no-header --fingerprint-field 1 decimal.tsv | tee warned
built decimal.tsv | same - warned
warns --no-header --fingerprint-field 1 --radix hex decimal.tsv
warns --quiet --no-header --fingerprint-field 1 decimal.tsv
echo "--- rows that were cut short"
fingerprints 900 3 | sed '1~100s/......$//' >short.tsv
warns --no-header --fingerprint-field 1 short.tsv | tee warned
built short.tsv | same - warned
echo "--- numbers of JSON, and texts"
fingerprints 60 4 | while read -r hex; do printf '{"h":%u}\n' "0x$hex"; done >numbers.jsonl
warns --fingerprint-field h numbers.jsonl
warns decimal.tsv --lines
echo "--- lines of fingerprints as text, unless --lines says so"
fingerprints 9 5 >hashes
warns hashes
warns --lines hashes
echo "a text" | warns
sstore dedup --quiet --tsv --no-header --fingerprint-field 1 hashes | same - hashes
