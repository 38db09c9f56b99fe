# --json prints an object a line; fingerprints and ids are strings, an absent id is null.
printf '1 9007199254740993\n3 18446744073709551615\n' | sstore build --quiet STORE
printf '1\n3\n' | sstore build --quiet --no-ids PLAIN
sstore query --json STORE 1 ffff
sstore query --json --nearest STORE ffff
sstore query --json --count STORE 1 ffff
echo 1 | sstore query --json STORE
sstore query --json PLAIN 1
sstore query --json --output-radix signed STORE ffffffffffffffff -k 63 --limit 1
sstore query --json --output-radix base64 --count STORE 1
