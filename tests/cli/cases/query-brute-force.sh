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
echo "--- the nearest of each query"
{ head -n 3 queries && tail -n 2 queries; } >few
brute_force records few 64 >all
for distance in 0 3 25 64; do
    for limit in 1 2 10 300 1500; do
        awk -v k=$distance -v limit=$limit '$3 <= k && count[$1]++ < limit' all >expected
        awk 'NR == FNR {count[$1]++; next} {print $1 "\t" count[$1] + 0}' expected few >counts
        for option in --nearest ""; do
            sstore query $option -k $distance --limit $limit --input few STORE >found
            same expected found
            sstore query $option -k $distance --limit $limit STORE <few >found
            same expected found
        done
        sstore query --nearest --count -k $distance --limit $limit --input few STORE >found
        same counts found
        sstore query --nearest --count -k $distance --limit $limit STORE <few >found
        same counts found
        echo "$distance, $limit: $(wc -l <expected)"
    done
done
