# Without /proc nothing can open a store or make one, and the message says so. Needs leave to mount something in a namespace.
exec 2>&1
echo 1 >input
sstore build --quiet STORE input
cp -a STORE COPY
without_proc()
{
    unshare "$map" -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
# As root there is no need of a namespace of users; a program made with sanitizers cannot start there.
for map in --fork --map-root-user none; do
    [ "$map" = none ] || ! without_proc sstore --version >/dev/null 2>&1 || break
done
if [ "$map" = none ]; then
    echo "not tried: this process may not take /proc away, or the command does not start without it" >&3
    exit
fi
expect() # MESSAGE COMMAND...
{
    exits 1 without_proc "${@:2}" >said 2>&1
    grep -q ": $1 failed: there is no /proc/self/fd, which LMDB needs; mount /proc$" said ||
        echo "FAILED: ${*:2}: $(<said)"
}
expect "opening the directory" sstore query STORE 1
expect "opening the directory" sstore verify STORE
expect "creating the directory" sstore build --quiet NEW input
expect "creating the directory" sstore build --quiet --force STORE input
expect "opening the directory" sstore add --quiet STORE input
absent NEW
same STORE COPY
