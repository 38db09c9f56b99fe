# All the forms of text: hex of either case, 0x, 1 to 16 digits, spaces or a tab, CRLF, no last line end, `-` for no id.
printf '1 10\n0x2 11\nABCDEF0123456789\t12\n0XfFf   13\n   7 14\n8 15  \n' >with-ids
printf '0000000000000000 0\r\nffffffffffffffff 18446744073709551615\r\n5 0000000000000000000000016' >crlf
exits 0 sstore build --quiet STORE with-ids crlf
sstore dump STORE
echo "--- without ids"
printf 'b\na -\nc\t-\na' | exits 0 sstore build --quiet PLAIN
sstore dump PLAIN
echo "--- assigned ids count over all inputs"
printf 'a\nb\n' >one
printf 'd\nc\n' >two
echo e | exits 0 sstore build --quiet MANY one - two
sstore dump MANY
