#!/usr/bin/env bash
# Checks rules of the tree that a compiler does not: which file may include which header, that modules include each other
# in no circle, that each public declaration has a comment, what the library's messages speak of, that Linux-only code is
# in one file, that file names are unique, and that the functions and files of CONTRIBUTING.md's tour and of
# docs/adding.md, the tests that scripts and documents name, and a test of each source exist. With the built library, it
# also checks that a folder uses functions of lower folders alone, whoever declares them.
#   tests/layers.sh [PROJECT [LIBSSTORE.A]]
# Prints each breach as FILE:LINE: reason, and exits 1 if there is one.
set -u

# A folder's height. A file includes its own folder's headers and those of lower ones.
declare -A height=([base]=0 [codec]=1 [text]=1 [plan]=2 [sort]=2 [store]=3 [read]=4 [join]=5 [stream]=4 [write]=6 [api]=7)
# The extension of SQLite is no part of the command.
declare -A tool_height=([sqlite]=-1 [output]=0 [input]=1 [documents]=2 [report]=2 [serve]=2 [commands]=3)
# External headers and the only files that may include them.
declare -A owner=(
  [lmdb.h]='libstore/src/store/directory\.c'
  [xxhash.h]='libstore/src/base/bytes\.h'
  [utf8proc.h]='libstore/src/text/[^/]*\.c'
  [unicode/ubrk.h]='libstore/src/text/segmenter\.c'
  [unicode/uversion.h]='libstore/src/text/segmenter\.c'
  [jansson.h]='tests/unit/test_json_read\.c'
  [microhttpd.h]='(tools/serve/http|bench/bench_http)\.c'
  [zlib.h]='tools/input/decompress\.c'
  [zstd.h]='tools/input/decompress\.c'
  [sqlite3ext.h]='tools/sqlite/(sstore_sqlite|fingerprint_functions|table_plan)\.[ch]'
  [zstd_errors.h]='tools/input/decompress\.c'
)
archive=${2:+$(realpath "$2")}
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
breaches=0

breach() { # FILE:LINE, reason
  printf '%s: %s\n' "$1" "$2"
  breaches=$((breaches + 1))
}

# Prints FILE LINE OPENING HEADER for every #include line of the given folders; OPENING is < or ".
includes() {
  find "$@" -name '*.[ch]' -print0 2>/dev/null | sort -z | xargs -0r grep -HnE '^[[:space:]]*#[[:space:]]*include' |
    sed -nE 's/^([^:]+):([0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^">]+)[">].*/\1 \2 \3 \4/p'
}

check_library() { # file line opening header
  local rest=${1#libstore/src/} folder=api target
  [[ $rest == */* ]] && folder=${rest%%/*}
  if [[ ! -v height[$folder] ]]; then
    breach "$1:$2" "the folder '$folder' is no layer"
    return
  fi
  if [[ ($folder == codec || $folder == plan) &&
    ($4 == base/file.h || $4 == base/tasks.h || $4 == unistd.h || $4 == fcntl.h || $4 == sys/*) ]]; then
    breach "$1:$2" "$folder touches memory only, so it does not include $4"
  fi
  [[ $3 == '<' || -e libstore/include/$4 ]] && return
  if [[ ! -e libstore/src/$4 ]]; then
    breach "$1:$2" "\"$4\" is no file of libstore/src: include \"<folder>/<file>.h\""
    return
  fi
  target=api
  [[ $4 == */* ]] && target=${4%%/*}
  [[ $target == "$folder" ]] && return
  if [[ ! -v height[$target] ]] || ((height[$target] >= height[$folder])); then
    breach "$1:$2" "$folder may not include $4"
  fi
}

check_tool() { # file line header
  local rest=${1#tools/} folder target=${3%%/*}
  [[ $rest == */* ]] || return # main.c
  folder=${rest%%/*}
  if [[ ! -e tools/$3 || ! -v tool_height[$target] ]]; then
    breach "$1:$2" "\"$3\" is no file of tools: include \"<folder>/<file>.h\""
  elif ((tool_height[$target] > tool_height[$folder])); then
    breach "$1:$2" "$folder may not include $3"
  fi
}

while read -r file line opening header; do
  check_library "$file" "$line" "$opening" "$header"
done < <(includes libstore/src)

while read -r file line opening header; do
  [[ $opening == '<' || -e libstore/include/$header ]] || check_tool "$file" "$line" "$header"
done < <(includes tools)

while read -r file line _ header; do
  if [[ -e libstore/include/$header || ! -e libstore/src/$header ]]; then
    continue
  fi
  [[ $file == bench/bench_codec.c || $file == bench/bench_join.c || $file == bench/support/simd_level.c ]] || breach "$file:$line" "only the headers of libstore/include are for programs, not $header"
done < <(includes tools bench)

while read -r file line _ header; do
  [[ -v owner[$header] ]] || continue
  [[ $file =~ ^${owner[$header]}$ ]] || breach "$file:$line" "<$header> is for ${owner[$header]//\\/} alone"
done < <(includes libstore tools bench)

while read -r file line _ header; do
  [[ $header == *.c ]] && breach "$file:$line" "a .c file is not included"
done < <(includes libstore tools bench tests)

# A module is a .c file and its header. Modules include each other in no circle.
check_circles() { # folder
  local loop
  loop=$(includes "$1" | sed -nE "s|^$1/(.+)\\.[ch] [0-9]+ \" (.+)\\.h\$|\1 \2|p" | awk '$1 != $2' | sort -u |
    tsort 2>&1 >/dev/null | sed -n '2,$s/^tsort: //p' | tr '\n' ' ')
  [[ -z $loop ]] || breach "$1" "these modules include each other in a circle: $loop"
}
check_circles libstore/src
check_circles tools

# Each public declaration has a comment of its own, on the lines directly before it.
while IFS=: read -r file line _; do
  breach "$file:$line" "a public declaration without a comment directly before it"
done < <(awk '/^(SSTORE_API|typedef) / && (previous !~ /^(\/\*| \*)/ || previous !~ /\*\/$/) { print FILENAME ":" FNR } { previous = $0 }' libstore/include/*.h)

# The library does not know the command's options, and base not the files of a store.
while IFS=: read -r file line _; do
  breach "$file:$line" "a message of the library names an option of the command"
done < <(grep -rnE '"[^"]*--[a-z]' libstore/src libstore/include)
while IFS=: read -r file line _; do
  breach "$file:$line" "base does not know the files of a store"
done < <(grep -rnE 'MANIFEST|directory\.mdb|\.blk|table-[0-9%]|"seg-' libstore/src/base)

# What only Linux has, or names so, is in one file, so that a port touches no other one. Comments may speak of it.
linux='memfd_|MFD_|F_SEAL_|F_ADD_SEALS|/proc/|/sys/|fallocate|FALLOC_|O_TMPFILE|O_PATH|\bmadvise|\bMADV_|sched_[gs]et|cpu_set|'
linux+='CPU_COUNT|preadv2|RWF_|sync_file_range|syncfs|eventfd|epoll|signalfd|timerfd|inotify|<linux/|\bsyscall\b|prctl|'
linux+='renameat2|statx|copy_file_range|sendfile|splice|gettid|getrandom|pipe2|accept4|get_nprocs|<malloc\.h>|MAP_POPULATE'
while IFS=: read -r file line _; do
  breach "$file:$line" "only Linux has this: it belongs to base/platform.c"
done < <(grep -rnE --include='*.[ch]' "$linux" libstore/src tools |
  grep -vE '^libstore/src/base/platform\.[ch]:|^[^:]*:[0-9]+: *(/\*|\*)|include <sys/[a-z]+\.h>')

# Prints FILE SYMBOL LOWER_FILE for each function or variable of a higher or neighbour folder that an object uses.
symbols_out_of_order() { # archive
  find libstore/src -name '*.c' | sed -E 's|^libstore/src/(([a-z]+)/)?([^/]+)$|\3.o \2 \3|' |
    awk -v heights="$(for folder in "${!height[@]}"; do printf '%s=%s ' "$folder" "${height[$folder]}"; done)" '
      BEGIN {
        n = split(heights, pairs, " ")
        for (i = 1; i <= n; i++) { split(pairs[i], pair, "="); height[pair[1]] = pair[2] }
      }
      FNR == NR { folder[$1] = $2; next }
      NF == 1 && sub(/:$/, "") { object = $1; next }
      NF == 3 { owner[$3] = object }
      NF == 2 && $1 == "U" { uses[++count] = object; used[count] = $2 }
      END {
        for (i = 1; i <= count; i++) {
          if (!(used[i] in owner)) continue
          from = folder[uses[i]]; to = folder[owner[used[i]]]
          if (from != to && height[to] >= height[from]) print from "/" uses[i], used[i], to "/" owner[used[i]]
        }
      }' - <(${NM:-nm} -g "$1")
}
if [[ -n $archive ]]; then
  while read -r file symbol owner_file; do
    breach "libstore/src/${file%.o}" "it may not use $symbol of ${owner_file%.o}"
  done < <(symbols_out_of_order "$archive")
fi

# Emulated processors, which are not in each run of the tests, look for these words of a message.
words='another LMDB file format'
for file in tests/cross.sh format-spec/decoder/test_{vectors,wide}.py libstore/src/store/directory.c; do
  grep -qF "$words" "$file" || breach "$file" "it does not have the words '$words'"
done

# The tour of CONTRIBUTING.md, and where calls begin: `FOLDER/FILE.c`: `FUNCTION()`.
for page in CONTRIBUTING.md docs/adding.md; do
  rows=0
  while read -r file function; do
    rows=$((rows + 1))
    grep -qsE "^[a-z][^;]*\\b$function\\(" "libstore/src/$file" || breach "$page" "there is no $function() in $file"
  done < <(grep -oE '`[a-z]+/[a-z_]+\.c`: `[a-z_]+\(\)`' "$page" | sed -E 's/`([^`]+)`: `([a-z_]+)\(\)`/\1 \2/')
  ((rows >= 15)) || breach "$page" "it names $rows functions in the form \`FOLDER/FILE.c\`: \`FUNCTION()\`: at least 15 are expected"
done
paths=0
while read -r path; do
  paths=$((paths + 1))
  compgen -G "${path//NAME/*}" >/dev/null || breach docs/adding.md "there is no $path"
done < <(sed '/^## /,$d' docs/adding.md | grep -oE '`[a-z]+/[^` ]*' | tr -d '`')
((paths > 0)) || breach docs/adding.md "it names no file"

# The map of tests/README.md has a test for each source: one of its name, or a row that names the source.
while read -r file; do
  name=$(basename "$file" .c)
  compgen -G "tests/*/test_$name.c" >/dev/null && continue
  row=$(sed -E 's|^libstore/src/||; s|^tools/||' <<<"$file")
  [[ $row == commands/cmd_* ]] && row=commands/cmd_NAME.c
  grep -qF "\`$row\`" tests/README.md || grep -qF "\`${row%/*}/NAME.c\`" tests/README.md ||
    breach "$file" "tests/README.md names no test of it"
done < <(find libstore/src tools -name '*.c')

# Names of tests: KIND.NAME, or in a regular expression KIND\.NAME or KIND\.(NAME|NAME). ctest ignores a name that has
# no test.
test_exists() { # kind, name
  case $1 in
    page) grep -qiE "foreach\\(page.*[ /]$2\\b|NAME page\\.$2$" tests/CMakeLists.txt ;;
    cli) [[ -e tests/cli/cases/$2.sh ]] ;;
    browser) [[ -e tests/browser/test_$2.py ]] ;;
    fuzz) [[ -e tests/fuzz/fuzz_$2.c ]] ;;
    install) grep -q "NAME install\.$2$" tests/CMakeLists.txt ;;
    format) grep -q "NAME format\.$2$" tests/CMakeLists.txt || [[ -e tests/format/test_$2.c ]] || compgen -G "format-spec/*/test_$2.py" >/dev/null ;;
    *) [[ -e tests/$1/test_$2.c ]] ;;
  esac
}
named_tests='(?<![\w/.$-])(unit|property|corrupt|format|limits|faults|cli|install|fuzz|page|browser)\\{0,2}\.(\([^)]*\)|[a-z_-]+)'
while IFS=: read -r file line found; do
  kind=${found%%[\\.]*}
  for name in $(tr '(|)' '   ' <<<"${found##*.}"); do
    [[ $name == NAME || $name == md || $name == @(c|py|h|sh) ]] || test_exists "$kind" "$name" ||
      breach "$file:$line" "there is no test $kind.$name"
  done
done < <(grep -noP "$named_tests" tests/*.sh tests/README.md tests/fuzz/README.md tests/CMakeLists.txt CONTRIBUTING.md SECURITY.md packaging/README.md docs/*.md)

while read -r name; do
  breach "$name" "two files have this name: $(find libstore tools bench tests -name "$name" -print | tr '\n' ' ')"
done < <(find libstore tools bench tests -type f -name '*.[ch]' -printf '%f\n' 2>/dev/null | sort | uniq -d)

# gcc 12 for aarch64 sometimes compiles this as if the numbers had signs.
while IFS=: read -r file line _; do
  breach "$file:$line" "compare as 'a < b ? -1 : a > b', not by a difference"
done < <(grep -rnE --include='*.[ch]' '\([^()]* > [^()]*\) - \([^()]* < [^()]*\)' libstore tools bench tests python/native | grep -v 'libstore/src/base/common\.h')

if ((breaches > 0)); then
  echo "layers: $breaches breaches"
  exit 1
fi
echo "layers: kept"
