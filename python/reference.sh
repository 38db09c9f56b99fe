#!/usr/bin/env bash
# Makes the reference of the Python package from its docstrings: reference.sh [FOLDER]
# The pages go to FOLDER (build/python/reference). Needs the package and pdoc: pip install ./python pdoc
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 -m pdoc --docformat google --no-show-source -o "${1:-build/python/reference}" sstore
