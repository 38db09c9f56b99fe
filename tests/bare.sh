#!/usr/bin/env bash
# Tries README as a newcomer does: makes a bare Debian system in a temporary folder with debootstrap, copies this tree
# into it, and runs tools/quickstart.sh, pip and tests/run.sh there, as root in a chroot where only /proc is mounted. Tests
# with large scratch folders then run again with other kinds of /dev/shm. Needs root, debootstrap (which it installs)
# and 3 GB below TMPDIR or /var/tmp. Packages come from the sources of this machine's apt.
#   tests/bare.sh [JOB...]      the jobs of tests/run.sh to run there; without any, its default jobs
#   tests/bare.sh --python      only the installations by pip that README.md and python/README.md show, and README's example
#   tests/bare.sh --packages    the job `packages` instead: builds the Debian packages here, checks them with lintian, builds
#                               them again by packaging/docker/Dockerfile, compares both, and installs, uses and purges
#                               them in the bare system, where docs/tutorial.md is followed to its end. With
#                               SSTORE_PACKAGES_ONCE they are only built by the Dockerfile.
# The exit status is 125 if no such system can be made here, and 1 if something in it failed. The result is in
# build/bare/figures.txt, or build/packages/figures.txt. With SSTORE_BARE_BASE=FILE the system that debootstrap makes is
# kept in this archive, and taken from there if it exists. Nothing stays mounted and no process stays, also if the script is killed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

case ${1:-} in
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' tests/bare.sh; exit 0 ;;
esac
say() { printf '\n== %s\n' "$*"; }
impossible() { # why
  printf 'tests/bare.sh: cannot make a bare system: %s\n' "$*" >&2
  exit 125
}

# ----- in namespaces of its own: mounts end with the last process, and all processes with the first -----
if [ -z "${SSTORE_BARE_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] || impossible "this needs root"
  (
    . tests/packages.sh
    need_command debootstrap debootstrap
    install_missing
  ) || impossible "debootstrap cannot be installed"
  apart=(unshare --mount --pid --mount-proc --kill-child)
  "${apart[@]}" true 2>/dev/null || impossible "this process may not mount (it fails: ${apart[*]} true)"
  work=$(mktemp -d "${TMPDIR:-/var/tmp}/sstore-bare-XXXXXX") && mkdir "$work/root" || impossible "no temporary folder"
  chmod 755 "$work" "$work/root"
  trap 'kill -KILL $! 2>/dev/null; wait; rm -rf --one-file-system "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  SSTORE_BARE_INSIDE=$work "${apart[@]}" tests/bare.sh "$@" &
  wait $!
  exit
fi
work=$SSTORE_BARE_INSIDE root=$SSTORE_BARE_INSIDE/root
unset SSTORE_BARE_INSIDE
logs=build/bare
[ "${1:-}" != --packages ] || logs=build/packages
mkdir -p "$logs" || exit 1
figures=$logs/figures.txt
: >"$figures"

# ----- where packages come from: this machine's lists of Debian or Ubuntu, or else Debian's own mirror -----
apt_sources() {
  apt-get indextargets --format '$(ORIGIN) deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    sed -nE 's/^(Debian|Ubuntu) //p' | sort -u
}
find_sources() {
  local name
  sources=$(apt_sources)
  if [ -z "$sources" ] && command -v apt-get >/dev/null; then
    apt-get update -q >/dev/null
    sources=$(apt_sources)
  fi
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")
  [ -z "$mirror" ] || return 0
  release=bookworm mirror=http://deb.debian.org/debian
  sources="deb $mirror $release main"
}

make_root() {
  local include=()
  [[ $sources != *https://* ]] || include=(--include=ca-certificates)
  debootstrap --variant=minbase "${include[@]}" "$release" "$root" "$mirror" >"$logs/debootstrap.log" 2>&1 || {
    tail -n 20 "$logs/debootstrap.log" >&2
    impossible "debootstrap failed, see $logs/debootstrap.log"
  }
  printf '%s\n' "$sources" >"$root/etc/apt/sources.list"
  apt-config dump Acquire | grep -E '^Acquire::(http|https|ftp|Retries|Check-Date|Check-Valid-Until)\b' \
    >"$root/etc/apt/apt.conf.d/99host"
  cp -L /etc/resolv.conf /etc/hosts /etc/pip.conf "$root/etc/" 2>/dev/null
}
# The same from the archive SSTORE_BARE_BASE, which other processes may be making.
take_root() {
  local base=${SSTORE_BARE_BASE:-}
  if [ -z "$base" ]; then
    make_root
    return
  fi
  exec {lock}>"$base.lock" && flock "$lock" || impossible "$base.lock cannot be locked"
  if [ -e "$base" ]; then
    tar -C "$root" -xpf "$base" || impossible "$base cannot be unpacked"
  else
    make_root
    tar -C "$root" -cf "$base.new" . && mv "$base.new" "$base" || impossible "$base cannot be written"
  fi
  exec {lock}>&-
}
prepare_root() {
  [ -z "${PIP_CERT:-}" ] || cp -L "$PIP_CERT" "$root/pip-cert.pem"
  mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc" || impossible "/proc cannot be mounted"
  rm -rf "$root/dev/shm" && mkdir -m 1777 "$root/dev/shm" || impossible "no /dev/shm"
}

. tests/tree.sh
copy_tree() {
  mkdir "$root/sstore" && tree_files | tar --null -T - -cf - | tar -C "$root/sstore" --no-same-owner -xf -
}

# Run a command in the tree there, with nothing of this environment but what reaches a mirror, and CI.
there() { # command
  local kept=() name
  for name in http_proxy https_proxy no_proxy CI SSTORE_TEST_LONG SSTORE_TEST_STEP SSTORE_TEST_FEW PIP_INDEX_URL PIP_DEFAULT_TIMEOUT; do
    [ -z "${!name:-}" ] || kept+=("$name=${!name}")
  done
  [ -z "${PIP_CERT:-}" ] || kept+=(PIP_CERT=/pip-cert.pem)
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    TERM="${TERM:-dumb}" "${kept[@]}" bash -c "cd /sstore && $1" </dev/null
}

failed=()
try() { # what it is, command there
  attempt "$1" there "$2"
}
attempt() { # what it is, command...
  local begin=$SECONDS log=$logs/output.log times=$logs/times.txt status TIMEFORMAT='%U + %S s of processor time'
  local what=$1
  shift
  say "bare system: $what"
  { time "$@" 2>&1; } 2>"$times" | tee "$log"
  status=${PIPESTATUS[0]}
  {
    printf '%s: %s in %d min %d s, %s\n' "$what" "$([ "$status" = 0 ] && echo passed || echo FAILED)" \
      $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)) "$(tail -n 1 "$times")"
    # What each job came to there; figures; of ctest alone, its closing lines.
    sed -nE '/^== [a-z]+, in /,$p' "$log" | grep . || grep '^figure: ' "$log" || sed -n '/tests passed,/,$p' "$log"
  } >>"$figures"
  [ "$status" = 0 ] || failed+=("$what")
}

# README's installation by pip, and then its example with that command.
try_pip() {
  local lines
  lines=$(sed -n '/<!-- pip: /,/^```$/{/^```/d; /<!-- pip: /d; s/^sudo //; p}' README.md)
  try "README's installation by pip, and its example" "set -e; apt-get update -q; rm -rf env
    ${lines//apt-get install/apt-get install -y -q --no-install-recommends}
    bash tests/page.sh README.md env/bin/sstore; deactivate; rm -r env"
}

find_sources
say "bare system: $release from $mirror"
take_root
if [ "${1:-}" = --packages ]; then
  . tests/install/packages.sh
  exit
fi
prepare_root
copy_tree || impossible "the tree cannot be copied"

if [ "${1:-}" = --python ]; then
  lines=$(sed -n '/^```python/q; s/^\$ \(sudo \)\?//p' python/README.md)
  try "the first lines of python/README.md" "set -e; apt-get update -q; ${lines//apt-get install/apt-get install -y -q}"
  try_pip
  ((${#failed[@]} == 0))
  exit
fi
# shellcheck disable=SC2016 # for the shell there
there 'find . -path ./build -prune -o -print | LC_ALL=C sort >/before'
try "tools/quickstart.sh, /dev/shm a plain folder" tools/quickstart.sh
try_pip
# shellcheck disable=SC2145 # one string is meant
try "tests/run.sh${*:+ $*}, /dev/shm a plain folder" "tests/run.sh $*"
try "only build/ is new in the tree" "find . -path ./build -prune -o -print | LC_ALL=C sort | diff /before -"
preset=release
[ -e "$root/sstore/build/$preset/CTestTestfile.cmake" ] || preset=asan
scratch_tests="SSTORE_TEST_CASES=4 ctest --preset $preset -j $(nproc) --timeout 3600 -L '^scratch$'"
if mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"; then
  try "tests of scratch folders, /dev/shm a tmpfs of 64 MB" "$scratch_tests"
  umount "$root/dev/shm"
else
  echo "not tried: /dev/shm a tmpfs, which cannot be mounted" | tee -a "$figures"
fi
rmdir "$root/dev/shm"
try "tests of scratch folders, no /dev/shm" "$scratch_tests"

if ((${#failed[@]} > 0)); then
  printf -v list '%s; ' "${failed[@]}"
  say "FAILED in a bare system: ${list%; }"
  exit 1
fi
