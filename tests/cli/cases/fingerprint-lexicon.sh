# Stop words, weights of features, counts of documents and levels.
plain() { sed 's/unicode=.*/unicode=.../'; }
printf 'the cat sat on the mat\ncat sat mat\nthe on\n' >texts
printf '# articles\nThe\r\n\nON\n' >stop
echo "--- stop words are left out before shingles are made: the first two are equal"
exits 0 sstore fingerprint --lines --shingle 3 --stop-words stop texts | plain
echo "--- also from a compressed list, in any order"
printf 'on\nthe\n' | gzip >stop.gz
sstore fingerprint --lines --shingle 3 --stop-words stop.gz texts | plain
echo "--- a weight of 0 leaves a feature out; a document without others is skipped and listed"
printf 'the\t0\non\t0\ncat\t2.5\n' >weights
exits 0 sstore fingerprint --lines --shingle 1 --feature-weights weights --skipped list texts | plain
cat list
printf 'cat\t2.5\nsat\t1\nmat\t1\n\n' | sstore fingerprint --weighted
echo "--- counts of documents: rare words weigh more"
exits 0 sstore idf --lines --shingle 1 table texts
sstore fingerprint --lines --shingle 1 --weights frequency --idf table texts | plain
echo "--- levels: of 3 documents, words of 1 have 5, words of 2 have 2"
sstore fingerprint --lines --shingle 1 --weights frequency --idf table --levels 5 texts | tail -n 3
printf 'the\t4\ncat\t2\nsat\t2\non\t2\nmat\t2\n\ncat\t2\nsat\t2\nmat\t2\n\nthe\t2\non\t2\n' | sstore fingerprint --weighted
echo "--- the table of any order and number of threads is the same"
seq 1 20000 | awk '{ print "w" $1 % 7, "w" $1 % 1000, "w" $1 }' >many
for threads in 1 2 5; do sstore idf --lines --shingle 1 --threads $threads many-$threads many; done
cmp many-1 many-2 && cmp many-1 many-5 && tac many | sstore idf --lines --shingle 1 - | cmp - many-1
echo "--- in little memory the rarest are forgotten, always in the same way"
exits 0 sstore idf --lines --shingle 1 --memory 1M few many
seq 1 200000 | awk '{ print "w" $1 % 7, "w" $1, "v" $1 % 300 }' >more
exits 0 sstore idf --lines --shingle 1 --memory 1M few-1 more
sstore idf --lines --shingle 1 --memory 1M --threads 3 few-3 more 2>&1 | grep -c full
cmp few-1 few-3
echo "--- how features are made must be the same"
exits 1 sstore fingerprint --lines --shingle 3 --idf table texts 2>&1 | sed 's/unicode=[0-9.]*/unicode=.../g'
exits 1 sstore fingerprint --lines --shingle 1 --stop-words stop --idf table texts 2>&1 | sed 's/unicode=[0-9.]*/unicode=.../g'
echo "--- another recipe is refused"
sstore fingerprint --lines --shingle 1 texts | exits 0 sstore build --quiet STORE
sstore fingerprint --lines --shingle 1 --idf table texts | exits 1 sstore add --quiet STORE 2>&1 | sed 's/unicode=[0-9.]*/unicode=.../g'
echo "--- wrong lists and tables"
printf 'the\ntwo words\n' >wrong
exits 1 sstore fingerprint --stop-words wrong texts
printf 'cat\t1\ncat sat\t2\n' >wrong
exits 1 sstore fingerprint --shingle 1 --feature-weights wrong texts
printf 'cat 1\n' >wrong
exits 1 sstore fingerprint --shingle 1 --feature-weights wrong texts
printf 'cat\tmuch\n' >wrong
exits 1 sstore fingerprint --shingle 1 --feature-weights wrong texts
exits 1 sstore fingerprint --idf texts texts
exits 1 sstore fingerprint --idf absent texts
exits 1 sstore fingerprint --stop-words absent texts
exits 1 sstore fingerprint --stop-words . texts
head -c 100 table >cut
exits 3 sstore fingerprint --idf cut texts
exits 2 sstore fingerprint --levels 5 texts
exits 2 sstore fingerprint --levels 1 --idf table texts
exits 2 sstore fingerprint --features chars --stop-words stop texts
exits 2 sstore fingerprint --weighted --idf table texts
exits 2 sstore fingerprint --skipped - texts
exits 1 sstore fingerprint --skipped absent/list texts
exits 2 sstore idf
exits 1 sstore idf absent/table texts
exits 1 sstore idf empty /dev/null
exits 1 sstore idf table absent
exits 2 sstore idf --memory 0 table texts
exits 2 sstore idf --memory 1K table texts
ls
echo "--- no input is overwritten"
cp texts before
exits 1 sstore idf texts stop
exits 1 sstore fingerprint --lines --skipped ./texts texts
cmp texts before
exits 0 sstore idf --lines --shingle 1 table texts
mkdir folder
exits 1 sstore fingerprint folder
exits 1 sstore idf new folder
printf '84adfe2d13e12cb\t1\n' | sstore build --quiet IDS
printf '84adfe2d13e12cb\tname\n' | exits 1 sstore remove IDS -
printf '84adfe2d13e12cb\tname\n' | exits 1 sstore build NAMES -
echo "--- lists and tables are files, all different"
for option in --stop-words --feature-weights --idf --skipped; do
    exits 2 sstore fingerprint $option - texts 2>&1 | head -n 1
done
[ ! -e new ] && [ ! -e - ] || echo "FAILED: a file was made"
