# Equal records and options give equal files, whatever the order of input, the memory and the threads; so does a dump.
clustered 5000 21 | nl -v 100 -w 1 -s ' ' >input
sstore build --quiet --columns id,fingerprint STORE input
block_sums STORE | wc -l
sort -k 2 input >sorted
sstore build --quiet --columns id,fingerprint SORTED sorted
same_store STORE SORTED
cat sorted input >twice
sstore build --quiet --columns id,fingerprint TWICE twice
same_store STORE TWICE
sstore build --quiet --columns id,fingerprint --memory 1M --threads 1 SMALL input
same_store STORE SMALL
sstore build --quiet --columns id,fingerprint --threads 4 FOUR input
same_store STORE FOUR
sstore dump STORE | sstore build --quiet DUMP
same_store STORE DUMP
same <(sstore dump STORE) <(sstore dump DUMP)
echo "--- more records than fit in the memory"
awk '{for (i = 0; i < 40; i++) print $2, $1 * 40 + i}' input >large
sstore build --quiet --memory 1M LARGE large
sstore build --quiet ONCE large
same_store LARGE ONCE
sstore dump LARGE | wc -l
echo "--- with other options"
options='-k 2 --plan 3c1 --block-size 512'
cut -d ' ' -f 2 input >fingerprints
sstore build --quiet $options OTHER fingerprints
sstore dump OTHER | sstore build --quiet $options AGAIN -
same_store OTHER AGAIN
echo "--- without ids"
sstore build --quiet --no-ids PLAIN fingerprints
sstore dump PLAIN | sstore build --quiet --no-ids AGAIN --force
same_store PLAIN AGAIN
