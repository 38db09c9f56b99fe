#!/usr/bin/env bash
# Measures how well fingerprints of texts find near-duplicates, beside other tools, and writes the figures of
# docs/settings.md: the results as CSV, the tables of the page, and its plots.
#   bench/quality/run.sh [--PARAMETER=VALUE ...]
# Parameters: --out=FOLDER  where everything but the figures goes (build/quality)
#             --build=FOLDER  a build folder; none: build/release, which is built
#             --seed=N  of documents and edits (2)   --count=N  documents of each corpus and length at most (150)
#             --peers=no  without the other tools    --results=FOLDER  instead of those of the page, which then stays
#             --only=PART,...  such as speeds: the results of the other parts of measure.py stay
# Needs python3 from 3.10 on with venv, mandoc, apt-cache, and the packages manpages, manpages-dev and manpages-zh;
# for the other tools and the long descriptions of packages also a network, the first time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
declare -A parameter=([out]=$project/build/quality [build]='' [seed]=2 [count]=150 [peers]=yes [results]='' [only]='')

for argument; do
  name=${argument#--} name=${name%%=*}
  if [[ $argument == --help ]]; then
    sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}"
    exit
  elif [[ $argument != --*=* || ! -v parameter[$name] ]]; then
    printf 'run.sh: %s: there is no such parameter; see --help\n' "$argument" >&2
    exit 2
  fi
  parameter[$name]=${argument#*=}
done
for needed in mandoc apt-cache python3; do
  command -v "$needed" >/dev/null || { printf 'run.sh: %s is missing; see --help\n' "$needed" >&2; exit 1; }
done
if [[ ! -d /usr/share/man/zh_CN ]]; then
  printf 'run.sh: the package manpages-zh is missing\n' >&2
  exit 1
fi

if [[ -z ${parameter[build]} ]]; then
  parameter[build]=$project/build/release
  (cd "$project" && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
fi
sstore=$(realpath -- "${parameter[build]}/tools/sstore")
mkdir -p "${parameter[out]}"
out=$(realpath -- "${parameter[out]}")

# Each tool has a folder of its own, since three of them are modules of the same name.
install() { # folder, arguments of pip
  local folder=$out/peers/$1
  [[ -d $folder ]] && return
  shift
  if ! "$out/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder.new" "$@" >"$out/pip.log" 2>&1; then
    printf 'run.sh: %s cannot be installed; see %s\n' "$folder" "$out/pip.log" >&2
    rm -rf -- "$folder.new"
    return
  fi
  mv -- "$folder.new" "$folder"
}
if [[ ! -x $out/venv/bin/python ]]; then
  python3 -m venv "$out/venv"
  "$out/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi
peers=()
if [[ ${parameter[peers]} == yes ]]; then
  mkdir -p "$out/peers"
  install simhash simhash==2.1.2 numpy==1.26.4
  install python-simhash --no-deps python-simhash==0.1.0
  install simhash-pybind --no-deps simhash-pybind==0.0.3
  install gaoya --no-deps gaoya==0.2.2
  install datasketch --no-deps datasketch==2.0.0
  install rensa --no-deps rensa==0.5.0
  # Without pyspark, unisim and others that its hashes do not need.
  install text-dedup --no-deps text-dedup==0.4.0
  install text-dedup-needs bitarray==3.12.3 click==8.5.1 click-option-group==0.5.10 datasets==5.2.0 ftfy==6.3.1 \
    regex==2026.11.19 rich==13.9.4 tqdm==4.70.1 xxhash==4.1.0 psutil==7.2.2
  peers=(--peers "$out/peers" --python "$out/venv/bin/python")
fi

# The long descriptions of all packages are fetched into a folder of their own; the machine's lists stay as they are.
descriptions=()
if [[ ! -s $out/descriptions ]]; then
  mkdir -p "$out/lists/partial"
  timeout 300 apt-get -o Dir::State::Lists="$out/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o Acquire::Languages=en update >"$out/apt.log" 2>&1 || true
  lists=("$out"/lists/*_main_i18n_Translation-en*)
  [[ ! -e ${lists[0]} ]] || /usr/lib/apt/apt-helper cat-file "${lists[@]}" >"$out/descriptions"
fi
if [[ -s $out/descriptions ]]; then
  descriptions=(--descriptions "$out/descriptions")
else
  printf 'run.sh: without the descriptions of packages, which cannot be fetched; see %s\n' "$out/apt.log" >&2
fi

results=${parameter[results]:-$here/results}
mkdir -p "$out/work"
rm -f -- "$out"/work/*.idf
"$out/venv/bin/python" "$here/measure.py" "$sstore" "$out/work" "$results" --seed "${parameter[seed]}" \
  --count "${parameter[count]}" --only "${parameter[only]}" "${descriptions[@]}" "${peers[@]}"
[[ -n ${parameter[results]} ]] || "$out/venv/bin/python" "$here/page.py"
