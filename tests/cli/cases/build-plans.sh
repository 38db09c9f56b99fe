# Every plan gives the same answers.
clustered 2000 5 >input
fingerprints 5 6 >queries
sed -n '1~200p' input >>queries
sstore build --quiet --plan 1 STORE input
sstore dump STORE >records
brute_force records queries 3 >expected
wc -l <expected
for plan in auto 20 16 10 4 3 2 1 5c2 6c3 4c1 2c1 16:0,16:0,16:0,16:0 24:1,20:0,20:0 32:1,32:1 64:3; do
    exits 0 sstore build --quiet --force --plan $plan STORE input
    sstore query --input queries STORE >found
    same expected found
    for io in mmap memory; do
        sstore query --io $io STORE $(cat queries) >found
        same expected found
    done
    sstore verify STORE | sed "s/.*\\(tables\\) \\([0-9]*\\).*/$plan: \\2 tables/"
done
