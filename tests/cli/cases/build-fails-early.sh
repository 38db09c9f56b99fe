# A build that cannot go on ends at once, also if more input may come: whoever writes it is not waited for.
fail() # COMMAND-THAT-WRITES, arguments of build
{
    mkfifo pipe
    timeout 3000 sstore build --quiet "${@:2}" STORE pipe 2>message &
    local builder=$!
    exec 3>pipe
    eval "$1" >&3 2>/dev/null
    wait $builder
    echo "exit $?"
    exec 3>&-
    sed 's/offset [0-9]*/offset N/' message
    rm pipe message
    absent STORE
}
trap '' PIPE
seq 70000 >lines
echo "--- a malformed line"
fail 'cat lines; echo oops'
fail 'cat lines; echo oops' --threads 1
fail 'cat lines; echo oops; cat lines lines lines'
echo "--- compressed"
fail '{ cat lines; echo oops; } | gzip'
fail '{ cat lines; echo oops; } | zstd -q'
fail 'gzip -c lines; printf oops'
echo "--- a file that may not grow: what is sorted does not fit in it"
ulimit -f 100
fail 'cat lines lines' --memory 1M | sed 's/tmp-[0-9a-f]*/tmp-N/'
fail 'gzip -c lines lines' --memory 1M | sed 's/tmp-[0-9a-f]*/tmp-N/'
ls
