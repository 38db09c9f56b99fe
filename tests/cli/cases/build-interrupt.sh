# SIGINT and SIGTERM end a build that is reading, with the signal's exit code and nothing left behind.
echo 1 | sstore build --quiet OLD
cp -a OLD COPY
interrupt()
{
    mkfifo pipe
    # The shell lets what runs in the background ignore SIGINT.
    env --default-signal=INT sstore build --quiet $2 pipe 2>message &
    local builder=$!
    exec 3>pipe
    fingerprints 5000 1 >&3
    sleep 0.3
    kill -s $1 $builder
    wait $builder
    echo "$1: exit $?"
    exec 3>&-
    rm pipe
    cat message
}
interrupt INT STORE
interrupt TERM STORE
absent STORE
interrupt TERM '--force OLD'
same OLD COPY
rm message
ls
