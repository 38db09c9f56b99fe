#!/usr/bin/env bash
# What does 'sstore dedup' take over 'sstore fingerprint' of the same documents, in seconds, of processors too, and in memory?
#   bench/dedup.sh [--records=N] [--words=N] [--rounds=N] [--threads=N] [--keep]
# Makes N documents (default 1 million) of so many words (190, about 1.3 kB) as JSON Lines. 15 % are copies of one of the
# last 20,000, with up to 6 words replaced. Rounds (3) take turns; medians count. The output goes to a file. --keep
# leaves the documents in the working folder. Needs python3 and GNU time; sstore must be on the PATH.
set -euo pipefail
records=1000000 words=190 rounds=3 threads=0 keep=
printf '# %s' "$(basename "$0")" && printf ' %q' "$@" && echo
for argument; do
  case $argument in
    --records=* | --words=* | --rounds=* | --threads=*)
      argument=${argument#--}
      printf -v "${argument%%=*}" '%s' "${argument#*=}"
      ;;
    --keep) keep=1 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d -p .)
trap 'rm -rf "$work"' EXIT
documents=$work/documents.jsonl
[ -z "$keep" ] || documents=documents-$records-$words.jsonl
[ -e "$documents" ] || python3 - "$records" "$words" >"$documents" <<'END'
import json, random, sys
count, length = map(int, sys.argv[1:])
numbers = random.Random(1)
vocabulary = ["".join(numbers.choices("abcdefghijklmnopqrstuvwxyz", k=numbers.randint(3, 9))) for _ in range(50000)]
recent = []
for i in range(count):
    if recent and numbers.random() < 0.15:
        words = list(numbers.choice(recent))
        for _ in range(numbers.randint(0, 6)):
            words[numbers.randrange(len(words))] = numbers.choice(vocabulary)
    else:
        words = [vocabulary[int(50000 * numbers.random() ** 2)] for _ in range(length)]
        if len(recent) < 20000:
            recent.append(words)
        else:
            recent[numbers.randrange(20000)] = words
    print(json.dumps({"id": i, "url": f"https://example.org/{i}", "text": " ".join(words)}))
END
cat "$documents" >/dev/null
echo "# $(wc -c <"$documents") bytes; seconds, seconds of processors, MB of memory"

measure() { # NAME COMMAND...: adds a row to $work/NAME
  command time -f '%e %U %S %M' -o "$work/time" "${@:2}" >"$work/output" 2>/dev/null
  awk '{ printf "%.2f %.2f %.1f\n", $1, $2 + $3, $4 / 1024 }' "$work/time" >>"$work/$1"
}
median() { # NAME COLUMN
  sort -n -k "$2,$2" "$work/$1" | awk -v column="$2" '{ row[NR] = $column } END { print row[int((NR + 1) / 2)] }'
}
for ((round = 0; round < rounds; round++)); do
  measure fingerprint sstore fingerprint --jsonl --threads "$threads" "$documents"
  measure dedup sstore dedup --threads "$threads" "$documents"
  measure strict sstore dedup --strict --threads "$threads" "$documents"
  measure newest sstore dedup --keep max:id --removed "$work/removed" --id-field url --threads "$threads" "$documents"
done
printf '%-12s %8s %8s %10s %8s\n' what seconds ratio processors memory
for name in fingerprint dedup strict newest; do
  printf '%-12s %8s %8s %10s %8s\n' $name "$(median $name 1)" \
    "$(awk -v a="$(median $name 1)" -v b="$(median fingerprint 1)" 'BEGIN { printf "%.2f", a / b }')" \
    "$(median $name 2)" "$(median $name 3)"
done
