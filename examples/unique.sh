#!/usr/bin/env bash
# Leaves out documents of JSON Lines that are near copies of earlier ones: they share most of their pairs of words.
#   examples/unique.sh [--check] IN.jsonl OUT.jsonl [SIMILARITY]
#     --check      also compares all documents with each other, slowly, and prints how the result differs from that
#     IN.jsonl     a JSON object a line; "text" has the text
#     OUT.jsonl    the lines that are kept. OUT.jsonl.removed lists the others: line, line kept instead, similarity
#     SIMILARITY   from 0 to 1: the features of both documents over those of either (default 0.8)
# Needs `sstore` on the PATH; --check needs python3 with the package xxhash.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
check=''
[[ ${1-} == --check ]] && check=1 && shift
(($# == 2 || $# == 3)) || { sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
similarity=${3:-0.8}

sstore dedup --jsonl --similarity "$similarity" --removed "$2.removed" "$1" >"$2.part"
mv "$2.part" "$2"
if [[ $check ]]; then
  python3 "$here/exact.py" "$1" "$2.removed" "$similarity"
fi
