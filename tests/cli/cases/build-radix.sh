# --radix dec takes unsigned and signed 64-bit numbers; a negative one is its two's complement. So does signed. base64
# and bin take the eight bytes.
exec 2>&1
printf '%s\n' 0 -1 18446744073709551615 -9223372036854775808 9223372036854775808 -2 10 00012 |
    exits 0 sstore build --quiet --radix dec STORE
sstore dump STORE
sstore query -k 0 --radix dec STORE -- -2 18446744073709551614 12
printf '%s\n' 10 -1 | sstore query -k 0 --radix dec STORE
echo "--- malformed"
for line in 18446744073709551616 -9223372036854775809 ff 0x10 - -- ++1 1.5 99999999999999999999999; do
    echo "$line" | exits 1 sstore build --radix dec OTHER
    absent OTHER
done
echo "--- signed reads what dec reads"
printf '%s\n' -1 18446744073709551615 -9223372036854775808 | exits 0 sstore build --quiet --radix signed SIGNED
sstore dump SIGNED
echo "--- base64: either alphabet, padded or not"
printf '%s\n' CErf4tE+Ess CErf4tE-Ess= //////////8= __________8 AAAAAAAAAAA | exits 0 sstore build --quiet --radix base64 BASE
sstore dump BASE
sstore query -k 0 --radix base64 BASE CErf4tE+Ess
for line in CErf4tE+Es CErf4tE+Es= CErf4tE+Ess== CErf4tE+Est 'CErf4tE+Es*' CErf4tE+Es= CErf4tE+EssA ============ '"CErf4tE+Ess'; do
    echo "$line" | exits 1 sstore build --radix base64 OTHER
    absent OTHER
done
echo "--- bin: 64 digits"
for digit in 0 1; do printf "$digit%.0s" {1..64}; echo; done | exits 0 sstore build --quiet --radix bin BIN
sstore dump BIN
for line in 0 "$(printf '1%.0s' {1..63})" "$(printf '1%.0s' {1..65})" "$(printf '1%.0s' {1..63})2"; do
    echo "$line" | exits 1 sstore build --radix bin OTHER
    absent OTHER
done
printf '1%.0s' {1..63} | exits 1 sstore build OTHER
absent OTHER
echo "--- hex is the default, and may be asked for"
echo 10 | sstore build --quiet --radix hex HEX
sstore dump HEX
