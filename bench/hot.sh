#!/usr/bin/env bash
# What does a query cost if all records have the same fingerprint? Builds a store of equal fingerprints, asks it for a few of
# them, for their number and whether records are new, and prints the seconds and the peak memory of each command.
#   bench/hot.sh [--records=N] WORK
# WORK is a folder with room for the store, some 10 bytes a record. `sstore` must be on the PATH. Needs GNU time.
set -euo pipefail

records=20000000
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
while (($# > 0)); do
  case $1 in
    --records=*) records=$(numfmt --from=si "${1#*=}") ;;
    --*) echo "hot.sh: $1: there is no such option" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
(($# == 1)) || { echo "usage: hot.sh [--records=N] WORK" >&2; exit 2; }
store=$1/hot.store zeros=$1/hot-zeros.txt times=$1/hot-times.txt
trap 'rm -rf "$store" "$zeros" "$times"' EXIT

head -c "$((8 * records))" /dev/zero | sstore build --quiet --format u64 "$store" -
for ((i = 0; i < 100; i++)); do echo 0; done >"$zeros"

echo 'seconds  MiB    command'
measure() { # ARGUMENT...
  /usr/bin/time -f '%e %M' -o "$times" sstore "$@" >/dev/null
  awk -v command="$*" '{ printf "%-7s  %-5.1f  sstore %s\n", $1, $2 / 1024, command }' "$times"
}
measure query -k 0 --limit 1 "$store" 0
measure query -k 0 --count "$store" 0
measure query --nearest --limit 1 "$store" 0
measure query --nearest --count "$store" 0
measure query --memory 64M --io pread --limit 1000 "$store" 0
measure add --quiet --if-new --limit 1 "$store" "$zeros"
