#!/usr/bin/env bash
# Runs the benchmarks and writes what they print, and a report in Markdown with the command of each row, into a folder.
#   bench/run.sh [--PARAMETER=VALUE ...] [SECTION ...]
# Sections, all of them unless some are named: codec size query batch scan input build growth cold compare.
# Stores and data stay in the folder and are used again by the next run with the same --out: remove them by hand.
# Exits with 1 if a benchmark failed; never because of a figure.
set -euo pipefail
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$bench/table.sh"

declare -A parameter=(
  [out]=build/bench [build]='' [records]=1M [data]='uniform clustered paths' [plans]='auto 4 2' [seed]=1 [rounds]=5
  [queries]=100K [batch]=1M [scan]='1K 10K 100K 1M' [cold]=500 [build-plans]='4 2' [build-memory]=1G [build-rounds]=3
  [growth-min]=1M [growth-max]=''
  [compare-plans]='auto 4 2' [compare-io]='pread mmap memory' [compare-peers]=''
  [compare-queries]=50K [compare-distances]=3 [simd]=''
)
declare -A meaning=(
  [out]='where everything goes' [build]='a build folder; none: build/release, which is built'
  [records]='of the stores; of paths at most as many as there are' [data]='which: uniform, clustered, paths'
  [plans]='of the stores that are measured' [seed]='of data and queries'
  [rounds]='of query and compare; the median counts'
  [queries]='hits, and as many misses' [batch]='queries of a batch' [scan]='queries that are scanned for' [cold]='hits, and as many misses, on a cold cache'
  [build-plans]='of the builds that are timed' [build-memory]='what sorting may take'
  [build-rounds]='builds of each plan; the median counts' [growth-min]='records of the smallest store'
  [growth-max]='records of the largest store; none: as --records'
  [compare-plans]='of the stores beside the peers' [compare-io]='modes of sstore' [compare-peers]='which; none: all'
  [compare-queries]='hits, and as many misses' [compare-distances]='of the queries, and what the stores are built for'
  [simd]='vector instructions at most: none, avx2 or avx512; none named: what the processor has'
)
all_sections=(codec size query batch scan input build growth cold compare)

usage() {
  local name
  sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}"
  for name in "${!parameter[@]}"; do
    printf '  --%-18s %s (%s)\n' "$name=" "${meaning[$name]}" "${parameter[$name]}"
  done | sort
}

sections=()
for argument; do
  name=${argument#--} name=${name%%=*}
  if [[ $argument == --help ]]; then
    usage
    exit
  elif [[ $argument == --*=* && -v parameter[$name] ]]; then
    parameter[$name]=${argument#*=}
  elif [[ " ${all_sections[*]} " == *" $argument "* ]]; then
    sections+=("$argument")
  else
    printf 'run.sh: %s: there is no such parameter or section; see --help\n' "$argument" >&2
    exit 2
  fi
done
((${#sections[@]} > 0)) || sections=("${all_sections[@]}")
records=$(numfmt --from=si "${parameter[records]}") seed=${parameter[seed]} failures=0

if [[ -z ${parameter[build]} ]]; then
  (cd "$bench/.." && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
  parameter[build]=$bench/../build/release
fi
programs=$(realpath "${parameter[build]}/bench") sstore=$(realpath "${parameter[build]}/tools/sstore")
export PATH=$programs:$PATH SSTORE_BENCH_SIMD=${parameter[simd]}
mkdir -p "${parameter[out]}/raw"
cd "${parameter[out]}" # all commands name files in it, and no folder of this machine
report=report.md

# ----- what sections are made of -----

note() { # line; to the report and the terminal
  printf '%s\n' "$1" | tee -a "$report"
}

# Runs a benchmark and adds its rows to the report: to the table above, if that has the same columns.
measure() { # PROGRAM ARGUMENT...
  local raw
  raw=raw/$section-$(printf '%03d' $((++run_number))).txt
  if ! "$@" >"$raw"; then
    note ""
    note "Failed: \`${*##*/}\`"
    failures=$((failures + 1)) header=''
    return
  fi
  add_rows "$raw"
}

add_rows() { # FILE
  local now
  now=$(table_markdown_header "$1")
  if [[ $now != "${header:-}" ]]; then
    note ""
    note "$now"
    header=$now
  fi
  table_markdown_rows "$1" | tee -a "$report"
}

# Sets `data` to what bench_build takes for a kind of data, and `count` to how many records are taken. Fails, with a
# line in the report, if this machine does not have it.
choose_data() { # KIND
  data=$1 count=$records
  [[ $1 == paths ]] || return 0
  data=paths.u64
  if [[ ! -e $data ]] && ! "$bench/paths.sh" "$sstore" "$programs/bench_data" "$data"; then
    note "" && note "Left out: paths, for want of a Contents index (apt-file update)." && header=''
    return 1
  fi
  count=$(($(stat -c %s "$data") / 8))
  ((count <= records)) || count=$records
}

# Sets `store` to a store of a kind of data and a plan, which is built unless it is there.
choose_store() { # KIND PLAN
  choose_data "$1" || return 1
  store=$1-$count-seed$seed-plan-${2//[:,]/.}.store
  [[ -e $store ]] || bench_build --records="$count" --data="$data" --seed="$seed" --plan="$2" "$store" >"raw/$store.txt"
}

# Runs a command with each store; where auto has chosen a plan that is asked for by name, too, only once.
each_store() { # COMMAND...
  local kind plan chosen store data count
  for kind in ${parameter[data]}; do
    local -A done=()
    for plan in ${parameter[plans]}; do
      choose_store "$kind" "$plan" || break
      chosen=$(table_cell "raw/$store.txt" plan)
      [[ -v done[$chosen] ]] || measure "$@" "$store"
      done[$chosen]=1
    done
  done
}

# ----- sections -----

run_codec() {
  measure bench_codec --seed="$seed"
}

run_size() {
  each_store bench_size
}

run_query() {
  each_store bench_query --io=all --queries="${parameter[queries]}" --rounds="${parameter[rounds]}" --seed="$seed"
}

run_batch() {
  each_store bench_batch --queries="${parameter[batch]}" --seed="$seed"
}

run_scan() {
  local queries threads
  for queries in ${parameter[scan]}; do
    for threads in 1 0; do
      measure bench_scan --queries="$queries" --threads="$threads" --rounds="${parameter[rounds]}" --seed="$seed"
    done
  done
}

# Every format, as it is and as gzip and zstd compress it unless they are told otherwise.
run_input() {
  local format name file radix
  for format in hex-ids hex dec-ids u64 rec npy; do
    name=uniform-$records-seed$seed.$format radix=hex
    case $format in
      dec*) name+=.txt radix=dec ;;
      hex*) name+=.txt ;;
    esac
    [[ -e $name ]] || bench_data uniform "$records" "$seed" "$format" >"$name"
    [[ -e $name.gz ]] || gzip -k "$name"
    [[ -e $name.zst ]] || zstd -qk "$name"
    for file in "$name" "$name.gz" "$name.zst"; do
      measure bench_input --rounds="${parameter[rounds]}" --radix=$radix "$file"
    done
  done
}

run_cold() {
  each_store bench_cold --queries="${parameter[cold]}" --seed="$seed"
}

# Builds several times, and reports the run with the median time.
build_rounds() { # ARGUMENT...
  local round raw order=()
  for ((round = 0; round < ${parameter[build-rounds]}; round++)); do
    rm -rf built.store
    raw=raw/build-$(printf '%03d' $((++run_number))).txt
    if ! bench_build "$@" built.store >"$raw"; then
      note "" && note "Failed: \`bench_build $*\`" && header=''
      failures=$((failures + 1))
      return
    fi
    order+=("$(table_cell "$raw" 'total s') $raw")
  done
  rm -rf built.store
  raw=$(printf '%s\n' "${order[@]}" | sort -n | sed -n "$(((${#order[@]} + 1) / 2))p")
  add_rows "${raw#* }"
}

run_build() {
  local kind plan threads data count
  for kind in ${parameter[data]}; do
    choose_data "$kind" || continue
    for plan in ${parameter[build-plans]}; do
      for threads in 1 0; do
        build_rounds --records="$count" --data="$data" --seed="$seed" --plan="$plan" --threads="$threads" \
          --memory="${parameter[build-memory]}"
      done
    done
  done
}

run_growth() {
  local kind max=${parameter[growth-max]:-$records}
  for kind in ${parameter[data]}; do
    [[ $kind == paths ]] || measure "$bench/growth.sh" --min="${parameter[growth-min]}" --max="$max" \
      --data="$kind" --queries="${parameter[queries]}" --rounds="${parameter[rounds]}" \
      --memory="${parameter[build-memory]}" --seed="$seed" .
  done
}

run_compare() {
  local kind data count distance peers=()
  [[ -z ${parameter[compare-peers]} ]] || peers=(--peers="${parameter[compare-peers]}")
  for kind in ${parameter[data]}; do
    choose_data "$kind" || continue
    if [[ $kind != paths ]]; then
      data=$kind-$count-seed$seed.u64
      [[ -e $data ]] || bench_data "$kind" "$count" "$seed" >"$data"
    fi
    for distance in ${parameter[compare-distances]}; do
      measure "$bench/compare/compare.py" --records="$count" --distance="$distance" --plans="${parameter[compare-plans]}" \
        --io="${parameter[compare-io]}" "${peers[@]}" --queries="$(numfmt --from=si "${parameter[compare-queries]}")" \
        --rounds="${parameter[rounds]}" --seed="$seed" --work=compare "$data"
    done
  done
}

# ----- all of it -----

note "$("$bench/machine.sh")"
note "# vector instructions: ${parameter[simd]:-what the processor has}"
for section in "${sections[@]}"; do
  run_number=0 header=''
  note ""
  note "## $section"
  "run_$section"
done
((failures == 0))
