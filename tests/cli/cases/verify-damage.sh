# Damage is found by verify in every file, with exit 3 and the file's name; an undamaged store is ok.
clustered 3000 51 | nl -w 1 | awk '{print $2, $1}' >input
sstore build --quiet STORE input
exits 0 sstore verify STORE | sed 's/bytes .*/bytes N/'
find STORE -type f | sort >files
[ $(wc -l <files) -ge 5 ] || echo "FAILED: hardly any files"
check()
{
    sstore verify STORE >out 2>message
    local code=$?
    [ $code -eq 3 ] || echo "FAILED: exit $code after $*: $(cat message)"
    [ ! -s out ] || echo "FAILED: after $*: $(cat out)"
    grep -q '^sstore: .*'"${1##*/}" message || echo "FAILED: no word of $1: $(cat message)"
    ! grep -v '^sstore: ' message || echo "FAILED: a message without its beginning"
}
while read -r file; do
    cp "$file" saved
    size=$(stat -c %s "$file")
    for offset in 0 8 $((size / 3)) $((size / 2)) $((size - 1)); do
        flip "$file" $offset
        check "$file" $offset
        cp saved "$file"
    done
    truncate -s $((size - 1)) "$file"
    check "$file" truncated
    : >"$file"
    check "$file" emptied
    cp saved "$file"
    echo >>"$file"
    check "$file" extended
    rm "$file"
    if [ "$file" = STORE/MANIFEST ]; then
        exits 1 sstore verify STORE 2>/dev/null
    else
        check "$file" removed
    fi
    cp saved "$file"
done <files
exits 0 sstore verify STORE | sed 's/bytes .*/bytes N/'
echo "--- no store"
exits 1 sstore verify missing 2>/dev/null
exits 1 sstore verify input 2>/dev/null
