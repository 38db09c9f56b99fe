#!/usr/bin/env bash
# How many requests does 'sstore serve' answer, beside a server of the same HTTP library that does nothing, and beside the
# library's own batches? Half of the queries are hits. One process, wrk, makes the requests on the same machine.
#   bench/serve.sh [--seconds=N] [--rounds=N] [--connections=N] [--threads=N] [--forms=LIST] [--write] STORE
# Rounds take turns; medians count. LIST has FORM:BATCH with commas between: the form of requests, get, json or binary, and
# their number of queries. --write: meanwhile another process adds records and compacts, which changes STORE. Memory is
# looked at after a second of each form, and at the end.
# sstore and the build folder's bench/ must be on the PATH, and wrk is needed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

seconds=5 rounds=3 connections=16 threads=1 forms=get:1,json:1,binary:1,json:1000,binary:1000 write=
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
for argument; do
  case $argument in
    --seconds=* | --rounds=* | --connections=* | --threads=* | --forms=*)
      argument=${argument#--}
      printf -v "${argument%%=*}" '%s' "${argument#*=}"
      shift
      ;;
    --write) write=1; shift ;;
    --*) echo "serve.sh: $argument: there is no such option" >&2; exit 2 ;;
    *) break ;;
  esac
done
(($# == 1)) || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
store=$1 forms=${forms//,/ }
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

# 100,000 queries, half of them fingerprints of the store.
sstore dump --no-comments "$store" | awk -v step="$(($(sstore stat "$store" | awk '/^records/ { print $2 }') / 50000))" \
  'NR % step == 0 && ++count <= 50000 { print $1 }' >"$work/hits"
bench_data uniform 50000 987654 | od -An -v -tx8 -w8 | tr -d ' ' >"$work/misses"
paste -d '\n' "$work/hits" "$work/misses" | shuf --random-source="$work/misses" >"$work/queries"

sstore serve "$store" --listen 127.0.0.1:7464 --threads "$threads" --quiet &
server=$!
bench_http --threads="$threads" --port=7465 >/dev/null &
writer=
if [ -n "$write" ]; then
  ( # adds 10,000 records a second, and compacts
    for ((i = 1; ; i++)); do
      bench_data uniform 10000 "$i" >"$work/new.u64"
      sstore add --quiet "$store" "$work/new.u64"
      sleep 1
    done
  ) &
  writer=$!
fi
sleep 1

run() { # PORT FORM:BATCH SECONDS
  SSTORE_QUERIES=$work/queries SSTORE_FORM=${2%:*} SSTORE_BATCH=${2#*:} wrk -t 1 -c "$connections" -d "$3" --latency \
    -s "$here/serve.lua" "http://127.0.0.1:$1" | tail -n 1
}

median() { # FILE COLUMN
  sort -n -k "$2,$2" "$1" | awk -v column="$2" '{ rows[NR] = $column } END { print rows[int((NR + 1) / 2)] }'
}

resident() { # in KiB
  awk '/VmRSS/ { print $2 }' "/proc/$server/status"
}

for form in $forms; do
  run 7464 "$form" 1 >/dev/null
done
resident_before=$(resident)
# Queries per second of the library, in batches of 1,000, one thread on each processor.
run_library() {
  local i
  for ((i = 0; i < $(nproc); i++)); do
    bench_batch --queries=100K --at-once=1000 --threads=1 --rounds="$((seconds * 5))" --seed="$i" "$store" >"$work/library-$i" &
    library[i]=$!
  done
  wait "${library[@]}"
  for ((i = 0; i < $(nproc); i++)); do
    awk 'END { print 1e6 / $5 }' "$work/library-$i"
  done | awk '{ sum += $1 } END { print sum }'
}

for ((round = 0; round < rounds; round++)); do
  run_library >>"$work/library"
  for form in $forms; do
    run 7464 "$form" "$seconds" >>"$work/serve-$form"
    run 7465 "$form" "$seconds" >>"$work/empty-$form"
  done
done

echo "# $(nproc) processors, $connections connections, $threads network threads, $rounds rounds of $seconds s, medians${write:+; another process adds and compacts}"
echo 'request           requests/s  of empty  queries/s    p50 ms    p99 ms  p99.9 ms  failed'
for form in $forms; do
  awk -v form="$form" -v batch="${form#*:}" -v rate="$(median "$work/serve-$form" 2)" -v empty="$(median "$work/empty-$form" 2)" \
    -v p50="$(median "$work/serve-$form" 3)" -v p99="$(median "$work/serve-$form" 4)" -v p999="$(median "$work/serve-$form" 5)" \
    -v failed="$(awk '{ sum += $6 } END { print sum }' "$work/serve-$form")" \
    'BEGIN { printf "%-16s  %10.0f  %6.0f %%  %9.0f  %8.3f  %8.3f  %8.3f  %6d\n", form, rate, 100 * rate / empty, rate * batch, p50 / 1000, p99 / 1000, p999 / 1000, failed }'
done
requests=$(cat "$work"/serve-* | awk '{ sum += $1 } END { print sum }')
echo "# the library alone: $(median "$work/library" 1 | numfmt --format=%.0f) queries/s in batches of 1,000, a thread on each processor"
echo "# resident memory of the server: $resident_before KiB after the first requests, $(resident) KiB after $requests more"
kill $writer 2>/dev/null || true
