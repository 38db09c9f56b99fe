# Have I seen this? Records are answered in the order of the input, also against what came before them.
printf '0\t1\nff\t2\n' | sstore build --quiet STORE
printf '1\t3\nf000\t4\nf001\t5\nfff000\t6\nf000\t4\n' >input
exits 0 sstore add --no-compact --if-new STORE input
sstore dump STORE
echo "--- line by line"
mkfifo pipe answers
sstore add --quiet --no-compact --if-new --limit 1 STORE - <pipe >answers &
exec 3>pipe 4<answers
for line in 'abc0000 10' 'abc0001 11' '7 12' 'f00001 13'; do
    echo "$line" >&3
    read -r answer <&4
    echo "$answer"
    [ "$line" = '7 12' ] && sstore dump STORE | wc -l # nothing is published yet
done
exec 3>&-
wait
sstore dump STORE | wc -l
echo "--- published all the time"
sstore add --quiet --no-compact --if-new --publish-every 2 --json STORE - <pipe >answers &
exec 3>pipe 4<answers
for line in 1000000000000 1000000000001 2f00000000000 3ff0000000000; do
    echo "$line 9" >&3
    read -r answer <&4
    echo "$answer"
done
until [ "$(sstore dump STORE | wc -l)" = 8 ]; do
    kill -0 $! || break # it ended
    sleep 0.01
done
exec 3>&-
wait
sstore dump STORE | wc -l
echo "--- a malformed line: what was answered holds, of a file nothing"
{ echo "5555555555555 20"; echo nonsense; } >bad
exits 1 sstore add --no-compact --if-new STORE bad
sstore dump STORE | wc -l
exits 1 sstore add --no-compact --if-new STORE - <bad
sstore dump STORE | wc -l
echo "--- interrupted: so it does"
sstore add --no-compact --if-new STORE - <pipe >answers &
exec 3>pipe 4<answers
echo "6666666666666 21" >&3
read -r answer <&4
echo "$answer"
kill -TERM $!
wait $!
echo "exit $?"
exec 3>&- 4<&-
sstore dump STORE | grep -c 6666666666666
echo "--- usage"
exits 2 sstore add --publish-every 3 STORE input
exits 2 sstore add --no-compact --if-new --publish-every 0 STORE input
exits 2 sstore add --no-compact --if-new -k 17 STORE input
exits 2 sstore add --limit 1 STORE input
echo "--- an id that belongs to another document"
exits 0 sstore add --no-compact --if-new STORE - <<<"7777777777777 9"
exits 0 sstore add --no-compact --if-new STORE - <<<"8888888888888 90"
echo "--- compacted on the way"
clustered 100 3 | sstore add --quiet --if-new --publish-every 5 STORE - >/dev/null
[ "$(ls STORE | grep -c seg-)" -lt 15 ] && echo "few segments"
fingerprints 30 7 | sstore add --quiet STORE
sstore verify STORE | cut -d , -f 1
echo "--- of a file, nothing is added if nobody reads all answers"
for ((i = 0; i < 3000; i++)); do printf '%016x\n' $((i * 0x1234567800000001)); done >many
before=$(sstore dump STORE | wc -l)
{ sstore add --if-new STORE many 2>lost || true; } | head -n 1
grep -c "answered as new, but are not in the store" lost
[ "$(sstore dump STORE | wc -l)" = "$before" ] || echo "FAILED: it changed"
