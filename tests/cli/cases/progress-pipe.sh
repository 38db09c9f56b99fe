# Who reads what a command tells on stderr may go away: a command that changes stores goes on, and leaves nothing behind.
clustered 2000 97 >input
fingerprints 50 98 >others
mkdir stores
cd stores
check() # COMMAND...: its stderr is a pipe that nobody reads
{
    exec 4> >(:)
    wait $!
    exits 0 sstore "$@" 2>&4
    exec 4>&-
}
check build --progress json --plan 4 STORE ../input
check build --progress json --force STORE ../input
check add --no-compact --progress json STORE ../others
check remove --progress json STORE ../others
check compact --progress json STORE
check reindex --progress json STORE
check merge --progress json MERGED STORE
check shard --progress json --count 2 STORE part
check add --no-compact --if-new --progress json STORE ../others >/dev/null
for store in *; do
    sstore verify "$store" >/dev/null
    ls -A "$store" | sed 's/seg-[0-9a-f]*/seg-N/' | tr '\n' ' '
    echo
done
echo "--- a reader that goes away after a line"
exec 4> >(exec head -n 1 >../first)
reader=$!
exits 0 sstore build --progress json NEW ../input 2>&4
exec 4>&-
wait $reader
grep -o '"phase":"[a-z]*"' ../first
ls -A NEW | grep tmp
echo "--- a failure is one, though nobody hears of it"
echo oops >>../input
exec 4> >(:)
wait $!
exits 1 sstore build --progress json FAILED ../input 2>&4
absent FAILED
echo "--- a command that only reads is ended by the signal"
exits 141 sstore pairs --progress json STORE 2>&4 >/dev/null
