# sstore names: tables from lines and back, lookups, and what is wrong with lines, ids and files.
exec 2>&1
printf '# a comment\n3\tthree\n4\t\n5\ta \\x09tab, a \\\\ and \\x00\\xff\r\n18446744073709551615\tthe last\n' >lines
exits 0 sstore names --from lines table
exits 0 sstore names table
exits 0 sstore names table 5 3
sstore names table | exits 0 sstore names --from - again
same table again
gzip -c lines | exits 0 sstore names --from - unpacked
same table unpacked
echo "--- a table is continued"
head -3 lines | exits 0 sstore names --from - parts
tail -2 lines | exits 0 sstore names --from - parts
same table parts
exits 0 sstore names --from /dev/null parts
same table parts
echo "--- an empty one"
exits 0 sstore names --from /dev/null empty
exits 0 sstore names empty
exits 1 sstore names empty 0
echo "--- lookups without result"
exits 1 sstore names table 6
exits 1 sstore names absent
exits 1 sstore names lines
exits 1 sstore names .
mkfifo pipe && exits 1 sstore names pipe
echo "--- wrong lines change nothing"
cp table before
for line in '3' '3\tagain' 'x\tname' '-1\tname' '\tname' '18446744073709551616\tname'; do
    printf -- "$line\n" | exits 1 sstore names --from - table
done
printf '1\ta\\b\n' | exits 1 sstore names --from - other
printf '1\ta\\xAB\n' | exits 1 sstore names --from - other
printf '1\ta\\' | exits 1 sstore names --from - other
(printf '1\t'; head -c 1048577 /dev/zero | tr '\0' a) | exits 1 sstore names --from - other
(printf '1\t'; head -c 1048576 /dev/zero | tr '\0' a) | exits 0 sstore names --from - other
sstore names other 1 | wc -c
exits 1 sstore names --from absent table
exits 1 sstore names --from lines absent/table
same table before
absent table.sstore-new
echo "--- another version, and damage"
printf '\x02' | dd of=again bs=1 seek=8 conv=notrunc status=none
exits 1 sstore names again
flip table 20
exits 3 sstore names table
exits 3 sstore names table 3
echo '18446744073709551615	x' | exits 3 sstore names --from - table
flip table 20
same table before
head -c 100 table >again
exits 3 sstore names again
exits 1 sstore names --from lines before/table
echo "--- one writer at a time; what a killed one leaves is replaced"
mkfifo questions
sstore names --from questions busy &
exec 4>questions
exits 1 sstore names --from lines busy # the other one reads, so it has the lock
{ kill -KILL $! && wait $!; } 2>/dev/null
exec 4>&-
[ -e busy.sstore-new ] || echo "FAILED: a killed writer could remove its file"
exits 0 sstore names --from lines busy
same table busy
absent busy.sstore-new
echo "--- a disk that is full, by a limit of file sizes"
seq 20000 | awk '{ print $1 "\t" $1 * 7919 % 10007 }' >many
(ulimit -f 8 && exits 1 sstore names --from many fresh)
absent fresh
absent fresh.sstore-new
echo "--- a signal"
sstore names --from questions signalled &
exec 4>questions
handles_term $!
kill -TERM $!
wait $!
echo "exit $?"
exec 4>&-
absent signalled
absent signalled.sstore-new
echo "--- usage"
exits 2 sstore names | head -1
exits 2 sstore names table x | head -1
exits 2 sstore names --from lines table 3 | head -1
