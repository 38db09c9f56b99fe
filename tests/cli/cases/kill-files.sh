# kill -9 of commands that write one file: at most FILE.sstore-new is left, FILE is whole, and the next run takes the rest
# over. Half of the kills are at any time, the others when that file is there.
exec 2>&1
kills=$([ -n "${SSTORE_TEST_LONG:-}" ] && echo 300 || echo 30)
RANDOM=${SSTORE_TEST_SEED:-$RANDOM}
seq 60000 | awk '{ printf "word%d word%d word%d\n", $1 % 30000, $1 % 20000, $1 * 7 % 25000 }' >words
clustered 20000 5 | sstore build --quiet -k 3 STORE
export SOURCE_DATE_EPOCH=1700000000
now() { date +%s%N; }

# FILE COMMAND...: run it, kill it many times, and at last let it end.
kill_often()
{
    local file=$1 begin usual left=0 killed=0 child found
    shift
    begin=$(now)
    exits 0 "$@" >/dev/null 2>&1
    usual=$(($(now) - begin))
    mv "$file" expected
    for ((i = 0; i < kills; i++)); do
        "$@" >/dev/null 2>&1 &
        child=$!
        if ((i % 2 == 0)); then
            sleep "$(awk -v most="$usual" -v part=$RANDOM 'BEGIN { printf "%.6f", most * part / 32768 / 1e9 }')"
        else
            while [ ! -e "$file.sstore-new" ] && kill -0 "$child" 2>/dev/null; do :; done
        fi
        kill -KILL "$child" 2>/dev/null
        wait "$child" 2>/dev/null && killed=$((killed - 1))
        killed=$((killed + 1))
        found=$(echo "$file"*)
        case $found in
        "$file" | "$file.sstore-new" | "$file $file.sstore-new" | "$file*") ;;
        *) echo "FAILED: left are $found" ;;
        esac
        [[ $found != *.sstore-new ]] || left=$((left + 1))
        [ ! -e "$file" ] || cmp "$file" expected || echo "FAILED: $file is not whole"
        ((i % 3 == 0)) || rm -f "$file"
    done
    rm -f "$file"
    exits 0 "$@" >/dev/null 2>&1
    cmp "$file" expected
    absent "$file.sstore-new"
    echo "figure: $file: $killed runs were killed, $left left $file.sstore-new" >&3
}
kill_often table sstore idf --lines --shingle 1 table words
kill_often page.html sstore report STORE -o page.html
ls
