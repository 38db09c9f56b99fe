# --columns says what the fields of a line are.
exec 2>&1
build()
{
    echo "--- $1"
    exits 0 sstore build --quiet --force --columns "$1" STORE
    sstore dump STORE
}
printf '7 a\n8 b\n' | build id,fingerprint
printf '  7   a  \n8 b\n' | build id,fingerprint
printf '7\ta b\t1f\n8\t\t2f\n' | build id,-,fingerprint
printf 'x 1f y\nx 2f z\n' | build -,fingerprint,-
printf 'x 1f\nx 2f all that is left\n' | build -,fingerprint,-
printf '1f\t5\tall that\tis left\n2f\t6\n' | build fingerprint,id,-
printf '1f 5 all that is left\n2f 6\n' | build fingerprint,id,-
printf '1f -\n2f -\n' | build fingerprint,id
printf '1f\n2f\n' | build fingerprint
echo "--- malformed, so the last store stays"
sstore dump STORE >last
build()
{
    echo "--- $1"
    exits 1 sstore build --quiet --force --columns "$1" STORE
    same last <(sstore dump STORE)
}
printf '1f\n' | build fingerprint,id
printf '1f 2\n' | build fingerprint
printf 'x\n' | build -,fingerprint
printf '7 a b\n' | build id,fingerprint
printf '1f 2 3\n' | build fingerprint,id
printf '1f\n' | build fingerprint,-,id
printf 'x 1f all that\tis left\n' | build -,fingerprint,-
