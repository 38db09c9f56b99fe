# SIGINT and SIGTERM end a command whose results nobody takes from the pipe, with the signal's exit code: while it waits
# for room, and if the signal comes before that.
# Numbers up to 3,000 behind 96 equal bits: all of them are near each other.
for ((i = 0; i < 3000; i++)); do printf '5a5a5a5aa5a5a5a512345678%08x\n' $i; done >numbers
sstore build --quiet --distance 16 STORE numbers
sstore build --quiet --distance 16 OTHER numbers
mkfifo pipe
exec 4<>pipe
interrupt() # signal, seconds, command
{
    # The shell lets what runs in the background ignore SIGINT.
    env --default-signal=INT sstore $3 >pipe 2>message &
    local command=$!
    handles_term $command
    sleep $2
    kill -s $1 $command
    wait $command
    echo "exit $?"
    cat message
    timeout 0.2 cat pipe >ignored
}
seq 1 50000 | awk '{ print $1, $1 + 1 }' >edges
for seconds in 0 0.05 0.1 0.2 0.4 0.8; do
    interrupt TERM $seconds "pairs --distance 16 STORE"
done
interrupt INT 1 "clusters --singles STORE"
interrupt INT 1 "clusters --edges edges"
interrupt INT 1 "pairs --json --distance 16 STORE"
interrupt INT 1 "join --distance 16 STORE OTHER"
interrupt TERM 1 "add --if-new --limit 5 --distance 16 STORE numbers"
rm pipe message ignored edges numbers
exec 4>&-
