# What scan and collect refuse, with the place.
exec 2>&1
printf '1\n' >queries
printf '1 5\nx\n' >bad
printf '1 5\n' >good
exits 1 sstore scan --queries queries bad 2>message # the records before are scanned
cat message
exits 1 sstore scan --queries bad good
exits 1 sstore scan --queries queries good missing
exits 1 sstore scan --queries missing good
printf '1 5\n1\n' | exits 1 sstore scan --queries queries 2>message
cat message
echo "--- collect: malformed lines"
line='0000000000000001\t0000000000000003\t1\t5'
collect()
{
    printf "$line\n$1" | exits 1 sstore collect
}
collect '0000000000000001\t0000000000000003\t1\n'
collect '0000000000000001\t0000000000000003\t1\t5\t\n'
collect '0000000000000001 0000000000000003 1 5\n'
collect '000000000000001\t0000000000000003\t1\t5\n'
collect '00000000000000001\t0000000000000003\t1\t5\n'
collect '000000000000000g\t0000000000000003\t1\t5\n'
collect '0000000000000001\t0000000000000003\t1\t18446744073709551616\n'
collect '0000000000000001\t0000000000000003\t1\t-1\n'
collect '0000000000000001\t0000000000000003\t\t1\n'
collect '0000000000000001\t0000000000000003\t1\t5\0\n'
collect 'oops'
collect "$(printf '0%.0s' {1..5000})"
echo "--- a distance that is not theirs"
collect '0000000000000001\t0000000000000003\t2\t5\n'
echo "--- ids and no ids"
collect '0000000000000001\t0000000000000002\t2\t-\n'
printf '0000000000000001\t0000000000000003\t1\t-\n' >without
printf "$line\n" >with
exits 1 sstore collect without with
exits 1 sstore collect with with without
exits 0 sstore collect without without
echo "--- files"
exits 1 sstore collect with missing
exits 1 sstore collect .
exits 1 sstore collect --tmp-dir missing with
gzip -c with | head -c 20 >cut.gz
exits 1 sstore collect cut.gz
echo "--- a line that is too long, unpacked"
{ cat with; head -c 17000000 /dev/zero; } | gzip >long.gz
exits 1 sstore collect long.gz
echo "--- another width than that of the queries"
echo 84ad7e0ad13e1a8b >narrow
echo 84ad7e0ad13e1a8b84ad7e0ad13e1a8b >wide
exits 1 sstore scan --queries narrow wide
exits 1 sstore scan --queries wide narrow
exits 1 sstore build TWO narrow wide
head -c 64 /dev/zero >zeros.u64
printf 1 | exits 1 sstore build TWO wide zeros.u64 -
