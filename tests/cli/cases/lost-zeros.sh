# Fingerprints of more than 64 bits have all their digits. Zeros in front may only be absent if --bits says the width.
full=00$(printf a | sha256sum | cut -c 1-62)
lost=${full:2}
printf "$full\n$(printf b | sha256sum | cut -c 1-64)\n" | sstore build --quiet -k 20 WIDE -
echo "--- refused"
for digits in $lost 0x$lost 0x${full:1} ${full:0:62} ${full:0:63} ${full:0:20} 5 0x5; do
    exits 2 sstore query WIDE $digits
    for command in 'query WIDE --input' 'add WIDE' 'add --if-new WIDE' 'remove WIDE'; do
        echo $digits | exits 1 sstore $command - 2>/dev/null
    done
    echo "{\"fingerprint\":\"$digits\"}" | exits 1 sstore add --format jsonl WIDE - 2>/dev/null
done
sstore stat WIDE | head -n 1
echo "--- with --bits"
sstore query --bits 256 WIDE $lost
echo 0x$lost | sstore query --bits 256 --input - WIDE
echo ${full:1} | sstore add --bits 256 WIDE - 2>&1
echo $lost | sstore add --if-new --bits 256 WIDE - 2>&1 | tail -n 1
echo $lost | sstore remove --bits 256 WIDE - 2>&1
echo "--- of another width than the store"
exits 2 sstore query --bits 128 WIDE $full
for command in add 'add --if-new' remove; do
    echo $full | exits 2 sstore $command --bits 128 WIDE -
done
echo $full | exits 2 sstore report --bits 128 --queries - WIDE -o -
echo "--- of 64 bits they may be absent"
echo 5 | sstore build --quiet NARROW -
for digits in 5 05 0x5 0000000000000005; do
    sstore query NARROW $digits
done
