# Help and version go to stdout and exit 0, for all and for each command.
sstore --help
sstore -h | cmp - <(sstore --help)
sstore help | cmp - <(sstore --help)
exits 0 sstore --version | sed 's/[0-9][0-9.]*$/VERSION/'
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    echo "--- $command"
    exits 0 sstore $command --help | head -1
    [[ -e ${BASH_SOURCE[0]%/tests/*}/tools/man/sstore-$command.1 ]] || echo "no man page"
    sstore help $command | cmp - <(sstore $command --help)
    sstore $command --version | cmp - <(sstore --version)
done
echo '--- other ways to ask for help'
sstore help help | cmp - <(sstore --help)
sstore help --help | cmp - <(sstore --help)
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    exits 0 sstore $command -h | cmp - <(sstore $command --help)
    exits 0 sstore $command -'?' | cmp - <(sstore $command --help)
done
exits 2 sstore help build query 2>&1
echo "--- what a first use of texts needs is in the short help; no line has only spaces"
sstore help fingerprint | sed -nE 's/^ +--(jsonl|lines|text-field|id-field|skip-bad)\b.*/\1/p'
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    { sstore $command --help=all; sstore $command --help; } | grep -c '^ \+$' | grep -vx 0
done
true
