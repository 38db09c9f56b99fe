# Have I seen this? With names: answers show them, of records that wait too, and a new record keeps the id of its name.
printf '%s\n' '0 a.txt' 'ff b.txt' | sstore build --quiet --names STORE
printf '%s\n' '1 near-a' 'f000 new name' 'f001 near-new' 'fff000 b.txt' 'abcdef000000 again' '123456000000 again' >input
tr ' ' '\t' <input | sed 's/\t\(name\)/ \1/' >input.tsv
exits 0 sstore add --if-new STORE input.tsv
exits 0 sstore dump STORE
exits 0 sstore get --name --json STORE again
exits 0 sstore verify STORE
echo "--- JSON Lines, and published all the time"
printf '{"fingerprint":"%s","name":"%s"}\n' 3 'é' f00000000 'x y' f00000001 z 50ff000000000 'x y' |
    exits 0 sstore add --quiet --if-new --json --publish-every 1 --format jsonl STORE
exits 0 sstore get --name --json STORE 'x y'
echo "--- what was seen in another store"
printf '777000000\tc.txt\n' | sstore build --quiet --names other.store
printf '777000001\td.txt\n1\te.txt\n' | exits 0 sstore add --quiet --if-new --also other.store STORE
echo "--- wrong input"
echo 777 | exits 1 sstore add --if-new STORE
printf '777\t\\x00\n' | exits 1 sstore add --if-new STORE
printf '0\t1\n' | sstore build --quiet plain.store
printf '777\tname\n' | exits 1 sstore add --if-new plain.store
echo '{"text": "one two three four five"}' | exits 1 sstore dedup --update STORE
