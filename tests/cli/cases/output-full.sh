# Output that cannot be written is a failure with a message, for every command.
exec 2>&1
fingerprints 2000 71 >input
sstore build --quiet STORE input
full()
{
    "$@" >/dev/full
    echo "exit $?: $*"
}
full sstore --help
full sstore --version
full sstore build --help
full sstore query -k 64 STORE 1
full sstore query -k 64 --json STORE 1
full sstore query --count STORE 1
full sstore query -k 64 --input input STORE
full sstore stat STORE
full sstore stat --json STORE
full sstore verify STORE
full sstore dump STORE
yes 1 | full sstore query -k 64 STORE
full sstore scan -k 16 --queries input input
yes 1 | full sstore scan --queries <(echo 1)
full sstore collect <(sstore scan --queries input input)
echo "--- a closed stdout"
exits 1 sstore dump STORE >&-
exits 1 sstore query -k 64 STORE 1 >&-
exits 1 sstore scan --queries input input >&-
exits 0 sstore build --quiet --force STORE input >&-
exits 0 sstore verify STORE | sed 's/bytes .*/bytes N/'
echo "--- a closed stdin and stderr"
exits 1 sstore build NEW <&-
exits 1 sstore build NEW missing 2>&-
absent NEW
