#!/usr/bin/env bash
# Tests sstore.spark and sstore.ray on clusters of separate processes on this machine: a Spark master with two workers, two
# Ray nodes, and an S3-compatible server. Executors and workers are killed meanwhile. Takes about 20 minutes.
#   python/cluster.sh
# Needs Java 17, a C compiler, and pip's access to packages; Python 3.11 for Spark 3.5.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/../build/cluster
mkdir -p "$work"
cd "$work"

find_python() { # versions...
  local version
  for version; do
    compgen -G ~/.pyenv/versions/"$version".*/bin/python3 && return
    command -v "python$version" && return
  done
  echo "python/cluster.sh: there is none of Python $*" >&2
  return 1
}
run_tests() { # name, python, tests, packages...
  rm -rf "$1"
  "$2" -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check "$here" pytest "${@:4}"
  "$1/bin/python" -m pytest -q -W ignore -p no:cacheprovider -c /dev/null --rootdir "$here/cluster" "$here/cluster/$3"
}

python=$(find_python 3.11 | head -n 1)
run_tests storage "$python" test_storage.py fsspec s3fs "moto[server]"
run_tests spark-3.5 "$python" test_spark.py "pyspark==3.5.*" pyarrow "pandas<3" fsspec s3fs "moto[server]"
run_tests spark-4 "$python" test_spark.py "pyspark>=4,<5" pyarrow pandas fsspec s3fs "moto[server]"
run_tests ray "$python" test_ray.py "ray[data]" pyarrow fsspec s3fs "moto[server]"
