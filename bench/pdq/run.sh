#!/usr/bin/env bash
# Makes 10 million PDQ hashes like those of real pictures, and queries for them: model.py says how.
#   bench/pdq/run.sh WORK
# Leaves WORK/pdq10m.bin, WORK/pdq-queries.bin, WORK/report.txt, which compares the model with real pictures, and
# WORK/pictures.tsv, the hashes of the real ones. Needs Debian, Python with venv, and a network, for 2.7 GB of packages
# and what pip installs in WORK/venv; 8 GB of disk and 4 GB of memory. It takes about a quarter of an hour on two idle
# cores. Steps that are done are not done again.
set -euo pipefail
(($# == 1)) || { sed -n '2,/^set/{/^#/s/^# \?//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
[[ -x venv/bin/python ]] || python3 -m venv venv
venv/bin/pip install --quiet pdqhash==0.2.8 numpy==2.4.6 pillow==13.0.0
if [[ ! -e fetched ]]; then
  venv/bin/python "$here/pictures.py" fetch .
  touch fetched
fi
[[ -e pictures.npz ]] || venv/bin/python -W ignore "$here/pictures.py" hash .
[[ -e pictures.tsv ]] || venv/bin/python "$here/pictures.py" list . >pictures.tsv
[[ -e edits.npz ]] || venv/bin/python -W ignore "$here/pictures.py" edit .
venv/bin/python "$here/model.py" . >report.txt
[[ -e pdq10m.bin ]] || venv/bin/python "$here/model.py" . --out=pdq10m.bin --queries=pdq-queries.bin
