# --input reads what build reads; operands, files and stdin give the same answers.
clustered 6000 31 >input
sed -n '1~3p' input >queries
fingerprints 500 32 >>queries
sstore build --quiet STORE input
sstore query --input queries STORE >expected
wc -l <expected
same expected <(sstore query STORE <queries)
same expected <(sstore query STORE - <queries)
same expected <(sstore query --input - STORE <queries)
same expected <(xargs sstore query STORE <queries)
for threads in 1 2 5; do
    same expected <(sstore query --threads $threads --input queries STORE)
done
for io in pread mmap memory; do
    same expected <(sstore query --io $io --input queries STORE)
    same expected <(sstore query --io $io STORE <queries)
done
echo "--- formats"
words <queries >queries.u64
same expected <(sstore query --input queries.u64 STORE)
same expected <(sstore query --format u64 STORE <queries.u64)
sed 's/$/ 0123456789abcdef/' queries | words >queries.rec
same expected <(sstore query --input queries.rec STORE)
same expected <(sstore query --format rec STORE <queries.rec)
{ npy_header 1 "{'descr': '|u1', 'fortran_order': False, 'shape': ($(wc -l <queries), 8), }"
  unhex <queries; } >queries.npy
same expected <(sstore query --input queries.npy STORE)
while read -r query; do echo $((0x$query)); done <queries >decimal
same expected <(sstore query --radix dec --input decimal STORE)
same expected <(sstore query --radix dec STORE <decimal)
nl queries | tr -s ' \t' ' ' >numbered
same expected <(sstore query --columns -,fingerprint --input numbered STORE)
same expected <(sstore query --columns -,fingerprint STORE <numbered)
sed 's/$/ 7/; 1s/ 7//' queries >with-ids
same expected <(sstore query --input with-ids STORE)
echo "--- counts, limits and the nearest"
same <(sstore query --count --input queries STORE) <(sstore query --count STORE <queries)
same <(sstore query --limit 2 --input queries STORE) <(sstore query --limit 2 STORE <queries)
head -200 queries >some
same <(sstore query --nearest --input some STORE) <(sstore query --nearest STORE <some)
sstore query --count --input queries STORE | awk '{sum += $2} END {print NR, sum}'
