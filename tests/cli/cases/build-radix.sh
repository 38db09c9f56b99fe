# --radix dec takes unsigned and signed 64-bit numbers; a negative one is its two's complement.
exec 2>&1
printf '%s\n' 0 -1 18446744073709551615 -9223372036854775808 9223372036854775808 -2 10 00012 |
    exits 0 sstore build --quiet --radix dec STORE
sstore dump STORE
sstore query -k 0 --radix dec STORE -- -2 18446744073709551614 12
printf '%s\n' 10 -1 | sstore query -k 0 --radix dec STORE
echo "--- malformed"
for line in 18446744073709551616 -9223372036854775809 ff 0x10 - -- +1 1.5 99999999999999999999999; do
    echo "$line" | exits 1 sstore build --radix dec OTHER
    absent OTHER
done
echo "--- hex is the default, and may be asked for"
echo 10 | sstore build --quiet --radix hex HEX
sstore dump HEX
