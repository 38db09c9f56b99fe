#!/bin/bash
# Run one case of the command-line tests.
#
#   run.sh SSTORE CASE.sh      exit 0 if the case's output is what is expected, otherwise 1 and the differences
#
# The case runs in a fresh folder with SSTORE as `sstore` on its PATH and the functions of lib.sh. Beside CASE.sh lie
# CASE.stdout, and where they are not empty and 0, CASE.stderr and CASE.exit: all three must be met exactly. What the case
# writes to descriptor 3 is for people, and is shown.
# UPDATE=1 writes what comes out to these files instead; read the difference before you keep it.
set -u
if [ $# -ne 2 ]; then
    echo "usage: run.sh SSTORE CASE.sh" >&2
    exit 2
fi
sstore=$(realpath -- "$1") && case_file=$(realpath -- "$2") || exit 2
base=${case_file%.sh}
library=$(dirname -- "$(realpath -- "$0")")/lib.sh

folder=$(mktemp -d) || exit 1
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$sstore" "$folder/bin/sstore"

(
    cd "$folder/work" || exit 1
    unset NO_COLOR
    for descriptor in {4..63}; do # what was open outside: the first <(...) of a case is /dev/fd/63
        eval "exec $descriptor>&-"
    done
    export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 PATH="$folder/bin:$PATH"
    exec timeout 3600 bash -c '. "$0"; . "$1"' "$library" "$case_file" </dev/null
) 3>&1 >"$folder/stdout" 2>"$folder/stderr"
echo $? >"$folder/exit"

# Expectations that are not written down: nothing on stderr, exit code 0.
expected_file()
{
    if [ -e "$base.$1" ]; then
        echo "$base.$1"
    elif [ "$1" = exit ]; then
        echo 0 >"$folder/expected.exit"
        echo "$folder/expected.exit"
    else
        : >"$folder/expected.$1"
        echo "$folder/expected.$1"
    fi
}

failed=0
for part in stdout stderr exit; do
    expected=$(expected_file "$part")
    if cmp -s -- "$expected" "$folder/$part"; then
        continue
    elif [ -n "${UPDATE:-}" ]; then
        cp -- "$folder/$part" "$base.$part"
        continue
    fi
    echo "$(basename -- "$base"): $part differs (- expected, + found):"
    diff -u --label expected --label found -- "$expected" "$folder/$part" | tail -n +3
    failed=1
done
exit $failed
