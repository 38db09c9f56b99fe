# The same lines from every plan and block size, by every way of reading, on any number of threads and one by one, within
# and beyond the stores' distance.
clustered 6000 51 | awk '{print $1, NR; if (NR % 5 == 0) print $1, NR + 10000}' >input
seq 20001 20200 | sed "s/^/$(sed -n '7s/ .*//p' input) /" >>input
sed -n '7p; 1~23p' input | cut -d ' ' -f 1 >queries
fingerprints 8 52 >>queries
sstore build --quiet --plan 4 STORE input
for distance in 2 3 4 20; do
    sstore query -k $distance --input queries STORE >expected-$distance
    echo "$distance: $(wc -l <expected-$distance)"
done
head -10 queries >some
tr ' ' '\t' <input | sort -k 1,1 -k 2n,2 >records
brute_force records some 4 >some-expected
same some-expected <(sstore query -k 4 --input some STORE)
asked=0
check() # LINES QUERY-ARGUMENTS...
{
    local expected=$1
    shift
    sstore query "$@" >found
    cmp -s "$expected" found || echo "FAILED: $made, query $*"
    asked=$((asked + 1))
}
for made in '20 256' '10 64K' '4 512' '4 64K' '3 4K' '2 16K' '1 1K' '5c2 256'; do
    sstore build --quiet --force --plan ${made% *} --block-size ${made#* } STORE input
    for way in 'pread --threads 1' 'mmap --threads 2' 'memory --threads 3'; do
        for distance in 2 3 4 20; do
            check expected-$distance -k $distance --io $way --input queries STORE
        done
        check expected-3 --io ${way% --*} STORE <queries
    done
done
echo "$asked times"
