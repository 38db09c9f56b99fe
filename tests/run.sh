#!/usr/bin/env bash
# Builds and runs the tests, also on a fresh Debian or Ubuntu machine: installs missing packages. The jobs:
#   asan       with the address and undefined-behaviour sanitizers, and fewer cases of many tests: all but those that gain
#              little from a sanitizer; with `all`, another third of the tests of the command in each run, and a quarter of
#              the fuzz targets' mutations
#   release    optimised by gcc: the tests of the library, of its faults and limits, of the format and of damaged files; lets
#              another third of the system calls fail in each run, with `whole` each of them, and with `all` a sixth, with
#              fewer cases of many tests
#   clang      optimised by clang: the tests of the command, of the documents and of the installed files, the command's pages
#              in Chromium, and the unit and property tests except the longest ones, with fewer cases; with `all`, another
#              third of these
#   tsan       the tests with threads, with the thread sanitizer
#   python     the Python package: python/test.sh; with `all`, another third of its tests with sanitizers, and with the
#              oldest Python, in each run
#   packages   builds the Debian packages and the Docker image, and uses them in a bare Debian system: tests/bare.sh
#              --packages; unless with `all`, builds the packages twice, and compares. Needs root.
#   analyze    looks for bugs without running anything, and checks the layout of all files: tests/analyze.sh
#   bare       README's commands and the job release in a bare Debian system: tests/bare.sh. Needs root.
#              If no such system can be made, this is reported, and release runs here instead.
#   coverage   measures how much of the library the tests run: tests/coverage.sh
#   deep       analyze's clang-tidy once more, which then follows every path, and the tests' own code: tests/analyze.sh --deep
#   tests/run.sh [--long] [JOB...]      without a JOB: asan and release, without the longest tests and with fewer cases of many;
#                                       the tests of the command are those of release alone
#       ci: the same and one of the other jobs of `all`, by chance; with bare, which takes the longest, no asan. CI runs this,
#       in less than 20 minutes
#       all: bare, asan, clang, tsan, analyze, python, packages; whole: also coverage and deep, before a release
#       --long: damage tests try every bit and every length (takes hours)
# bare, and python and then packages, run at the same time as other jobs, since they also wait for packages from elsewhere and
# often occupy one processor only; the others take what these leave of the processors, so that many processes are there to the
# end. Their output comes at the end, and before that is in build/results/JOB.log.
# First prints an estimate of its time. Installs missing packages, and says before how large they are. If CI is set, warnings
# are errors. At the end prints the result of each job with its time, and then all that was not tried, with the reason. The
# exit status is not 0 if anything failed. Writes to build/ only.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

export PYTHONDONTWRITEBYTECODE=1
timeout=3600 # for one test: only a hang takes this long, also on a slow machine
all_jobs=(asan clang tsan analyze bare python packages) # release is in bare
# Half of the processor seconds of each job, with its build but without installing packages. Measured: the compilations, the
# tests of asan and release, and analyze; the others by their parts.
declare -A seconds=([asan]=355 [release]=220 [clang]=185 [tsan]=135 [coverage]=225 [python]=200 [analyze]=100 [deep]=450
  [bare]=335 [packages]=150)
lanes=(bare "python packages") # the jobs of each run one after another, at the same time as those of no lane
others=("asan clang" "asan tsan" "asan analyze" "asan python" "asan packages" bare) # with release, what CI runs, by chance
jobs=() quick=
third= # that which asan runs of the tests of the command, clang of unit tests, python of its tests, and gcc's analyser of files;
       # or empty for all of them
every_call= # release lets each system call fail
for argument in "$@"; do
  case $argument in
    asan | release | clang | tsan | coverage | python | packages | analyze | deep | bare) jobs+=("$argument") ;;
    all) jobs+=("${all_jobs[@]}") third=$((RANDOM % 3)) seconds+=([asan]=245 [python]=165 [packages]=105); export SSTORE_PACKAGES_ONCE=1 ;;
    ci) read -ra jobs <<<"release ${others[RANDOM % ${#others[@]}]}"; quick=1; export SSTORE_PACKAGES_ONCE=1 ;;
    whole) jobs+=("${all_jobs[@]}" coverage deep) every_call=1 ;;
    --long) export SSTORE_TEST_LONG=1 ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/run.sh; exit 0 ;;
    *) echo "tests/run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
[ -z "${SSTORE_TEST_LONG:-}" ] || timeout=36000
mapfile -t jobs < <(printf '%s\n' "${jobs[@]}" | awk 'NF && !seen[$0]++')
((${#jobs[@]} > 0)) || { jobs=(asan release) quick=1; }
if [ -n "$quick" ]; then
  seconds+=([asan]=165 [release]=120 [packages]=105)
  [ -n "${SSTORE_TEST_LONG:-}" ] || export SSTORE_TEST_FEW=1
fi

say() { printf '\n== %s\n' "$*"; }
minutes() { printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); }

# Whether a job runs at the same time as others, which there are.
is_beside() { # job
  [[ " ${lanes[*]} " == *" $1 "* && " ${jobs[*]} " =~ \ (asan|release|clang|tsan|coverage|analyze|deep)\  ]]
}

expected=0
for job in "${jobs[@]}"; do
  ((expected += seconds[$job]))
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
if has_job asan || has_job clang || [ -n "$quick" ]; then # the tests of the command
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
if has_job packages || has_job bare; then
  need_command debootstrap debootstrap
fi
if has_job packages; then
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
  run_tests "$preset" "$@"
}
run_tests() { # preset, ctest arguments...
  ctest --preset "$1" -j "$(nproc)" --timeout "$timeout" "${@:2}" 2>&1 | tee -a "$results/ctest.log"
  local status=${PIPESTATUS[0]}
  cat "build/$1/Testing/Temporary/LastTest.log" >>"$results/tests.log"
  return "$status"
}

bare_system() { # argument...
  local as=()
  if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null; then
    as=(sudo --preserve-env=CI,SSTORE_TEST_LONG,SSTORE_TEST_STEP,SSTORE_TEST_FEW,SSTORE_PACKAGES_ONCE,SSTORE_BARE_BASE,http_proxy,https_proxy,no_proxy,TMPDIR)
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
  local left_out=${quick:+|longest|seldom} kinds='unit|property|corrupt|limits|faults|format'
  if [[ $1 == release || $1 == bare ]]; then
    [ -z "$every_call" ] || local -x SSTORE_TEST_STEP=1
    [ -z "$third" ] || local -x SSTORE_TEST_STEP=6 SSTORE_TEST_FEW=1
  fi
  case $1 in
    asan)
      left_out+=${quick:+|cli}
      if [ -n "$third" ]; then
        local -x SSTORE_TEST_FEW=1 # a quarter of the mutations
        left_out+="|cli_$(((third + 1) % 3))|cli_$(((third + 2) % 3))"
        echo "not tried: two of three tests of the command, which other runs of \`all\` choose, and \`whole\` runs"
      fi
      build_and_test asan asan all -LE "^(unsanitized|setup|page$left_out)\$"
      ;;
    release) build_and_test release release all -L "^($kinds${quick:+|cli})\$" -LE "^(java$left_out)\$" ;;
    clang)
      build_and_test clang clang all -L '^(cli|page|browser|install|java)$'
      local status=$?
      SSTORE_TEST_FEW=1 run_tests clang -L '^(unit|property)$' -LE '^longest$' ${third:+-I "$((third + 1)),,3"} && return "$status"
      ;;
    tsan) build_and_test tsan tsan threaded_tests -L '^threaded$' ;;
    coverage) tests/coverage.sh ;;
    python) SSTORE_PYTHON_THIRD=$third python/test.sh ;;
    packages) run_packages ;;
    analyze) SSTORE_ANALYZE_THIRD=$third tests/analyze.sh ;;
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
  [ -e "$results/ctest.log" ] && awk '/^(Internal ctest|Test project) / { told = 0 } /tests passed,/ { told = 1 } told' "$results/ctest.log"
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

# Prints what failed in a job, with the first lines of its output: tests of ctest and pytest, and other steps; else what the
# job printed last.
list_failed() { # job
  local lines
  lines=$(find_failed "$1")
  [ -n "$lines" ] || lines=$(tail -n 40 "build/results/$1.log" | sed "s/^/$1: /")
  printf '%s\n' "$lines"
}
find_failed() { # job
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
if has_job bare && has_job packages; then
  export SSTORE_BARE_BASE=$PWD/build/bare/base.tar
  mkdir -p build/bare && rm -f "$SSTORE_BARE_BASE" || exit 1
fi

# Runs a job, shows what it prints, and keeps that, its exit status and its time.
run_one() { # job
  local begin=$SECONDS results=build/results/$1 status
  rm -rf "$results" "build/$1/figures.txt"
  mkdir -p "$results" || exit 1
  measured "$1" | tee "$results.log"
  status=${PIPESTATUS[0]}
  echo "$status $((SECONDS - begin))" >"$results.ended"
}

# What asks for a password can do it now: a lane cannot ask.
if { has_job bare || has_job packages; } && [ "$(id -u)" != 0 ] && command -v sudo >/dev/null; then sudo -v; fi
beside=()
set -m # each lane can be ended with all its processes
for lane in "${lanes[@]}"; do
  lane_jobs=()
  for job in $lane; do
    if has_job "$job" && is_beside "$job"; then lane_jobs+=("$job"); fi
  done
  ((${#lane_jobs[@]} > 0)) || continue
  (for job in "${lane_jobs[@]}"; do run_one "$job" >/dev/null; done) &
  beside+=($!)
done
set +m
((${#beside[@]} == 0)) || renice -n 5 -p $$ >/dev/null # the lanes have begun already, and go first
trap 'for lane in "${beside[@]}"; do kill -- "-$lane" 2>/dev/null; done; rm -f "${SSTORE_BARE_BASE:-}"' EXIT
for job in "${jobs[@]}"; do
  is_beside "$job" || run_one "$job"
done
wait "${beside[@]}"
for job in "${jobs[@]}"; do
  ! is_beside "$job" || cat "build/results/$job.log"
done

failed=()
for job in "${jobs[@]}"; do
  read -r status _ <"build/results/$job.ended"
  if [ "$job:$status" = bare:125 ]; then
    has_job release || { jobs+=(release) && run_one release; }
    read -r status _ <build/results/release.ended
    job=release
  fi
  ((status == 0)) || failed+=("$job")
done
for job in "${jobs[@]}"; do
  read -r _ took <"build/results/$job.ended"
  say "$job, in $(minutes "$took"), $(<"build/results/$job.times")"
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
