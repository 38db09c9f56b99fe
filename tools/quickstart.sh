#!/usr/bin/env bash
# Shows near-duplicates within two minutes on a fresh Debian or Ubuntu machine: installs missing packages, builds sstore,
# and finds near-duplicates among the license texts of this machine (/usr/share/doc/*/copyright).
#   tools/quickstart.sh
# Leaves only the build, in build/quickstart. Uses sudo to install packages, unless run by root.
set -euo pipefail
case $* in
  '') ;;
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
  *) echo "quickstart: unknown argument '$1'; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(build-essential cmake ninja-build pkg-config liblmdb-dev libxxhash-dev libutf8proc-dev libjansson-dev
  zlib1g-dev libzstd-dev)
build=build/quickstart
sstore=$build/tools/sstore
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { # message
  printf 'quickstart: %s\n' "$1" >&2
  exit 1
}

# Runs a command, and shows its output only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 && return
  cat "$work/log" >&2
  fail "this failed: $*"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

install_missing() {
  local missing=() package status
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian or Ubuntu machine, so nothing is installed (needed: ${packages[*]})."
    return
  fi
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [[ $status == 'install ok installed' ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    fail "there is no sudo; as root, run: apt-get update && apt-get install ${missing[*]}"
  fi
  echo "Installing ${missing[*]} ..."
  quietly as_root apt-get -qq update
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${missing[@]}"
}

build_sstore() {
  local generator=()
  [[ -e $build/CMakeCache.txt ]] || generator=(-G Ninja)
  echo "Building sstore in $build ..."
  quietly cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSSTORE_TESTS=OFF -DSSTORE_BENCH=OFF
  quietly cmake --build "$build" --parallel
}

# Makes $work/fingerprints (fingerprint, number, path), $work/store and $work/matches (query, fingerprint, distance, id).
find_matches() {
  # Only real files: otherwise packages that share a folder through a symbolic link would match each other.
  find /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f | LC_ALL=C sort >"$work/files"
  (($(wc -l <"$work/files") > 1)) || fail "there are no license texts in /usr/share/doc to compare"
  echo "Fingerprinting, building a store, querying ..."
  xargs -d '\n' "$sstore" fingerprint --no-header <"$work/files" >"$work/fingerprints"
  "$sstore" build --quiet --columns fingerprint,-,- --recipe "$("$sstore" fingerprint --recipe)" "$work/store" \
    "$work/fingerprints"
  # Beyond the store's distance of 3, because some machines have few texts. Farther pairs share little but phrases.
  "$sstore" query -k 5 --columns fingerprint,-,- --input "$work/fingerprints" "$work/store" >"$work/matches"
}

# Summarizes the matches in tab-separated rows, in any order:
#   near DISTANCE TEXTS TEXTS   two different fingerprints, and the packages that have them
#   same COUNT TEXTS            a fingerprint that several packages have
#   pairs DISTANCE COUNT        pairs of packages
# An id is the number of a line of $work/fingerprints, from 0. Appending "" makes strings of fingerprints: awk would take
# some of them for numbers.
summarize() {
  awk -F '\t' '
    function texts(fingerprint, most,    list, i) {
      for (i = 1; i <= count[fingerprint] && i <= most; i++)
        list = list (i > 1 ? ", " : "") package[fingerprint, i]
      return list (count[fingerprint] > most ? ", +" count[fingerprint] - most : "")
    }
    FNR == NR { split($3, part, "/"); package[$1, ++count[$1]] = part[5]; next }
    ($1 "") < ($2 "") && !seen[$1, $2]++ {
      print "near\t" $3 "\t" texts($1, 2) "\t" texts($2, 2)
      pairs[$3] += count[$1] * count[$2]
    }
    END {
      for (fingerprint in count) if (count[fingerprint] > 1) {
        print "same\t" count[fingerprint] "\t" texts(fingerprint, 3)
        pairs[0] += count[fingerprint] * (count[fingerprint] - 1) / 2
      }
      for (distance in pairs) print "pairs\t" distance "\t" pairs[distance]
    }' "$work/fingerprints" "$work/matches" >"$work/summary"
}

# Prints the rows of a kind, sorted by their second field in a given way.
rows() { # kind, sort options...
  local kind=$1
  shift
  awk -F '\t' -v kind="$kind" '$1 == kind' "$work/summary" | LC_ALL=C sort -t $'\t' "$@"
}

show_near() {
  local most=25 total
  total=$(rows near | wc -l)
  printf '\nTexts that are nearly the same:\n\n  %-8s  %-42s  %s\n' distance packages packages
  rows near -k2,2n -k3 | awk -F '\t' -v most=$most 'NR <= most { printf "  %-8s  %-42s  %s\n", $2, $3, $4 }'
  ((total > 0)) || echo "  (none within 5 bits)"
  ((total <= most)) || echo "  ... and $((total - most)) more"
}

show_same() {
  local most=10 total
  total=$(rows same | wc -l)
  printf '\nTexts with the same fingerprint, the largest groups:\n\n  %-8s  %s\n' count packages
  rows same -k2,2nr -k3 | awk -F '\t' -v most=$most 'NR <= most { printf "  %-8s  %s\n", $2, $3 }'
  ((total > 0)) || echo "  (none)"
  ((total <= most)) || echo "  ... and $((total - most)) more"
}

show_totals() {
  local documents bytes
  documents=$(wc -l <"$work/fingerprints")
  bytes=$(find "$work/store" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  printf '\nPairs of packages by distance, in bits of 64: '
  rows pairs -k2,2n | awk -F '\t' '
    { printf "%s%s at %s", (NR > 1 ? ", " : ""), $3, $2 }
    END { print (NR > 0 ? "." : "none") }'
  cat <<END

These were $documents license texts in a store of $bytes bytes. Everything took $SECONDS seconds. To repeat it by hand:

  PATH=$(printf %q "$PWD/${sstore%/*}"):\$PATH
  find /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f -print0 | xargs -0 sstore fingerprint --no-header > fingerprints
  sstore build --columns fingerprint,-,- licenses.store fingerprints
  sstore query -k 5 --columns fingerprint,-,- --input fingerprints licenses.store

A line of the last output has the query, a stored fingerprint, their distance, and an id: the number of a line of
'fingerprints', counted from 0. 'sstore --help' lists all commands, 'sstore help COMMAND' explains one.
END
}

install_missing
build_sstore
find_matches
summarize
show_near
show_same
show_totals
