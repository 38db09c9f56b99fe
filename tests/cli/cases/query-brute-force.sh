# Queries against trying all records, with ids and clusters, within and beyond the store's distance.
clustered 1000 41 | nl -v 1000 -w 1 | awk '{print $2, $1; if (NR % 5 == 0) print $2, $1 + 7}' >input
sed -n '1~97p' input | cut -d ' ' -f 1 >queries
fingerprints 4 42 >>queries
sstore build --quiet STORE input
sstore dump STORE >records
wc -l <records
for distance in 0 1 2 3 4 7 24 30; do
    sstore query -k $distance --input queries STORE >found
    brute_force records queries $distance >expected
    same expected found
    sstore query -k $distance STORE <queries >found
    same expected found
    echo "$distance: $(wc -l <expected)"
done
