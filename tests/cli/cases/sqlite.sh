# The examples of docs/sqlite.md, in SQLite's shell and in Python.
project=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../..")
page=$project/docs/sqlite.md
extension=$(dirname -- "$(realpath -- "$(command -v sstore)")")/sstore_sqlite.so
skip()
{
    echo "skipped: $1" >&3
    exit
}
# The code blocks of a language: blocks LANGUAGE
blocks()
{
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" "$page"
}
[ -e "$extension" ] || skip "there is no extension of SQLite"
command -v sqlite3 >/dev/null || skip "there is no sqlite3"
ln -s "$extension" sstore_sqlite.so
case $(sqlite3 :memory: '.load ./sstore_sqlite' 2>&1) in
*"ASan runtime"* | *"__asan_"* | *"__ubsan_"* | *"__tsan_"* | *"static TLS"*) skip "sqlite3 is built without the sanitizer" ;;
esac
printf '084adfe2d13e12cb\t1\n084adfe2d13e12c9\t2\n7d1b94a0c3f5e682\t3\n' | sstore build --quiet three.store
blocks sql >commands.sql
grep -v '^-- ' commands.sql | sqlite3 -batch >found 2>&1
diff <(sed -n 's/^-- //p' commands.sql) found
[ "$(wc -l <found)" -ge 10 ] || echo "FAILED: the page has few examples"
blocks python >commands.py
if python3 -c 'import sqlite3; sqlite3.Connection.enable_load_extension' 2>/dev/null; then
    diff <(sed -n 's/^# //p' commands.py) <(python3 commands.py 2>&1)
else
    echo "skipped: Python's sqlite3 cannot load extensions" >&3
fi
