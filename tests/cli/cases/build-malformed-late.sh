# The line is right far into a file, and across the pieces in which it is read.
exec 2>&1
fingerprints 20000 1 >input
for line in 4096 4097 15420 20000; do
    sed "${line}s/.*/oops/" input >bad
    exits 1 sstore build STORE bad
    absent STORE
done
echo "--- a line that is too long"
{ echo 1; head -c 17000000 /dev/zero | tr '\0' a; echo; } | exits 1 sstore build STORE
{ echo 1; head -c 17000000 /dev/zero; } | exits 1 sstore build STORE
absent STORE
echo "--- a long line with a column to skip"
{ printf '1 7 '; head -c 3000000 /dev/zero; echo; echo '2 8 x'; } |
    exits 0 sstore build --quiet --columns fingerprint,id,- STORE
sstore dump STORE
