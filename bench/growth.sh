#!/usr/bin/env bash
# How does the warm query grow with the store? For 1 M, 2 M, 5 M, 10 M ... records up to a largest number: builds a
# store with each plan, asks it (bench_query), and removes it. Ratios are to the smallest store of the same plan.
#   bench/growth.sh [--max=N] [--min=N] [--plans=LIST] [--data=uniform|clustered] [--io=MODE] [--queries=N] [--rounds=N]
#                   [--memory=SIZE] [--seed=N] WORK
# WORK is a folder with room for the largest store; the build folder's bench/ must be on the PATH.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/table.sh"

min=1000000 max=10000000 plans='2 auto' data=uniform io=mmap queries=100000 rounds=5 memory=1G seed=1
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
for argument; do
  case $argument in
    --min=* | --max=* | --plans=* | --data=* | --io=* | --queries=* | --rounds=* | --memory=* | --seed=*)
      argument=${argument#--}
      printf -v "${argument%%=*}" '%s' "${argument#*=}"
      shift
      ;;
    --*) echo "growth.sh: $argument: there is no such option" >&2; exit 2 ;;
    *) break ;;
  esac
done
(($# == 1)) || { echo "usage: growth.sh [OPTION=VALUE ...] WORK" >&2; exit 2; }
work=$1 min=$(numfmt --from=si "$min") max=$(numfmt --from=si "$max")
store=$work/growth.store
trap 'rm -rf "$store" "$work"/growth-*.txt' EXIT

# Prints 1, 2 and 5 times the powers of ten that lie between min and max.
sizes() {
  local power factor
  for ((power = 1000; power <= max; power *= 10)); do
    for factor in 1 2 5; do
      ((power * factor < min || power * factor > max)) || echo $((power * factor))
    done
  done
}

ratio() { # A B
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

# Builds and asks one store, and prints its row. Sets first_hits and first_misses if they are empty.
measure() { # PLAN RECORDS
  local hits misses
  rm -rf "$store"
  bench_build --records="$2" --plan="$1" --data="$data" --seed="$seed" --memory="$memory" "$store" \
    >"$work/growth-build.txt"
  bench_query --io="$io" --queries="$queries" --rounds="$rounds" --seed="$seed" "$store" >"$work/growth-query.txt"
  hits=$(table_cell "$work/growth-query.txt" 'hits us') misses=$(table_cell "$work/growth-query.txt" 'misses us')
  first_hits=${first_hits:-$hits} first_misses=${first_misses:-$misses}
  printf '%-4s  %10s  %6s  %7s  %9s  %10s  %12s  %10s  %11s  %7s\n' "$1" "$2" \
    "$(table_cell "$work/growth-build.txt" tables)" "$hits" "$misses" "$(ratio "$hits" "$first_hits")" \
    "$(ratio "$misses" "$first_misses")" "$(table_cell "$work/growth-query.txt" 'memory MiB')" \
    "$(table_cell "$work/growth-query.txt" 'store B/rec')" "$(table_cell "$work/growth-build.txt" 'total s')"
}

echo "# $data, seed $seed; $queries queries of each kind, $io, warm, one thread, median of $rounds rounds"
echo 'plan     records  tables  hits us  misses us  hits/first  misses/first  memory MiB  store B/rec  build s'
for plan in $plans; do
  first_hits='' first_misses=''
  for records in $(sizes); do
    measure "$plan" "$records"
  done
done
