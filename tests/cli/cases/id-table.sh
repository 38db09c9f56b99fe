# --id-table: fingerprint keeps the names of documents; query, pairs, clusters, join and collect print them.
folder=texts
mkdir $folder
for name in a b c; do echo "the cat sat on the mat" >$folder/$name; done
echo "another text about something else" >$folder/d
printf '...' >$folder/empty
cp $folder/a $folder/$'z\ttab\\'
columns() { sed 's/^#.*unicode=.*/# recipe/'; }
echo "--- files"
exits 0 sstore fingerprint --recursive --id-table names $folder 2>&1 >files.tsv | columns
columns <files.tsv
sstore names names
exits 0 sstore build --quiet files.store files.tsv
cat=$(sed -n 3p files.tsv | cut -f 1)
exits 0 sstore query --id-table names files.store $cat
exits 0 sstore query --id-table names --json -k 0 files.store $cat | tail -1
exits 0 sstore query --id-table names --nearest --limit 1 files.store $cat
echo $cat | exits 0 sstore query --id-table names --input - files.store
echo $cat | exits 0 sstore query --id-table names files.store - | tail -1
exits 0 sstore pairs --id-table names files.store
exits 0 sstore pairs --id-table names --json files.store | tail -1
exits 0 sstore clusters --id-table names files.store
exits 0 sstore clusters --id-table names --singles --json files.store | head -1
exits 0 sstore clusters --id-table names --drop files.store
exits 0 sstore clusters --id-table names --representatives files.store
exits 0 sstore join -k 0 --id-table names files.store files.store | tail -1
exits 0 sstore join -k 0 --other-id-table names files.store files.store | tail -1
exits 0 sstore join -k 0 --id-table names --other-id-table names --json files.store files.store | tail -1
echo $cat >queries
sstore scan --queries queries files.tsv | exits 0 sstore collect --id-table names
printf '0 1\n3 2\n1 2\n' >edges
exits 0 sstore clusters --id-table names --edges edges
exits 0 sstore clusters --id-table names --edges edges --json
exits 0 sstore clusters --id-table names --edges edges --drop
echo "--- more documents: numbers go on after the largest id"
exits 0 sstore fingerprint --no-comments --id-table names $folder/b $folder/d
exits 0 sstore fingerprint --no-comments --id-table names --first-id 100 $folder/c
exits 0 sstore fingerprint --no-comments --id-table names - <$folder/c
sstore names names | tail -4
exits 2 sstore fingerprint --id-table names --first-id 101 $folder/c 2>&1
exits 0 sstore fingerprint --no-comments --id-table first --first-id 7 $folder/c
sstore names first
echo "--- .rec, in one go with the build"
sstore fingerprint --recursive --id-table piped --format rec $folder 2>/dev/null | exits 0 sstore build --quiet --format rec rec.store -
exits 0 sstore query --id-table piped -k 0 rec.store $cat | tail -1
echo "--- JSON Lines"
printf '{"text":"the cat sat on the mat","url":"http://example.org/%s"}\n' 1 2 3 >pages.jsonl
exits 0 sstore fingerprint --no-comments --jsonl --id-field url --id-table pages pages.jsonl
sstore names pages
printf '{"text":"a","id":5}\n' | exits 1 sstore fingerprint --no-comments --jsonl --id-field id --id-table numbers 2>&1
absent numbers
echo "--- a failure leaves the old table"
cp names before
gzip -c $folder/a | head -c 30 >cut.gz
exits 1 sstore fingerprint --no-comments --threads 1 --id-table names $folder/a cut.gz 2>&1
exits 1 sstore fingerprint --no-comments --id-table names $folder/a absent 2>&1
exits 1 sstore fingerprint --no-comments --id-table names $folder/a 2>&1 >/dev/full
exec 4> >(:) # a pipe that nobody reads
wait $!
exits 1 sstore fingerprint --no-comments --id-table names $folder/a 2>&1 >&4
exec 4>&-
exits 1 sstore fingerprint --no-comments --id-table absent/names $folder/a 2>&1
same names before
absent names.sstore-new
head -c -1 names >damaged
exits 3 sstore fingerprint --no-comments --id-table damaged $folder/a 2>&1
echo "--- a signal"
mkfifo questions
sstore fingerprint --no-comments --id-table names questions 2>messages &
exec 4>questions
handles_term $!
kill -TERM $!
wait $!
echo "exit $?"
exec 4>&-
same names before
absent names.sstore-new
echo "--- a table that does not fit the store"
exits 1 sstore query --id-table pages files.store $cat 2>&1
exits 1 sstore pairs --id-table pages files.store 2>&1
exits 1 sstore clusters --id-table pages files.store 2>&1
exits 1 sstore join -k 0 --id-table names --other-id-table pages files.store files.store 2>&1 >/dev/null
sstore scan --queries queries files.tsv | exits 1 sstore collect --id-table pages 2>&1
exits 1 sstore clusters --id-table pages --edges edges 2>&1
exits 1 sstore query --id-table absent files.store $cat 2>&1
exits 1 sstore query --id-table queries files.store $cat 2>&1
exits 3 sstore query --id-table damaged files.store $cat 2>&1
cp names wrong && flip wrong 30
exits 3 sstore query --id-table wrong files.store $cat 2>&1
exits 3 sstore pairs --id-table wrong files.store 2>&1
grep -v '^#' files.tsv | cut -f 1 | sstore build --quiet --no-ids plain.store -
exits 1 sstore query --id-table names plain.store $cat 2>&1
sstore scan --no-ids --queries queries files.tsv | exits 1 sstore collect --id-table names 2>&1
echo "--- usage"
exits 2 sstore fingerprint --lines --id-table names $folder/a 2>&1 | head -1
exits 2 sstore fingerprint --jsonl --id-table names pages.jsonl 2>&1 | head -1
exits 2 sstore fingerprint --weighted --id-table names 2>&1 | head -1
exits 2 sstore fingerprint --recipe --id-table names 2>&1 | head -1
exits 2 sstore query --count --id-table names files.store 1 2>&1 | head -1
