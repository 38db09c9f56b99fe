#!/usr/bin/env bash
# Builds and runs the tests, also on a fresh Debian or Ubuntu machine: installs missing packages. The jobs:
#   asan       with the address and undefined-behaviour sanitizers, and fewer cases of many tests: all but those that gain
#              little from a sanitizer
#   release    optimised by gcc: the tests of the library, of its faults and limits, of the format and of damaged files
#   clang      optimised by clang: the unit and property tests except the longest ones, those of the command, of the
#              documents and of the installed files, and the command's pages in Chromium
#   tsan       the tests with threads, with the thread sanitizer
#   python     the Python package: python/test.sh. Beside other jobs it runs at the same time, since it mostly occupies one
#              processor
#   packages   builds the Debian packages and the Docker image, and uses them in a bare Debian system: tests/bare.sh
#              --packages. Beside other jobs it runs after python, since it mostly waits. Needs root.
#   analyze    looks for bugs without running anything, and checks the layout of all files: tests/analyze.sh
#   bare       README's commands and the job release in a bare Debian system: tests/bare.sh. Needs root.
#              If no such system can be made, this is reported, and release runs here instead.
#   coverage   measures how much of the library the tests run: tests/coverage.sh
#   deep       analyze's clang-tidy once more, which then follows every path: tests/analyze.sh --deep
#   tests/run.sh [--long] [JOB...]      without a JOB: asan and release without the longest tests
#       all: bare, asan, clang, tsan, analyze, python, packages, which CI runs; whole: also coverage and deep, before a release
#       --long: damage tests try every bit and every length (takes hours)
# First prints an estimate of its time. Installs missing packages, and says before how large they are. If CI is set, warnings
# are errors. At the end prints the result of each job with its time, and then all that was not tried, with the reason. The
# exit status is not 0 if anything failed. Writes to build/ only.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

export PYTHONDONTWRITEBYTECODE=1
timeout=3600 # for one test: only a hang takes this long, also on a slow machine
all_jobs=(bare asan clang tsan analyze python packages) # release is in bare
# Estimated seconds of each job with two idle processors, with its build but without installing packages.
declare -A seconds=([asan]=420 [release]=230 [clang]=200 [tsan]=90 [coverage]=225 [python]=300 [analyze]=210 [deep]=420
  [bare]=420 [packages]=200)
beside_jobs=(python packages) # at the same time as others
jobs=() quick=
for argument in "$@"; do
  case $argument in
    asan | release | clang | tsan | coverage | python | packages | analyze | deep | bare) jobs+=("$argument") ;;
    all) jobs+=("${all_jobs[@]}") ;;
    whole) jobs+=("${all_jobs[@]}" coverage deep) ;;
    --long) export SSTORE_TEST_LONG=1 ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/run.sh; exit 0 ;;
    *) echo "tests/run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
((${#jobs[@]} > 0)) || jobs=(asan release) quick=1
[ -z "${SSTORE_TEST_LONG:-}" ] || timeout=36000

say() { printf '\n== %s\n' "$*"; }
minutes() { printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); }

# Whether a job runs at the same time as others, which there are.
is_beside() { # job
  [[ " ${beside_jobs[*]} " == *" $1 "* && " ${jobs[*]} " =~ \ (asan|release|clang|tsan|coverage|analyze|deep|bare)\  ]]
}

expected=0
for job in "${jobs[@]}"; do
  is_beside "$job" || ((expected += seconds[$job]))
done
if [ -n "${SSTORE_TEST_LONG:-}" ]; then
  say "${jobs[*]}: takes hours"
else
  say "${jobs[*]}: takes about $(((expected + 59) / 60)) minutes with two idle processors; this machine has $(nproc)"
fi

# ----- what is missing -----
. tests/packages.sh
need_command cc build-essential
need_command c++ build-essential
need_libraries
need_command zstd zstd
need_command parallel parallel
need_command python3 python3
has_job() { [[ " ${jobs[*]} " == *" $1 "* ]]; }
if has_job asan || has_job clang; then # the tests of the command
  need_command zsh zsh
  need_command fish fish
  need_command mandoc mandoc
  need_command script bsdutils
  need_command jq jq
  need_command curl curl
  need_command sqlite3 sqlite3
  need_command groff groff-base
fi
if has_job clang; then
  need_command clang clang
  need_command mkdocs mkdocs
  need_command javac default-jdk-headless
  # Some distributions have Chromium only in other forms than a package: the test that shows pages is then skipped.
  ! apt-cache show chromium >/dev/null 2>&1 || need_command chromium chromium
fi
if has_job python; then
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  python3 -c 'import os.path, sysconfig as s; exit(not os.path.exists(s.get_path("include") + "/Python.h"))' 2>/dev/null ||
    missing+=(python3-dev)
fi
if has_job packages; then
  need_command debootstrap debootstrap
  need_command dh debhelper
  need_command lintian lintian
  need_command buildah buildah
fi
install_missing

# ----- build and test -----
werror=OFF
[ -n "${CI:-}" ] && werror=ON

build_and_test() { # job, preset, target, ctest arguments...
  local job=$1 preset=$2 target=$3 bench=OFF output
  shift 3
  [[ $preset != release ]] || bench=ON # so that it compiles
  say "$job: build"
  if ! output=$(cmake --preset "$preset" -DSSTORE_WERROR=$werror -DSSTORE_TESTS=ON -DSSTORE_TOOLS=ON \
    -DSSTORE_BENCH=$bench 2>&1); then
    echo "$output"
    return 1
  fi
  cmake --build --preset "$preset" -j "$(nproc)" --target "$target" || return 1
  say "$job: tests"
  ctest --preset "$preset" -j "$(nproc)" --timeout "$timeout" "$@" 2>&1 | tee "$results/ctest.log"
  local status=${PIPESTATUS[0]}
  cp "build/$preset/Testing/Temporary/LastTest.log" "$results/tests.log"
  return "$status"
}

bare_system() { # argument...
  local as=()
  if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null; then
    as=(sudo --preserve-env=CI,SSTORE_TEST_LONG,SSTORE_BARE_BASE,http_proxy,https_proxy,no_proxy,TMPDIR)
  fi
  "${as[@]}" tests/bare.sh "$@"
}
run_packages() {
  mkdir -p build/packages
  bare_system --packages
  local status=$?
  ((status == 125)) || return "$status"
  echo "NOT TRIED: no bare system can be made here" | tee build/packages/figures.txt
}
run_bare() {
  mkdir -p build/bare
  bare_system release
  local status=$?
  ((status != 125)) ||
    echo "NOT TRIED: no bare system can be made here; the job release runs here instead" | tee build/bare/figures.txt
  return "$status"
}

# tests/CMakeLists.txt has the labels.
run_job() {
  local left_out=${quick:+|longest} kinds='unit|property|corrupt|limits|faults|format'
  case $1 in
    asan) build_and_test asan asan all -LE "^(unsanitized|page$left_out)\$" ;;
    release) build_and_test release release all -L "^($kinds)\$" -LE "^(java$left_out)\$" ;;
    clang) build_and_test clang clang all -L '^(unit|property|cli|page|browser|install|java)$' -LE '^longest$' ;;
    tsan) build_and_test tsan tsan threaded_tests -L '^threaded$' ;;
    coverage) tests/coverage.sh ;;
    python) python/test.sh ;;
    packages) run_packages ;;
    analyze) tests/analyze.sh ;;
    deep) tests/analyze.sh --deep ;;
    bare) run_bare ;;
  esac
}

# A job, and the processor time that it takes, on which other work has little influence.
measured() { # job
  local TIMEFORMAT='%U + %S s of processor time'
  { time run_job "$1" 2>&1; } 2>"build/results/$1.times"
}

# Prints the result of a job: the closing lines of ctest or of another script, and the figures of single tests.
conclude() { # job
  local results=build/results/$1 script=build/$1/figures.txt
  [ -e "$results/ctest.log" ] && sed -n '/tests passed,/,$p' "$results/ctest.log"
  [ -e "$script" ] && cat "$script"
  [ -e "$results/tests.log" ] && awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 } sub(/^figure: /, "") { print test ": " $0 }' "$results/tests.log" | sort
}

# Prints what of a job was not tried, a line each, with the test and the reason: whole tests and parts of them.
list_untried() { # job
  local tests=build/results/$1/tests.log
  [ ! -e "$tests" ] || awk -v job="$1" '
    function tell(why) { print job ": " test ": " why; told = 1 }
    /^[0-9]+\/[0-9]+ Testing: / { test = $3; told = 0; last = "" }
    tolower($0) ~ /^(skipped|not tried): / || /: skipped, because / { tell($0) }
    sub(/^\[  SKIPPED \] /, "") && !/^[0-9]+ test/ && !seen[test, $0]++ { tell($0) }
    /^Test Skipped\.$/ && !told { tell(last) }
    NF && !/^<end of output>|^Test time|^-+$/ { last = $0 }' "$tests"
  # Of the python job, pytest's lines; of systems in a chroot, this script's own.
  cat "build/$1"/figures.txt "build/results/$1.log" 2>/dev/null | awk -v job="$1" '
    /^== not tried/ { inside = 1; next }
    /^$|^==/ { inside = 0 }
    inside || tolower($0) ~ /^not tried: / || /^SKIPPED \[/ { if (!seen[$0]++) print job ": " $0 }'
}

# Prints what failed in a job, with the first lines of its output: tests of ctest and pytest, and other steps.
list_failed() { # job
  awk -v job="$1" '
    /^== what failed:/ { told = 1 } # by the jobs of a bare system, whose tests are above
    /^== FAILED/ { told = 0 }
    told { next }
    / Test +#[0-9]+: .*\*\*\*/ && !/\*\*\*Skipped/ { print job ": " $0; inside = 1; lines = 0; next }
    / Test +#[0-9]+: |^ +Start +[0-9]+: |tests passed, / { inside = 0 }
    inside { if (++lines <= 40) print; next }
    /^(FAILED|ERROR) |^== FAILED|: FAILED in |error: / { print job ": " $0 }' "build/results/$1.log" | head -n 400
}

# The jobs bare and packages take the same bare system.
if [[ " ${jobs[*]} " == *" bare "*" packages "* ]]; then
  export SSTORE_BARE_BASE=$PWD/build/bare/base.tar
  mkdir -p build/bare && rm -f "$SSTORE_BARE_BASE" || exit 1
fi
beside= # the process of the jobs that run at the same time as others, one by one
for job in "${jobs[@]}"; do
  ! is_beside "$job" || beside+=" $job"
done
if [ -n "$beside" ]; then
  mkdir -p build/results || exit 1
  (for job in $beside; do
    rm -f "build/results/$job.status" "build/$job/figures.txt"
    measured "$job" >"build/results/$job.log"
    echo $? >"build/results/$job.status"
  done) &
  beside=$!
  trap 'kill "$beside" 2>/dev/null; rm -f "${SSTORE_BARE_BASE:-}"' EXIT
fi

failed=()
declare -A took
for ((i = 0; i < ${#jobs[@]}; i++)); do # bare may add one
  job=${jobs[i]}
  [ -z "${took[$job]:-}" ] || continue
  begin=$SECONDS
  results=build/results/$job
  if is_beside "$job"; then
    begin=0 # at the same time as the others
    wait "$beside" 2>/dev/null
    [ "$(cat "build/results/$job.status")" = 0 ] || failed+=("$job")
    cat "build/results/$job.log"
  else
    rm -rf "$results" "build/$job/figures.txt"
    mkdir -p "$results" || exit 1
    measured "$job" | tee "build/results/$job.log"
    case $job:${PIPESTATUS[0]} in
      *:0) ;;
      bare:125) jobs+=(release) ;;
      *) failed+=("$job") ;;
    esac
  fi
  took[$job]=$(minutes $((SECONDS - begin)))
done

for job in "${jobs[@]}"; do
  say "$job, in ${took[$job]}, $(<"build/results/$job.times")"
  conclude "$job"
done
untried=$(for job in "${jobs[@]}"; do list_untried "$job"; done)
say "not tried${untried:+:}"
printf '%s\n' "${untried:-nothing: no test was skipped}"
if ((${#failed[@]} > 0)); then
  say "what failed:"
  for job in "${failed[@]}"; do list_failed "$job"; done
  say "FAILED: ${failed[*]}, after $(minutes $SECONDS)"
  exit 1
fi
say "all passed in $(minutes $SECONDS)"
