#!/usr/bin/env bash
# Makes stores of many kinds, changes them, and asks them, the same whatever processor SSTORE is for.
#   make_stores.sh SSTORE INPUTS FOLDER
# INPUTS is what make_inputs.sh made. FOLDER is made: stores/<name> are stores, answers/<name> what the command printed.
set -euo pipefail
sstore=$(realpath -- "$1") inputs=$(realpath -- "$2")
rm -rf -- "$3" && mkdir -p -- "$3/stores" "$3/answers" && cd -- "$3/stores"

build() { # STORE, ARGUMENTS...
  local store=$1
  shift
  "$sstore" build --quiet --memory 64M --threads 2 "$store" "$@"
}
answer() { # NAME, ARGUMENTS...
  local name=$1
  shift
  "$sstore" "$@" >"../answers/$name"
}

# ----- plans, distances and block sizes, with and without ids -----
for plan in 20 16 10 4 3 2 1 3c1 24:1,20:0,20:0; do
  build "plan-${plan//[:,]/-}" --plan "$plan" "$inputs/records"
done
for k in 0 1 2 6 16; do
  build "distance-$k" -k "$k" "$inputs/records"
done
for size in 256 512 1K 64K; do
  build "block-$size" --block-size "$size" "$inputs/records"
  build "block-$size-no-ids" --block-size "$size" --plan 2 --no-ids "$inputs/records"
  build "block-$size-crowd" --block-size "$size" --plan 2 "$inputs/crowd"
done
build recipe --recipe 'words shingle=3' "$inputs/records"
build extremes "$inputs/extremes"
build empty "$inputs/empty"
build empty-no-ids --no-ids "$inputs/empty"
build assigned-ids --first-id 70000 "$inputs/fingerprints"

# ----- more than fits into the memory, so that it is spilled and merged -----
build spilled --memory 1M --threads 1 "$inputs/many"
build spilled-no-ids --memory 1M --threads 3 --no-ids "$inputs/many"

# ----- every way in -----
build from-words "$inputs/records.rec"
build from-array "$inputs/fingerprints.npy"
build from-decimals --radix dec "$inputs/decimals"
"$sstore" dump --format rec block-512-crowd | build from-dump --block-size 512 --plan 2 --format rec -
"$sstore" fingerprint --lines "$inputs/text" | build from-text --columns fingerprint,-

# ----- segments: a copy after each change -----
change() { # FROM, TO, COMMAND, ARGUMENTS...
  local from=$1 to=$2 command=$3
  shift 3
  cp -r -- "$from" "$to"
  "$sstore" "$command" --quiet "$@"
}
for ids in ids no-ids; do
  option=()
  [ $ids = ids ] || option=(--no-ids)
  build "live-$ids" --block-size 512 "${option[@]}" "$inputs/records.old"
  change "live-$ids" "live-$ids-added" add "live-$ids-added" "$inputs/records.new"
  change "live-$ids-added" "live-$ids-removed" remove "live-$ids-removed" "$inputs/records.gone"
  change "live-$ids-removed" "live-$ids-back" add --block-size 256 --plan 2 "live-$ids-back" "$inputs/records.back"
  change "live-$ids-back" "live-$ids-compact" compact "live-$ids-compact"
  change "live-$ids-back" "live-$ids-tiered" compact --tiered "live-$ids-tiered"
done
cp -r live-ids live-if-new
answer if-new add --quiet --if-new live-if-new "$inputs/records.new"
"$sstore" remove --quiet --ids live-if-new "$inputs/ids.gone"
"$sstore" merge --quiet merged live-ids plan-4
"$sstore" shard --quiet --count 3 live-ids-back shard

# ----- answers -----
for store in *; do
  answer "dump-$store" dump "$store"
  answer "verify-$store" verify "$store"
done
for store in block-512 block-1K-crowd live-ids-back live-no-ids-back distance-6; do
  answer "query-$store" query --input "$inputs/queries" "$store"
  answer "near-$store" query --nearest --json --input "$inputs/queries" "$store"
  answer "far-$store" query -k 9 --limit 5 --io mmap --threads 1 --input "$inputs/queries.few" "$store"
  answer "pairs-$store" pairs --quiet --memory 64M "$store"
  answer "clusters-$store" clusters --quiet --memory 64M "$store"
done
answer dump-rec dump --format rec live-ids-back
answer dump-u64 dump --format u64 live-no-ids-back
answer join join --quiet --memory 64M live-ids-back block-512-crowd
answer scan-lines scan --threads 1 --queries "$inputs/queries" "$inputs/many"
answer scan collect ../answers/scan-lines
answer text fingerprint --lines "$inputs/text"
answer text-chars fingerprint --lines --features chars "$inputs/text"
for n in 1000 1M 1G; do
  for objective in size balanced latency; do
    answer "plan-$n-$objective" plan --all --json -n $n --objective $objective
  done
done
answer plan-sample plan --all --json -n 1M --sample "$inputs/crowd"
