# What cannot be added or removed changes nothing; one writer at a time.
fingerprints 50 1 >first
sstore build --quiet STORE first
sstore dump STORE >before
exits 1 sstore add --no-compact NONE first
absent NONE
mkdir EMPTY
exits 1 sstore add --no-compact EMPTY first
exits 1 sstore remove --no-compact EMPTY first
exits 1 sstore compact EMPTY
rmdir EMPTY
echo "--- malformed"
{ fingerprints 20 2; echo xyz; } >bad
exits 1 sstore add --no-compact STORE bad
exits 1 sstore remove --no-compact STORE bad
echo 12x | exits 1 sstore remove --no-compact --ids STORE
echo -5 | exits 1 sstore remove --no-compact --ids STORE
echo "5 6" | exits 1 sstore remove --no-compact --ids STORE
echo "--- options"
exits 2 sstore add --no-compact --plan 32:0,32:0 STORE first
exits 2 sstore add --no-compact --force STORE first
exits 2 sstore remove --no-compact --plan 4 STORE first
exits 2 sstore compact STORE first
exits 2 sstore compact
exits 2 sstore add --no-compact
exits 2 sstore add --no-compact STORE - -
echo "--- another writer"
mkfifo pipe
sstore add --no-compact STORE pipe &
exec 3>pipe
echo 5 >&3
while ! ls STORE | grep -q tmp-; do sleep 0.01; done
exits 1 sstore add --no-compact STORE first
exits 1 sstore remove --no-compact STORE first
exits 1 sstore compact STORE
exits 1 sstore build --force STORE first
sstore dump STORE | cmp - before && echo "readers do not mind"
exec 3>&-
wait
sstore dump STORE | wc -l
echo "--- interrupted"
sstore dump STORE >before
sstore add --no-compact STORE pipe &
exec 3>pipe
fingerprints 10 7 >&3
while ! ls STORE | grep -q tmp-; do sleep 0.01; done
kill -TERM $!
exec 3>&-
wait $!
echo "exit $?"
sstore dump STORE | cmp - before
ls STORE | sed 's/seg-.*/SEGMENT/'
