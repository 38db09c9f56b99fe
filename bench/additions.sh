#!/usr/bin/env bash
# What do many small additions leave of a store? Adds one record after another by `sstore add`, and compares the store with
# a fresh one of the same records: segments, files, and the times of queries with and without a match.
#   bench/additions.sh [--bits=B] [--distance=K] [--records=N] [--additions=N] WORK
#     --bits        of a fingerprint, a multiple of 64; 64 without it
#     --distance    of the store; 3 without it
#     --records     in the store before; 1,000 without it
#     --additions   1,000 without it
# WORK is a folder. `sstore` must be on the PATH, with `bench_data` and `bench_query`.
set -euo pipefail

bits=64 distance=3 records=1000 additions=1000
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
while (($# > 0)); do
  case $1 in
    --bits=* | --distance=* | --records=* | --additions=*) argument=${1#--} && printf -v "${argument%%=*}" '%s' "${argument#*=}" ;;
    --*) echo "additions.sh: $1: there is no such option" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
(($# == 1)) || { echo "usage: additions.sh [OPTION...] WORK" >&2; exit 2; }
grown=$1/grown.store fresh=$1/fresh.store data=$1/additions.txt
trap 'rm -rf "$grown" "$fresh" "$data"' EXIT

bench_data uniform $((records + additions)) 1 hex-ids "$bits" >"$data"
head -n "$records" "$data" | sstore build --quiet -k "$distance" "$grown" -
most=0 begin=$(date +%s%N)
while read -r row; do
  sstore add --quiet "$grown" - <<<"$row"
  segments=$(compgen -G "$grown/seg-*" | wc -l)
  most=$((segments > most ? segments : most))
done < <(tail -n "$additions" "$data")
echo "milliseconds of an addition: $((($(date +%s%N) - begin) / additions / 1000000))"
sstore build --quiet -k "$distance" "$fresh" "$data"
cmp <(sstore query --input "$data" "$grown" | sort) <(sstore query --input "$data" "$fresh" | sort)
echo "most segments: $most"
for store in "$grown" "$fresh"; do
  echo "$(basename "$store"): files $(find "$store" -type f | wc -l)"
  bench_query "$store"
done
