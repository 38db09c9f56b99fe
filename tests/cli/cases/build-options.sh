# Options that do not change the records do not change the answers; sizes take binary suffixes.
clustered 3000 11 >input
head -20 input >queries
sstore build --quiet PLAIN input
sstore query --input queries PLAIN >expected
wc -l <expected
mkdir tmp
try()
{
    exits 0 sstore build --quiet --force "$@" STORE input
    sstore query --input queries STORE >found
    same expected found
    sstore dump STORE >dump
    same <(sstore dump PLAIN) dump
    sstore stat STORE | grep '^block '
}
try --block-size 256
try --block-size 1K
try --block-size 1KiB
try --block-size 1024
try --block-size 64k
try --memory 1M
try --memory 1MiB --threads 1
try --memory 2G --threads 2
try --threads 0
try --tmp-dir tmp --memory 1048576
ls -A tmp
echo "--- a folder for runs that does not exist"
exits 1 sstore build --tmp-dir missing --memory 1M NEW input 2>/dev/null
absent NEW
exits 2 sstore build --no-ids --first-id 1 NEW input 2>/dev/null
printf '%s\t%s\n' 1 2 | exits 1 sstore build --first-id 0 NEW - 2>&1
echo "--- assigned ids end"
printf '%s\n' 1 2 | sstore build --quiet --first-id 18446744073709551612 LAST -
sstore dump LAST
printf '%s\n' 1 2 3 4 | sstore build --quiet --first-id 18446744073709551612 NEW - 2>&1
absent NEW
echo "--- with few file descriptors, the exit code says whether the store was built"
for files in $(seq 8 24); do
    rm -rf FEW_FILES
    (ulimit -n $files && echo 1 | sstore build FEW_FILES) >few.log 2>&1
    code=$?
    sstore verify FEW_FILES >/dev/null 2>&1
    [ $((code == 0)) = $(($? == 0)) ] || echo "with $files descriptors: exit $code: $(cat few.log)"
done
