# What 'sstore dedup' refuses, with the reason and the remedy; then no list and no store is written.
export TMPDIR=$PWD
printf 'id,text\n1,a b c\n2\n3,d e f\n' >short.csv
printf 'id,text\n1,a b c\n2,"d e f\n' >open.csv
printf '{"text":"a b c"}\n{"text":"d e f"\n{"text":"g h i"}\n' >bad.jsonl
printf '{"text":"a","n":1}\n{"text":"b","n":"soon"}\n' >order.jsonl
printf '%016d\n%032d\n' 1 1 >widths
echo one >one && echo two >two && mkdir empty
refused() { exits "$@" 2>&1; absent list; absent new.store; }
refused 1 sstore dedup --removed list --update new.store short.csv
refused 1 sstore dedup --removed list open.csv
refused 1 sstore dedup bad.jsonl
refused 1 sstore dedup --keep max:n --removed list order.jsonl
refused 1 sstore dedup --text-field body short.csv
refused 1 sstore dedup --text-field 0 short.csv
refused 1 sstore dedup short.csv <(sed s/id/ID/ short.csv)
refused 1 sstore dedup short.csv bad.jsonl
refused 1 sstore dedup one two
refused 1 sstore dedup missing
refused 1 sstore dedup --against missing.store one
refused 1 sstore dedup --text-field body one
refused 1 sstore dedup --tsv --no-header --fingerprint-field 1 widths
refused 1 sstore dedup --tsv --fingerprint-field 1 widths
sed 's/$/\tpath/' widths >paths.tsv
refused 1 sstore dedup --fingerprint-field 1 paths.tsv
refused 1 sstore dedup --fingerprint-field 1 <(sed 1d paths.tsv) --tsv
refused 1 sstore dedup --fingerprint-field h paths.tsv
refused 1 sstore dedup paths.tsv
refused 1 sstore dedup --fingerprint-field h order.jsonl
refused 1 sstore dedup --tmp-dir missing one
refused 1 sstore dedup --removed one one
refused 2 sstore dedup --keep best one
refused 2 sstore dedup --keep max: one
refused 2 sstore dedup --csv --jsonl one
refused 2 sstore dedup --files --lines one
refused 2 sstore dedup --against a.store --update b.store one
refused 2 sstore dedup --fingerprint-field h --features chars --jsonl one
refused 2 sstore dedup --removed - one
refused 1 sstore dedup -k 17 one
cp one same
(exits 1 sstore dedup same >>same) 2>&1
cat same
echo "--- JSON in a compressed file whose name does not tell"
gzip -c order.jsonl >packed && sstore dedup packed 2>&1
echo "--- rows that cannot be read can be left out"
sstore dedup --skip-bad=bad bad.jsonl && cat bad
sstore dedup --skip-bad short.csv
echo "--- another recipe, and another width"
sstore fingerprint --lines --features chars one | sstore build --quiet chars.store
refused 1 sstore dedup --features words --against chars.store one
refused 1 sstore dedup --bits 128 --against chars.store one
echo "--- a store with names, and documents without"
sstore fingerprint one | sstore build --quiet --names named.store
refused 1 sstore dedup --update named.store order.jsonl
echo "--- an output that cannot be written leaves no list and adds nothing"
refused 1 sstore dedup --removed list --update new.store one >/dev/full
ls -d sstore-* 2>/dev/null
true
