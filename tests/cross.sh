#!/usr/bin/env bash
# Tests on other processors, emulated: aarch64, and s390x, which is big-endian. On a fresh Debian 12 on amd64, too, as
# root: installs cross compilers and qemu-user, unpacks the libraries into build/cross/<processor>/sysroot (the system's
# own packages stay as they are), builds, and for each processor
#   - runs the tests, but for those that an emulator cannot run or takes too long for;
#   - makes stores of many kinds there and here, which must be the same byte for byte, but for directory.mdb and what
#     the manifest says of it, and asks both the same things;
#   - reads here what was written there, and there what was written here, as far as the format promises it.
#   tests/cross.sh [--jobs=N] [--timeout=SECONDS] [--stores-only] [aarch64] [s390x]
#     --jobs         at once; all processors without it
#     --timeout      for one test; 3600 without it
#     --stores-only  only make and read stores
# SSTORE_TEST_CASES and SSTORE_TEST_MUTATIONS are low unless they are set. All of it takes some twenty
# minutes of one processor's time.
# Exits other than 0 if anything failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

jobs=$(nproc) timeout=3600 stores_only='' processors=()
for argument in "$@"; do
  case $argument in
    --jobs=* | --timeout=*) argument=${argument#--} && printf -v "${argument%%=*}" '%s' "${argument#*=}" ;;
    --stores-only) stores_only=1 ;;
    aarch64 | s390x) processors+=("$argument") ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/cross.sh; exit 0 ;;
    *) echo "tests/cross.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
((${#processors[@]} > 0)) || processors=(aarch64 s390x)
export SSTORE_TEST_CASES=${SSTORE_TEST_CASES:-2} SSTORE_TEST_MUTATIONS=${SSTORE_TEST_MUTATIONS:-100}
work=$PWD/build/cross

# ----- what differs from processor to processor -----
declare -A debian_name=([aarch64]=arm64 [s390x]=s390x)
# LMDB's format in the manifest (format-spec/sstore-format.md, section 8): where it is amd64's, stores can be exchanged.
declare -A lmdb_format=([amd64]=010801 [aarch64]=010801 [s390x]=020801)
can_exchange() { # processor
  [ "${lmdb_format[$1]}" = "${lmdb_format[amd64]}" ]
}

# ----- tests that are left out, by name -----
left_out=(
  'limits\..*'             # the memory and the end of whole processes, of which the emulator is a part
  'install\.consumer'      # compiles and starts programs by itself, for this machine
  'tidy\..*'               # of the tree, not of a processor
  'cli\.output-interrupt'  # signals that come at once: when the command handles them is not seen through the emulator
  'faults\..*'             # takes over the system's calls, whose arguments are not the same everywhere
  'format\.decoder'        # of the format, not of a processor
  'property\.batch'        # these six have a fixed size, and take minutes each in the emulator
  'property\.same_matches'
  'property\.stream_matcher'
  'corrupt\.exchange'
  'corrupt\.flip'
  'corrupt\.truncate'
)

say() { printf '\n== %s\n' "$*"; }
failed=()
fail() { # what
  echo "FAILED: $*"
  failed+=("$*")
}

# ----- what is missing -----
if ! command -v apt-get >/dev/null || [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "tests/cross.sh: made for Debian on amd64" >&2
  exit 1
fi
. tests/packages.sh
need_command cc build-essential
need_libraries
need_command zstd zstd
for processor in "${processors[@]}"; do
  need_command "$processor-linux-gnu-gcc" "gcc-$processor-linux-gnu"
  need_command "qemu-$processor" qemu-user
done
install_missing

# ----- the other processor's libraries -----
target_packages=(libc6-dev libgcc-s1 liblmdb-dev libxxhash-dev libcmocka-dev libjansson-dev libmicrohttpd-dev libsqlite3-dev
  libutf8proc-dev zlib1g-dev libzstd-dev)

# An apt of its own, with the system's sources and keys, for a system of that processor on which nothing is installed.
configure_apt() { # folder, Debian's name of the processor
  mkdir -p "$1/lists/partial" "$1/archives/partial" && : >"$1/status"
  cat <<END
APT::Architecture "$2";
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "$1";
Dir::State::status "$1/status";
Dir::Cache "$1";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
END
  apt-config dump | grep -E '^Acquire::https?::'
}

# Links to absolute paths are meant within the sysroot.
make_links_relative() { # sysroot
  local link
  find "$1" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfn -- "$(realpath -ms --relative-to="$(dirname -- "$link")" -- "$1$(readlink -- "$link")")" "$link"
  done
}

make_sysroot() { # processor
  local folder=$work/$1 sysroot=$work/$1/sysroot package
  local -x APT_CONFIG=$folder/apt.conf
  [ ! -e "$sysroot/.complete" ] || return 0
  rm -rf "$sysroot" "$folder/apt" && mkdir -p "$sysroot"
  APT_CONFIG='' configure_apt "$folder/apt" "${debian_name[$1]}" >"$APT_CONFIG"
  { apt-get update -q || { sleep 5; apt-get update -q; }; } &&
    apt-get install -qqy --download-only "${target_packages[@]}" || return
  for package in "$folder"/apt/archives/*.deb; do
    dpkg -x "$package" "$sysroot" || return
  done
  make_links_relative "$sysroot"
  rm -rf "$folder/apt"
  touch "$sysroot/.complete"
}

# ----- building and testing -----
build() { # folder, CMake arguments...
  local folder=$1 output
  shift
  if ! output=$(cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DSSTORE_WERROR=ON -DSSTORE_BENCH=OFF \
    "$@" 2>&1); then
    echo "$output"
    return 1
  fi
  cmake --build "$folder" -j "$jobs"
}

declare -A tests_run tests_passed files_compared files_equal
run_tests() { # processor
  local log=$work/$1/tests.log exclude summary
  printf -v exclude '%s|' "${left_out[@]}"
  ctest --test-dir "$work/$1/build" -E "^(${exclude%|})$" -j "$jobs" --timeout "$timeout" --output-on-failure \
    --no-tests=error 2>&1 | tee "$log"
  [ "${PIPESTATUS[0]}" = 0 ] || fail "$1: tests"
  summary=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log")
  [ -n "$summary" ] || return
  tests_run[$1]=${summary#* }
  tests_passed[$1]=$((${summary#* } - ${summary% *}))
}

# ----- the same bytes -----
number_at() { # file, offset: of 4 bytes
  od -An -v -t u4 --endian=little -j "$2" -N 4 "$1" | tr -d ' '
}
blank() { # file, offset, bytes
  dd if=/dev/zero of="$1" bs=1 seek="$2" count="$3" conv=notrunc status=none
}

# Take out of a manifest what it says of directories, and its own checksum (format-spec/sstore-format.md, section 3); it
# must name the given format of LMDB.
blank_manifest() { # manifest, format
  local at=$((64 + ($(number_at "$1" 56) + 7) / 8 * 8)) segments i
  segments=$(number_at "$1" 60)
  for ((i = 0; i < segments; i++)); do
    [ "$(printf %06x "$(number_at "$1" $((at + 120)))")" = "$2" ] || fail "$1: a segment of another LMDB format than $2"
    blank "$1" $((at + 64)) 24
    blank "$1" $((at + 120)) 4
    ((at += 128 + 40 * $(number_at "$1" $((at + 116)))))
  done
  [ "$(stat -c %s "$1")" = $((at + 16)) ] || fail "$1: not of the size that it should have"
  blank "$1" "$at" 16
}

# What has to be the same on all processors, of what make_stores.sh made.
copy_comparable() { # made, copy, format
  local manifest
  rm -rf "$2" && cp -r "$1" "$2" && find "$2" -name directory.mdb -delete
  while IFS= read -r manifest; do
    blank_manifest "$manifest" "$3"
  done < <(find "$2" -name MANIFEST)
}

compare_stores() { # processor
  local file ours=$work/amd64/comparable theirs=$work/$1/comparable count=0 equal=0
  copy_comparable "$work/$1/made" "$theirs" "${lmdb_format[$1]}"
  while IFS= read -r file; do
    ((++count))
    if cmp -- "$ours/$file" "$theirs/$file"; then
      ((++equal))
    fi
  done < <({ cd "$ours" && find . -type f; cd "$theirs" && find . -type f; } | sort -u)
  files_compared[$1]=$count files_equal[$1]=$equal
  ((count == equal && count > 0)) || fail "$1: $((count - equal)) of $count files differ"
}

# ----- reading what another processor wrote -----
read_one() { # reader, store, its dump, where what it says goes
  "$1" verify "$2" >/dev/null 2>"$4" && "$1" dump "$2" 2>>"$4" | cmp -- - "$3" >>"$4"
}

# A reader must refuse a store whose directory another LMDB wrote, as unsupported and not as damaged.
must_refuse() { # processor, reader, store, format of the store, format of the reader
  local wanted="another LMDB file format ($4) than this host ($5)" said
  if said=$("$2" dump "$3" 2>&1) || [[ $said != *"$wanted"* ]]; then
    fail "$1: opening $3: '$wanted' was to be said, not: $said"
    return 1
  fi
}

# The sums of a store's block and id files, whatever the folders.
block_sums() { # store
  find "$1" -name '*.blk' -exec cksum {} + | cut -d ' ' -f 1-2 | sort
}

# What was refused can be read once its directories are made again; block and id files stay as they are.
must_mend() { # processor, reader, store, its dump
  local copy=$work/$1/mended
  rm -rf "$copy" && cp -r "$3" "$copy" && "$2" reindex --quiet "$copy" 2>"$work/$1/said" &&
    [ "$(block_sums "$3")" = "$(block_sums "$copy")" ] && read_one "$2" "$copy" "$4" "$work/$1/said" ||
    fail "$1: reading $3 with directories made again: $(cat "$work/$1/said")"
}

# Add to a copy of the store there, and compact it here: as if both was done here.
change_by_turns() { # processor, command there
  local folder=$work/$1/turns ours=$work/amd64/made/stores inputs=$work/inputs
  rm -rf "$folder" && cp -r "$ours/live-ids" "$folder" && "$2" add --quiet "$folder" "$inputs/records.new" &&
    "$host" remove --quiet "$folder" "$inputs/records.gone" &&
    "$2" add --quiet --block-size 256 --plan 2 "$folder" "$inputs/records.back" && "$host" compact --quiet "$folder" &&
    diff -r -x MANIFEST -x directory.mdb "$ours/live-ids-compact" "$folder" && "$host" verify "$folder" >/dev/null ||
    fail "$1: changing a store by turns"
}

# As on a host with pages of 64 KiB. (To write cannot be tried so: such a map, emulated, does not grow with its file.)
read_with_large_pages() { # processor
  local name ours=$work/amd64/made
  printf '#!/bin/sh\nexec qemu-%s -p 65536 -L "%s" "%s" "$@"\n' "$1" "$work/$1/sysroot" "$work/$1/build/tools/sstore" \
    >"$work/$1/large-pages"
  chmod +x "$work/$1/large-pages"
  for name in plan-4 block-1K-crowd live-ids-back spilled empty; do
    read_one "$work/$1/large-pages" "$ours/stores/$name" "$ours/answers/dump-$name" "$work/$1/said" ||
      fail "$1 with large pages reads $name of amd64: $(cat "$work/$1/said")"
  done
}

exchange_stores() { # processor, command there
  local ours=$work/amd64/made theirs=$work/$1/made store name here=${lmdb_format[amd64]} there=${lmdb_format[$1]} read=0
  for store in "$ours"/stores/*; do
    name=${store##*/}
    if can_exchange "$1"; then
      read_one "$2" "$store" "$ours/answers/dump-$name" "$work/$1/said" ||
        fail "$1 reads $name of amd64: $(cat "$work/$1/said")"
      read_one "$host" "$theirs/stores/$name" "$ours/answers/dump-$name" "$work/$1/said" ||
        fail "amd64 reads $name of $1: $(cat "$work/$1/said")"
    else
      must_refuse "$1" "$2" "$store" "$here" "$there"
      must_refuse "$1" "$host" "$theirs/stores/$name" "$there" "$here"
      must_mend "$1" "$2" "$store" "$ours/answers/dump-$name"
      must_mend "$1" "$host" "$theirs/stores/$name" "$ours/answers/dump-$name"
    fi
    ((++read))
  done
  if can_exchange "$1"; then
    change_by_turns "$1" "$2"
    read_with_large_pages "$1"
    echo "$read stores each way, read as where they were written"
  else
    echo "$read stores each way, refused, and read with directories made again"
  fi
}

# ----- all of it -----
host=$work/amd64/build/tools/sstore
say "amd64: build, and make stores"
if ! build "$work/amd64/build" -DSSTORE_TESTS=OFF || ! tests/cross/make_inputs.sh "$work/inputs" ||
  ! tests/cross/make_stores.sh "$host" "$work/inputs" "$work/amd64/made"; then
  say "FAILED: amd64"
  exit 1
fi
copy_comparable "$work/amd64/made" "$work/amd64/comparable" "${lmdb_format[amd64]}"

for processor in "${processors[@]}"; do
  say "$processor: libraries"
  make_sysroot "$processor" || { fail "$processor: its libraries"; continue; }
  say "$processor: build"
  build "$work/$processor/build" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cross.cmake" -DSSTORE_CROSS="$processor" \
    -DSSTORE_CROSS_SYSROOT="$work/$processor/sysroot" -DSSTORE_TESTS=ON || { fail "$processor: build"; continue; }
  command=$work/$processor/build/tests/emulated/sstore
  say "$processor: the same stores"
  if tests/cross/make_stores.sh "$command" "$work/inputs" "$work/$processor/made"; then
    compare_stores "$processor"
    exchange_stores "$processor" "$command"
  else
    fail "$processor: making stores"
  fi
  if [ -z "$stores_only" ]; then
    say "$processor: tests"
    run_tests "$processor"
  fi
done

say "after $((SECONDS / 60)) min $((SECONDS % 60)) s"
printf '%-12s  %9s  %6s  %14s  %8s\n' processor 'tests run' passed 'files compared' 'the same'
for processor in "${processors[@]}"; do
  printf '%-12s  %9s  %6s  %14s  %8s\n' "$processor" "${tests_run[$processor]:--}" "${tests_passed[$processor]:--}" \
    "${files_compared[$processor]:--}" "${files_equal[$processor]:--}"
done
if ((${#failed[@]} > 0)); then
  say "FAILED: ${#failed[@]} checks, of which the first are:"
  printf '%s\n' "${failed[@]:0:5}"
  exit 1
fi
for processor in "${processors[@]}"; do
  echo "figure: $processor, emulated: ${tests_passed[$processor]:-0} of ${tests_run[$processor]:-0} tests passed," \
    "${files_equal[$processor]} of ${files_compared[$processor]} files the same"
done
say "all passed"
