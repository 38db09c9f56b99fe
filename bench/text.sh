#!/usr/bin/env bash
# Makes texts for bench_text and fingerprint.sh, of what this machine has, in a folder:
#   bench/text.sh FOLDER [ASCII_MB [OTHER_MB]]
# ascii.txt (200 MB): manual pages, descriptions of packages and copyright files, without their lines that are not ASCII.
# chinese.txt and german.txt (75 MB each): the manual pages of the Debian packages manpages-zh and manpages-de, with
# their markup. han.txt (75 MB): the lines of chinese.txt without Latin letters.
# What is too small is repeated, each time with its lines in another order, so that no cache and no branch predictor
# meets the same text again. A text that is there already is kept.
set -euo pipefail
(($# >= 1)) || { sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
folder=$1 ascii_bytes=$((${2:-200} * 1000000)) other_bytes=$((${3:-75} * 1000000))
export LC_ALL=C
mkdir -p "$folder"

pages() { # FOLDER...; of manual pages
  find "$@" -type f -name '*.gz' -print0 2>/dev/null | sort -z | xargs -0r zcat
}

english() {
  pages /usr/share/man/man?
  find /usr/share/doc -name copyright -type f -print0 | sort -z | xargs -0r cat
  ! command -v apt-cache >/dev/null || apt-cache dumpavail | sed -n '/^Description/,/^[A-Z][A-Za-z0-9-]*:/p'
}

shuffled() { # SEED; lines of standard input
  awk -v seed="$1" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | sort | cut -f 2-
}

make() { # NAME BYTES COMMAND...; prints some text
  local path=$folder/$1.txt bytes=$2 round=0
  [[ ! -e $path ]] || return 0
  "${@:3}" >"$path.once"
  [[ -s $path.once ]] || { echo "text.sh: there is no text for $1.txt here" >&2 && rm "$path.once" && return 0; }
  while cat "$path.once" >>"$path.part" && (($(stat -c %s "$path.part") < bytes)); do
    shuffled $((++round)) <"$path.once" >"$path.next"
    mv "$path.next" "$path.once"
  done
  truncate -s "$bytes" "$path.part"
  rm "$path.once"
  mv "$path.part" "$path"
}

han() {
  pages /usr/share/man/zh_CN | grep -av '[A-Za-z]' | grep -a '[^ -~	]'
}

ascii() {
  english | grep -av '[^ -~	]'
}

make ascii "$ascii_bytes" ascii
make chinese "$other_bytes" pages /usr/share/man/zh_CN
make han "$other_bytes" han
make german "$other_bytes" pages /usr/share/man/de
