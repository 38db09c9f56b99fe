#!/usr/bin/env bash
# Builds and runs the tests, on a fresh Debian or Ubuntu machine too: installs what is missing. The jobs:
#   asan       every test, with the address and undefined-behaviour sanitizers
#   release    optimised, the tests that do not damage files, since optimised code can behave differently
#   tsan       the tests that have threads, with the thread sanitizer
#   clang      compiled by clang, the unit and property tests, but for the two longest, which gcc's build runs
#   coverage   how much of the library the tests run: tests/coverage.sh
#   analyze    bugs that are seen without running anything: tests/analyze.sh
#   tests/run.sh [--long] [JOB...]      these jobs, or `all`; without any, asan and release
#       --long: damage tests try every bit and every length (takes hours)
# With CI set, warnings are errors. Ends with what each job came to, and exits other than 0 if anything failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

timeout=900
all_jobs=(asan release tsan clang coverage analyze)
jobs=()
for argument in "$@"; do
  case $argument in
    asan | release | tsan | clang | coverage | analyze) jobs+=("$argument") ;;
    all) jobs=("${all_jobs[@]}") ;;
    --long) export SSTORE_TEST_LONG=1 timeout=36000 ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "tests/run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
((${#jobs[@]} > 0)) || jobs=(asan release)

# Those that start threads, or whose library calls do.
threaded='^(unit\.(components|directory|edge_filter|fingerprint_index|join_tables|pool|publish|sorter|workplace)'
threaded+='|property\.(batch|builds|changes|intake|joins|query_property|scan)|limits\.opens)$'

say() { printf '\n== %s\n' "$*"; }
minutes() { printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); }

# ----- what is missing -----
. tests/packages.sh
need_command cc build-essential
need_command c++ build-essential
need_libraries
need_command zstd zstd
need_command python3 python3
[[ " ${jobs[*]} " != *" clang "* ]] || need_command clang clang
install_missing

# ----- build and test -----
werror=OFF
[ -n "${CI:-}" ] && werror=ON

build_and_test() { # preset, ctest arguments...
  local preset=$1 output
  shift
  say "$preset: build"
  if ! output=$(cmake --preset "$preset" -DSSTORE_WERROR=$werror -DSSTORE_TESTS=ON -DSSTORE_TOOLS=ON 2>&1); then
    echo "$output"
    return 1
  fi
  cmake --build --preset "$preset" -j "$(nproc)" || return 1
  say "$preset: tests"
  ctest --preset "$preset" -j "$(nproc)" --timeout "$timeout" "$@" 2>&1 | tee "build/$preset/tests.log"
  return "${PIPESTATUS[0]}"
}

run_job() {
  case $1 in
    asan) build_and_test asan ;;
    release) build_and_test release -L '^(unit|cli|property|limits|faults|format)$' ;;
    tsan) build_and_test tsan -R "$threaded" ;;
    clang) build_and_test clang -L '^(unit|property)$' -E '^property\.(same_matches|query_property)$' ;;
    coverage) tests/coverage.sh ;;
    analyze) tests/analyze.sh ;;
  esac
}

# What a job came to: ctest's closing lines, or another script's, and what single tests say of themselves.
conclude() { # job
  local log=build/$1/tests.log results=build/$1/Testing/Temporary/LastTest.log
  [ -e "$log" ] && sed -n '/tests passed,/,$p' "$log"
  [ -e "build/$1/figures.txt" ] && cat "build/$1/figures.txt"
  [ -e "$results" ] && awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 } sub(/^figure: /, "") { print test ": " $0 }' "$results" | sort
}

failed=()
declare -A took
for job in "${jobs[@]}"; do
  begin=$SECONDS
  rm -rf "build/$job/tests.log" "build/$job/figures.txt" "build/$job/Testing"
  run_job "$job" || failed+=("$job")
  took[$job]=$(minutes $((SECONDS - begin)))
done

for job in "${jobs[@]}"; do
  say "$job, in ${took[$job]}"
  conclude "$job"
done
if ((${#failed[@]} > 0)); then
  say "FAILED: ${failed[*]}, after $(minutes $SECONDS)"
  exit 1
fi
say "all passed in $(minutes $SECONDS)"
