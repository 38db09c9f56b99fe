# Several threads give what one does, in the same order, from files, lines and pipes; and each document what it gives alone.
awk 'function random(n) { state = (state * 16807) % 2147483647; return state % n }
  BEGIN { state = 7; for (i = 0; i < 60000; i++) { n = random(random(40) + 1); line = ""
    for (j = 0; j < n; j++) line = line " w" random(3000); print line } }' >lines
for threads in 1 2 3 7; do
    sstore fingerprint --no-comments --lines --threads "$threads" lines lines 2>messages >"of-$threads"
    cat messages
    cmp of-1 "of-$threads"
    cat lines | sstore fingerprint --no-comments --lines --threads "$threads" - lines 2>messages | cmp of-1 -
done
echo "--- one by one"
awk 'NR % 6000 == 0' lines >some
while read -r line; do
    printf '%s' "$line" | sstore fingerprint --no-comments 2>messages | cut -f 1
done <some >singly
sstore fingerprint --no-comments --lines some 2>messages | cut -f 1 | cmp singly -
echo "--- many files, of all sizes"
mkdir files && split -l 500 -d -a 3 lines files/part- && cp lines files/part-050 && : >files/part-060
for threads in 1 2 5; do
    sstore fingerprint --no-comments --threads "$threads" files/* 2>messages >"files-$threads"
    cat messages
    cmp files-1 "files-$threads"
done
wc -l <files-1
echo "--- an input that fails"
gzip -c lines | head -c 20000 >cut.gz
exits 1 sstore fingerprint --threads 3 files/part-001 cut.gz absent 2>&1 | cut -f 2
echo "--- answers come while the writer waits"
mkfifo questions answers
sstore fingerprint --no-comments --lines --threads 3 <questions >answers &
exec 4>questions 5<answers
for word in one two three; do
    echo "$word" >&4
    read -r -t 60 answer <&5 && echo "$word: $answer"
done
exec 4>&- 5<&-
wait
echo "--- a full disk ends all"
exits 1 sstore fingerprint --no-comments --lines --threads 3 lines >/dev/full 2>messages
head -1 messages
