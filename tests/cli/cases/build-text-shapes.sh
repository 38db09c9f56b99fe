# However lines are written, with thousands in a row alike or each unlike the one before, the records are the same.
fingerprints 20000 41 | nl -v 7 -w 1 -s ' ' | sed 's/\(.*\) \(.*\)/\2\t\1/' >plain
sstore build --quiet PLAIN plain
try()
{
    rm -rf STORE
    exits 0 sstore build --quiet "$@"
    same_store PLAIN STORE
}
tr '\t' ' ' <plain >spaces
try STORE spaces
sed 's/$/\r/' plain >crlf
try STORE crlf
sed 's/^/0x/' plain >prefixed
try STORE prefixed
tr a-f A-F <plain >upper
try STORE upper
sed 's/^0*//' plain >short
try STORE short
sed 's/\t/\t000000000000000000/' plain >long-ids
try STORE long-ids
awk -F '\t' '{print $2 "\t" $1}' plain >swapped
try --columns id,fingerprint STORE swapped
awk '{print (NR % 3 ? "" : "0x") $1 (NR % 5 ? "\t" : "   ") $2 (NR % 7 ? "" : "\r")}' \
    plain >mixed
try STORE mixed
while read -r fingerprint id; do echo "$((0x$fingerprint)) $id"; done <plain >signed
try --radix dec STORE signed
while read -r fingerprint id; do printf '%u\t%d\n' $((0x$fingerprint)) "$id"; done <plain >unsigned
try --radix dec STORE unsigned
echo "--- without ids"
cut -f 1 plain >alone
rm -r PLAIN
sstore build --quiet --no-ids PLAIN alone
try --no-ids STORE plain
try --no-ids STORE mixed
try --no-ids --columns fingerprint,- STORE plain
sed 's/$/\t-/' alone >dashes
try --no-ids STORE dashes
rm -r PLAIN
sstore build --quiet PLAIN alone
try STORE dashes
try --columns fingerprint STORE alone
try STORE - <alone
echo "--- the last lines of a file"
for length in 1 16 17 51 52 53 103 104; do
    printf '%s\n' $(head -7 alone) | head -c $length | exits 0 sstore build --quiet --force STORE
    same <(printf '%s\n' $(head -7 alone) | head -c $length | tr -d '\n' | fold -w 16 |
        sed 's/^/0000000000000000/; s/.*\(................\)$/\1/' | sort) <(sstore dump STORE | cut -f 1 | sort)
done
