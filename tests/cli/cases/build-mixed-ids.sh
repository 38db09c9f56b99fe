# Either all records have ids or none has, over all inputs; --no-ids ignores them.
exec 2>&1
printf '1\n2\n' >without
printf '3 30\n4 40\n' >with
cat without with >first-without
cat with without >first-with
printf '1 5\n2 -\n' >dash
printf '\1\0\0\0\0\0\0\0' >words.u64
printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0' >pairs.rec
for inputs in first-without first-with dash 'without with' 'with without' 'with words.u64' 'words.u64 with' \
    'without pairs.rec' 'pairs.rec without' 'words.u64 pairs.rec'; do
    echo "--- $inputs"
    exits 1 sstore build STORE $inputs
    absent STORE
    exits 0 sstore build --quiet --no-ids STORE $inputs
    sstore dump STORE
    rm -r STORE
done
echo "--- ids that are ignored need not be ids"
printf '1 http://example.org/\n2\n3\tx y\n' | exits 0 sstore build --quiet --no-ids STORE
sstore dump STORE
