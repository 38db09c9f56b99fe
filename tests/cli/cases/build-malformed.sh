# A malformed line stops the build with its file and line, exit 1, and leaves nothing behind.
exec 2>&1
refuse()
{
    printf -- "$1" >input
    exits 1 sstore build ${2:-} STORE input
    absent STORE
}
refuse '\nxyz\n'
refuse 'xyz\n'
refuse '1\n2\nnot a fingerprint'
refuse '0x\n'
refuse '12345678901234567\n'
refuse '0x12345678901234567\n'
refuse '00000000000000001\n'
refuse '1g\n'
refuse '-1\n'
refuse '1 2 3\n'
refuse '1\t2\t3\n'
refuse '1\t2\t \t3\n'
refuse '\t1\n'
refuse '1 1\t2\n'
refuse '1 x\n'
refuse '1 -5\n'
refuse '1 0x5\n'
refuse '1 18446744073709551616\n'
refuse '1 99999999999999999999999999999999999999\n'
refuse '1\0002\n'
refuse '\377\001\033[31m\n'
refuse "it's\\\\\n"
refuse "$(printf 'f%.0s' {1..100})\n"
refuse '1,2\n'
echo "--- stdin"
printf '1\n2\nz\n' | exits 1 sstore build STORE
absent STORE
echo "--- the second of two files"
echo 1 >good
printf '2\n?\n' >bad
exits 1 sstore build STORE good bad
absent STORE
ls
