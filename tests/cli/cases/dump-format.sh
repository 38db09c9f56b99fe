# build reads what dump --format rec and u64 print. rec keeps the ids; u64 drops them. The case interchange has the other formats.
exec 2>&1
printf 'ff 2\n1 18446744073709551615\nff 10\nff 1\nABC 7\n' | sstore build --quiet STORE
sstore dump --format text STORE | cmp - <(sstore dump STORE)
sstore dump --format rec STORE | od -An -v -t x8 -w16 --endian=little
sstore dump --format u64 STORE | od -An -v -t x8 -w8 --endian=little
sstore dump --format rec STORE | exits 0 sstore build --quiet REC --format rec -
same_store STORE REC
echo "--- many"
clustered 20000 92 | nl -v 5 -w 1 | awk '{print $2, $1}' | sstore build --quiet MANY
sstore dump --format rec MANY >many.rec
exits 0 sstore build --quiet AGAIN many.rec
same_store MANY AGAIN
same <(sstore dump MANY | hex_ids | words) many.rec
same <(sstore dump MANY | cut -f 1 | words) <(sstore dump --format u64 MANY)
echo "--- without ids"
sstore build --quiet --no-ids PLAIN many.rec
exits 2 sstore dump --format rec PLAIN
sstore dump --format u64 PLAIN >plain.u64
exits 0 sstore build --quiet --no-ids COPY plain.u64
same_store PLAIN COPY
echo "--- text and JSON"
for radix in hex dec signed base64 bin; do
    sstore dump --columns id,fingerprint --radix $radix STORE | sed -n 1p
    sstore dump --format jsonl --radix $radix STORE | sed -n 1p
done
sstore dump --columns fingerprint STORE
sstore dump --format jsonl --columns id,fingerprint --fingerprint-field 'x"' --id-field é STORE
echo "--- NumPy"
for options in '--format npy' '--format npy-bytes' '--format npy --columns fingerprint'; do
    sstore dump $options STORE | head -c 128 | tail -c +11 | sed 's, *$,,'
done
echo "--- usage"
exits 2 sstore dump --format csv STORE
exits 2 sstore dump --format
exits 2 sstore dump --format npy --columns fingerprint,id PLAIN
exits 2 sstore dump --format npy --columns id,fingerprint STORE
exits 2 sstore dump --format rec --columns fingerprint STORE
exits 2 sstore dump --format u64 --radix dec STORE
exits 2 sstore dump --columns id STORE
exits 2 sstore dump --format jsonl --id-field fingerprint STORE
exits 2 sstore dump --format jsonl --id-field $'\xff' STORE
