#!/usr/bin/env bash
# Tests sstore.spark and sstore.ray on clusters of separate processes on this machine: a Spark master with two workers, two
# Ray nodes, and an S3-compatible server. Executors and workers are killed, stopped, and run out of disk meanwhile. Also
# runs the commands of docs/cluster.md in Spark's pipe and in Hadoop streaming. Takes about 25 minutes.
#   python/cluster.sh
# Needs Java 17, Maven, a C compiler, and pip's access to packages; Python 3.11 for Spark 3.5; root, to mount small disks.
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
make_environment() { # name, python, packages...
  rm -rf "$1"
  "$2" -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check "$here" pytest fsspec s3fs "moto[server]" "${@:3}"
}
run_tests() { # environment, test
  PATH=$PWD/$1/bin:$PATH "$1/bin/python" -m pytest -q -W ignore -p no:cacheprovider -c /dev/null --rootdir "$here/cluster" "$here/cluster/$2"
}

python=$(find_python 3.11 | head -n 1)
make_environment storage "$python"
run_tests storage test_machines.py
run_tests storage test_storage.py
make_environment spark-3.5 "$python" "pyspark==3.5.*" pyarrow "pandas<3"
run_tests spark-3.5 test_spark.py
mvn -q dependency:copy -Dartifact=org.apache.hadoop:hadoop-streaming:3.3.4 -DoutputDirectory="$PWD"
export HADOOP_STREAMING_JAR=$PWD/hadoop-streaming-3.3.4.jar # the version of Hadoop's classes in Spark 3.5
run_tests spark-3.5 test_commands.py
make_environment spark-4 "$python" "pyspark>=4,<5" pyarrow pandas
run_tests spark-4 test_spark.py
make_environment ray "$python" "ray[data]" pyarrow
run_tests ray test_ray.py
