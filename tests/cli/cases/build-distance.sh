# The distance that a store is built for is the default of its queries; any other may be asked for.
fingerprints 40 3 >input
head -3 input | sed 's/^\(.*\).$/\10/' >queries
for k in 0 1 2 3 4 6 8; do
    exits 0 sstore build --quiet --force -k $k STORE input
    sstore stat STORE | grep '^distance'
    sstore dump STORE >records
    for distance in 0 1 3 5 8 20 32 64; do
        sstore query -k $distance --input queries STORE >found
        brute_force records queries $distance >expected
        same expected found
        [ $distance -ne $k ] || same expected <(sstore query --input queries STORE)
    done
done
