#!/usr/bin/env bash
# Builds the Debian packages libsstore1, libsstore-dev, sstore and sstore-doc of this tree. Installs what the build
# misses (with sudo, unless this is root).
#   packaging/debs.sh [--no-tests] [--source] [FOLDER]
#     --no-tests   do not build and run the tests
#     --source     also make a source package
#     FOLDER       where the packages go; without it build/packages
# The same tree gives the same packages, byte for byte, on machines with the same build dependencies.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=(--unsigned-source --unsigned-changes --build=binary) folder=build/packages
for argument in "$@"; do
  case $argument in
    --no-tests) export DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS:-}" ;;
    --source) options[2]=--build=full ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' packaging/debs.sh; exit 0 ;;
    -*) echo "packaging/debs.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
    *) folder=$argument ;;
  esac
done

. tests/packages.sh
need_libraries
need_command cc build-essential
need_command dh debhelper
install_missing

export DEB_BUILD_OPTIONS="terse ${DEB_BUILD_OPTIONS:-}"
. tests/tree.sh
version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
[ "$version" = "$(tree_version)" ] || {
  echo "packaging/debian/changelog has version $version, libstore/include/sstore.h $(tree_version)" >&2
  exit 1
}

# The folder must not be in the packages' files: it is always the same to the compiler.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/sstore-$version
mkdir "$tree"
tree_files | tar --null -T - -cf - | tar -C "$tree" --no-same-owner -xf -
cp -r packaging/debian "$tree/debian"
(cd "$tree" && dpkg-buildpackage "${options[@]}")
mkdir -p "$folder"
cp "$work"/sstore*_"$version"* "$work"/libsstore*_"$version"* "$folder/"
ls -l "$folder"
