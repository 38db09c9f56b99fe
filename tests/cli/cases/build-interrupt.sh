# SIGINT and SIGTERM end a build that is reading, with the signal's exit code and nothing left behind, whichever of its
# threads waits for what.
echo 1 | sstore build --quiet OLD
cp -a OLD COPY
interrupt()
{
    mkfifo pipe
    # The shell lets what runs in the background ignore SIGINT.
    env --default-signal=INT sstore build --quiet $2 pipe 2>message &
    local builder=$!
    exec 3>pipe
    eval "$3" >&3
    handles_term $builder
    sleep 0.3
    kill -s $1 $builder
    wait $builder
    echo "$1: exit $?"
    exec 3>&-
    rm pipe
    cat message
}
fingerprints 5000 1 >lines
interrupt INT STORE 'cat lines'
interrupt TERM STORE 'cat lines'
interrupt INT '--threads 1 STORE' 'cat lines'
interrupt INT STORE 'gzip -c lines'
interrupt TERM STORE 'gzip -c lines lines | head -c 60000'
interrupt INT '--threads 1 STORE' 'zstd -qc lines | head -c 30000'
interrupt INT STORE :
absent STORE
interrupt TERM '--force OLD' 'cat lines'
same OLD COPY
echo "--- while nobody writes to the pipe yet"
for command in "build --quiet NEW" "add --quiet OLD" "add --quiet --if-new OLD"; do
    mkfifo pipe
    sstore $command pipe 2>message &
    handles_term $!
    sleep 0.3
    kill -s TERM $!
    wait $!
    echo "exit $?"
    rm pipe
    cat message
done
absent NEW
same OLD COPY
rm message lines
ls
