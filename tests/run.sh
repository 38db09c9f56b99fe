#!/usr/bin/env bash
# Builds and runs every test, on a fresh Debian or Ubuntu machine too: installs what is missing, builds with the address
# and undefined-behaviour sanitizers and runs all tests, then runs those of an optimised build that do not damage files,
# since optimised code can behave differently.
#   tests/run.sh [--long]      --long: damage tests try every bit and every length (takes hours)
# With CI set, warnings are errors. Exits other than 0 if anything failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

timeout=900
for argument in "$@"; do
  case $argument in
    --long) export SSTORE_TEST_LONG=1 timeout=36000 ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "tests/run.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done

say() { printf '\n== %s\n' "$*"; }

# ----- what is missing -----
. tests/packages.sh
need_command cc build-essential
need_command c++ build-essential
need_libraries
need_command zstd zstd
need_command python3 python3
install_missing

# ----- build and test -----
jobs=$(nproc)
werror=OFF
[ -n "${CI:-}" ] && werror=ON
failed=()

build_and_test() { # preset, ctest arguments...
  local preset=$1
  shift
  local log=build/$preset/tests.log output
  rm -f "$log"
  say "$preset: build"
  if ! output=$(cmake --preset "$preset" -DSSTORE_WERROR=$werror -DSSTORE_TESTS=ON -DSSTORE_TOOLS=ON 2>&1); then
    echo "$output"
    failed+=("$preset: configure")
    return
  fi
  if ! cmake --build --preset "$preset" -j "$jobs"; then
    failed+=("$preset: build")
    return
  fi
  say "$preset: tests"
  ctest --preset "$preset" -j "$jobs" --timeout "$timeout" "$@" 2>&1 | tee "$log"
  [ "${PIPESTATUS[0]}" = 0 ] || failed+=("$preset: tests")
}

build_and_test asan
build_and_test release -L '^(unit|cli|property|limits|faults|format)$'

# ctest's closing lines once more, where they are looked for.
for preset in asan release; do
  if [ -e "build/$preset/tests.log" ]; then
    say "$preset"
    sed -n '/tests passed,/,$p' "build/$preset/tests.log"
  fi
done
if ((${#failed[@]} > 0)); then
  say "FAILED: $(printf '%s; ' "${failed[@]}") after $((SECONDS / 60)) min $((SECONDS % 60)) s"
  exit 1
fi
say "all tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
