#!/usr/bin/env bash
# Shows near-duplicates in a minute or two on a fresh Debian or Ubuntu machine: installs missing packages, builds sstore,
# finds near-duplicates among the descriptions of packages, and says how to go on with documents of your own. Without
# such descriptions it takes the license texts in /usr/share/doc.
#   tools/quickstart.sh
# Leaves only the build, in build/quickstart. Uses sudo to install packages, unless run by root.
set -euo pipefail
case $* in
  '') ;;
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
  *) echo "quickstart: unknown argument '$1'; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(build-essential cmake ninja-build pkg-config liblmdb-dev libxxhash-dev libutf8proc-dev zlib1g-dev
  libzstd-dev)
build=build/quickstart
sstore=$build/tools/sstore
work=$(mktemp -d)
alive=
trap '[[ -z $alive ]] || kill "$alive" 2>/dev/null; rm -rf "$work"' EXIT

fail() { # message
  printf 'quickstart: %s\n' "$1" >&2
  exit 1
}

# Runs a command, and shows its output only if it fails. Meanwhile, a dot every three seconds shows that it runs.
quietly() {
  local status=0
  (while sleep 3 && kill -0 $$ 2>/dev/null; do printf .; done) &
  alive=$!
  "$@" >"$work/log" 2>&1 || status=$?
  kill "$alive" 2>/dev/null
  wait "$alive" 2>/dev/null || true
  alive=
  ((status != 0)) || return 0
  printf '\n'
  cat "$work/log" >&2
  fail "this failed: $*"
}

# Says what is done now, and how long it took.
step() { # what, command...
  local begin=$SECONDS
  printf '%s ' "$1"
  "${@:2}"
  printf ' %d s\n' $((SECONDS - begin))
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
  step "Fetching the lists of packages" quietly as_root apt-get -qq update
  step "Installing ${missing[*]} (without recommendations)" quietly as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o DPkg::Lock::Timeout=600 install --no-install-recommends "${missing[@]}"
}

build_sstore() {
  local generator=()
  [[ -e $build/CMakeCache.txt ]] || generator=(-G Ninja)
  quietly cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSSTORE_TESTS=OFF -DSSTORE_BENCH=OFF
  quietly cmake --build "$build" --parallel
}

# Descriptions as lines of name, tab and text, from paragraphs like those of package lists. Each text of a name counts once.
descriptions() {
  awk '
    function flush() { if (name != "" && text != "" && !seen[name, text]++) print name "\t" text; name = text = "" }
    /^$/ { flush() }
    /^Package: / { name = $2 }
    /^[^ ]/ { inside = /^Description(-en)?: /; if (inside) text = substr($0, index($0, ":") + 2) }
    inside && /^ / { gsub(/\t/, " "); text = text $0 }
    END { flush() }'
}
license_texts() {
  find /usr/share/doc -mindepth 2 -maxdepth 2 -name copyright -type f 2>/dev/null | LC_ALL=C sort |
    while IFS= read -r file; do
      printf '%s\t%s\n' "$(basename "$(dirname "$file")")" "$(tr '\t\n' '  ' <"$file")"
    done
}
# Makes $work/texts of the first source that has enough texts, and sets `what`.
find_texts() {
  local list
  what='descriptions of packages'
  for list in /var/lib/apt/lists/*_Translation-en*; do
    /usr/lib/apt/apt-helper cat-file "$list" 2>/dev/null || true
  done | descriptions >"$work/texts"
  has_enough || apt-cache dumpavail 2>/dev/null | descriptions >"$work/texts" || true
  has_enough && return
  what='descriptions of the installed packages'
  descriptions </var/lib/dpkg/status 2>/dev/null >"$work/texts" || true
  has_enough && return
  what='license texts in /usr/share/doc'
  license_texts >"$work/texts"
  (($(wc -l <"$work/texts") > 1)) || fail "there are neither descriptions of packages nor license texts here"
}
has_enough() { (($(wc -l <"$work/texts") >= 20)); }

# Makes $work/store, $work/pairs (fingerprint, line, fingerprint, line, distance) and $work/clusters, of lines from 0.
find_near() {
  cut -f 2 "$work/texts" >"$work/lines"
  "$sstore" fingerprint --lines "$work/lines" 2>/dev/null | "$sstore" build --quiet -k 5 "$work/store"
  "$sstore" pairs "$work/store" >"$work/pairs"
  "$sstore" clusters "$work/store" >"$work/clusters"
}

# Of the pairs with different fingerprints, prints the lines of that which shows most: many words, of which few differ.
choose_pair() {
  awk -F '\t' '
    FNR == NR { text[NR - 1] = $0; next }
    $5 > 0 && (text[$2] text[$4]) !~ /[^ -~]/ { # awk counts bytes
      n = split(tolower(text[$2]), a, " "); m = split(tolower(text[$4]), b, " ")
      split("", count); other = 0
      for (i = 1; i <= n; i++) count[a[i]]++
      for (i = 1; i <= m; i++) if (count[b[i]]-- <= 0) other++
      differ = n - m + 2 * other
      words = n < m ? n : m
      score = (words < 40 ? words : 80 - words) - (differ < 4 ? 4 - differ : differ - 4)
      if (other > 0 && differ <= 8 && differ < words && (best == "" || score > best)) { best = score; found = $2 "\t" $4 "\t" $5 }
    }
    END { if (found != "") print found }' "$work/lines" "$work/pairs"
}

# Prints two texts side by side, in columns of 37 characters. Words that only one of them has are between stars, and
# on a terminal also bold.
show_side_by_side() { # line, line, distance
  local bold='' plain=''
  if [[ -t 1 ]]; then bold=$'\e[1m' plain=$'\e[0m'; fi
  printf '\nTwo near-copies; their fingerprints differ in %s of 64 bits, and the marked words are only in one of them:\n\n' "$3"
  sed -n "$(($1 + 1))p" "$work/texts" >"$work/pair"
  sed -n "$(($2 + 1))p" "$work/texts" >>"$work/pair"
  awk -F '\t' -v width=37 -v bold="$bold" -v plain="$plain" '
    function max(x, y) { return x > y ? x : y }
    # Append a word to column c, beginning a new line if it does not fit.
    function put(c, word, marked,    shown, size) {
      shown = marked ? "*" word "*" : word
      size = length(shown)
      if (used[c] + size + 1 > width && used[c] > 0) { rows[c]++; used[c] = 0 }
      line[c, rows[c]] = line[c, rows[c]] (used[c] > 0 ? " " : "") (marked ? bold shown plain : shown)
      used[c] += size + (used[c] > 0)
      long[c, rows[c]] = used[c]
    }
    { name[NR] = $1; size[NR] = split($2, words, " "); for (i = 1; i <= size[NR]; i++) { word[NR, i] = words[i]; key[NR, i] = tolower(words[i]) } }
    END {
      n = size[1]; m = size[2]
      for (i = n; i >= 1; i--) for (j = m; j >= 1; j--)
        common[i, j] = key[1, i] == key[2, j] ? common[i + 1, j + 1] + 1 : max(common[i + 1, j], common[i, j + 1])
      rows[1] = rows[2] = 1
      for (i = j = 1; i <= n || j <= m;)
        if (i <= n && j <= m && key[1, i] == key[2, j]) { put(1, word[1, i++], 0); put(2, word[2, j++], 0) }
        else if (j > m || (i <= n && common[i + 1, j] >= common[i, j + 1])) put(1, word[1, i++], 1)
        else put(2, word[2, j++], 1)
      printf "  %-*s  | %s\n  ", width, substr(name[1], 1, width), substr(name[2], 1, width)
      for (i = 0; i < width; i++) printf "-"
      printf "  | "
      for (i = 0; i < width; i++) printf "-"
      printf "\n"
      for (i = 1; i <= max(rows[1], rows[2]); i++)
        printf "  %s%*s  | %s\n", line[1, i], width - long[1, i], "", line[2, i]
    }' "$work/pair"
}

show_groups() {
  printf '\nThe largest groups of near-copies:\n\n'
  awk -F '\t' '
    FNR == NR { name[NR - 1] = $1; next }
    FNR == begin + size || FNR == 1 { begin = FNR; size = $1; shown = "" }
    { if (FNR < begin + 3) shown = shown (FNR > begin ? ", " : "") name[$3] }
    FNR == begin + size - 1 { print size "\t" shown (size > 3 ? ", ..." : "") }' "$work/texts" "$work/clusters" |
    LC_ALL=C sort -t "$(printf '\t')" -k1,1nr -k2 | awk -F '\t' 'NR <= 6 { printf "  %5d  %s\n", $1, (length($2) > 66 ? substr($2, 1, 63) "..." : $2) }'
}

show_totals() {
  local texts copies groups bytes
  texts=$(wc -l <"$work/texts")
  copies=$(awk -F '\t' '{ n++; if (NR == 1 || NR == begin + size) { begin = NR; size = $1; groups++ } } END { print n + 0, groups + 0 }' "$work/clusters")
  groups=${copies#* } copies=${copies% *}
  bytes=$(find "$work/store" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  printf '\nOf %s %s, %s have near-copies, in %s groups; %s of them can be removed.\n' \
    "$texts" "$what" "$copies" "$groups" $((copies - groups))
  printf 'The store has %s bytes. Everything took %s seconds.\n' "$bytes" "$SECONDS"
}

show_next() {
  cat <<END

Next, a file of your own without its near-copies: lines of text, JSON Lines, CSV, or a folder.

  PATH=$(printf %q "$PWD/${sstore%/*}"):\$PATH
  sstore dedup FILE > unique

'sstore --help' lists all commands, and docs/tutorial.md goes on from here.
END
}

[[ -d /proc/self/fd ]] || fail "there is no /proc/self/fd, which sstore needs; mount /proc: mount -t proc proc /proc"
install_missing
step "Building sstore in $build" build_sstore
step "Reading texts" find_texts
step "Fingerprinting $(wc -l <"$work/texts") $what, building a store, finding all near pairs" find_near
pair=$(choose_pair)
# shellcheck disable=SC2086 # three words
[[ -z $pair ]] || show_side_by_side $pair
show_groups
show_totals
show_next
