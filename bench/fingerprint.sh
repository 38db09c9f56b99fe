#!/usr/bin/env bash
# Times `sstore fingerprint` with one thread and with two, in turns, over 1 GB of files, of lines and of JSON lines:
#   bench/fingerprint.sh FOLDER [ROUNDS [TIMES [OPTION...]]]
# FOLDER has the ascii.txt of text.sh, which is read TIMES times (5) by each run; OPTIONs are those of the command, such
# as --features=chars. The inputs are made there. They stay in the page cache, and what is printed goes to /dev/null.
# `sstore` must be on the PATH. Prints the medians of the rounds (5); the ratio is the median of the rounds' ratios.
set -euo pipefail
(($# >= 1)) || { sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rounds=${2:-5} times=${3:-5}
printf '# fingerprint.sh %s\n' "$*"
"$here/machine.sh"
cd "$1"
options=("${@:4}")
export LC_ALL=C

if [[ ! -d files ]]; then # of 100 kB
  mkdir files.part
  split -a 4 -C 100000 ascii.txt files.part/
  mv files.part files
fi
# Objects of about 100 bytes, and of about 5 kB: a line of the text, or so many of them.
json_lines() { # BYTES
  sed 's/[\\"]/\\&/g; s/\t/\\t/g' ascii.txt |
    awk -v bytes="$1" '{ text = text (text == "" ? "" : "\\n") $0 }
      length(text) >= bytes { printf "{\"id\": %d, \"text\": \"%s\"}\n", NR, text; text = "" }'
}
[[ -e short.jsonl ]] || { json_lines 60 >short.jsonl.part && mv short.jsonl.part short.jsonl; }
[[ -e long.jsonl ]] || { json_lines 5000 >long.jsonl.part && mv long.jsonl.part long.jsonl; }

median() { # of lines
  sort -n | sed -n "$(((rounds + 1) / 2))p"
}

time_once() { # THREADS ARGUMENT...; seconds
  local begin=$EPOCHREALTIME
  sstore fingerprint --threads "$1" "${options[@]}" "${@:2}" >/dev/null 2>&1
  awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { print end - begin }'
}

measure() { # NAME INPUT OPTION...
  local inputs=() one=() two=() ratios=() i bytes
  for ((i = 0; i < times; i++)); do inputs+=("$2"); done
  bytes=$(($(du -sb --apparent-size "$2" | cut -f 1) * times))
  time_once 2 "${@:3}" "$2" >/dev/null # warms
  for ((i = 0; i < rounds; i++)); do
    one+=("$(time_once 1 "${@:3}" "${inputs[@]}")")
    two+=("$(time_once 2 "${@:3}" "${inputs[@]}")")
    ratios+=("$(awk -v a="${one[i]}" -v b="${two[i]}" 'BEGIN { print a / b }')")
  done
  awk -v name="$1" -v bytes="$bytes" -v one="$(printf '%s\n' "${one[@]}" | median)" \
    -v two="$(printf '%s\n' "${two[@]}" | median)" -v ratio="$(printf '%s\n' "${ratios[@]}" | median)" \
    'BEGIN { printf "%-20s  %7.0f  %12.0f  %13.0f  %5.2f\n", name, bytes / 1e6, bytes / 1e6 / one, bytes / 1e6 / two, ratio }'
}

printf '# medians of %s rounds; options: %s\n' "$rounds" "${options[*]:-none}"
printf 'input                 MB       1 thread MB/s  2 threads MB/s  ratio\n'
measure 'files of 100 kB' files --recursive
measure 'lines' ascii.txt --lines
measure 'JSON, 100 bytes' short.jsonl --jsonl
measure 'JSON, 5 kB' long.jsonl --jsonl
