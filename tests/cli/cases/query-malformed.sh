# A malformed query line ends the program with its place; the queries before it are answered.
printf '1 10\n2 20\n' | sstore build --quiet STORE
exec 2>&1
printf '1\n2\n\ny\n1\n' >queries
printf '2\nx\n' | exits 1 sstore query -k 0 STORE
exits 1 sstore query -k 0 STORE <queries
echo "--- a file"
exits 1 sstore query -k 0 --input queries STORE 2>message
cat message
exits 1 sstore query --input missing STORE
exits 1 sstore query --input . STORE
echo 12345 >odd.u64
exits 1 sstore query --input odd.u64 STORE
echo "--- no store"
exits 1 sstore query missing 1 2>/dev/null
exits 1 sstore query queries 1 2>/dev/null
