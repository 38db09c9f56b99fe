#!/usr/bin/env bash
# The big run: builds a store of a billion clustered records with each plan, within a fixed memory, then asks it, mapped
# and by pread, from the page cache and with the cache dropped, each time held to 64 MiB of memory in all. Takes some
# minutes and, with a billion records, up to 35 GB of disk; as root, for the memory cgroup.
#   bench/billion.sh [--records=N] [--plans=LIST] [--data=uniform|clustered] [--memory=SIZE] [--held=SIZE] [--queries=N]
#                    [--threads=N] [--keep] WORK
# WORK is a folder on the disk that is measured; the build folder's bench/ must be on the PATH.
set -euo pipefail
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$bench/table.sh"

records=1000000000 plans='2 3' data=clustered memory=2G held=64M queries=10000 threads=0 keep=''
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
for argument; do
  case $argument in
    --records=* | --plans=* | --data=* | --memory=* | --held=* | --queries=* | --threads=*)
      argument=${argument#--}
      printf -v "${argument%%=*}" '%s' "${argument#*=}"
      shift
      ;;
    --keep) keep=1 && shift ;;
    --*) echo "billion.sh: $argument: there is no such option" >&2; exit 2 ;;
    *) break ;;
  esac
done
(($# == 1)) || { echo "usage: billion.sh [OPTION=VALUE ...] WORK" >&2; exit 2; }
work=$1 records=$(numfmt --from=si "$records")
"$bench/machine.sh"

free_bytes() { echo $(($(stat -f -c '%a * %S' "$work"))); }

# Watches the disk until it is killed; leaves the least free space in a file.
watch_disk() {
  local least now
  least=$(free_bytes)
  while sleep 0.5; do
    now=$(free_bytes)
    ((now >= least)) || { least=$now && echo "$least" >"$work/least-free"; }
  done
}

# Asks a store within the memory. To be killed for want of it is a finding, and the next mode is measured all the same.
ask() { # MODE ARGUMENT...
  "$bench/held.sh" "$held" "$(command -v bench_latency)" --io="$1" --queries="$queries" "${@:2}" && return
  local status=$?
  ((status == 137)) || return "$status"
  echo "# killed for want of memory"
}

run() { # NAME PLAN
  local store=$work/billion-$2.store before io
  rm -rf "$store"
  before=$(free_bytes)
  echo "$before" >"$work/least-free"
  watch_disk &
  watcher=$!
  echo "== $2 tables: build"
  bench_build --records="$records" --data="$data" --plan="$2" --memory="$memory" --threads="$threads" "$store"
  kill "$watcher" && wait "$watcher" 2>/dev/null || true
  watcher=''
  awk -v a="$before" -v b="$(cat "$work/least-free")" 'BEGIN { printf "# disk at its peak: %.2f GB\n", (a - b) / 1e9 }'
  cat "$store"/seg-*/*.blk >/dev/null
  for io in mmap pread; do
    echo "== $2 tables, $io: from the page cache"
    ask "$io" "$store"
  done
  for io in mmap pread; do
    echo "== $2 tables, $io: the cache dropped before the first query"
    ask "$io" --cache=drop "$store"
  done
  [[ -n $keep ]] || rm -rf "$store"
}

watcher=''
trap '[[ -z $watcher ]] || kill "$watcher" 2>/dev/null; rm -f "$work/least-free"' EXIT
for plan in $plans; do
  run billion "$plan"
done
