#!/usr/bin/env bash
# Builds the command with -DSSTORE_STATIC=ON, and runs it in an empty root that has only /proc and the test's files. It
# must answer as the shared build does. If this process may not change its root, the command runs in an empty
# environment instead. Exit status 77: the system has no static libraries.
#   check_static.sh SOURCE BUILD SSTORE     BUILD is kept, so that the next run compiles only what has changed
# Environment: CMAKE, CC, GENERATOR
set -euo pipefail
source=$1 build=$2 shared=$3
: "${CMAKE:=cmake}" "${CC:=cc}" "${GENERATOR:=Unix Makefiles}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/proc" "$root/data" "$work/data"

echo "== build"
echo 'int main(void) { return 0; }' >"$work/empty.c"
"$CC" -static "$work/empty.c" -o "$work/empty" 2>/dev/null || { echo "NOT TRIED: no static C library"; exit 77; }
# Not optimised, and nothing for a debugger, because this is quicker to compile. The cache of an earlier run may name another compiler.
rm -f "$build/CMakeCache.txt"
"$CMAKE" -S "$source" -B "$build" -G "$GENERATOR" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= \
  -DSSTORE_STATIC=ON -DSSTORE_WERROR=ON >"$work/log" 2>&1 || {
  grep -q 'SSTORE_STATIC needs static libraries' "$work/log" && { grep 'SSTORE_STATIC needs' "$work/log"; exit 77; }
  cat "$work/log"
  exit 1
}
grep 'SSTORE_STATIC leaves out' "$work/log" || true
"$CMAKE" --build "$build" -j "$(nproc)" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if readelf -lWd "$build/tools/sstore" | grep -E 'INTERP|NEEDED'; then
  echo "the command is not static"
  exit 1
fi
DESTDIR=$work/installed "$CMAKE" --install "$build" --prefix /usr >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if find "$work/installed" -type f ! -path '*/usr/bin/sstore' ! -path '*/man/man1/*' ! -name '_sstore' ! -path '*/completions/sstore' \
  ! -name sstore.fish | grep .; then
  echo "more than the command, its man pages and its completions is installed"
  exit 1
fi
cp "$work/installed/usr/bin/sstore" "$root/"

echo "== run"
# shellcheck disable=SC2016 # for the inner shell
in_root() { "${apart[@]}" sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /sstore "$@"' "$root" "$@"; }
for user in "" --map-root-user; do
  # shellcheck disable=SC2206 # an empty one is none
  apart=(unshare --mount --pid --fork $user)
  if in_root --version >/dev/null 2>&1; then
    break
  fi
  apart=()
done
((${#apart[@]} > 0)) || echo "NOT TRIED: an empty root, which this process may not enter"
static() {
  if ((${#apart[@]} > 0)); then in_root "$@"; else (cd "$root" && env -i ./sstore "${@/#\/data/data}"); fi
}

# The same commands, with the same files, for both; what they print is compared.
printf '084adfe2d13e12cb\t1\n084adfe2d13e12c9\t2\n7d1b94a0c3f5e682\t3\n' | tee "$root/data/three.tsv" >"$work/data/three.tsv"
compare() { # argument..., with files below /data
  local ours=0 theirs=0
  static "$@" >"$work/ours" 2>"$work/our_errors" </dev/null || ours=$?
  "$shared" "${@/#\/data/$work/data}" >"$work/theirs" 2>"$work/their_errors" </dev/null || theirs=$?
  sed -i "s|/*$work||g" "$work/theirs" "$work/their_errors"
  if [[ $ours != "$theirs" ]] || ! cmp -s "$work/ours" "$work/theirs" || { ((${#apart[@]} > 0)) && ! cmp -s "$work/our_errors" "$work/their_errors"; }; then
    echo "sstore $*: exit $ours, the shared one $theirs"
    diff "$work/ours" "$work/theirs" || true
    diff "$work/our_errors" "$work/their_errors" || true
    exit 1
  fi
}
compare build /data/three.store /data/three.tsv
diff -r "$root/data" "$work/data"
compare query /data/three.store 084adfe2d13e12cf
[[ $(wc -l <"$work/ours") == 2 ]] || { echo "the query found: $(<"$work/ours")"; exit 1; }
compare query --json /data/three.store 084adfe2d13e12cf
compare query --io pread -k 1 /data/three.store 084adfe2d13e12cf
compare verify /data/three.store
compare fingerprint /data/three.tsv
compare pairs /data/three.store
compare query /data/missing.store 0
for pack in gzip zstd; do
  command -v $pack >/dev/null || continue
  $pack -c "$work/data/three.tsv" >"$work/data/docs.$pack"
  cp "$work/data/docs.$pack" "$root/data/"
  compare build /data/$pack.store /data/docs.$pack
done
echo "the static command answers as the shared one, $(stat -c %s "$root/sstore") bytes, not optimised"
