#!/usr/bin/env bash
# Makes a release of the last commit: source archive, Debian packages, source release and wheel of the Python package,
# recipes with the archive's checksums, and SHA256SUMS. All are made, and all tests run, from the unpacked archive, which has
# no history.
#   packaging/release.sh [--quick] [FOLDER]
#     --quick   run the job `release` of tests/run.sh instead of `whole`
#     FOLDER    where the files go; without it build/release-VERSION. It must not exist yet.
# The version is that of libstore/include/sstore.h. The same commit gives the same archive, byte for byte.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=whole folder=
for argument in "$@"; do
  case $argument in
    --quick) jobs=release ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' packaging/release.sh; exit 0 ;;
    -*) echo "packaging/release.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
    *) folder=$argument ;;
  esac
done
say() { printf '\n== %s, after %d s\n' "$*" $SECONDS; }

. tests/tree.sh
version=$(tree_version)
: "${folder:=build/release-$version}"
[ -z "$(git status --porcelain)" ] || { echo "packaging/release.sh: there are changes that are not committed" >&2; exit 1; }
[ ! -e "$folder" ] || { echo "packaging/release.sh: $folder exists already: remove it, or choose another folder" >&2; exit 1; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/sstore-release-XXXXXX")
trap 'rm -rf "$work"' EXIT

say "source archive"
archive=$folder/sstore-$version.tar.gz
git archive --format=tar --prefix="sstore-$version/" HEAD | gzip -9n >"$archive"
tar -C "$work" -xzf "$archive"
cd "$work/sstore-$version"

say "tests: $jobs"
CI=${CI:-true} tests/run.sh "$jobs"

say "Debian packages"
packaging/debs.sh --source "$folder/debian"

say "Python package"
[ -e build/python/wheels ] || python/test.sh --wheel
mkdir "$folder/python"
cp build/python/dist/*.tar.gz build/python/wheels/*.whl "$folder/python/"

say "recipes"
cp -r packaging/homebrew packaging/vcpkg packaging/conda "$folder/"
sha256=$(sha256sum <"$archive" | cut -d ' ' -f 1)
sha512=$(sha512sum <"$archive" | cut -d ' ' -f 1)
sed -i "s/0\{64\}/$sha256/" "$folder/homebrew/sstore.rb" "$folder/conda/recipe.yaml"
sed -i "s/SHA512 0$/SHA512 $sha512/" "$folder/vcpkg/portfile.cmake"
for file in homebrew/sstore.rb conda/recipe.yaml vcpkg/portfile.cmake; do
  grep -qE "$sha256|$sha512" "$folder/$file" || { echo "packaging/release.sh: $file has no checksum" >&2; exit 1; }
done

say "checksums"
cd "$folder"
find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >"$work/sums"
mv "$work/sums" SHA256SUMS
sha256sum --check --quiet SHA256SUMS
cat SHA256SUMS
say "sstore $version is in $folder"
