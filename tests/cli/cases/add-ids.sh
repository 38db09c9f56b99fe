# Two files whose lines are numbered from 0 give two documents one id: add says how many records were there already, and warns.
printf 'the cat sat\non the mat\nand slept\n' >docs
printf 'the cat sat\nwe all scream\nfor ice cream\nin summer\n' >more
sstore fingerprint --no-comments --lines docs >docs.tsv
sstore build --quiet STORE docs.tsv
cp -r STORE COPY
cp -r STORE THIRD
echo "--- as it should be"
sstore fingerprint --no-comments --lines --first-id "$(wc -l <docs.tsv)" more >more.tsv
exits 0 sstore add --no-compact STORE more.tsv 2>&1
sstore dump STORE | sort -k 2n
echo "--- both from 0: equal lines with equal numbers are one record, and others share an id"
sstore fingerprint --lines more >colliding.tsv
exits 0 sstore add --no-compact COPY colliding.tsv 2>&1
exits 0 sstore add --no-compact --quiet THIRD colliding.tsv 2>&1
echo "--- the same again changes nothing, so there is no warning"
exits 0 sstore add --no-compact COPY colliding.tsv 2>&1
echo "--- two inputs of one add"
exits 0 sstore add --no-compact STORE <(printf '1 100\n2 101\n3 102\n') <(printf '9 100\n2 101\n8 102\n7 103\n') 2>&1
echo "--- what was removed is not there"
echo 1 | sstore build --quiet ONE
echo 1 | sstore remove --no-compact --quiet ONE
echo '2 0' | exits 0 sstore add --no-compact ONE 2>&1
echo '3 0' | exits 0 sstore add --no-compact ONE 2>&1
echo "--- the largest id, and records without ids"
printf '1 18446744073709551615\n2 18446744073709551615\n' | exits 0 sstore add --no-compact ONE 2>&1
echo '4 18446744073709551615' | exits 0 sstore add --no-compact ONE 2>&1
echo '5' | sstore build --quiet --no-ids PLAIN
printf '5\n6\n6\n' | exits 0 sstore add --no-compact PLAIN 2>&1
echo "--- as many as there are, also in other segments and with little memory"
fingerprints 3000 1 | nl -v 0 -w 1 | awk '{print $2 "\t" $1}' >many
head -n 1000 many | sstore build --quiet MANY
tail -n 2000 many | sstore add --no-compact MANY 2>&1
fingerprints 3000 2 | nl -v 2500 -w 1 | awk '{print $2 "\t" $1}' | tac >others
cp -r MANY LITTLE
exits 0 sstore add --no-compact MANY others 2>&1
exits 0 sstore add --no-compact --memory 1M --threads 1 LITTLE others 2>&1
echo "--- ids to remove stand in the second field"
printf '00000000000000af\t102\n' >second
exits 1 sstore remove --no-compact --ids STORE second 2>&1
exits 0 sstore remove --no-compact --ids --columns fingerprint,id STORE second 2>&1
