# Where a process may make no files, or only short ones, it is an error with a message, and never the signal SIGXFSZ. (A
# message to a file would be held to the limit as well, hence the pipes.)
clustered 3000 95 >input
head -n 20 input >few
sstore build --quiet STORE input
limited() # KIB COMMAND...
{
    local code
    {
        (
            ulimit -f "$1"
            "${@:2}"
        )
        code=$?
        echo "exit $code"
    } 2>&1 | sed 's/seg-[0-9a-f]*/seg-N/; s/tmp-[0-9a-f]*/tmp-N/; s/of [0-9]\{3,\} bytes/of N bytes/' | cat
}
query=$(head -1 input)
for command in "query --count STORE $query" "stat STORE" "dump STORE" "pairs STORE"; do
    limited 0 sstore $command
done
echo "--- in a limit that its directory keeps to"
limited 100 sstore query --count STORE "$query" | cut -f 2
echo "--- output to a file"
for command in "dump STORE" "query --input input STORE" "fingerprint --lines input" "scan --queries input input"; do
    limited 40 eval "sstore $command >output"
    wc -c <output
done
echo "--- a store to be made"
limited 8 sstore build --quiet NEW input
absent NEW
echo "--- a directory to be made"
sstore build --quiet STORE.few few
for limit in 0 1 4 8 9 15; do
    limited $limit sstore reindex --all STORE.few
done
sstore verify STORE.few
