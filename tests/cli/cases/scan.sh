# Scans of parts, collected, are what queries of a store of all parts give: whatever the inputs' format, compression and
# threads.
clustered 3000 41 | awk '{print $1 "\t" NR * 7919 % 100003}' >records
{ head -300 records | cut -f 1; fingerprints 200 42; head -100 records | cut -f 1; } >queries
sstore build --quiet STORE records
sort -u queries | sstore query --input - STORE | sort -t "$(printf '\t')" -k 1,1 -k 3n,3 -k 2,2 -k 4n,4 >wanted
wc -l <wanted
split -n l/3 records part.
zstd -q part.aa
gzip -k part.ab
for threads in 0 1 3; do
    sstore scan --threads $threads --queries queries part.aa.zst part.ab.gz part.ac | sstore collect | cmp - wanted
done
echo "--- one part after the other, and through pipes"
for part in part.aa part.ab part.ac; do
    sstore scan --queries queries $part >$part.matches
done
cat part.aa.matches part.ab.matches part.ac.matches | sstore collect | cmp - wanted
zstd -q part.aa.matches
sstore collect part.ac.matches part.aa.matches.zst - part.ac.matches <part.ab.matches | cmp - wanted
sstore scan --queries queries <records | sstore collect --memory 64M --tmp-dir . | cmp - wanted
sstore scan --queries - records <queries | sstore collect - | cmp - wanted
gzip -c queries | sstore scan --queries - records | sstore collect | cmp - wanted
echo "--- other formats"
hex_ids <records | words >records.rec
sstore scan --queries queries records.rec | sstore collect | cmp - wanted
words <queries >queries.u64
sstore scan --queries queries.u64 --format rec - <records.rec | sstore collect | cmp - wanted
awk '{print $2 "," $1}' records | tr , '\t' | sstore scan --queries queries --columns id,fingerprint | sstore collect | cmp - wanted
echo "--- distances"
for distance in 0 1 7 16; do
    sstore query -k $distance --input <(sort -u queries) STORE |
        sort -t "$(printf '\t')" -k 1,1 -k 3n,3 -k 2,2 -k 4n,4 | cmp - <(sstore scan -k $distance --queries queries records | sstore collect)
done
echo "--- lines"
printf '00ff\nff\n00ff\n' >few
printf 'fe 18446744073709551615\nff 0\n0 1\nff 0\n' >data
sstore scan --queries few data | sort
echo "--- collected, each once"
sstore scan --queries few data | sstore collect
echo "--- without ids"
printf 'fe\n0xFF\n' | sstore scan --queries few | sort
printf '254\n' | sstore scan --radix dec --queries <(echo 255)
sstore scan --no-ids --queries few data records.rec data | sstore collect
echo "--- nothing"
sstore scan --queries few </dev/null
sstore scan --queries /dev/null data
sstore collect </dev/null
