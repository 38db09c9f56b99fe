#!/usr/bin/env bash
# Makes the real data: simhashes (character 4-grams) of the file paths in Debian's Contents index, a fingerprint for
# each line of the index, as little-endian 64-bit numbers. The package column is stripped.
#   bench/paths.sh SSTORE BENCH_DATA OUT.u64
# SSTORE and BENCH_DATA are the two programs. Needs what `apt-get install apt-file && apt-file update` leaves behind;
# exits with 3 if it is not there.
set -euo pipefail
(($# == 3)) || { echo "usage: paths.sh SSTORE BENCH_DATA OUT.u64" >&2; exit 2; }
sstore=$1 bench_data=$2 out=$3

shopt -s nullglob
lists=(/var/lib/apt/lists/*_main_Contents-{all,amd64}.lz4)
if ((${#lists[@]} == 0)); then
  echo "paths.sh: there is no Contents index; as root: apt-get install apt-file && apt-file update" >&2
  exit 3
fi

for list in "${lists[@]}"; do
  /usr/lib/apt/apt-helper cat-file "$list"
done | sed 's/[[:space:]]\+[^[:space:]]*$//' | "$sstore" fingerprint --no-comments --lines --features chars |
  "$bench_data" hex >"$out.part"
mv "$out.part" "$out"
