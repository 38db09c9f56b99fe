#!/usr/bin/env bash
# Looks for bugs without running anything, with three analysers, checks the layout of all files, and installs what of
# these programs is missing:
#   gcc          -fanalyzer, over the library and the command; if SSTORE_ANALYZE_THIRD is 0, 1 or 2, over a third of their files
#   clang-tidy   with the checks of .clang-tidy, clang's own analyser among them, over the library and the command
#   cppcheck     over these, without what tests/cppcheck.suppressions explains
#   format       clang-format, over everything: tests/format.sh
#   tests/analyze.sh [--deep] [gcc] [clang-tidy] [cppcheck] [format]      only those; without any, all, or clang-tidy and
#                                                                         cppcheck if --deep
#       --deep: these two also look at the tests and benchmarks, and clang's analyser follows ten times as many paths, and takes
#       ten times as long; in build/deep. tests/.clang-tidy says which checks leave the tests out.
# There is nothing to find with the versions of Debian 12 (gcc 12, clang 14, cppcheck 2.10); others may see more, or
# what is not there. Exits other than 0 if there are findings.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Both gcc's and clang's analyser, since each follows paths that the other gives up on. gcc's has fewer false findings
# here and takes a quarter of the time; clang's goes deeper. It runs within clang-tidy, where NOLINT and the list of
# checks hold for it: scan-build would say the same again.
tools=() deep=
for argument in "$@"; do
  case $argument in
    --deep) deep=1 ;;
    gcc | clang-tidy | cppcheck | format) tools+=("$argument") ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/analyze.sh; exit 0 ;;
    *) echo "tests/analyze.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
((${#tools[@]} > 0)) || tools=(${deep:+clang-tidy cppcheck})
((${#tools[@]} > 0)) || tools=(gcc clang-tidy cppcheck format)

say() { printf '\n== %s\n' "$*"; }

# ----- what is missing -----
. tests/packages.sh
need_command gcc gcc
need_command clang clang
need_command clang-tidy clang-tidy
need_command clang-format clang-format
need_command cppcheck cppcheck
need_command python3 python3
need_libraries
install_missing

# ----- what is looked at -----
jobs=$(nproc)
build=build/analyze folders='libstore|tools'
[ -z "$deep" ] || build=build/deep folders+='|bench|tests'
mkdir -p "$build" || exit 1

# With assertions, which tell analysers what always holds, and with all that is optional. clang-tidy has to know all
# flags, so they are those for clang; gcc takes them, too.
if ! cmake --preset dev -B "$build" -DCMAKE_C_COMPILER=clang -DSSTORE_TOOLS=ON -DSSTORE_TESTS=ON -DSSTORE_BENCH=ON \
  >"$build/cmake.log" 2>&1; then
  cat "$build/cmake.log"
  exit 1
fi
# cppcheck wants to see all files, also the one that the build makes.
cmake --build "$build" --target tools/page_text.c >"$build/page_text.log" 2>&1 || { cat "$build/page_text.log"; exit 1; }
commands=$build/compile_commands.json
files_in() { # folders, as a pattern
  sed -nE "s,^ *\"file\": \"$PWD/(($1)/[^\"]*)\".*,\1,p" "$commands" | sort -u
}

# Run a program for each line of stdin, its last argument; `sh -c` takes it as a command. Outputs do not mix.
for_each_line() { # program...
  # shellcheck disable=SC2016 # the inner shell expands it
  xargs -P "$jobs" -d '\n' -n 1 bash -c 'printed=$("$@" 2>&1)
    status=$?
    [ -z "$printed" ] || printf "%s\n" "$printed"
    exit "$status"' -- "$@"
}

failed=()
summary=()
# What a tool printed, and its closing line. It has a finding in each different line that the pattern matches.
conclude() { # tool, its exit status, files, pattern, seconds taken
  local log=$build/$1.log findings
  findings=$(grep -E "$4" "$log" | sort -u | wc -l)
  summary+=("$1: $3 files, $findings findings, $5 s")
  ((findings == 0 && $2 == 0)) && return
  cat "$log"
  failed+=("$1")
}

# Optimised a little, since the analyser follows only calls that are inlined well.
run_gcc() {
  local begin=$SECONDS status third=${SSTORE_ANALYZE_THIRD:-}
  say "gcc -fanalyzer"
  sed -nE "s,^ *\"command\": \"[^ ]+ (.*) -o [^ ]+ (-c $PWD/(libstore|tools)/.*)\".*,\1 -o /dev/null \2,p" "$commands" |
    awk -v third="$third" 'third == "" || NR % 3 == third { print "gcc -O1 -fanalyzer " $0 }' |
    tee "$build/gcc.commands" | for_each_line sh -c >"$build/gcc.log"
  status=${PIPESTATUS[3]}
  conclude gcc "$status" "$(wc -l <"$build/gcc.commands")" ': (warning|error|fatal error): ' $((SECONDS - begin))
}

# Nine tenths of clang-tidy's time are its analyser's, most of it in functions with very many paths.
run_clang_tidy() {
  local begin=$SECONDS status limit=()
  say "clang-tidy"
  [ -n "$deep" ] || limit=(--extra-arg={-Xclang,-analyzer-config,-Xclang,max-nodes=20000})
  files_in "$folders" | for_each_line clang-tidy --quiet -p "$build" "${limit[@]}" |
    grep -vE '^[0-9]+ warnings? generated\.$' >"$build/clang-tidy.log"
  status=${PIPESTATUS[1]}
  conclude clang-tidy "$status" "$(files_in "$folders" | wc -l)" ': (warning|error): ' \
    $((SECONDS - begin))
}

run_cppcheck() {
  local begin=$SECONDS status project=$build/cppcheck/compile_commands.json # it takes only this name
  say "cppcheck"
  mkdir -p "$build/cppcheck"
  python3 -c 'import json, re, sys
json.dump([command for command in json.load(open(sys.argv[1])) if re.match(sys.argv[2], command["file"])], sys.stdout)' \
    "$commands" "$PWD/($folders)/" >"$project"
  cppcheck -q -j "$jobs" --project="$project" --relative-paths="$PWD" --enable=warning,performance,portability \
    --std=c11 --platform=unix64 --library=posix,gnu,zlib --suppressions-list=tests/cppcheck.suppressions \
    --template='{file}:{line}: {severity}: {message} [{id}]' --error-exitcode=1 >"$build/cppcheck.log" 2>&1
  status=$?
  conclude cppcheck "$status" "$(files_in "$folders" | wc -l)" . $((SECONDS - begin))
}

run_format() {
  local begin=$SECONDS status
  say "format"
  tests/format.sh >"$build/format.log" 2>&1
  status=$?
  if ((status == 77)); then # the summary is where tests/run.sh finds what was not tried
    summary+=("NOT TRIED: $(<"$build/format.log")")
    return
  fi
  conclude format "$status" "$(sed -n 's/^figure: files //p' "$build/format.log")" ': error: ' $((SECONDS - begin))
}

for tool in "${tools[@]}"; do
  "run_${tool/-/_}"
done

say "summary"
printf '%s\n' "${summary[@]}" | tee "$build/figures.txt"
if ((${#failed[@]} > 0)); then
  say "FAILED: ${failed[*]}, after $((SECONDS / 60)) min $((SECONDS % 60)) s"
  exit 1
fi
say "no findings, in $((SECONDS / 60)) min $((SECONDS % 60)) s"
