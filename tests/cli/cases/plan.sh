# plan compares what stores would take. Figures follow from constants that may change: here they are left out.
columns()
{
    sed 's/^\*/x/; s/[0-9.]* [kMGTP]*B/B/g; s/[0-9.]* [num]*s\b/T/g; s/  */ /g' | cut -d ' ' -f 1-5
}
sstore plan -n 10M >ten
head -1 ten | sed 's/  */ /g'
columns <ten | sed -n '2,/^$/p'
grep -c '^\*' ten
tail -1 ten | sed 's/[0-9][0-9.]* times/N times/g'
echo "--- more records, fewer tables"
for n in 0 1 1K 1M 10000000 100M 1G; do
    sstore plan -n $n | sed -n "s/^\* \([^ ]*\)  .*/$n \1/p"
done
echo "--- objectives"
for objective in size balanced latency; do
    exits 0 sstore plan -n 10M --objective $objective | sed -n "s/^\* \([^ ]*\)  .*/$objective \1/p"
done
sstore plan -n 10M --objective latency --max-bytes 200M | sed -n 's/^\* \([^ ]*\)  .*/within 200M \1/p'
echo "--- every distance has a plan, and build takes each"
fingerprints 50 1 >input
for k in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    plan=$(sstore plan -n 1M -k $k | sed -n 's/^\* \([^ ]*\)  .*/\1/p')
    exits 0 sstore build --quiet --force -k $k --plan "$plan" STORE input
    sstore stat STORE | grep -qE "^plan  *$plan\$" || echo "FAILED: $k $plan"
done
echo "--- all plans are more than the useful ones"
sstore plan -n 10M --all >all
[ "$(wc -l <all)" -gt "$(wc -l <ten)" ] || echo "FAILED"
grep -c '^\*' all | sed 's/2/one, and its reason/'
echo "--- without ids a store is smaller, with the smallest blocks it is larger"
bytes()
{
    sstore plan --json -n 10M "$@" | grep -o '"total_bytes":[0-9]*' | head -1 | tr -dc 0-9
}
[ "$(bytes --no-ids)" -lt "$(bytes)" ] && [ "$(bytes --block-size 256)" -gt "$(bytes)" ] || echo FAILED
echo "--- wider fingerprints, as --bits says or the sample shows"
exits 0 sstore plan -n 10M --bits 256 -k 31 | awk '{print $1}' | head -1
exits 0 sstore plan -n 10M --bits 256 -k 31 --json | grep -o '"fingerprint_bits":256,"distance":31'
paste -d '' <(fingerprints 20 1) <(fingerprints 20 2) >wide
exits 0 sstore plan --sample wide -k 32 --json | grep -o '"record_count":20,"fingerprint_bits":128,"distance":32'
exits 2 sstore plan --sample wide -k 33 2>&1
exits 1 sstore plan --sample wide --bits 64 2>&1
exits 2 sstore plan -n 5 --bits 65 2>&1
echo "--- a small store is planned for what it may grow to, which the reason says before it compares"
sstore plan -n 200 | tail -1
