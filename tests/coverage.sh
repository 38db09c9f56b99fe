#!/usr/bin/env bash
# Measures how much of the library the tests run: builds with gcov, runs the tests that cover most in a few minutes, and
# prints the percentages of lines and branches, of the reader and of the whole library. Installs missing packages.
#   tests/coverage.sh      build/coverage/lines.txt and build/coverage/branches.txt list the code that was not run
# The exit status is not 0 if a test failed, or if less than 95 % of the reader's lines or 85 % of its branches were
# run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

lines_wanted=95
branches_wanted=85

# The reader opens, checks and queries stores. It has these folders, except two files that only write.
library=libstore/src
reader=(--filter "$library/(base|codec|store|read)/" --filter "$library/plan/plan\."
  --exclude "$library/codec/block_encode\." --exclude "$library/store/commit\.")

# Not counted: inner loops. They are compiled for several kinds of processors and distances, so gcov counts each branch
# several times, and branches for other processors can never be taken. unit.kernels runs each form that this processor
# has.
forms=(--exclude "$library/codec/form\.h")

# Also not counted: the branch of an assertion, which is never taken while the assertion holds. Everything else is
# counted: the tests in tests/faults run the code that handles refused memory and files.
not_counted='.*\bassert\('

# Left out are tests of the command and its pages (which reach another 0.6 % of the lines), tests that run no code of this
# build, and those that take minutes and reach little. For the same reason only every 31st call is refused, and there are few
# mutations.
tests=(-LE '^(install|tidy|cli|page|browser|setup|uncovered)$')
export SSTORE_TEST_STEP=31 SSTORE_TEST_MUTATIONS=10

case ${1:-} in
  '') ;;
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/coverage.sh; exit 0 ;;
  *) echo "tests/coverage.sh: unknown argument '$1'; see --help" >&2; exit 2 ;;
esac

say() { printf '\n== %s\n' "$*"; }

. tests/packages.sh
need_command gcc gcc
need_command gcovr gcovr
need_command zstd zstd
need_libraries
install_missing

unset SSTORE_TEST_LONG # takes hours, and reaches no more code
build=build/coverage
jobs=$(nproc)
failed=()

say "coverage: build"
if ! output=$(cmake --preset coverage -DSSTORE_TESTS=ON -DSSTORE_TOOLS=ON 2>&1); then
  echo "$output"
  exit 1
fi
cmake --build --preset coverage -j "$jobs" || exit 1

say "coverage: tests"
find "$build" -name '*.gcda' -delete
ctest --preset coverage -j "$jobs" --timeout 3600 "${tests[@]}" 2>&1 | tee "$build/tests.log"
[ "${PIPESTATUS[0]}" = 0 ] || failed+=("tests")

# A file for reports that nobody reads: gcovr would replace /dev/null by a plain file.
unread=$build/unread.txt
gcovr -r . "$build/libstore" "${forms[@]}" --exclude-branches-by-pattern "$not_counted" --json "$build/all.json" || exit 1
part() { # name, gcovr arguments...
  local name=$1 summary
  shift
  summary=$(gcovr -r . -a "$build/all.json" "$@" --print-summary --txt "$unread")
  printf 'coverage of %s: %s\n' "$name" "$(sed -nE 's/^(lines|branches): (.*)$/\1 \2/p' <<<"$summary" | paste -sd ,)"
}
{
  part "the reader" "${reader[@]}"
  part "the library"
} | tee "$build/figures.txt"
gcovr -r . -a "$build/all.json" --txt "$build/lines.txt"
gcovr -r . -a "$build/all.json" --branches --txt "$build/branches.txt"
gcovr -r . -a "$build/all.json" "${reader[@]}" --txt "$unread" --fail-under-line "$lines_wanted" \
  --fail-under-branch "$branches_wanted" || failed+=("less than wanted")

if ((${#failed[@]} > 0)); then
  printf -v list '%s; ' "${failed[@]}"
  say "FAILED: ${list%; }"
  exit 1
fi
