#!/usr/bin/env bash
# Finds near-duplicates among the texts of a Debian system: descriptions of packages, man pages, and Chinese man pages.
#   examples/debian.sh FOLDER
# Fingerprints, stores, tables of names and the clusters are left in FOLDER. Needs `sstore` on the PATH, and the packages
# manpages, manpages-dev and manpages-zh, or MAN, a folder with such pages. The descriptions come from apt, by the network.
set -euo pipefail
(($# == 1)) || { sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
mkdir -p "$1"
cd "$1"
man=${MAN:-/usr/share/man}

# Descriptions of packages as JSON Lines: the name of the package as id, and the long text.
descriptions() {
  mkdir -p lists/partial
  apt-get -qq -o Dir::State::Lists="$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o Acquire::Languages=en update
  for list in lists/*_main_i18n_Translation-en*; do
    /usr/lib/apt/apt-helper cat-file "$list"
  done | awk '
    function escaped(text) { gsub(/["\\]/, "\\\\&", text); gsub(/\t/, "\\t", text); return text }
    /^Package: / { name = $2; text = "" }
    /^Description-en: / { text = substr($0, 17) }
    /^ / { text = text " " substr($0, 2) }
    /^$/ { if (!(name in seen)) printf "{\"id\": \"%s\", \"text\": \"%s\"}\n", escaped(name), escaped(text); seen[name] }'
}

# near NAME ARGUMENT...: fingerprint the documents that the arguments tell, and group those that are near each other.
near() {
  local name=$1
  rm -f "$name.names"
  sstore fingerprint "${@:2}" | sstore build --force --quiet --names "$name.store"
  sstore clusters "$name.store" >"$name.clusters"
  # A group is as many lines as its first column says. Its first member stands for it.
  awk -F '\t' -v name="$name" '
    NR == begin + size { begin = NR; size = $1; groups++ }
    END { printf "%s: %d documents in %d groups\n", name, NR, groups }' begin=1 "$name.clusters"
}

if [[ ! -s descriptions.jsonl ]]; then
  descriptions >descriptions.jsonl.part
  mv descriptions.jsonl.part descriptions.jsonl
fi
[[ -d $man/zh_CN ]] || { printf 'debian.sh: %s/zh_CN is missing; install manpages-zh, or set MAN\n' "$man" >&2 && exit 1; }
near descriptions --jsonl --id-field id descriptions.jsonl
near pages --recursive "$man"/man[1-8]
near chinese --recursive "$man"/zh_CN "$man"/zh_TW

printf '\nThe largest groups of descriptions, and of each the first names:\n'
awk -F '\t' 'NR == begin + size { begin = NR; size = $1 } NR < begin + 3 { names[begin] = names[begin] " " $3 }
  { sizes[begin] = size } END { for (i in sizes) print sizes[i] "\t" names[i] }' begin=1 descriptions.clusters |
  sort -k1,1nr -k2 | sed -n 1,5p
